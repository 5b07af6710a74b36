// A menu is a popover; it opens beside its button, inside the window.
const GAP = 6;

document.addEventListener("beforetoggle", (event) => {
  const menu = event.target;
  if (!menu.matches?.(".menu[popover]") || event.newState !== "open") return;
  const opener = document.querySelector(`[popovertarget="${CSS.escape(menu.id)}"]:focus`) ?? document.querySelector(`[popovertarget="${CSS.escape(menu.id)}"]`);
  requestAnimationFrame(() => place(menu, opener));
}, true);

function place(menu, opener) {
  if (!opener) return;
  const from = opener.getBoundingClientRect();
  const box = menu.getBoundingClientRect();
  const beside = opener.closest(".rail") !== null;
  const x = beside ? from.right + GAP : Math.min(from.left, innerWidth - box.width - 8);
  const below = beside ? from.top : from.bottom + GAP;
  const y = below + box.height > innerHeight - 8 ? Math.max(8, (beside ? from.bottom : from.top - GAP) - box.height) : below;
  menu.style.left = `${Math.max(8, x)}px`;
  menu.style.top = `${y}px`;
}

document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.(".menu");
  if (!menu || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
  const items = [...menu.querySelectorAll(".menu-item")];
  const step = event.key === "ArrowDown" ? 1 : -1;
  items[(items.indexOf(document.activeElement) + step + items.length) % items.length]?.focus();
  event.preventDefault();
});
