// [data-unsaved] on a form: marks changed fields, counts them in its save bar, asks before one
// leaves, saves by Ctrl/Cmd-S. Put [data-unsaved-word] where the count is said. [data-dirty]: what
// stands in it was sent and refused, so it is unsaved from the start.
import { word } from "./words.js";

const SELECTOR = "form[data-unsaved]";

const values = (form) => {
  const all = {};
  for (const [name, value] of new FormData(form)) {
    if (name === "csrfmiddlewaretoken") continue;
    all[name] = `${all[name] ?? ""}\u0000${value instanceof File ? value.name : value}`;
  }
  return all;
};

function changes(form) {
  const now = values(form);
  return [...new Set([...Object.keys(now), ...Object.keys(form.atFirst)])].filter((name) => now[name] !== form.atFirst[name]);
}

function show(form) {
  const changed = changes(form);
  for (const field of form.querySelectorAll(".field.changed")) field.classList.remove("changed");
  for (const name of changed) form.querySelector(`[name="${CSS.escape(name)}"]`)?.closest(".field")?.classList.add("changed");
  for (const bar of form.querySelectorAll(".savebar")) bar.toggleAttribute("data-clean", !changed.length);
  for (const place of form.querySelectorAll("[data-unsaved-word]")) place.textContent = changed.length ? word(changed.length === 1 ? "unsaved_one" : "unsaved_many", { n: changed.length }) : "";
}

function start(form) {
  if (form.atFirst) return;
  form.atFirst = values(form);
  if ("dirty" in form.dataset) form.atFirst[""] = "refused";
  form.addEventListener("input", () => show(form));
  form.addEventListener("reset", () => setTimeout(() => show(form)));
  form.addEventListener("submit", () => { form.leaving = true; });
  form.addEventListener("htmx:afterRequest", (event) => {
    form.leaving = false;
    if (event.target === form && event.detail.successful) { form.atFirst = values(form); show(form); }
  });
  show(form);
}

const all = () => document.querySelectorAll(SELECTOR).forEach(start);
all();
document.addEventListener("htmx:afterSettle", all);

const unsaved = () => [...document.querySelectorAll(SELECTOR)].filter((form) => form.atFirst && !form.leaving && changes(form).length);
addEventListener("beforeunload", (event) => { if (unsaved().length) event.preventDefault(); });
// A request of htmx that would replace a changed form.
document.addEventListener("htmx:beforeSwap", (event) => {
  const lost = unsaved().find((form) => event.detail.target?.contains(form) && !event.detail.requestConfig?.elt?.closest?.(SELECTOR));
  if (lost && !confirm(word("leave"))) event.detail.shouldSwap = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  const form = document.activeElement?.closest?.(SELECTOR) ?? document.querySelector(SELECTOR);
  if (!form) return;
  event.preventDefault();
  if (changes(form).length) form.requestSubmit();
});
