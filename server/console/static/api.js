// The calls of the server, with the key of whoever signed in. The key is kept in memory; in the
// tab's session storage only where that was chosen.

const ROOT = new URL("../../", import.meta.url);
const KEPT = "orbit.key";
const KEPT_LINK = "orbit.key.link"; // the id of the key that is kept, where a link made it

/** A refusal or failure as the server puts it; `status` 0 where it did not answer at all. */
export class ApiError extends Error {
  constructor({ status, code, message, details = null, requestId = null, retryAfter = null }) {
    super(message);
    Object.assign(this, { status, code, details, requestId, retryAfter });
  }
}

/** Calls with one key; `language` is asked for in answers. */
class Client {
  #key;

  constructor(key) {
    this.#key = key;
    this.language = null;
  }

  get(path, options = {}) {
    return this.send("GET", path, undefined, options);
  }

  /** Return the answer as data, null where there is none; throw ApiError. */
  async send(method, path, body, options = {}) {
    const response = await this.fetch(method, path, body, options);
    if (response.status === 204) return null;
    return response.json();
  }

  /** Return the text of an answer. */
  async text(path, options = {}) {
    return (await this.fetch("GET", path, undefined, options)).text();
  }

  /** Return a whole file as `{blob, name}`. */
  async file(path) {
    const response = await this.fetch("GET", path, undefined, {});
    const said = /filename="?([^";]+)"?/.exec(response.headers.get("content-disposition") ?? "");
    return { blob: await response.blob(), name: said ? said[1] : "download" };
  }

  /**
   * POST `body`, and hand each server-sent event to `onEvent` as data. Returns the request id; an
   * event that says that it failed is thrown as ApiError.
   */
  async stream(path, body, onEvent, signal) {
    const response = await this.fetch("POST", path, body, { signal });
    const requestId = response.headers.get("x-request-id");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const blocks = (rest + value).split(/\r?\n\r?\n/);
        rest = blocks.pop();
        blocks.forEach((block) => handEvent(block, requestId, onEvent));
      }
    } catch (failed) {
      if (failed instanceof ApiError || failed.name === "AbortError") throw failed;
      throw unreachable();
    }
    if (rest.trim()) handEvent(rest, requestId, onEvent);
    return requestId;
  }

  async fetch(method, path, body, { signal, headers = {} } = {}) {
    const sent = { Accept: "application/json", ...headers };
    if (this.#key) sent.Authorization = `Bearer ${this.#key}`;
    if (this.language) sent["Accept-Language"] = this.language;
    if (body !== undefined) sent["Content-Type"] = "application/json";
    let response;
    try {
      response = await fetch(new URL(path.replace(/^\//, ""), ROOT), {
        method,
        headers: sent,
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
        credentials: "omit",
        cache: "no-store",
        redirect: "error",
      });
    } catch (failed) {
      if (failed.name === "AbortError") throw failed;
      throw unreachable();
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

function unreachable() {
  return new ApiError({ status: 0, code: "unreachable", message: "" });
}

function handEvent(block, requestId, onEvent) {
  const data = block
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trim())
    .join("\n");
  if (!data || data === "[DONE]") return;
  const event = JSON.parse(data);
  if (event.status === "error") {
    const { code, message, details, request_id: id } = event.error ?? {};
    throw new ApiError({ status: 200, code, message, details, requestId: id ?? requestId });
  }
  onEvent(event);
}

async function errorOf(response) {
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // not from this server: a proxy's page, say
  }
  return new ApiError({
    status: response.status,
    code: error.code ?? "http",
    message: error.message ?? `${response.status} ${response.statusText}`,
    details: error.details ?? null,
    requestId: error.request_id ?? response.headers.get("x-request-id"),
    retryAfter: Number(response.headers.get("retry-after")) || null,
  });
}

function storage() {
  try {
    return window.sessionStorage;
  } catch {
    return null; // a browser that keeps nothing for this page
  }
}

/** The one that is signed in, and what the views call. */
class Session extends Client {
  key = null;
  me = null;
  onSignedOut = () => {};
  #client = new Client(null);
  #made = new Map(); // keys that the page made, by adapter: revoked at the end
  #links = []; // ids of keys that a one-time link made

  constructor() {
    super(null);
  }

  /** Whether the key is kept for a reload of this tab. */
  get isKept() {
    return storage()?.getItem(KEPT) !== null && storage() !== null;
  }

  /** Keep the key until the tab is closed, or no longer. */
  keep(yes) {
    storage()?.removeItem(KEPT_LINK);
    storage()?.removeItem(KEPT);
    if (!yes || !this.key) return;
    storage()?.setItem(KEPT, this.key);
    if (this.#links.includes(this.me.key_id)) storage()?.setItem(KEPT_LINK, this.me.key_id);
  }

  /** The key of this tab's last page, if it was to be kept. */
  get keptKey() {
    return storage()?.getItem(KEPT) ?? null;
  }

  /** Sign in; returns `GET /key`. Where the key is refused, nothing changes. */
  async signIn(key, { keep = false } = {}) {
    const client = new Client(key);
    client.language = this.language;
    const me = await client.get("key");
    this.key = key;
    this.me = me;
    this.#client = client;
    const kept = storage()?.getItem(KEPT_LINK);
    if (kept && kept === me.key_id) this.#links.push(kept);
    if (keep) this.keep(true);
    return me;
  }

  /** Exchange a one-time link for a key, and sign in with it. */
  async redeem(link) {
    const made = await new Client(null).send("POST", "admin/sign-in", { link });
    this.#links.push(made.key_id);
    return this.signIn(made.key);
  }

  /** Forget the key; what this page made is revoked, as far as the server can be reached. */
  async signOut() {
    const client = this.#client;
    const made = [...this.#made.values()].map((each) => each.keyId);
    const own = this.me && this.#links.includes(this.me.key_id) ? [this.me.key_id] : [];
    this.keep(false);
    this.key = this.me = null;
    this.#made.clear();
    this.#client = new Client(null);
    for (const id of [...made, ...own]) {
      try {
        await client.send("POST", `admin/keys/${encodeURIComponent(id)}/revoke`, { myself: true });
      } catch {
        // it ends by itself after twelve hours
      }
    }
  }

  /** Whose calls of `/chat` go to `adapter`: those of the key, or of one made for it. */
  asking(adapter) {
    if (!this.me || adapter === this.me.adapter) return this;
    return this.#made.get(adapter)?.client ?? null;
  }

  /** Make a key for another adapter, for this page alone; for admins. */
  async makeKeyFor(adapter) {
    const made = await this.send("POST", "admin/keys", {
      adapter,
      role: "admin",
      label: "console",
      expires: "12h",
    });
    const client = new Client(made.key);
    client.language = this.language;
    this.#made.set(adapter, { client, keyId: made.key_id });
    return client;
  }

  speak(language) {
    const accepted = language === "en" ? "en" : `${language}, en;q=0.5`;
    this.language = accepted;
    this.#client.language = accepted;
    this.#made.forEach((each) => {
      each.client.language = accepted;
    });
  }

  async fetch(...given) {
    try {
      return await this.#client.fetch(...given);
    } catch (failed) {
      if (failed instanceof ApiError && failed.status === 401 && this.key) this.onSignedOut(failed);
      throw failed;
    }
  }
}

export const api = new Session();

/** The address of a call, for people to copy. */
export function addressOf(path) {
  return new URL(path.replace(/^\//, ""), ROOT).href;
}
