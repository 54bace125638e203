// Guards: what stands before an adapter, what it decided, and changing it while it serves.

import { busy, clear, h } from "../../dom.js";
import { api } from "../../api.js";
import { n, percent, t } from "../../i18n.js";
import { openDialog } from "../../widgets/dialog.js";
import { errorBox, toast } from "../../widgets/notice.js";
import { badge, field, fill, moment, option, table } from "./shared.js";

const TONES = {
  block: "bad", would_block: "warn", route: "accent", would_route: "warn", flag: "warn", allow: "ok", pass: "ok",
};
const MOST_DECISIONS = 50;

export function mount(root, ctx) {
  const choice = h("select", { onchange: () => show() });
  const body = h("div", { class: "stack" });
  let tried = ""; // stays when a change draws everything anew
  const head = h("div", { class: "row wrap" },
    h("p", { class: "muted grow" }, t("operate.guards.about")),
    h("label", { class: "row" }, t("operate.guards.which"), choice));
  root.append(head, body);

  async function start() {
    const { guards } = await api.get("admin/guards");
    head.hidden = guards.length === 0;
    if (!guards.length) {
      return h("div", { class: "empty stack" },
        h("p", {}, h("strong", {}, t("operate.guards.none"))),
        h("p", {}, t("operate.guards.none_how")),
        h("pre", { class: "code", dir: "ltr", tabindex: "0" },
          "guards:\n  packs: guards/house-rules.yaml"));
    }
    clear(choice).append(...guards.map(({ adapter }) => option(adapter)));
    choice.value = guards.some(({ adapter }) => adapter === ctx.adapter) ? ctx.adapter : guards[0].adapter;
    return panels(guards.find(({ adapter }) => adapter === choice.value));
  }

  const path = () => `admin/guards/${encodeURIComponent(choice.value)}`;
  const show = () => fill(body, async () => panels(await api.get(path())));

  async function change(made) {
    await api.send("POST", `${path()}/changes`, made);
    toast(t("operate.guards.changed"), "ok");
    await show();
  }

  function panels(guard) {
    const decisions = h("div", { class: "stack" });
    const changes = h("div", { class: "stack" });
    return [
      facts(guard),
      h("div", { class: "guard-grid" },
        trial(guard),
        h("section", { class: "card stack" },
          h("h2", {}, t("operate.guards.allowed")),
          h("p", { class: "muted" }, t("operate.guards.allowed_about")),
          allowed(guard))),
      h("section", { class: "card stack" }, h("h2", {}, t("operate.guards.categories")), categories(guard)),
      h("section", { class: "card stack" }, h("h2", {}, t("operate.guards.counts")), counts(guard)),
      foldedList(t("operate.guards.decisions"), decisions, () => fill(decisions, async () => {
        const found = await api.get(`${path()}/decisions?limit=${MOST_DECISIONS}`);
        return decisionTable(found.decisions);
      }), true),
      foldedList(t("operate.guards.changes"), changes, () => fill(changes, async () => {
        const found = await api.get(`${path()}/changes`);
        return changeTable(found.changes);
      })),
    ];
  }

  function facts(guard) {
    const shadow = guard.mode === "shadow";
    return h("div", { class: "row wrap" },
      badge(shadow ? "warn" : "ok", t(shadow ? "operate.guards.shadow" : "operate.guards.enforced")),
      badge("", guard.packs),
      badge("", t(guard.fail_closed ? "operate.guards.closed" : "operate.guards.open")),
      badge("", t("operate.guards.patterns", { count: guard.patterns })),
      guard.compared ? badge("", t("operate.guards.compared", { name: guard.compared })) : null);
  }

  function trial(guard) {
    const question = h("textarea", {
      rows: "2", dir: "auto", "data-testid": "guard-question", value: tried,
      oninput: () => {
        tried = question.value;
      },
    });
    const category = h("select", {}, option("", t("operate.guards.as_is")),
      guard.categories.filter((each) => each.threshold !== null).map((each) => option(each.name)));
    const threshold = h("input", { type: "number", min: "0", max: "1", step: "0.01", value: "0.6" });
    const result = h("div", { class: "stack", "aria-live": "polite" });
    const more = h("div", { class: "form-grid", hidden: true }, field(t("operate.guards.threshold"), threshold));
    category.addEventListener("change", () => {
      more.hidden = !category.value;
      const found = guard.categories.find((each) => each.name === category.value);
      if (found) threshold.value = String(found.threshold);
    });
    const button = h("button", {
      type: "button", class: "button primary", "data-testid": "guard-try",
      onclick: () => {
        if (!question.value.trim()) return question.focus();
        return busy(button, async () => {
          const sent = { question: question.value };
          if (category.value) {
            sent.change = {
              kind: "set_threshold", category: category.value, number: Number(threshold.value),
            };
          }
          try {
            const found = await api.send("POST", `${path()}/try`, sent);
            clear(result).append(
              verdict(found.then ? t("operate.guards.now") : null, found.now),
              found.then ? verdict(t("operate.guards.then"), found.then) : "",
              allowIt(found.now, question.value));
          } catch (failure) {
            clear(result).append(errorBox(failure));
          }
        });
      },
    }, t("operate.guards.try"));
    question.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      button.click();
    });
    return h("section", { class: "card stack" },
      h("h2", {}, t("operate.guards.trial")),
      field(t("operate.guards.sentence"), question),
      guard.categories.some((each) => each.threshold !== null)
        ? [field(t("operate.guards.with"), category), more] : null,
      h("div", { class: "row" }, button), result);
  }

  function verdict(title, found) {
    const scores = Object.entries(found.scores ?? {}).sort((a, b) => b[1] - a[1]);
    return h("div", { class: "notice verdict stack" },
      h("div", { class: "row wrap" }, title ? h("strong", {}, title) : null,
        badge(TONES[found.outcome] ?? "", outcomeName(found.outcome)),
        found.category !== "none" ? h("code", { dir: "ltr" }, found.category) : null,
        h("span", { class: "muted" }, methodName(found.method)),
        found.method === "semantic" ? h("span", { class: "muted" }, percent(found.confidence)) : null),
      found.why ? h("p", { class: "muted small wrap-anywhere", dir: "auto" }, found.why) : null,
      scores.length ? h("ul", { class: "scores" }, scores.slice(0, 6).map(([name, score]) =>
        h("li", {}, h("code", { dir: "ltr" }, name),
          h("meter", { min: "0", max: "1", value: score, "aria-label": name }), n(score)))) : null);
  }

  /** A question that should pass can be put on the list from where it was tried. */
  function allowIt(now, text) {
    if (!["block", "would_block", "route", "would_route"].includes(now.outcome)) return "";
    const button = h("button", {
      type: "button", class: "button",
      onclick: () => busy(button, async () => {
        try {
          await change({ kind: "allow_question", text });
        } catch (failure) {
          button.after(errorBox(failure));
        }
      }),
    }, t("operate.guards.allow_this"));
    return h("div", { class: "row" }, button);
  }

  function allowed(guard) {
    const add = h("button", {
      type: "button", class: "button", onclick: () => allow(),
    }, t("operate.guards.allow"));
    if (!guard.allowed.length) {
      return [h("p", { class: "muted" }, t("operate.guards.allowed_none")), h("div", { class: "row" }, add)];
    }
    return [h("ul", { class: "allowed" }, guard.allowed.map((one) => {
      const drop = h("button", {
        type: "button", class: "button quiet small", "aria-label": t("operate.guards.forget_one", { question: one.question }),
        onclick: () => busy(drop, () => change({ kind: "forget_question", text: one.question })
          .catch((failure) => drop.after(errorBox(failure)))),
      }, t("operate.guards.forget"));
      return h("li", { class: "row" }, h("span", { class: "grow", dir: "auto" }, one.question,
        one.similarity === null ? null
          : h("span", { class: "muted small" }, " ", t("operate.guards.similar", { value: n(one.similarity) }))), drop);
    })), h("div", { class: "row" }, add)];
  }

  function allow() {
    const text = h("textarea", { rows: "2", dir: "auto" });
    const similarity = h("input", { type: "number", min: "0", max: "1", step: "0.01", placeholder: "0.9" });
    return openDialog({
      title: t("operate.guards.allow"),
      body: [field(t("operate.guards.sentence"), text),
        field(t("operate.guards.similarity"), similarity, t("operate.guards.similarity_hint"))],
      cancel: t("common.cancel"),
      actions: [{
        label: t("operate.guards.allow"), kind: "primary",
        run: () => change({
          kind: "allow_question", text: text.value.trim(),
          ...(similarity.value ? { number: Number(similarity.value) } : {}),
        }),
      }],
    });
  }

  function categories(guard) {
    return table(t("operate.guards.categories"), [
      [t("operate.guards.category"), (one) => h("code", { dir: "ltr" }, one.name)],
      [t("operate.guards.action"), (one) => badge(TONES[one.action] ?? "", outcomeName(one.action))],
      [t("operate.guards.threshold"), (one) => (one.threshold === null ? "–"
        : [n(one.threshold), " ", h("span", { class: "muted small" }, originName(one.threshold_origin))])],
      [t("operate.guards.by"), (one) => h("span", { class: "muted" },
        t("operate.guards.patterns", { count: one.patterns.length }), " · ",
        t("operate.guards.examples", { count: one.examples.length })), "hide-narrow"],
      ["", (one) => h("div", { class: "row end" },
        one.threshold === null ? null : h("button", {
          type: "button", class: "button small", onclick: () => setThreshold(one),
          "aria-label": t("operate.guards.set_one", { name: one.name }),
        }, t("operate.guards.set")),
        h("button", {
          type: "button", class: "button small", onclick: () => edit(one),
          "aria-label": t("operate.guards.edit_one", { name: one.name }),
        }, t("operate.guards.edit"))), "cell-actions"],
    ], guard.categories);
  }

  function setThreshold(category) {
    const value = h("input", {
      type: "range", min: "0", max: "1", step: "0.01", value: String(category.threshold),
    });
    const shown = h("output", { class: "threshold" }, n(category.threshold));
    value.addEventListener("input", () => {
      shown.textContent = n(Number(value.value));
    });
    const actions = [{
      label: t("operate.guards.make"), kind: "primary",
      run: () => change({ kind: "set_threshold", category: category.name, number: Number(value.value) }),
    }];
    if (category.threshold_origin === "admin") {
      actions.unshift({
        label: t("operate.guards.reset"),
        run: () => change({ kind: "reset_threshold", category: category.name }),
      });
    }
    return openDialog({
      title: t("operate.guards.set_one", { name: category.name }),
      body: [h("p", {}, t("operate.guards.threshold_what")),
        field(t("operate.guards.threshold"), value), shown],
      cancel: t("common.cancel"),
      actions,
    });
  }

  /** Patterns and examples of a category: those that it has, and one more. */
  function edit(category) {
    const kind = h("select", {}, option("add_example", t("operate.guards.add_example")),
      option("add_pattern", t("operate.guards.add_pattern")),
      option("remove_example", t("operate.guards.remove_example")),
      option("remove_pattern", t("operate.guards.remove_pattern")));
    const text = h("input", { type: "text", dir: "auto", autocomplete: "off" });
    const existing = h("select", { dir: "auto" });
    const textField = field(t("operate.guards.text"), text);
    const existingField = field(t("operate.guards.which_one"), existing);
    const arrange = () => {
      const removing = kind.value.startsWith("remove_");
      textField.hidden = removing;
      existingField.hidden = !removing;
      const texts = kind.value === "remove_pattern" ? category.patterns : category.examples;
      clear(existing).append(...texts.map((one) => option(one)));
    };
    kind.addEventListener("change", arrange);
    arrange();
    return openDialog({
      title: t("operate.guards.edit_one", { name: category.name }),
      body: [field(t("operate.guards.what"), kind), textField, existingField,
        h("p", { class: "muted" }, t("operate.guards.edit_what"))],
      cancel: t("common.cancel"),
      actions: [{
        label: t("operate.guards.make"), kind: "primary",
        run: () => change({
          kind: kind.value, category: category.name,
          text: kind.value.startsWith("remove_") ? existing.value : text.value,
        }),
      }],
    });
  }

  fill(body, start);
  return undefined;
}

function counts(guard) {
  if (!guard.counts.length) return h("p", { class: "muted" }, t("operate.guards.no_counts"));
  const all = guard.counts.reduce((sum, row) => sum + row.count, 0);
  return table(t("operate.guards.counts"), [
    [t("operate.guards.outcome"), (row) => badge(TONES[row.outcome] ?? "", outcomeName(row.outcome))],
    [t("operate.guards.category"), (row) => (row.category === "none" ? "–" : h("code", { dir: "ltr" }, row.category))],
    [t("operate.guards.method"), (row) => methodName(row.method), "hide-narrow"],
    [t("operate.guards.count"), (row) => n(row.count), "number"],
    [t("operate.guards.share"), (row) => percent(row.count / all, 1), "number"],
  ], guard.counts);
}

function decisionTable(decisions) {
  if (!decisions.length) return h("p", { class: "muted" }, t("operate.guards.no_decisions"));
  return table(t("operate.guards.decisions"), [
    [t("operate.guards.at"), (row) => moment(row.at)],
    [t("operate.guards.question"), (row) => h("span", { dir: "auto" }, row.question || "–")],
    [t("operate.guards.outcome"), (row) => badge(TONES[row.outcome] ?? "", outcomeName(row.outcome))],
    [t("operate.guards.category"), (row) => h("code", { dir: "ltr" }, row.category)],
    [t("operate.guards.method"), (row) => [methodName(row.method), " ",
      row.method === "semantic" ? percent(row.confidence) : null], "hide-narrow"],
  ], decisions);
}

function changeTable(changes) {
  if (!changes.length) return h("p", { class: "muted" }, t("operate.guards.no_changes"));
  return table(t("operate.guards.changes"), [
    [t("operate.guards.at"), (row) => (row.at ? moment(row.at) : "–")],
    [t("operate.guards.what"), (row) => named("operate.guards.kind", row.kind)],
    [t("operate.guards.category"), (row) => row.category ?? "–"],
    [t("operate.guards.text"), (row) => h("span", { dir: "auto" },
      [row.text, row.number == null ? null : n(row.number)].filter(Boolean).join(" · "))],
    [t("operate.guards.who"), (row) => h("span", { dir: "ltr" }, row.by ?? "–"), "hide-narrow"],
  ], [...changes].reverse());
}

/** A list that is read when it is opened. */
function foldedList(title, node, read, isOpen = false) {
  let done = false;
  const box = h("details", {
    class: "card folded", open: isOpen,
    ontoggle: () => {
      if (!box.open || done) return;
      done = true;
      read();
    },
  }, h("summary", {}, h("h2", {}, title)), node);
  return box;
}

function named(prefix, name) {
  const key = `${prefix}.${name}`;
  const text = t(key);
  return text === key ? name : text;
}

const outcomeName = (name) => named("operate.guards.outcomes", name);
const methodName = (name) => named("operate.guards.methods", name);
const originName = (name) => named("operate.guards.origins", name);
