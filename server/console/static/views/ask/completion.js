// Completion of a question while it is typed, by the examples of the adapter.

import { clear, h, live, uid } from "../../dom.js";
import { t } from "../../i18n.js";

const MOST = 8;
const PLAIN = /^[\x20-\x7e]*$/;
const WORD = /[\p{L}\p{N}]+/gu;

/**
 * Let `textarea` be completed. `examples()` are `{text, template}`; returns the list to put beside
 * it, and `handleKey(event)`, which says whether a key was meant for the list.
 */
export function completion(textarea, examples) {
  const id = uid("suggestions");
  const list = h("ul", { class: "suggestions", id, role: "listbox", "aria-label": t("ask.suggestions"), hidden: true });
  let found = [];
  let active = -1;

  textarea.setAttribute("aria-autocomplete", "list");
  textarea.setAttribute("aria-controls", id);
  textarea.setAttribute("aria-haspopup", "listbox");

  function close() {
    list.hidden = true;
    active = -1;
    found = [];
    textarea.removeAttribute("aria-activedescendant");
  }

  function pick(index) {
    textarea.value = found[index].text;
    close();
    textarea.dispatchEvent(new Event("input", { bubbles: true }));
    close();
    textarea.focus();
  }

  function setActive(index) {
    active = index;
    [...list.children].forEach((option, each) => option.setAttribute("aria-selected", String(each === index)));
    if (index < 0) textarea.removeAttribute("aria-activedescendant");
    else {
      textarea.setAttribute("aria-activedescendant", list.children[index].id);
      list.children[index].scrollIntoView({ block: "nearest" });
    }
  }

  function open(all = false) {
    const typed = textarea.value.trim();
    found = typed ? bestFor(typed, examples()) : all ? spread(examples()) : [];
    if (found.length === 0) return close();
    clear(list);
    found.forEach((each, index) =>
      list.append(
        h(
          "li",
          { id: `${id}-${index}`, role: "option", "aria-selected": false, onMousedown: (event) => event.preventDefault(), onClick: () => pick(index) },
          h("span", { dir: "auto", class: "grow clip" }, each.text),
          h("code", { class: "muted small clip" }, each.template),
        ),
      ),
    );
    list.hidden = false;
    setActive(-1);
    live(t("ask.suggested", { count: found.length }));
  }

  function handleKey(event) {
    const isOpen = !list.hidden;
    if (event.key === "ArrowDown" && !isOpen && !textarea.value.includes("\n")) open(true);
    else if (!isOpen) return false;
    else if (event.key === "ArrowDown") setActive((active + 1) % found.length);
    else if (event.key === "ArrowUp") setActive((active <= 0 ? found.length : active) - 1);
    else if (event.key === "Escape") close();
    else if ((event.key === "Enter" || event.key === "Tab") && active >= 0 && !event.shiftKey) pick(active);
    else return false;
    event.preventDefault();
    return true;
  }

  textarea.addEventListener("input", () => open());
  textarea.addEventListener("blur", close);
  return { list, handleKey, close };
}

function normal(text) {
  if (PLAIN.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** The examples that have all the typed words, those that begin with them first. */
export function bestFor(typed, examples) {
  const wanted = normal(typed);
  const words = wanted.match(WORD) ?? [];
  if (words.length === 0 || typed.length < 2) return [];
  const ranked = [];
  for (const example of examples) {
    example.normal ??= normal(example.text);
    if (example.normal === wanted) continue;
    if (example.normal.startsWith(wanted)) ranked.push([0, example]);
    else if (words.every((word) => example.normal.includes(word))) { // most fail this, which is quick
      const own = example.normal.match(WORD);
      if (words.every((word) => own.some((each) => each.startsWith(word)))) ranked.push([1, example]);
    }
  }
  ranked.sort(([a, left], [b, right]) => a - b || left.text.length - right.text.length);
  return ranked.slice(0, MOST).map(([, example]) => example);
}

/** One example of each template, as far as there is room. */
function spread(examples) {
  const seen = new Set();
  return examples.filter(({ template }) => !seen.has(template) && seen.add(template)).slice(0, MOST);
}
