// What came of a question, in words.

import { h } from "../../dom.js";
import { t } from "../../i18n.js";

export function named(id) {
  return id
    ? h("bdi", { class: "evaluate-id" }, id)
    : h("span", { class: "muted" }, t("evaluate.nothing_called"));
}

/** A name or a value amid a sentence, which keeps its own direction there. */
const apart = (text) => `\u2068${text}\u2069`;

/** Why a question is not right, in words; `question` says what it expected. */
export function sayFailure(row, question) {
  if (row.expected !== row.got) {
    const [expected, got] = [apart(row.expected), apart(row.got)];
    if (!row.got) return t("evaluate.why_silent", { expected });
    return row.expected ? t("evaluate.why_other", { expected, got }) : t("evaluate.why_needless", { got });
  }
  const [due, asked] = [question?.asks ?? [], row.asks ?? []];
  const names = (some) => apart(some.join(", "));
  if (names([...due].sort()) !== names([...asked].sort())) {
    return asked.length > 0
      ? t("evaluate.why_asked", { names: names(asked) })
      : t("evaluate.why_not_asked", { names: names(due) });
  }
  return differences(question?.arguments ?? {}, row.arguments ?? {}).join("; ") || row.failure;
}

function differences(expected, got) {
  const write = (value) => apart(typeof value === "string" ? `“${value}”` : JSON.stringify(value));
  const other = Object.keys(expected).filter((name) => write(expected[name]) !== write(got[name]));
  if (other.length > 0) {
    return other.map((key) => {
      const [name, due] = [apart(key), write(expected[key])];
      return got[key] === undefined
        ? t("evaluate.why_missing", { name, expected: due })
        : t("evaluate.why_value", { name, expected: due, got: write(got[key]) });
    });
  }
  const extra = Object.keys(got).filter((name) => !(name in expected)); // defaults are, too
  return extra.map((key) => t("evaluate.why_extra", { name: apart(key), got: write(got[key]) }));
}

export function sayProblem({ what, line, ask }) {
  const place = line ? t("evaluate.problem_line", { line }) : ask && `“${ask}”`;
  return [what, place].filter(Boolean).join(" · ");
}
