// What was asked in this page: conversations with their turns, in memory alone.

const kept = new Map(); // by adapter: conversations, the newest first
let number = 0;

function newSession() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  const id = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  number += 1;
  return { id: `console-${id}`, number, turns: [], draft: "" };
}

/** The conversations with an adapter, the newest first; there is always one. */
export function sessionsOf(adapter) {
  if (!kept.has(adapter)) kept.set(adapter, [newSession()]);
  return kept.get(adapter);
}

/** Begin a conversation, or take the one that nothing was said in yet. */
export function beginSession(adapter) {
  const sessions = sessionsOf(adapter);
  const unused = sessions.find((each) => each.turns.length === 0);
  if (unused) return unused;
  sessions.unshift(newSession());
  return sessions[0];
}

export function dropSession(adapter, session) {
  const rest = sessionsOf(adapter).filter((each) => each !== session);
  kept.set(adapter, rest.length > 0 ? rest : [newSession()]);
}

/** Forget everything: another key may not see it. */
export function dropAll() {
  [...kept.values()].flat().flatMap((each) => each.turns).forEach((turn) => turn.abort?.abort());
  kept.clear();
}

addEventListener("signedout", dropAll);

/** What came of a turn, as one word: `answered`, `asked`, `proposed`, `declined`, `failed` … */
export function outcomeOf(turn) {
  if (turn.error) return "failed";
  if (!turn.metadata) return "pending";
  const { blocked, proposal, missing, options, courtesy, tool_execution: ran, policy, calls } = turn.metadata;
  if (blocked) return "blocked";
  if (proposal?.settled) return proposal.settled === "yes" ? "confirmed" : "cancelled";
  if (proposal?.status === "held") return "proposed";
  if (missing || options) return "asked";
  if (policy) return "refused";
  const runs = calls ? calls.map((each) => each.tool_execution).filter(Boolean) : [ran].filter(Boolean);
  if (runs.some((each) => each.status !== "success")) return "failed";
  if (runs.length > 0) return "answered";
  if (courtesy || proposal || turn.metadata.source === "model") return "said";
  return turn.metadata.template_id ? "asked" : "declined";
}
