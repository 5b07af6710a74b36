// Who is here: tells the server what this reader does, and shows what it says of everybody.
// [data-principal] elements get data-presence and the dot of their avatar, [data-presence-word]
// inside of them the word; [data-typing] says who is writing on the page's own topic.
import { word } from "../words.js";

const IDLE_AFTER = 5 * 60 * 1000;
const TYPING_FOR = 4000;

const SHOWN = {
  thinking: ["running", "thinking"],
  running: ["running", "running"],
  blocked: ["blocked", "waiting"],
  done: ["succeeded", "done"],
  online: ["online", "online"],
  idle: ["away", "away"],
};

export class People {
  #say;
  #locus;
  #lists = new Map();
  #isTyping = false;
  #isIdle = false;
  #typing = 0;
  #idle = 0;
  #told = "";

  constructor({ say, locus }) {
    this.#say = say;
    this.#locus = locus;
    this.#watch();
  }

  // A long list comes in parts; the first begins it anew.
  show(topic, { entries, part }) {
    this.#lists.set(topic, part ? [...(this.#lists.get(topic) ?? []), ...entries] : entries);
    this.refresh();
  }

  // Swapped content shows what we know already.
  refresh() {
    if (!this.#lists.size) return;
    const known = this.#known();
    for (const element of document.querySelectorAll("[data-principal]")) {
      paint(element, known.get(element.dataset.principal), this.#locus());
    }
    this.#showTyping(known);
  }

  // After each (re)connect, and when something changed.
  tell() {
    this.#told = "";
    this.#tellChange();
  }

  // A private place tells only those who are in it, so its own list wins.
  #known() {
    const known = new Map();
    const own = this.#locus();
    const lists = [...this.#lists].sort(([a], [b]) => (a === own) - (b === own));
    for (const [topic, entries] of lists) {
      for (const entry of entries) known.set(entry.id, { ...entry, locus: entry.locus || (topic === own ? own : "") });
    }
    return known;
  }

  #showTyping(known) {
    const places = document.querySelectorAll("[data-typing]");
    if (!places.length) return;
    const you = document.body.dataset.you;
    const writing = [...known.values()].filter((one) => one.typing && one.locus === this.#locus() && one.id !== you);
    const names = writing.map((one) => nameOf(one.id)).filter(Boolean);
    const text = names.length ? word(names.length === 1 ? "is_typing" : "are_typing", { names: names.join(", ") }) : "";
    for (const place of places) {
      if (place.textContent === text) continue;
      place.replaceChildren(...(text ? [Object.assign(document.createElement("span"), { textContent: text })] : []));
    }
  }

  #watch() {
    const active = () => {
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => this.#set({ isIdle: true }), IDLE_AFTER);
      if (this.#isIdle) this.#set({ isIdle: false });
    };
    for (const name of ["pointerdown", "pointermove", "keydown", "scroll", "focus"]) {
      addEventListener(name, active, { passive: true, capture: true });
    }
    active();
    document.addEventListener("input", (event) => {
      if (!event.target.matches?.("[data-composer-text]")) return;
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.#set({ isTyping: false }), TYPING_FOR);
      this.#set({ isTyping: event.target.value.trim() !== "" });
    });
    document.addEventListener("submit", () => this.#set({ isTyping: false }), true);
  }

  #set({ isTyping = this.#isTyping, isIdle = this.#isIdle }) {
    this.#isTyping = isTyping;
    this.#isIdle = isIdle;
    this.#tellChange();
  }

  #tellChange() {
    const here = { locus: this.#locus(), typing: this.#isTyping, idle: this.#isIdle };
    const text = JSON.stringify(here);
    if (text === this.#told) return;
    this.#told = text;
    this.#say({ presence: here });
  }
}

function paint(element, entry, locus) {
  const state = entry?.state ?? "offline";
  element.dataset.presence = state;
  const [dot, key] = SHOWN[state] ?? ["offline", "offline"];
  const mark = element.querySelector(".av > .dot");
  if (mark) mark.className = `dot ${dot}`;
  const place = element.querySelector("[data-presence-word]");
  if (!place) return;
  const isHere = entry?.kind === "human" && state === "online" && entry.locus === locus && locus;
  const text = entry?.typing && isHere ? word("typing") : isHere ? word("here") : entry ? word(key) : "";
  if (place.textContent !== text) place.textContent = text;
}

const nameOf = (id) =>
  document.querySelector(`[data-principal="${CSS.escape(id)}"] :is(a, span).cut`)?.textContent.trim();
