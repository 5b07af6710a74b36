// [data-board]: a drawing larger than its place. It scrolls as anything scrolls, so that a thousand
// nodes move without work of ours; what is added here: zoom, drag, keys, find, and the chosen one in
// view. At the smallest scale text can still be read; beyond it one scrolls.
const MIN_SCALE = 0.55;
const MAX_SCALE = 2;
// What one looks at, kept when the drawing is swapped for a newer one.
let kept = null;

function start(board) {
  if (board.dataset.started) return;
  board.dataset.started = "";
  const place = board.querySelector("[data-board-place]");
  const svg = place.querySelector("svg");
  const said = board.querySelector("[data-zoom-word]");
  const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  let scale = 1;

  // Keeps the point under (atX, atY) of the place where it is.
  function zoom(to, atX = place.clientWidth / 2, atY = place.clientHeight / 2) {
    const next = Math.min(MAX_SCALE, Math.max(MIN_SCALE, to));
    const x = (place.scrollLeft + atX) / scale;
    const y = (place.scrollTop + atY) / scale;
    scale = next;
    svg.setAttribute("width", Math.round(width * scale));
    svg.setAttribute("height", Math.round(height * scale));
    place.scrollTo(x * scale - atX, y * scale - atY);
    if (said) said.textContent = `${Math.round(scale * 100)} %`;
  }

  function fit() {
    zoom(Math.min(1, place.clientWidth / width, place.clientHeight / height));
    const chosen = svg.querySelector(".node.selected");
    if (chosen) show(chosen);
  }

  function show(node) {
    const [, x, y] = /translate\(([-\d.]+) ([-\d.]+)\)/.exec(node.firstElementChild.getAttribute("transform"));
    place.scrollTo((Number(x) - left + 102) * scale - place.clientWidth / 2, (Number(y) - top + 32) * scale - place.clientHeight / 2);
  }

  place.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = place.getBoundingClientRect();
    zoom(scale * Math.exp(-event.deltaY / 200), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });

  let from = null;
  let moved = 0;
  place.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return; // fingers scroll by themselves
    from = event;
    moved = 0;
  });
  place.addEventListener("pointermove", (event) => {
    if (!from) return;
    moved += Math.abs(event.movementX) + Math.abs(event.movementY);
    if (moved < 4) return;
    place.setPointerCapture(event.pointerId);
    board.classList.add("dragging");
    place.scrollBy(-event.movementX, -event.movementY);
  });
  for (const end of ["pointerup", "pointercancel"]) place.addEventListener(end, () => {
    from = null;
    board.classList.remove("dragging");
  });
  // A drag that ends on a node does not open it.
  place.addEventListener("click", (event) => { if (moved >= 4) { event.preventDefault(); event.stopPropagation(); moved = 0; } }, true);
  place.addEventListener("dragstart", (event) => event.preventDefault());

  board.addEventListener("keydown", (event) => {
    const steps = { "+": 1.2, "=": 1.2, "-": 1 / 1.2 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) zoom(scale * steps[event.key]);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  board.addEventListener("click", (event) => {
    const act = event.target.closest?.("[data-zoom]")?.dataset.zoom;
    if (act === "fit") fit();
    else if (act) zoom(scale * (act === "in" ? 1.2 : 1 / 1.2));
  });
  board.addEventListener("board:show", (event) => show(event.detail));
  if (kept) {
    zoom(kept.scale, 0, 0);
    place.scrollTo(kept.left, kept.top);
  } else fit();
  const keep = () => { kept = { scale, left: place.scrollLeft, top: place.scrollTop }; };
  place.addEventListener("scroll", keep, { passive: true });
  keep();
}

const all = () => document.querySelectorAll("[data-board]").forEach(start);
all();
document.addEventListener("htmx:afterSettle", all);

// Find in the chart: the others fade, the first one comes into view.
document.addEventListener("input", (event) => {
  const field = event.target.closest?.("[data-find-in-board]");
  const board = field && document.querySelector("[data-board]");
  if (!board) return;
  const wanted = field.value.trim().toLowerCase();
  let first = null;
  for (const node of board.querySelectorAll(".node")) {
    const fits = node.dataset.name.includes(wanted);
    node.classList.toggle("dim", Boolean(wanted) && !fits);
    if (wanted && fits) first ??= node;
  }
  if (first) board.dispatchEvent(new CustomEvent("board:show", { detail: first }));
});
