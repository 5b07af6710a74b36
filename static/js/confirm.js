// A last step that asks for a name stays closed until the name was typed.
function check(form) {
  const name = form.dataset.confirmName;
  const typed = form.querySelector("[name=confirm]")?.value.trim();
  for (const button of form.querySelectorAll("[type=submit]")) button.disabled = typed !== name;
}

document.addEventListener("input", (event) => {
  const form = event.target.closest?.("[data-confirm-name]");
  if (form) check(form);
});
document.addEventListener("dialog:open", (event) => {
  const form = event.target.querySelector("[data-confirm-name]");
  if (form) check(form);
});

// A form that is on its way is not sent twice: plain forms only, htmx disables its own. A button
// [data-file] is answered by a file, so the page stays and may ask again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method === "dialog" || event.submitter?.matches("[data-file]") || form.matches("[hx-post], [hx-put], [hx-patch], [hx-delete]")) return;
  if (form.dataset.sent) event.preventDefault();
  else form.dataset.sent = "1";
});
addEventListener("pageshow", (event) => {
  if (event.persisted) for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
