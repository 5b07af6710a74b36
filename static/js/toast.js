// Toasts: toast({text, tone, detail, url, action}), or an event "toast" with the same detail, which
// the server can send by HX-Trigger: {"toast": {"text": "…"}}.
import { word } from "./words.js";

const STAYS = { failed: 12000, blocked: 10000 };
const place = document.getElementById("toasts");
const template = document.getElementById("toast-template");

export function toast({ text, tone = "", detail = "", url = "", action = "" }) {
  if (!place || !template || !text) return;
  const card = template.content.firstElementChild.cloneNode(true);
  if (tone) card.classList.add(tone);
  swapIcon(card, tone);
  card.querySelector("[data-text]").textContent = text;
  if (detail) card.querySelector("p").append(Object.assign(document.createElement("small"), { textContent: detail }));
  if (url) {
    const link = Object.assign(document.createElement("a"), { className: "btn sm ghost", href: url, textContent: action || word("open") });
    card.querySelector("[data-dismiss]").before(link);
  }
  place.append(card);
  while (place.children.length > 4) place.firstElementChild.remove();
  leave(card, tone);
}

function swapIcon(card, tone) {
  const use = card.querySelector("use");
  const name = { succeeded: "circle-check", failed: "circle-x", blocked: "triangle-alert" }[tone];
  if (use && name) use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${name}`));
}

// It waits while one points at it or its button has the focus.
function leave(card, tone) {
  const wait = () => setTimeout(() => card.matches(":hover, :focus-within") ? wait() : card.remove(), STAYS[tone] ?? 6000);
  wait();
}

for (const card of place?.children ?? []) leave(card, card.classList.contains("failed") ? "failed" : "");

document.addEventListener("toast", (event) => toast(event.detail));
document.addEventListener("click", (event) => event.target.closest?.("[data-dismiss]")?.closest("[data-toast]")?.remove());
