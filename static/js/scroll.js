// Panes scroll, not the page, so the browser keeps no place for them. Kept here: over a swap, over
// Back and a reload, while earlier lines come in above, and where a list shows what is open.
const PANES = ".pane-body";
const kept = new Map();

// A pane by what does not change when it is drawn anew.
function keyOf(pane) {
  const named = pane.closest("[id]");
  if (!named) return "";
  return named === pane ? `#${pane.id}` : `#${named.id} ${[...named.querySelectorAll(PANES)].indexOf(pane)}`;
}

function paneOf(key) {
  const [name, index] = key.split(" ");
  const named = document.getElementById(name.slice(1));
  return index === undefined ? named : named?.querySelectorAll(PANES)[index];
}

function panesOf(root) {
  const inside = [...(root?.querySelectorAll?.(PANES) ?? [])];
  return root?.matches?.(PANES) ? [root, ...inside] : inside;
}

function keep(event) {
  for (const pane of panesOf(event.detail.target)) {
    if (pane.scrollTop) kept.set(keyOf(pane), pane.scrollTop);
  }
  keepReading(event.detail.target);
}

function putBack() {
  for (const [key, top] of kept) {
    const pane = paneOf(key);
    if (pane && !pane.hasAttribute("data-stick")) pane.scrollTop = top;
  }
  kept.clear();
}

// [data-earlier] gives way to what came before it; what stood below stays where one reads it.
let reading = null;
function keepReading(target) {
  const pane = target?.matches?.("[data-earlier]") && target.closest("[data-stick]");
  const below = pane && target.nextElementSibling;
  if (below) reading = { pane, below, top: below.getBoundingClientRect().top };
}

function goOnReading() {
  if (!reading) return;
  const { pane, below, top } = reading;
  reading = null;
  if (!below.isConnected) return;
  pane.scrollTop += below.getBoundingClientRect().top - top;
  pane.dispatchEvent(new Event("stick:read"));
}

for (const name of ["htmx:beforeSwap", "htmx:oobBeforeSwap"]) document.addEventListener(name, keep);
for (const name of ["htmx:afterSwap", "htmx:oobAfterSwap"]) {
  document.addEventListener(name, () => { putBack(); goOnReading(); });
}

// Back, forward and a reload lead to where one was; a link leads to the page as it opens.
const STORE = `scroll ${location.pathname}${location.search}`;
addEventListener("pagehide", () => {
  const places = panesOf(document).map((pane) => [keyOf(pane), pane.scrollTop, atEnd(pane)]);
  try { sessionStorage.setItem(STORE, JSON.stringify(places.filter(([key]) => key))); } catch { /* private window */ }
});

const atEnd = (pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight < 80;

function comeBack() {
  let places = [];
  try { places = JSON.parse(sessionStorage.getItem(STORE) ?? "[]"); } catch { /* private window */ }
  for (const [key, top, wasAtEnd] of places) {
    const pane = paneOf(key);
    if (!pane || (wasAtEnd && pane.hasAttribute("data-stick"))) continue;
    pane.scrollTop = top;
    pane.dispatchEvent(new Event("stick:read"));
  }
  return places.length > 0;
}

const [navigation] = performance.getEntriesByType("navigation");
const isReturn = ["back_forward", "reload"].includes(navigation?.type) && !location.hash;
if (!isReturn || !comeBack()) {
  for (const open of document.querySelectorAll(".pane.list [aria-current]")) open.scrollIntoView({ block: "nearest" });
}
