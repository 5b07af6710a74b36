// [data-checks-all] in the head of a table chooses every row of its body, and shows whether some are.
const boxes = (all) => [...(all.closest("table")?.querySelectorAll("tbody input[type=checkbox]") ?? [])];

function show(all) {
  const chosen = boxes(all).filter((box) => box.checked).length;
  all.checked = chosen > 0 && chosen === boxes(all).length;
  all.indeterminate = chosen > 0 && !all.checked;
}

// [data-keeps-choice] does not ask for itself again while something in it is chosen.
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt } = event.detail;
  if (elt.matches?.("[data-keeps-choice]") && elt.querySelector("tbody input[type=checkbox]:checked")) event.preventDefault();
});

document.addEventListener("change", (event) => {
  if (event.target.matches?.("[data-checks-all]")) for (const box of boxes(event.target)) box.checked = event.target.checked;
  const all = event.target.closest?.("table")?.querySelector("[data-checks-all]");
  if (all) show(all);
});
