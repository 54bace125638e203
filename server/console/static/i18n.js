// What the page says, by language: `locales/LANGUAGE/NAME.json`, one file a view.

export const LANGUAGES = { en: "English", he: "עברית" };
const RIGHT_TO_LEFT = new Set(["ar", "fa", "he", "ur"]); // theme.js knows them too;
const texts = new Map();
const loaded = new Set();
let language = "en";
let region = "en";
let plurals = new Intl.PluralRules("en");

/** The language that was chosen, else the first of the browser's that there is. */
export function preferredLanguage() {
  let chosen = null;
  try {
    chosen = localStorage.getItem("orbit.language");
  } catch {
    // nothing is kept here
  }
  const wished = [chosen, ...navigator.languages.map((each) => each.slice(0, 2))];
  return wished.find((each) => each && each in LANGUAGES) ?? "en";
}

export function currentLanguage() {
  return language;
}

/** Speak `next` from now on; what is shown has to be made anew. */
export async function setLanguage(next) {
  language = next in LANGUAGES ? next : "en";
  region = navigator.languages.find((each) => each.split("-")[0] === language) ?? language;
  plurals = new Intl.PluralRules(language);
  document.documentElement.lang = language;
  document.documentElement.dir = RIGHT_TO_LEFT.has(language) ? "rtl" : "ltr";
  const names = [...loaded];
  texts.clear();
  await Promise.all(names.map(read));
}

/** Load the texts of a view, once. */
export async function loadTexts(name) {
  if (loaded.has(name)) return;
  loaded.add(name);
  await read(name);
}

async function read(name) {
  const found = (await fetched(language, name)) ?? (await fetched("en", name)) ?? {};
  Object.entries(found).forEach(([key, text]) => texts.set(key, text));
}

async function fetched(spoken, name) {
  const response = await fetch(new URL(`locales/${spoken}/${name}.json`, import.meta.url));
  return response.ok ? response.json() : null;
}

/**
 * Return a text by its key with `{name}` filled in. A text with forms by number
 * (`{"one": …, "other": …}`) is chosen by `params.count`.
 */
export function t(key, params = {}) {
  let text = texts.get(key);
  if (text === undefined) return key;
  if (typeof text === "object") text = text[plurals.select(params.count)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = params[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? n(value) : String(value);
  });
}

/** Whether there is a text of that key. */
export function hasText(key) {
  return texts.has(key);
}

/** A number as it is written where the reader lives. */
export function n(value, options = {}) {
  return new Intl.NumberFormat(region, { maximumFractionDigits: 2, ...options }).format(value);
}

/** A share from 0 to 1 as a percentage. */
export function percent(share, digits = 0) {
  return n(share, { style: "percent", maximumFractionDigits: digits });
}

/** A duration in milliseconds, as short as it stays true. */
export function duration(ms) {
  if (ms >= 1000) return t("unit.seconds", { value: n(ms / 1000, { maximumFractionDigits: 1 }) });
  const digits = ms < 10 ? (ms < 1 ? 2 : 1) : 0;
  return t("unit.milliseconds", { value: n(ms, { maximumFractionDigits: digits }) });
}

/** A moment as it is written where the reader lives; `style` is `time`, `date`, or both. */
export function when(moment, style = "both") {
  const date = moment instanceof Date ? moment : new Date(moment);
  if (Number.isNaN(date.getTime())) return String(moment);
  const options = {
    both: { dateStyle: "medium", timeStyle: "short" },
    date: { dateStyle: "medium" },
    time: { timeStyle: "medium" },
  }[style];
  return new Intl.DateTimeFormat(region, options).format(date);
}
