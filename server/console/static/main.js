// Where the page starts: sign in, the frame around the views, and which of them is open.

import { api, ApiError } from "./api.js";
import { busy, clear, command, h, live, show, styles, uid } from "./dom.js";
import { LANGUAGES, currentLanguage, loadTexts, preferredLanguage, setLanguage, t, when } from "./i18n.js";
import { icon } from "./widgets/icons.js";
import { errorBox, sayError, toast } from "./widgets/notice.js";

const VIEWS = [
  { id: "ask", may: () => true },
  { id: "library", may: () => true },
  { id: "evaluate", may: () => true },
  { id: "author", may: (me) => me.admin }, // where it is switched off, the view says which setting
  { id: "inbox", may: (me) => me.admin },
  { id: "operate", may: (me) => me.admin },
];
const THEMES = ["auto", "light", "dark"];
const app = document.getElementById("app");

let open = null; // {id, adapter, cleanup, listeners}
let looked = null; // the adapter that is looked at
let adapters = [];
let handedOver = null; // what `ask` brings to Ask; never by the address, which anybody can write
let opening = 0;

start();

async function start() {
  const link = takeLink();
  await Promise.all([setLanguage(preferredLanguage()), loadTexts("shell")]);
  api.speak(currentLanguage());
  api.onSignedOut = (failed) => signedOut(failed);
  addEventListener("hashchange", () => {
    const pasted = takeLink();
    if (pasted) signInBy(pasted);
    else if (api.me) openView();
  });
  if (link) return signInBy(link);
  if (api.keptKey) {
    try {
      await api.signIn(api.keptKey);
      return await enter();
    } catch (failed) {
      api.keep(false);
      return showSignIn(failed);
    }
  }
  return showSignIn();
}

async function signInBy(link) {
  try {
    await api.redeem(link);
    closeView();
    await enter();
  } catch (failed) {
    if (api.me) toast(sayError(failed), "bad");
    else await showSignIn(failed);
  }
}

/** The one-time link of the address, which is taken out of it and of the history at once. */
function takeLink() {
  const found = /^#link=(.+)$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", location.pathname);
  return decodeURIComponent(found[1]);
}

// Signing in

async function showSignIn(failed = null) {
  document.title = t("shell.name");
  const problem = h("div", { class: "stack" }, failed && errorBox(failed));
  const input = h("input", {
    id: uid("key"),
    type: "password",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    required: true,
    dir: "ltr",
    placeholder: "orb_…",
    dataset: { testid: "key" },
  });
  const keep = h("input", { type: "checkbox", id: uid("keep") });
  const submit = h("button", { class: "button primary wide", type: "submit" }, t("signin.submit"));
  const samples = h("div", { class: "samples" });
  const noKey = h(
    "details",
    { class: "muted" },
    h("summary", null, t("signin.no_key")),
    h("p", null, t("signin.admin_how")),
    command("console --open"),
    h("p", null, t("signin.key_how")),
    command("keys create --adapter NAME"),
  );

  const enterWith = async (key, button) => {
    clear(problem);
    try {
      await busy(button, () => api.signIn(key, { keep: keep.checked }));
      await enter();
    } catch (refused) {
      show(problem, errorBox(refused));
      input.focus();
    }
  };
  const form = h(
    "form",
    {
      class: "stack",
      onSubmit: (event) => {
        event.preventDefault();
        const key = input.value.trim();
        if (key) enterWith(key, submit);
      },
    },
    h("div", { class: "field" }, h("label", { for: input.id }, t("signin.key")), input),
    h("label", { class: "check", for: keep.id }, keep, t("signin.keep")),
    submit,
  );
  show(
    app,
    h(
      "main",
      { class: "signin" },
      h(
        "div",
        { class: "card signin-card" },
        h("div", { class: "row" }, logo(), h("h1", null, t("shell.name")), h("span", { class: "grow" }), preferences()),
        h("p", { class: "muted" }, t("signin.lead")),
        problem,
        samples,
        form,
        noKey,
      ),
    ),
  );
  input.focus();
  try {
    const { sample_keys: found = [] } = await api.get("console/start");
    noKey.open = found.length === 0 || failed?.code === "link_invalid";
    if (found.length > 0) {
      show(
        samples,
        h("h2", { class: "small-caps" }, t("signin.samples")),
        found.map(({ adapter, key }) => {
          const button = h(
            "button",
            { class: "sample", type: "button", dataset: { sample: adapter }, onClick: () => enterWith(key, button) },
            h("span", { class: "stack none" }, h("strong", { dir: "auto" }, adapter), h("span", { class: "muted small" }, t("signin.sample_key"), " ", h("code", null, key))),
            icon("more"),
          );
          return button;
        }),
        h("p", { class: "or" }, t("signin.or")),
      );
    }
  } catch (unreached) {
    if (unreached instanceof ApiError && unreached.status === 0) show(problem, errorBox(unreached));
  }
}

function signedOut(failed) {
  closeView();
  dispatchEvent(new Event("signedout")); // views forget what they kept for this key
  api.signOut();
  showSignIn(failed);
}

async function signOut() {
  closeView();
  dispatchEvent(new Event("signedout"));
  await api.signOut();
  history.replaceState(null, "", location.pathname);
  await showSignIn();
  live(t("shell.signed_out"));
}

// The frame

async function enter() {
  const { me } = api;
  looked = me.adapter;
  adapters = [{ name: me.adapter, state: me.adapter_state }];
  if (me.admin) {
    try {
      adapters = (await api.get("admin/adapters")).adapters;
    } catch (failed) {
      toast(t("shell.no_adapters", { why: failed.message }), "bad");
    }
  }
  drawFrame();
  await openView();
}

function drawFrame() {
  const { me } = api;
  const links = VIEWS.filter((view) => view.may(me)).map(({ id }) =>
    h(
      "a",
      { class: "nav-link", href: `#/${id}`, dataset: { testid: id === "ask" ? "nav-ask" : id, view: id } },
      icon(id),
      h("span", null, t(`nav.${id}`)),
    ),
  );
  const main = h("main", { id: "main", class: "main", tabindex: "-1" });
  show(
    app,
    h("a", { class: "skip", href: "#main", onClick: (event) => { event.preventDefault(); main.focus(); } }, t("shell.skip")),
    h(
      "div",
      { class: "frame" },
      h(
        "header",
        { class: "side" },
        h("div", { class: "brand" }, logo(), h("span", null, t("shell.name"))),
        h("nav", { "aria-label": t("shell.views") }, links),
        h(
          "div",
          { class: "side-end" },
          adapterSwitch(),
          account(),
        ),
      ),
      main,
    ),
  );
}

function logo() {
  return h("img", { class: "logo", src: "console/static/icon.svg", alt: "" });
}

function adapterSwitch() {
  const label = h("span", { class: "small-caps" }, t("shell.adapter"));
  if (adapters.length < 2) {
    return h("div", { class: "adapter stack none" }, label, h("strong", { dir: "auto", class: "clip" }, looked));
  }
  const select = h(
    "select",
    {
      "aria-label": t("shell.adapter"), // its words are hidden where there is little room
      onChange: async () => {
        looked = select.value;
        live(t("shell.adapter_now", { name: looked }));
        if (open?.listeners.size) open.listeners.forEach((listener) => listener(looked));
        else await openView({ again: true });
      },
    },
    adapters.map(({ name, state }) =>
      h("option", { value: name, selected: name === looked }, state === "ready" ? name : `${name} (${t(`state.${state}`)})`),
    ),
  );
  return h("label", { class: "adapter stack none" }, label, select);
}

function account() {
  const { me } = api;
  const whose = me.user_id ?? t(me.admin ? "shell.admin_key" : "shell.key");
  const keep = h("input", {
    type: "checkbox",
    checked: api.isKept,
    onChange: () => api.keep(keep.checked),
  });
  return h(
    "details",
    { class: "account" },
    h(
      "summary",
      { class: "button quiet", "aria-label": `${t("shell.key")}: ${whose}` },
      icon("key"),
      h("span", { class: "grow clip", dir: "auto" }, whose),
      icon("down"),
    ),
    h(
      "div",
      { class: "account-body card stack" },
      h(
        "dl",
        { class: "facts" },
        h("dt", null, t("shell.key_id")), h("dd", null, h("code", null, me.key_id)),
        h("dt", null, t("shell.role")), h("dd", { dir: "auto" }, me.role),
        me.expires_at && [h("dt", null, t("shell.expires")), h("dd", null, when(me.expires_at))],
      ),
      preferences(),
      h("label", { class: "check" }, keep, t("signin.keep")),
      h("button", { class: "button wide", type: "button", dataset: { testid: "sign-out" }, onClick: signOut }, icon("exit"), t("shell.sign_out")),
    ),
  );
}

function preferences() {
  const language = h(
    "select",
    { "aria-label": t("shell.language"), class: "compact", dataset: { testid: "language" }, onChange: () => speak(language.value) },
    Object.entries(LANGUAGES).map(([code, name]) =>
      h("option", { value: code, lang: code, selected: code === currentLanguage() }, name),
    ),
  );
  const theme = h("button", { class: "button quiet square", type: "button", dataset: { testid: "theme" }, onClick: () => nextTheme(theme) });
  drawTheme(theme);
  return h("div", { class: "row preferences" }, language, theme);
}

function keepPreference(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // it holds for this page alone
  }
}

async function speak(language) {
  keepPreference("orbit.language", language);
  await setLanguage(language);
  api.speak(language);
  if (!api.me) return showSignIn();
  closeView();
  drawFrame();
  return openView();
}

function drawTheme(button) {
  const theme = document.documentElement.dataset.chosenTheme ?? "auto";
  const said = t("shell.theme", { theme: t(`theme.${theme}`) });
  button.setAttribute("aria-label", said);
  button.title = said;
  show(button, icon(theme));
}

function nextTheme(button) {
  const now = document.documentElement.dataset.chosenTheme ?? "auto";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  if (next === "auto") delete document.documentElement.dataset.chosenTheme;
  else document.documentElement.dataset.chosenTheme = next;
  document.documentElement.dispatchEvent(new Event("theme"));
  keepPreference("orbit.theme", next === "auto" ? null : next);
  drawTheme(button);
  live(button.title);
}

// Views

function whereTo() {
  const [, id = "", query = ""] = /^#\/([\w-]*)(?:\?(.*))?$/.exec(location.hash) ?? [];
  const known = VIEWS.some((view) => view.id === id && view.may(api.me));
  return { id: known ? id : "ask", params: Object.fromEntries(new URLSearchParams(query)) };
}

function go(id, params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value != null));
  const hash = `#/${id}${query.size ? `?${query}` : ""}`;
  if (location.hash === hash) openView({ again: true });
  else location.hash = hash;
}

function closeView() {
  open?.cleanup?.();
  open = null;
}

async function openView({ again = false } = {}) {
  const { id, params } = whereTo();
  const turn = (opening += 1);
  const main = document.getElementById("main");
  const isNew = open?.id !== id || again;
  document.querySelectorAll(".nav-link").forEach((link) => {
    if (link.dataset.view === id) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  document.title = `${t(`nav.${id}`)} · ${t("shell.name")}`;
  const skeleton = setTimeout(() => turn === opening && isNew && show(main, skeletons()), 120);
  try {
    const [module] = await Promise.all([
      import(`./views/${id}.js`),
      loadTexts(id),
      styles(`views/${id}.css`),
    ]);
    if (turn !== opening || !api.me) return;
    clearTimeout(skeleton);
    const focusInside = main.contains(document.activeElement) || document.activeElement?.closest(".side");
    closeView();
    const root = h("div", { class: `view view-${id}` });
    show(main, root);
    const listeners = new Set();
    open = { id, listeners, cleanup: undefined };
    const given = id === "ask" ? handedOver : null;
    handedOver = null;
    open.cleanup = await module.view.mount(root, contextOf(params, listeners, given));
    if (focusInside) main.focus({ preventScroll: true });
    main.scrollTop = 0;
    live(t(`nav.${id}`));
  } catch (failed) {
    if (turn !== opening || !api.me) return;
    show(main, h("div", { class: "view" }, errorBox(failed, { retry: () => openView({ again: true }) })));
  } finally {
    clearTimeout(skeleton);
  }
}

function contextOf(params, listeners, given) {
  return {
    me: api.me,
    params,
    handedOver: given,
    get adapter() {
      return looked;
    },
    get adapters() {
      return adapters;
    },
    go,
    /** Open Ask with a question, which is asked unless `send` is false. */
    ask(question, { send = true } = {}) {
      handedOver = { question, send };
      go("ask");
    },
    /** Look at another adapter without opening the view anew; returns how to stop. */
    onAdapterChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function skeletons() {
  const line = (width) => h("div", { class: "skeleton", vars: { "--width": width } });
  return h("div", { class: "view", "aria-busy": "true", "aria-label": t("common.loading") }, [
    line("30%"), line("80%"), line("65%"), line("72%"),
  ]);
}
