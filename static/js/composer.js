// The composer: keeps its draft in this browser until the server has taken the message, sends by
// Enter or Ctrl-Enter, completes @ and /, and never sends one text twice.
import { toast } from "./toast.js";
import { word } from "./words.js";

const SAVE_AFTER = 400;
const touch = matchMedia("(pointer: coarse)");

function start(form) {
  if (form.dataset.started) return;
  form.dataset.started = "";
  const text = form.querySelector("[data-composer-text]");
  const draft = new Draft(form, text);
  const menu = new Completion(form, text);
  renew(form);

  text.addEventListener("input", () => { grow(text); draft.later(); menu.look(); });
  text.addEventListener("keydown", (event) => {
    if (event.isComposing || menu.key(event)) return;
    const send = event.key === "Enter" && (event.ctrlKey || event.metaKey || (!event.shiftKey && !event.altKey && !touch.matches));
    if (!send) return;
    event.preventDefault();
    if (text.value.trim()) form.requestSubmit();
  });
  text.addEventListener("paste", (event) => refuseTooLong(event, text));
  // Who left and came back goes on in the menu.
  text.addEventListener("blur", () => setTimeout(() => document.activeElement === text || menu.close(), 150));
  form.addEventListener("submit", (event) => {
    // An empty text, or one that is already on its way.
    if (!text.value.trim() || form.dataset.sending) { event.preventDefault(); event.stopImmediatePropagation(); }
  }, true);
  form.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target !== form) return;
    form.dataset.sending = "1";
    form.sent = text.value;
  });
  form.addEventListener("htmx:afterRequest", (event) => {
    if (event.target !== form) return;
    delete form.dataset.sending;
    if (!event.detail.successful) return draft.now();
    // What was written while it was on its way stays.
    if (text.value === form.sent) text.value = "";
    draft.now();
    renew(form);
    grow(text);
    document.querySelector("[data-stick]")?.dispatchEvent(new Event("stick:end"));
  });
  grow(text);
}

// The browser would cut it without a word, and lay out megabytes first.
function refuseTooLong(event, text) {
  const n = event.clipboardData?.getData("text").length ?? 0;
  if (n <= text.maxLength) return;
  event.preventDefault();
  toast({ text: word("too_long", { n, most: text.maxLength }), tone: "blocked" });
}

// The same key until the server has taken it: a repeat is the same message.
function renew(form) {
  const field = form.querySelector("[data-client-key]");
  if (field) field.value = crypto.randomUUID?.() ?? uuid();
}

function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function grow(text) {
  if (CSS.supports("field-sizing", "content")) return;
  text.style.height = "auto";
  text.style.height = `${text.scrollHeight}px`;
}

class Draft {
  constructor(form, text) {
    this.key = form.dataset.draft ? `draft:${form.dataset.draft}` : null;
    this.text = text;
    this.note = form.querySelector("[data-draft-note]");
    this.timer = 0;
    const kept = this.read();
    if (kept && !text.value) {
      text.value = kept;
      if (this.note) this.note.textContent = word("draft_kept");
    }
    addEventListener("pagehide", () => this.now());
    document.addEventListener("visibilitychange", () => document.hidden && this.now());
  }

  read() {
    try { return this.key && localStorage.getItem(this.key); } catch { return null; }
  }

  later() {
    if (this.note) this.note.textContent = "";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), SAVE_AFTER);
  }

  now() {
    clearTimeout(this.timer);
    if (!this.key || !this.text.isConnected) return;
    try {
      if (this.text.value) localStorage.setItem(this.key, this.text.value);
      else localStorage.removeItem(this.key);
    } catch { /* full or forbidden: the text is still in the box */ }
  }
}

const PEOPLE_SHOWN = 8;
const SKILLS_SHOWN = 50;
const SKILL = "skill:";
const AGENTS = "agents";

// @ completes handles, / skills: lists asked for once, filtered here.
class Completion {
  constructor(form, text) {
    this.form = form;
    this.text = text;
    this.lists = new Map();
    this.menu = null;
    this.at = 0;
    this.found = [];
  }

  async look() {
    const before = this.text.value.slice(0, this.text.selectionStart);
    const match = /(?:^|[\s(])([@/])([\p{L}\p{N}:._-]*)$/u.exec(before);
    const isSkill = match?.[1] === "/";
    const url = match && (isSkill ? this.form.dataset.skillsUrl : this.form.dataset.mentionsUrl);
    const part = match?.[2].toLowerCase() ?? "";
    if (!url || (isSkill && match[0].startsWith("("))) return this.close();
    if (isSkill && !begins(part, before.length === match[0].length)) return this.close();
    const list = await this.list(url);
    if (this.text.value.slice(0, this.text.selectionStart) !== before) return;
    this.start = before.length - match[2].length;
    const pages = isSkill && part && before.length === match[0].length && AGENTS.startsWith(part) ? this.pages() : [];
    const found = [...pages, ...ranked(list, isSkill ? afterSkill(part) : part)];
    const most = isSkill ? SKILLS_SHOWN : PEOPLE_SHOWN;
    this.found = found.slice(0, most);
    this.at = 0;
    if (this.found.length) return this.draw(isSkill ? found.length - this.found.length : 0);
    isSkill && part.startsWith(SKILL) ? this.say(word("no_skill")) : this.close();
  }

  // What /agents means: a way out, not a text.
  pages() {
    const { libraryUrl, runsUrl } = this.form.dataset;
    if (!libraryUrl || !runsUrl) return [];
    return [
      { handle: AGENTS, kind: "page", glyph: "library", title: word("agents_library"), href: libraryUrl },
      { handle: AGENTS, kind: "page", glyph: "activity", title: word("agents_running"), href: runsUrl },
    ];
  }

  // A line instead of choices: keys go on to the text.
  say(line) {
    this.draw(0);
    this.menu.append(Object.assign(document.createElement("div"), { className: "rest", textContent: line }));
  }

  async list(url) {
    if (!this.lists.has(url)) {
      const asked = fetch(url, { headers: { Accept: "application/json" } }).then((answer) => (answer.ok ? answer.json() : []), () => []);
      this.lists.set(url, asked.then((list) => (Array.isArray(list) ? list : list.results ?? [])));
      setTimeout(() => this.lists.delete(url), 60000);
    }
    return this.lists.get(url);
  }

  draw(rest) {
    this.menu?.remove();
    this.menu = Object.assign(document.createElement("div"), { className: "menu above", id: `${this.form.id}-menu` });
    this.menu.setAttribute("role", "listbox");
    this.found.forEach((one, index) => this.menu.append(this.row(one, index)));
    if (rest) this.menu.append(Object.assign(document.createElement("div"), { className: "rest", textContent: word("more_skills", { n: rest }) }));
    this.form.append(this.menu);
    this.text.setAttribute("aria-controls", this.menu.id);
    this.text.setAttribute("aria-expanded", "true");
    this.mark();
  }

  row(one, index) {
    const row = Object.assign(document.createElement("div"), { className: "menu-item", id: `${this.form.id}-menu-${index}` });
    row.setAttribute("role", "option");
    const mark = one.kind === "skill" || one.glyph ? icon(one.glyph ?? "book-open") : Object.assign(document.createElement("span"), { className: `av xs ${one.kind === "agent" ? "agent" : `hue-${one.hue ?? 7}`}`, textContent: (one.handle[0] ?? "?").toUpperCase() });
    mark.setAttribute("aria-hidden", "true");
    const name = Object.assign(document.createElement("span"), { className: "cut", textContent: one.handle });
    const state = Object.assign(document.createElement("span"), { className: `state ${one.state ?? ""}`, textContent: one.word ?? "" });
    const title = Object.assign(document.createElement("small"), { className: "two-lines", textContent: one.title || (one.name !== one.handle ? one.name : "") || "" });
    row.append(mark, name, state);
    if (title.textContent) row.append(title);
    row.addEventListener("mousedown", (event) => { event.preventDefault(); this.take(index); });
    return row;
  }

  mark() {
    const rows = [...this.menu.querySelectorAll("[role=option]")];
    rows.forEach((row, index) => row.setAttribute("aria-selected", String(index === this.at)));
    this.text.setAttribute("aria-activedescendant", rows[this.at]?.id ?? "");
    rows[this.at]?.scrollIntoView({ block: "nearest" });
  }

  // True when the key was for the menu.
  key(event) {
    if (!this.menu) return false;
    if (!this.found.length) {
      if (event.key === "Escape") this.close();
      return event.key === "Escape";
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      this.at = (this.at + step + this.found.length) % this.found.length;
      this.mark();
    } else if ((event.key === "Enter" && !event.ctrlKey && !event.metaKey) || event.key === "Tab") {
      this.take(this.at);
    } else if (event.key === "Escape") {
      this.close();
    } else {
      return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  take(index) {
    const one = this.found[index];
    if (!one) return;
    const end = this.text.selectionStart;
    if (one.href) {
      this.text.setRangeText("", this.start - 1, end, "end");
      this.text.dispatchEvent(new Event("input", { bubbles: true }));
      this.close();
      location.assign(one.href);
      return;
    }
    this.text.setRangeText(`${one.insert ?? one.handle} `, this.start, end, "end");
    this.close();
    this.text.dispatchEvent(new Event("input", { bubbles: true }));
    this.text.focus();
  }

  close() {
    this.menu?.remove();
    this.menu = null;
    this.text.removeAttribute("aria-activedescendant");
    this.text.setAttribute("aria-expanded", "false");
  }
}

// At the start of a text any word is looked for; in its middle a slash is more often part of a path.
function begins(part, isStart) {
  return isStart || (part.length > 1 && (SKILL.startsWith(part) || part.startsWith(SKILL)));
}

function afterSkill(part) {
  if (part.startsWith(SKILL)) return part.slice(SKILL.length);
  return SKILL.startsWith(part) ? "" : part;
}

// What begins with the part comes first, then what holds it in its name, then in its title.
function ranked(list, part) {
  const place = (one) => {
    const names = [one.handle, one.name].map((name) => name?.toLowerCase() ?? "");
    if (names.some((name) => name.startsWith(part))) return 0;
    if (names.some((name) => name.includes(part))) return 1;
    // What a subagent's description says would bring nearly all of them.
    return one.kind !== "definition" && one.title?.toLowerCase().includes(part) ? 2 : 3;
  };
  const found = list.map((one) => [place(one), one]).filter(([at]) => at < 3);
  return found.sort((a, b) => a[0] - b[0]).map(([, one]) => one);
}

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  const sprite = document.querySelector("use")?.getAttribute("href")?.split("#")[0] ?? "";
  use.setAttribute("href", `${sprite}#${name}`);
  svg.setAttribute("class", "i");
  svg.append(use);
  return svg;
}

const all = () => document.querySelectorAll("[data-composer]").forEach(start);
all();
document.addEventListener("htmx:afterSettle", all);
