// Native dialogs: [data-opens="id"] opens, [data-closes] and a click beside it close.
document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-opens]");
  if (opener) {
    event.preventDefault();
    open(opener.dataset.opens);
    return;
  }
  const closer = event.target.closest?.("[data-closes]");
  if (closer) closer.closest("dialog")?.close();
  else if (event.target instanceof HTMLDialogElement && beside(event)) event.target.close();
});

export function open(id) {
  const dialog = document.getElementById(id);
  if (!(dialog instanceof HTMLDialogElement) || dialog.open) return;
  for (const other of document.querySelectorAll("dialog[open]")) other.close();
  for (const menu of document.querySelectorAll(".menu:popover-open")) menu.hidePopover();
  dialog.showModal();
  dialog.dispatchEvent(new CustomEvent("dialog:open", { bubbles: true }));
}

function beside({ clientX: x, clientY: y, target }) {
  const box = target.getBoundingClientRect();
  return x < box.left || x > box.right || y < box.top || y > box.bottom;
}

// A dialog whose form was sent and answered well has done its work.
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) event.detail.elt?.closest?.("dialog[open]")?.close();
});

// Enter is a new line in a long field; with Ctrl or Cmd it sends, as in the composer.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  const form = event.target.closest?.("dialog[open] form");
  if (!form || event.target.tagName !== "TEXTAREA") return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("button[type=submit], button:not([type])"));
});
