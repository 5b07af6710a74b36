// The editor of a skill: [data-adds="template"][data-into="place"] puts a copy of a template there,
// [data-removes] takes its [data-removable] away. Both count as changes of the form around them.
const tell = (element) => element?.closest("form")?.dispatchEvent(new Event("input", { bubbles: true }));

document.addEventListener("click", (event) => {
  const adds = event.target.closest?.("[data-adds]");
  if (adds) {
    const place = document.getElementById(adds.dataset.into);
    place.append(document.getElementById(adds.dataset.adds).content.cloneNode(true));
    place.lastElementChild?.querySelector("input")?.focus();
    tell(adds);
  }
  const removed = event.target.closest?.("[data-removes]")?.closest("[data-removable]");
  if (removed) {
    const form = removed.closest("form");
    removed.remove();
    form?.querySelector("[data-adds]")?.focus();
    tell(form?.querySelector("[data-adds]"));
  }
});
