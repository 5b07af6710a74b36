// [data-default-adapter]: what new agents run on, remembered in this browser and sent to nobody. The
// settings of a draft ([data-new-agent]) begin with it; an agent that is here keeps its own.
const KEY = "default-adapter";

function remembered() {
  try { return localStorage.getItem(KEY); } catch { return null; } // private window
}

document.addEventListener("change", (event) => {
  const choice = event.target.closest?.("[data-default-adapter]");
  if (!choice) return;
  try { localStorage.setItem(KEY, choice.value); } catch { /* private window */ }
});

const wanted = remembered();
if (wanted !== null) {
  for (const choice of document.querySelectorAll("[data-default-adapter]")) {
    if ([...choice.options].some((option) => option.value === wanted)) choice.value = wanted;
  }
  const radio = document.querySelector(`[data-new-agent] [name=adapter_id][value="${CSS.escape(wanted)}"]`);
  if (radio && !radio.checked) {
    radio.checked = true;
    for (const kind of ["input", "change"]) radio.dispatchEvent(new Event(kind, { bubbles: true }));
  }
}
