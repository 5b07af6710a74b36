// The org chart, beyond what any board does: drag somebody onto the new superior, or press M on a
// focused box; C (or the number at its side) folds what is below. The server moves and draws.
import { isMoving } from "./board.js";
import { open } from "./dialog.js";

const FAR = 6; // px before a press is a drag
const EDGE = 48; // px from the edge at which the place scrolls along
let drag = null;

const chart = () => document.getElementById("chart");
const idOf = (node) => node.id.replace("node-", "");
const nameOf = (node) => node.querySelector(".who")?.textContent ?? "";

function send(who, under) {
  const place = chart();
  htmx.ajax("POST", place.dataset.move, { target: "#chart", swap: "outerHTML", values: { who, under, closed: place.dataset.closed } });
}

// --- Drag ------------------------------------------------------------------------------------

document.addEventListener("pointerdown", (event) => {
  const node = event.target.closest?.("#chart[data-move] .node");
  if (!node || event.pointerType !== "mouse" || event.button !== 0) return;
  event.stopPropagation(); // the board would pan
  drag = { node, x: event.clientX, y: event.clientY, ghost: null, over: null };
}, true);

document.addEventListener("pointermove", (event) => {
  if (!drag) return;
  if (!drag.ghost) {
    if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < FAR) return;
    begin();
  }
  event.preventDefault();
  drag.ghost.style.translate = `${event.clientX + 12}px ${event.clientY + 12}px`;
  const under = document.elementFromPoint(event.clientX, event.clientY);
  const over = under?.closest?.("#chart .node, [data-drop-free]");
  mark(over === drag.node ? null : over);
  scrollAlong(event);
}, true);

function begin() {
  drag.ghost = Object.assign(document.createElement("div"), { className: "chart-ghost", textContent: nameOf(drag.node) });
  document.body.append(drag.ghost);
  drag.node.classList.add("moving");
  chart().classList.add("moving-somebody");
  chart().querySelector("[data-drop-free]")?.removeAttribute("hidden");
}

function mark(over) {
  if (over === drag.over) return;
  drag.over?.classList.remove("drop-here");
  over?.classList.add("drop-here");
  drag.over = over;
}

function scrollAlong({ clientX, clientY }) {
  const place = chart().querySelector("[data-board-place]");
  const box = place.getBoundingClientRect();
  const step = (at, low, high) => at < low + EDGE ? -12 : at > high - EDGE ? 12 : 0;
  place.scrollBy(step(clientX, box.left, box.right), step(clientY, box.top, box.bottom));
}

function end(drop) {
  if (!drag) return;
  const { node, over, ghost } = drag;
  drag = null;
  if (!ghost) return;
  ghost.remove();
  node.classList.remove("moving");
  over?.classList.remove("drop-here");
  chart()?.classList.remove("moving-somebody");
  chart()?.querySelector("[data-drop-free]")?.setAttribute("hidden", "");
  // The click that follows the drag opens nothing.
  const swallow = (event) => { event.preventDefault(); event.stopPropagation(); };
  document.addEventListener("click", swallow, { capture: true, once: true });
  setTimeout(() => document.removeEventListener("click", swallow, true), 50);
  if (drop && over) send(idOf(node), over.matches(".node") ? idOf(over) : "");
}
document.addEventListener("pointerup", () => end(true), true);
document.addEventListener("pointercancel", () => end(false), true);
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && drag?.ghost) { event.preventDefault(); end(false); } }, true);

// --- What comes live -------------------------------------------------------------------------

// As long as the boxes are the same, only how they stand is told; a new drawing waits while
// somebody is being dragged, or the chart is panned or zoomed.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target, requestConfig } = event.detail;
  if (target !== chart()) return;
  const isNews = xhr.getResponseHeader("Content-Type")?.startsWith("application/json");
  const isAsked = requestConfig.verb !== "get" || requestConfig.path !== chart().dataset.chart;
  if (!isNews && (isAsked || !(drag?.ghost || isMoving()))) return;
  event.detail.shouldSwap = false;
  if (isNews) stand(JSON.parse(xhr.responseText));
  else setTimeout(() => htmx.trigger(chart(), "chart-again"), 300);
});

function stand({ states, looks }) {
  const known = new Map(Object.entries(states).flatMap(([state, ids]) => ids.map((id) => [id, state])));
  for (const element of chart().querySelectorAll("[data-stands]")) {
    const isLeaf = element.matches(".leaf");
    const state = known.get(isLeaf ? element.dataset.leaf : idOf(element));
    if (!state || state === element.dataset.stands) continue;
    if (!isLeaf) element.classList.replace(element.classList[1], looks[state].tone);
    element.dataset.stands = state;
    element.querySelector("[data-standing]").innerHTML = looks[state][isLeaf ? "leaf" : "box"];
  }
}

// --- Keys and folds --------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.documentElement.dataset.keys === "off") return;
  const node = event.target.closest?.("#chart .node");
  const fold = event.target.closest?.("#chart [data-fold]");
  const key = event.key.toLowerCase();
  if (node && key === "m" && chart().dataset.move) ask(node);
  else if (node && key === "c") toggle(idOf(node));
  else if (fold && (key === "enter" || key === " ")) toggle(fold.dataset.fold);
  else return;
  event.preventDefault();
});

document.addEventListener("click", (event) => {
  const fold = event.target.closest?.("#chart [data-fold]");
  if (fold) toggle(fold.dataset.fold);
  if (event.target.closest?.("[data-print]")) print();
});

function ask(node) {
  focused = node.id; // while the dialog has it
  const form = document.querySelector("#move-node form");
  form.elements.who.value = idOf(node);
  form.elements.closed.value = chart().dataset.closed;
  form.querySelector("[data-move-who]").textContent = nameOf(node);
  for (const option of form.elements.under.options) option.disabled = option.value === idOf(node);
  open("move-node");
}

function toggle(id) {
  if (!chart().querySelector(`[data-fold="${CSS.escape(id)}"]`)) return;
  const closed = new Set(chart().dataset.closed.split(",").filter(Boolean));
  if (!closed.delete(id)) closed.add(id);
  const url = new URL(chart().dataset.chart, location.href);
  if (closed.size) url.searchParams.set("closed", [...closed].join(","));
  else url.searchParams.delete("closed");
  history.replaceState(history.state, "", url);
  htmx.ajax("GET", url.pathname + url.search, { target: "#chart", swap: "outerHTML" });
}

// The focus stays with whom it was, and the way back with a move, through every new drawing.
let focused = "";
let said = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target !== chart() || !event.detail.shouldSwap) return;
  focused = document.activeElement?.closest?.("#chart .node")?.id ?? focused;
  said = event.detail.requestConfig?.verb === "get" ? chart().querySelector(".chart-said") : null;
  said?.remove();
});
document.addEventListener("htmx:afterSwap", () => {
  if (said && !chart()?.querySelector(".chart-said")) chart()?.prepend(said);
  said = null;
});
document.addEventListener("htmx:afterSettle", () => {
  if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus({ preventScroll: true });
});
