// What came of a question, in words.

import { h } from "../../dom.js";
import { t } from "../../i18n.js";

export function named(id) {
  return id
    ? h("bdi", { class: "evaluate-id" }, id)
    : h("span", { class: "muted" }, t("evaluate.nothing_called"));
}

/** Why a question is not right, in words; `question` says what it expected. */
export function sayFailure(row, question) {
  const { expected, got } = row;
  if (expected !== got) {
    if (!got) return t("evaluate.why_silent", { expected });
    return expected ? t("evaluate.why_other", { expected, got }) : t("evaluate.why_needless", { got });
  }
  const [due, asked] = [question?.asks ?? [], row.asks ?? []];
  const names = (some) => some.join(", ");
  if (names([...due].sort()) !== names([...asked].sort())) {
    return asked.length > 0
      ? t("evaluate.why_asked", { names: names(asked) })
      : t("evaluate.why_not_asked", { names: names(due) });
  }
  return differences(question?.arguments ?? {}, row.arguments ?? {}).join("; ") || row.failure;
}

function differences(expected, got) {
  const write = (value) => (typeof value === "string" ? `“${value}”` : JSON.stringify(value));
  const other = Object.keys(expected).filter((name) => write(expected[name]) !== write(got[name]));
  if (other.length > 0) {
    return other.map((name) =>
      got[name] === undefined
        ? t("evaluate.why_missing", { name, expected: write(expected[name]) })
        : t("evaluate.why_value", { name, expected: write(expected[name]), got: write(got[name]) }),
    );
  }
  const extra = Object.keys(got).filter((name) => !(name in expected)); // defaults are, too
  return extra.map((name) => t("evaluate.why_extra", { name, got: write(got[name]) }));
}

export function sayProblem({ what, line, ask }) {
  const place = line ? t("evaluate.problem_line", { line }) : ask && `“${ask}”`;
  return [what, place].filter(Boolean).join(" · ");
}
