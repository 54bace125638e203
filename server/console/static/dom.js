// Elements are made here and nowhere else: text is always text, and a link leads only where a
// link may lead, whatever a server, a library or a tool has put into it.

const AS_PROPERTY = new Set([
  "checked", "disabled", "hidden", "open", "readOnly", "selected", "value", "indeterminate",
]);
const LINKS = new Set(["href", "src"]);
const SVG = "http://www.w3.org/2000/svg";
let count = 0;

/**
 * Return an element. `props` are attributes; `class`, `dataset`, `vars` (CSS custom properties) and
 * `on…` listeners are what they seem. Children are nodes, texts, lists of them, or nothing.
 */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/** An Orbit command to paste, by the name that the server was started by. */
export function command(words) {
  const orbit = document.querySelector('meta[name="orbit-command"]').content;
  return h("pre", { class: "code", dir: "ltr", tabindex: "0" }, `${orbit} ${words}`);
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) {
      if (AS_PROPERTY.has(name) && value === false) node[name] = false;
      else if (name.startsWith("aria-") && value === false) node.setAttribute(name, "false");
    } else if (name === "class") {
      node.setAttribute("class", Array.isArray(value) ? value.filter(Boolean).join(" ") : value);
    } else if (name === "dataset") {
      for (const [key, each] of Object.entries(value)) {
        if (each !== null && each !== undefined) node.dataset[key] = each;
      }
    } else if (name === "vars") {
      for (const [key, each] of Object.entries(value)) node.style.setProperty(key, each);
    } else if (name.startsWith("on")) {
      node.addEventListener(name.slice(2).toLowerCase(), value);
    } else if (AS_PROPERTY.has(name) && name in node) {
      node[name] = value;
    } else if (LINKS.has(name)) {
      if (isSafeLink(value)) node.setAttribute(name, value);
    } else {
      node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
    }
  }
  append(node, children);
  return node;
}

/** Append nodes and texts to `node`, as `h` takes them. */
export function append(node, children) {
  for (const child of Array.isArray(children) ? children : [children]) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(node, child);
    else node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** Whether a link leads to a page of the web, of this server or of this page, and runs nothing. */
export function isSafeLink(link) {
  try {
    const { protocol } = new URL(link, document.baseURI);
    return protocol === "http:" || protocol === "https:" || protocol === "blob:";
  } catch {
    return false;
  }
}

/** Empty a node, and return it. */
export function clear(node) {
  node.replaceChildren();
  return node;
}

/** Put `children` into a node in place of what is there. */
export function show(node, ...children) {
  clear(node);
  return append(node, children);
}

/** Say something to screen readers. */
export function live(message) {
  const region = document.getElementById("live");
  region.textContent = "";
  requestAnimationFrame(() => {
    region.textContent = message;
  });
}

/** An id that nothing else in the page has. */
export function uid(prefix = "id") {
  count += 1;
  return `${prefix}-${count}`;
}

/** Call `run` once its calls have ceased for `wait` milliseconds; `.cancel()` forgets the last. */
export function debounce(run, wait) {
  let timer;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Disable `button` until `work()` has ended; returns what it returns. */
export async function busy(button, work) {
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    return await work();
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
}

/** Add the style sheet of a view, once. `url` is relative to the folder of static files. */
export function styles(url) {
  const href = new URL(url, import.meta.url).href;
  if ([...document.styleSheets].some((sheet) => sheet.href === href)) return Promise.resolve();
  const link = h("link", { rel: "stylesheet", href });
  return new Promise((done) => {
    link.addEventListener("load", done);
    link.addEventListener("error", done);
    document.head.append(link);
  });
}
