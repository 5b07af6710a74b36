// Single keys: [data-key] names the key that presses a button or enters a field; j and k move in
// the list, Enter opens (the row is a link and has the focus). ? opens the sheet. They can be put
// off (WCAG 2.1.4) in that sheet, and never act while one writes.
import { open } from "./dialog.js";
import { toast } from "./toast.js";
import { word } from "./words.js";

const SETTLE = 500; // what has just appeared under the finger is not answered by mistake
const root = document.documentElement;
const since = new WeakMap();

const writing = (element) => element?.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const visible = (element) => element.checkVisibility?.() ?? element.offsetParent !== null;
const off = () => root.dataset.keys === "off";

function notice(moment) {
  for (const element of document.querySelectorAll("[data-key]")) if (!since.has(element)) since.set(element, moment);
}
notice(-Infinity);
document.addEventListener("htmx:afterSettle", () => notice(performance.now()));

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && writing(event.target) && !event.target.closest("dialog") && !event.defaultPrevented) event.target.blur();
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || off()) return;
  if (writing(event.target) || document.querySelector("dialog[open]")) return;
  const key = event.key.toLowerCase();
  if (key === "?") open("key-sheet");
  else if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
  else if (!press(key)) return;
  event.preventDefault();
});

function press(key) {
  if (key.length !== 1) return false;
  const found = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].filter((element) => visible(element) && !element.disabled);
  const target = found.find((element) => element.closest(":focus-within:not(body, html)")) ?? found[0];
  if (!target) return false;
  if (writing(target)) target.focus();
  else if (performance.now() - (since.get(target) ?? -Infinity) > SETTLE) target.click();
  return true;
}

function move(step) {
  const rows = [...document.querySelectorAll(rowsOf())].filter(visible);
  if (!rows.length) return;
  const at = rows.findIndex((row) => row === document.activeElement);
  const here = at >= 0 ? at : rows.findIndex((row) => row.matches("[aria-current]"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, here + step))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

// The rows of the list pane; where there is none, those of the middle.
function rowsOf() {
  const row = ":is(a.item, a.conv, .table tbody a[data-row])";
  const list = document.querySelector(".pane.list");
  return list?.querySelector(row) && visible(list) ? `.pane.list ${row}` : `.pane.main ${row}`;
}

// Remembered in this browser.
function remember(on) {
  if (on) delete root.dataset.keys;
  else root.dataset.keys = "off";
  try { localStorage.setItem("keys", on ? "on" : "off"); } catch { /* private window */ }
}

let kept = null;
try { kept = localStorage.getItem("keys"); } catch { /* private window */ }
if (kept === "off") root.dataset.keys = "off";
const change = document.querySelector("[data-keys-switch]");
if (change) {
  change.checked = !off();
  change.addEventListener("change", () => {
    remember(change.checked);
    toast({ text: word(change.checked ? "keys_on" : "keys_off") });
  });
}
