// Questions and what should come of them, as people write them: a line each, or as questions.yaml.

const ARROW = /\s(?:→|->|=>)\s*/u;
const NOTHING = new Set(["nothing", "null", "none", "~", "–", "-"]);
const NAME = /^[^\s{}[\],:"'?=]+$/u;

/**
 * Read `question → template name=value ?missing`, and questions.yaml: `- {ask: …, template: …}` or
 * a key a line. Returns `{questions, problems}`, of which each has its `line` and says `what`.
 */
export function readQuestions(text) {
  const questions = [];
  const problems = [];
  let block = null;
  const close = () => {
    if (block) keep(block.item, block.line);
    block = null;
  };
  const keep = (item, line) => {
    if (typeof item.ask !== "string" || !item.ask.trim()) problems.push({ line, what: "no_question" });
    else if (item.template === undefined) problems.push({ line, what: "no_template" });
    else questions.push(item);
  };
  text.split(/\r?\n/u).forEach((whole, index) => {
    const line = index + 1;
    const said = whole.trim();
    if (!said || said.startsWith("#") || said === "questions:" || said === "---") return;
    try {
      const listed = /^-\s+(.*)$/su.exec(said);
      const key = /^(ask|template|arguments|asks|answer):\s*(.*)$/su;
      if (listed && listed[1].startsWith("{")) {
        close();
        keep(new Flow(listed[1]).whole(), line);
      } else if (listed && key.test(listed[1])) {
        close();
        const [, name, value] = key.exec(listed[1]);
        block = { item: { [name]: new Flow(value).whole(name) }, line, inside: null };
      } else if (block && key.test(said) && isKeyOf(block, whole)) {
        const [, name, value] = key.exec(said);
        const opens = name === "arguments" && value === "";
        block.item[name] = opens ? {} : new Flow(value).whole(name);
        block.inside = opens ? whole.search(/\S/u) : null;
      } else if (block && block.inside !== null && whole.search(/\S/u) > block.inside) {
        const [, name, value] = /^([^\s:]+):\s*(.*)$/su.exec(said) ?? [];
        if (!name) throw new Unreadable("no_colon", said.slice(0, 20));
        block.item.arguments[name] = new Flow(value).whole();
      } else {
        close();
        keep(ofLine(listed ? listed[1] : said), line);
      }
    } catch (failed) {
      if (!(failed instanceof Unreadable)) throw failed;
      block = null;
      problems.push({ line, what: failed.message, value: failed.value });
    }
  });
  close();
  return { questions, problems };
}

/** Whether a line is a key of the question itself, and none of its arguments. */
function isKeyOf(block, whole) {
  const indent = whole.search(/\S/u);
  return indent > 0 && (block.inside === null || indent <= block.inside);
}

/** A question as a line of questions.yaml. */
export function writeQuestion(question) {
  const says = ([name, value]) => name === "template" || (value !== null && value?.length !== 0);
  const pairs = Object.entries(question).filter(says);
  return `- {${pairs.map(([name, value]) => `${name}: ${write(value)}`).join(", ")}}`;
}

function write(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map(write).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value)
      .map(([name, each]) => `${write(name)}: ${write(each)}`)
      .join(", ")}}`;
  }
  if (typeof value !== "string") return String(value);
  return /^[\p{L}_][\p{L}\p{N}_./-]*$/u.test(value) && typeof scalar(value) === "string"
    ? value
    : JSON.stringify(value);
}

class Unreadable extends Error {
  constructor(what, value = "") {
    super(what);
    this.value = value;
  }
}

/** `question → template name=value ?missing` */
function ofLine(said) {
  const parts = said.split(ARROW);
  if (parts.length < 2) throw new Unreadable("no_arrow");
  const expected = parts.pop();
  const item = { ask: unquoted(parts.join(" → ").trim()) };
  const flow = new Flow(expected);
  const template = flow.word();
  item.template = NOTHING.has(template.toLowerCase()) ? null : template;
  while (!flow.done()) {
    if (flow.take("?")) {
      item.asks = [...(item.asks ?? []), flow.word()];
      continue;
    }
    const name = flow.word();
    if (!flow.take("=")) throw new Unreadable("no_value", name);
    item.arguments = { ...item.arguments, [name]: flow.value(/[\s]/u) };
  }
  return item;
}

function unquoted(text) {
  return /^"[^"]*"$/u.test(text) ? text.slice(1, -1) : text;
}

/** Values as YAML writes them within a line. */
class Flow {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  /** The text as one value; of `ask` and `answer`, what is not quoted is a text whatever it says. */
  whole(name = "") {
    this.blanks();
    const plain = !/^["'{[]/u.test(this.text.slice(this.at));
    if (plain) {
      const said = this.text
        .slice(this.at)
        .replace(/\s+#.*$/u, "")
        .trim();
      return name === "ask" || name === "answer" ? said : scalar(said);
    }
    const value = this.value(/[,}\]]/u);
    this.blanks();
    if (!this.done() && this.text[this.at] !== "#")
      throw new Unreadable("rest", this.text.slice(this.at, this.at + 20));
    return value;
  }

  done() {
    this.blanks();
    return this.at >= this.text.length;
  }

  take(sign) {
    this.blanks();
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  word() {
    this.blanks();
    const found = /^[^\s{}[\],"'?=]+/u.exec(this.text.slice(this.at));
    if (!found || !NAME.test(found[0]))
      throw new Unreadable("no_name", this.text.slice(this.at, this.at + 20));
    this.at += found[0].length;
    return found[0];
  }

  value(end) {
    this.blanks();
    const sign = this.text[this.at];
    if (sign === '"' || sign === "'") return this.quoted(sign);
    if (sign === "{") return this.object();
    if (sign === "[") return this.list();
    let to = this.at;
    while (to < this.text.length && !end.test(this.text[to])) to += 1;
    const said = this.text.slice(this.at, to).trim();
    this.at = to;
    return scalar(said);
  }

  quoted(sign) {
    let made = "";
    for (this.at += 1; this.at < this.text.length; this.at += 1) {
      const letter = this.text[this.at];
      if (letter === sign) {
        if (sign === "'" && this.text[this.at + 1] === "'") {
          made += "'";
          this.at += 1;
          continue;
        }
        this.at += 1;
        return made;
      }
      if (letter === "\\" && sign === '"') {
        const escaped = /^\\(?:u[\da-fA-F]{4}|.)/su.exec(this.text.slice(this.at))?.[0] ?? "";
        try {
          made += JSON.parse(`"${escaped}"`);
        } catch {
          throw new Unreadable("escape", escaped);
        }
        this.at += escaped.length - 1;
      } else {
        made += letter;
      }
    }
    throw new Unreadable("no_quote", sign);
  }

  object() {
    const made = {};
    this.at += 1;
    while (!this.take("}")) {
      this.blanks();
      const name = /["']/u.test(this.text[this.at] ?? "") ? this.quoted(this.text[this.at]) : this.key();
      if (!this.take(":")) throw new Unreadable("no_colon", name);
      made[name] = this.value(/[,}]/u);
      if (!this.take(",") && this.text[this.at] !== "}") throw new Unreadable("no_end", "}");
    }
    return made;
  }

  key() {
    const found = /^[^\s:,{}[\]]+/u.exec(this.text.slice(this.at));
    if (!found) throw new Unreadable("no_end", "}");
    this.at += found[0].length;
    return found[0];
  }

  list() {
    const made = [];
    this.at += 1;
    while (!this.take("]")) {
      if (this.at >= this.text.length) throw new Unreadable("no_end", "]");
      made.push(this.value(/[,\]]/u));
      if (!this.take(",") && this.text[this.at] !== "]") throw new Unreadable("no_end", "]");
    }
    return made;
  }

  blanks() {
    while (/\s/u.test(this.text[this.at] ?? "")) this.at += 1;
  }
}

function scalar(said) {
  if (said === "" || said === "null" || said === "~") return null;
  if (said === "true" || said === "false") return said === "true";
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u.test(said)) return Number(said);
  return said;
}
