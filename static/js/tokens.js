// [data-tokens] on a text field of names with commas between: each name becomes a chip that can be
// taken away, and a new one is chosen from the field's <datalist>, whose options may say data-bad
// (a word why it does not work). Without script the field stays what it is.
import { word } from "./words.js";

const key = (name) => name.trim().toLowerCase();

class Tokens {
  #field;
  #box;
  #entry;
  #known;
  #names;

  constructor(field) {
    this.#field = field;
    this.#known = new Map([...(field.list?.options ?? [])].map((option) => [key(option.value), option]));
    this.#box = Object.assign(document.createElement("div"), { className: "tokens" });
    this.#entry = Object.assign(document.createElement("input"), { autocomplete: "off", spellcheck: false, disabled: field.matches(":disabled") });
    const label = field.labels?.[0];
    this.#entry.id = `${field.id}-entry`;
    if (field.list) this.#entry.setAttribute("list", field.list.id);
    const told = field.getAttribute("aria-describedby");
    if (told) this.#entry.setAttribute("aria-describedby", told);
    if (label) {
      label.htmlFor = this.#entry.id;
      this.#entry.placeholder = field.dataset.tokens;
    }
    field.removeAttribute("list");
    field.type = "hidden";
    field.after(this.#box);
    this.#box.append(this.#entry);
    this.#listen();
    this.#read();
  }

  #listen() {
    this.#entry.addEventListener("keydown", (event) => this.#key(event));
    // An option that was chosen arrives whole; a name that is typed waits for Enter or a comma.
    this.#entry.addEventListener("input", (event) => {
      event.stopPropagation();
      const isChosen = event.inputType === "insertReplacementText" || event.inputType === undefined;
      if (isChosen && this.#known.has(key(this.#entry.value))) this.#take();
      else if (this.#entry.value.includes(",")) this.#take();
    });
    this.#entry.addEventListener("change", (event) => {
      event.stopPropagation();
      this.#take();
    });
    this.#box.addEventListener("click", (event) => {
      const chip = event.target.closest("button");
      if (chip) this.#drop(chip.dataset.name);
      else if (event.target === this.#box) this.#entry.focus();
    });
    this.#field.form?.addEventListener("reset", () => setTimeout(() => this.#read()));
  }

  #key(event) {
    if (event.key === "Enter" && this.#entry.value.trim()) {
      event.preventDefault();
      this.#take();
    } else if (event.key === "Backspace" && !this.#entry.value && this.#names.length) {
      event.preventDefault();
      this.#drop(this.#names.at(-1));
    }
  }

  #read() {
    this.#names = [];
    for (const name of this.#field.value.split(",")) this.#add(name);
    this.#draw();
  }

  #add(name) {
    const plain = name.trim();
    if (plain && !this.#names.some((each) => key(each) === key(plain))) this.#names.push(plain);
  }

  #take() {
    for (const name of this.#entry.value.split(",")) this.#add(name);
    this.#entry.value = "";
    this.#write();
  }

  #drop(name) {
    this.#names = this.#names.filter((each) => each !== name);
    this.#write();
    this.#entry.focus();
  }

  #write() {
    this.#field.value = this.#names.join(", ");
    this.#draw();
    this.#field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  #draw() {
    for (const old of this.#box.querySelectorAll("button")) old.remove();
    for (const name of this.#names) this.#entry.before(this.#chip(name));
  }

  #chip(name) {
    const option = this.#known.get(key(name));
    const bad = this.#known.size && !option ? this.#field.dataset.unknown : option?.dataset.bad;
    const chip = Object.assign(document.createElement("button"), { type: "button", className: bad ? "chip bad" : "chip", disabled: this.#entry.disabled });
    chip.dataset.name = name;
    chip.append(name);
    if (bad) chip.append(Object.assign(document.createElement("small"), { textContent: ` ${bad}` }));
    chip.title = [option?.label, bad].filter(Boolean).join(" · ");
    chip.setAttribute("aria-label", word("take_away", { name: bad ? `${name}, ${bad}` : name }));
    chip.append(Object.assign(document.createElement("span"), { textContent: "×", ariaHidden: "true" }));
    return chip;
  }
}

const start = () => {
  for (const field of document.querySelectorAll("input[data-tokens]:not([type=hidden])")) new Tokens(field);
};
start();
document.addEventListener("htmx:afterSettle", start);
