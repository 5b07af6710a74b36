// [data-board]: an SVG that pans and zooms by its viewBox. Text never gets smaller than can be read:
// at the minimum scale one pans instead. Thousands of nodes are moved by one attribute.
const MIN_SCALE = 0.55;
const MAX_SCALE = 2;

for (const board of document.querySelectorAll("[data-board]")) start(board);
document.addEventListener("htmx:afterSettle", () => {
  for (const board of document.querySelectorAll("[data-board]")) start(board);
});

function start(board) {
  if (board.dataset.started) return;
  board.dataset.started = "";
  const svg = board.querySelector("svg[data-view-box]");
  const said = board.querySelector("[data-zoom-word]");
  const whole = svg.dataset.viewBox.split(" ").map(Number);
  let scale = 1;
  let x = 0;
  let y = 0;
  let frame = 0;

  const size = () => [board.clientWidth || 1, board.clientHeight || 1];

  function draw() {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      const [width, height] = size();
      svg.setAttribute("viewBox", `${x} ${y} ${width / scale} ${height / scale}`);
      if (said) said.textContent = `${Math.round(scale * 100)} %`;
    });
  }

  function fit() {
    const [width, height] = size();
    scale = Math.min(1, Math.max(MIN_SCALE, Math.min(width / whole[2], height / whole[3])));
    x = whole[0] + (whole[2] - width / scale) / 2;
    y = whole[1] + (whole[3] - height / scale) / 2;
    if (whole[2] > width / scale) x = whole[0];
    const chosen = svg.querySelector(".node.selected");
    if (chosen && whole[3] > height / scale) y = centre(chosen)[1] - height / scale / 2;
    draw();
  }

  function centre(node) {
    const box = node.getBBox();
    const [, dx, dy] = /translate\(([-\d.]+) ([-\d.]+)\)/.exec(node.firstElementChild.getAttribute("transform"));
    return [Number(dx) + box.width / 2, Number(dy) + box.height / 2];
  }

  function zoom(by, atX, atY) {
    const [width, height] = size();
    const next = Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale * by));
    const px = atX ?? width / 2;
    const py = atY ?? height / 2;
    x += px / scale - px / next;
    y += py / scale - py / next;
    scale = next;
    draw();
  }

  board.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = board.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(-event.deltaY / 200), event.clientX - box.left, event.clientY - box.top);
    else { x += event.deltaX / scale; y += event.deltaY / scale; draw(); }
  }, { passive: false });

  const fingers = new Map();
  let moved = 0;
  board.addEventListener("pointerdown", (event) => {
    if (event.target.closest(".board-tools") || event.button > 0) return;
    fingers.set(event.pointerId, event);
    moved = 0;
  });
  board.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const dx = event.clientX - before.clientX;
    const dy = event.clientY - before.clientY;
    moved += Math.abs(dx) + Math.abs(dy);
    if (moved < 4) return;
    board.setPointerCapture(event.pointerId);
    board.classList.add("dragging");
    if (fingers.size === 2) pinch(before, event);
    else { x -= dx / scale; y -= dy / scale; draw(); }
    fingers.set(event.pointerId, event);
  });
  function pinch(before, event) {
    const [other] = [...fingers.values()].filter((finger) => finger.pointerId !== event.pointerId);
    const far = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) || 1;
    const box = board.getBoundingClientRect();
    zoom(far(event, other) / far(before, other), (event.clientX + other.clientX) / 2 - box.left, (event.clientY + other.clientY) / 2 - box.top);
  }
  for (const end of ["pointerup", "pointercancel"]) board.addEventListener(end, (event) => {
    fingers.delete(event.pointerId);
    board.classList.remove("dragging");
  });
  // A drag that ends on a node does not open it.
  board.addEventListener("click", (event) => { if (moved >= 4) { event.preventDefault(); event.stopPropagation(); } }, true);
  board.addEventListener("dragstart", (event) => event.preventDefault());

  board.addEventListener("keydown", (event) => {
    const step = 60 / scale;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.target === board && moves[event.key]) { x += moves[event.key][0]; y += moves[event.key][1]; draw(); }
    else if (event.key === "+" || event.key === "=") zoom(1.2);
    else if (event.key === "-") zoom(1 / 1.2);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  // A node that gets the focus by keyboard comes into view.
  board.addEventListener("focusin", (event) => {
    const node = event.target.closest?.(".node");
    if (!node || !node.matches(":focus-visible")) return;
    const [width, height] = size();
    const [cx, cy] = centre(node);
    if (cx < x || cy < y || cx > x + width / scale || cy > y + height / scale) { x = cx - width / scale / 2; y = cy - height / scale / 2; draw(); }
  });
  board.addEventListener("click", (event) => {
    const act = event.target.closest?.("[data-zoom]")?.dataset.zoom;
    if (act === "fit") fit();
    else if (act) zoom(act === "in" ? 1.2 : 1 / 1.2);
  });
  new ResizeObserver(() => (scale === 1 && x === 0 && y === 0 ? fit() : draw())).observe(board);
  fit();
}

// Find in the chart: others fade.
document.addEventListener("input", (event) => {
  const field = event.target.closest?.("[data-find-in-board]");
  if (!field) return;
  const wanted = field.value.trim().toLowerCase();
  for (const node of document.querySelectorAll("[data-board] .node")) node.classList.toggle("dim", Boolean(wanted) && !node.dataset.name.includes(wanted));
});
