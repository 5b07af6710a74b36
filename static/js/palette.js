// Ctrl/Cmd-K: the links that the server put into the dialog, filtered as one types; with data-url
// further ones are asked for. Arrows choose, Enter goes.
import { open } from "./dialog.js";
import { word } from "./words.js";

const dialog = document.querySelector("[data-palette]");
if (dialog) start(dialog);

function start(dialog) {
  const input = dialog.querySelector("input");
  const found = dialog.querySelector("[data-found]");
  const none = dialog.querySelector("[data-none]");
  let asked = 0;
  let timer = 0;

  const hits = () => [...dialog.querySelectorAll(".hit:not([hidden])")];
  const chosen = () => dialog.querySelector('.hit[aria-selected="true"]:not([hidden])');

  function choose(hit) {
    for (const other of dialog.querySelectorAll('.hit[aria-selected="true"]')) other.setAttribute("aria-selected", "false");
    if (!hit) return input.removeAttribute("aria-activedescendant");
    hit.id ||= `hit-${Math.random().toString(36).slice(2)}`;
    hit.setAttribute("aria-selected", "true");
    input.setAttribute("aria-activedescendant", hit.id);
    hit.scrollIntoView({ block: "nearest" });
  }

  function filter() {
    const parts = plain(input.value).split(/\s+/).filter(Boolean);
    for (const hit of dialog.querySelectorAll(".hit")) {
      const text = plain(`${hit.textContent} ${hit.dataset.words ?? ""}`);
      hit.hidden = !found.contains(hit) && !parts.every((part) => text.includes(part));
    }
    choose(hits()[0]);
    none.hidden = hits().length > 0;
    none.textContent = none.hidden ? "" : word("no_matches", { q: input.value });
  }

  async function ask() {
    const query = input.value.trim();
    const mine = ++asked;
    if (!dialog.dataset.url || query.length < 2) return found.replaceChildren();
    try {
      const answer = await fetch(`${dialog.dataset.url}?q=${encodeURIComponent(query)}`, { headers: { "HX-Request": "true" } });
      if (!answer.ok || mine !== asked) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      found.replaceChildren(...page.querySelectorAll("a.hit"));
      filter();
    } catch { /* the rooms stay; the search is only more */ }
  }

  input.addEventListener("input", () => {
    filter();
    clearTimeout(timer);
    timer = setTimeout(ask, 150);
  });
  dialog.addEventListener("keydown", (event) => {
    const all = hits();
    const at = all.indexOf(chosen());
    if (event.key === "ArrowDown") choose(all[(at + 1) % all.length]);
    else if (event.key === "ArrowUp") choose(all[(at - 1 + all.length) % all.length]);
    else if (event.key === "Enter") chosen()?.click();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("dialog:open", () => {
    input.value = "";
    found.replaceChildren();
    filter();
    input.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open(dialog.id);
  });
}

// Without accents and case: "orcamento" finds "Orçamento".
function plain(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
