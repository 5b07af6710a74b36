// Light, dark or as the system has it. A cookie, so that the server paints the first frame right.
import { word } from "./words.js";

const root = document.documentElement;
const ORDER = ["system", "light", "dark"];
const others = "BroadcastChannel" in window ? new BroadcastChannel("theme") : null;

const current = () => root.dataset.theme ?? "system";

function show(theme) {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  for (const place of document.querySelectorAll("[data-theme-word]")) place.textContent = word(theme);
}

function choose(theme) {
  const age = theme === "system" ? 0 : 365 * 24 * 3600;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `theme=${theme}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  show(theme);
  others?.postMessage(theme);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-theme-switch]");
  if (button) choose(button.dataset.themeSwitch || ORDER[(ORDER.indexOf(current()) + 1) % ORDER.length]);
});
others?.addEventListener("message", (event) => show(event.data));
show(current());
