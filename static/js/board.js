// [data-board]: a drawing larger than its place. It scrolls as anything scrolls, and zooms as a
// picture does: nothing inside is laid out again, so that a thousand nodes move without work of
// ours. What is added here: zoom, drag, keys, find, and the chosen one in view.
const MIN_SCALE = 0.1;
const READABLE = 0.55; // the first look is never smaller; the rest one scrolls
const MAX_SCALE = 2;
const QUIET_AFTER = 250; // ms
// What one looks at, kept when the drawing is swapped for a newer one.
let kept = null;
let movedAt = -Infinity;

// Somebody pans or zooms just now: what would swap the drawing waits.
export const isMoving = () => performance.now() - movedAt < QUIET_AFTER;

function start(board) {
  if (board.dataset.started) return;
  board.dataset.started = "";
  const place = board.querySelector("[data-board-place]");
  const sheet = place.querySelector("[data-board-sheet]");
  const svg = sheet.querySelector("svg");
  const said = board.querySelector("[data-zoom-word]");
  const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  let scale = 1;
  let zooming = null;
  const edge = { get w() { return place.clientWidth; }, get h() { return place.clientHeight; } };

  // Where the drawing's corner stands in the place: in the middle when there is room, else scrolled.
  const cornerAt = (at, x, y) => [Math.max(0, (edge.w - width * at) / 2) - x, Math.max(0, (edge.h - height * at) / 2) - y];
  const within = (x, size, room) => Math.min(Math.max(0, x), Math.max(0, size - room));

  // Keeps the point under (atX, atY) of the place where it is.
  function zoom(to, atX, atY) {
    zoomOn(to, atX, atY);
    settle();
  }

  // While one step follows another the picture is only stretched; see `settle`.
  function zoomOn(to, atX = edge.w / 2, atY = edge.h / 2) {
    const view = zooming ?? begin();
    const next = Math.min(MAX_SCALE, Math.max(MIN_SCALE, to));
    const [left, top] = cornerAt(scale, view.x, view.y);
    view.x = within(((atX - left) / scale) * next - atX, width * next, edge.w);
    view.y = within(((atY - top) / scale) * next - atY, height * next, edge.h);
    scale = next;
    stretch();
    if (said) said.firstChild.data = `${Math.round(scale * 100)} %`; // in place: no element comes or goes
    clearTimeout(view.timer);
    view.timer = setTimeout(settle, QUIET_AFTER);
    movedAt = performance.now();
  }

  function begin() {
    sheet.classList.add("zooming");
    return (zooming = { from: scale, x: place.scrollLeft, y: place.scrollTop, left: place.scrollLeft, top: place.scrollTop });
  }

  function stretch() {
    const { from, x, y, left, top } = zooming;
    const [fromX, fromY] = cornerAt(from, left, top);
    const [toX, toY] = cornerAt(scale, x, y);
    sheet.style.transform = `translate(${toX - fromX}px, ${toY - fromY}px) scale(${scale / from})`;
  }

  // Drawn sharp, and as large to the scroll bars as it looks.
  function settle() {
    const { x, y, timer } = zooming;
    clearTimeout(timer);
    zooming = null;
    sheet.classList.remove("zooming");
    sheet.style.transform = "";
    sheet.style.width = `${Math.round(width * scale)}px`;
    sheet.style.height = `${Math.round(height * scale)}px`;
    svg.style.transform = `scale(${scale})`;
    place.scrollTo(x, y);
    keep();
  }

  function scrolled() {
    movedAt = performance.now();
    if (!zooming) return keep();
    zooming.x = within(zooming.x + place.scrollLeft - zooming.left, width * scale, edge.w);
    zooming.y = within(zooming.y + place.scrollTop - zooming.top, height * scale, edge.h);
    zooming.left = place.scrollLeft;
    zooming.top = place.scrollTop;
    stretch();
  }

  const keep = () => { kept = { scale, left: place.scrollLeft, top: place.scrollTop }; };

  function fit(least = MIN_SCALE) {
    zoom(Math.max(least, Math.min(1, place.clientWidth / width, place.clientHeight / height)));
    const chosen = svg.querySelector(".node.selected");
    if (chosen) show(chosen);
  }

  function show(node) {
    if (zooming) settle();
    const [, x, y] = /translate\(([-\d.]+) ([-\d.]+)\)/.exec(node.firstElementChild.getAttribute("transform"));
    place.scrollTo((Number(x) - left + 102) * scale - place.clientWidth / 2, (Number(y) - top + 32) * scale - place.clientHeight / 2);
  }

  place.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = place.getBoundingClientRect();
    zoomOn(scale * Math.exp(-event.deltaY / 200), event.clientX - box.left, event.clientY - box.top);
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
  for (const name of ["dragstart", "selectstart"]) place.addEventListener(name, (event) => event.preventDefault());

  board.addEventListener("keydown", (event) => {
    const steps = { "+": 1.2, "=": 1.2, "-": 1 / 1.2 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) zoomOn(scale * steps[event.key]);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  board.addEventListener("click", (event) => {
    const act = event.target.closest?.("[data-zoom]")?.dataset.zoom;
    if (act === "fit") fit();
    else if (act) zoomOn(scale * (act === "in" ? 1.2 : 1 / 1.2));
  });
  board.addEventListener("board:show", (event) => show(event.detail));
  if (kept) {
    const { left: x, top: y } = kept;
    zoom(kept.scale, 0, 0);
    place.scrollTo(x, y);
  } else {
    fit(READABLE);
    const first = svg.querySelector(".node");
    if (first && !svg.querySelector(".node.selected")) show(first);
  }
  place.addEventListener("scroll", scrolled, { passive: true });
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
