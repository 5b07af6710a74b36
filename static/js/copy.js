// [data-copy] puts its whole value on the clipboard.
import { toast } from "./toast.js";
import { word } from "./words.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  event.preventDefault();
  if (await copied(button.dataset.copy)) {
    button.dataset.copied = "";
    setTimeout(() => delete button.dataset.copied, 1500);
  } else {
    toast({ text: word("copy_failed"), tone: "failed" });
  }
});

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byHand(text); // no clipboard without https
  }
}

function byHand(text) {
  const area = Object.assign(document.createElement("textarea"), { value: text });
  area.className = "vh";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
