// The editor of a skill: [data-adds="template"][data-into="place"] puts a copy of a template there,
// [data-removes] takes its [data-removable] away. Both count as changes of the form around them.
// A name that is typed into [data-names="text"] is also the one in that text's front matter, as long
// as nobody wrote another there.
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

for (const field of document.querySelectorAll("[data-names]")) {
  const text = document.getElementById(field.dataset.names);
  let known = /^name: *(.*)$/m.exec(text.value)?.[1] ?? "";
  if (field.value && field.value !== known) continue;
  field.addEventListener("input", () => {
    const line = `name: ${known}`;
    if (!text.value.includes(`${line}\n`)) return;
    known = field.value.trim().toLowerCase().replace(/[^a-z0-9]+/g, "-");
    text.value = text.value.replace(`${line}\n`, () => `name: ${known}\n`);
    text.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
