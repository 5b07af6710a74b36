// What was written in a [data-unsaved] form is kept until its page is seen again without trouble: a
// session that had ended, or a server that was away, in the middle of it loses nothing.
import { toast } from "./toast.js";
import { word } from "./words.js";

const KEY = "sent-form";
const HOUR = 3600_000;
const QUIET = new Set(["csrfmiddlewaretoken"]);

function written(form) {
  const all = [];
  for (const [name, value] of new FormData(form)) {
    const isSecret = form.elements[name]?.type === "password";
    if (typeof value === "string" && !QUIET.has(name) && !isSecret) all.push([name, value]);
  }
  return all;
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches?.("form[data-unsaved]")) return;
  const kept = { path: location.pathname, values: written(form), at: Date.now() };
  try { sessionStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* too large to be kept */ }
});
// Without a page in between there is nothing to bring back.
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful && event.target.matches?.("form[data-unsaved]")) sessionStorage.removeItem(KEY);
});

function bringBack(form, values) {
  const names = new Set(values.map(([name]) => name));
  for (const field of form.elements) {
    if (!names.has(field.name) || field.type === "file") continue;
    const given = values.filter(([name]) => name === field.name).map(([, value]) => value);
    if (field.type === "checkbox" || field.type === "radio") field.checked = given.includes(field.value);
    else if (field.multiple) for (const option of field.options) option.selected = given.includes(option.value);
    else [field.value] = given;
  }
  form.dispatchEvent(new Event("input", { bubbles: true }));
}

function look() {
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  if (!kept) return;
  const isTrouble = location.pathname.startsWith("/accounts/") || document.querySelector(".trouble");
  if (isTrouble) {
    sessionStorage.setItem(KEY, JSON.stringify({ ...kept, failed: true }));
    return;
  }
  const form = document.querySelector("form[data-unsaved]");
  if (kept.failed && kept.path !== location.pathname && Date.now() - kept.at < HOUR) return;
  sessionStorage.removeItem(KEY);
  if (!kept.failed || kept.path !== location.pathname || !form) return;
  bringBack(form, kept.values);
  toast({ text: word("kept"), tone: "blocked" });
}
look();
