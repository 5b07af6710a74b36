// Panes fold by CSS (:target, data-front). What CSS cannot do: close the drawer by Esc or a click
// beside it, bring the pane that was just filled to the front of a phone, put the context away.
const root = document.documentElement;
const drawer = () => document.querySelector(".pane.context:target");

// replace, not assign: Back then leads to where one was before the drawer.
function close() {
  location.replace("#main");
  document.getElementById("main")?.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented && drawer() && !document.querySelector("dialog[open]")) close();
});
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-closes-pane]")) {
    event.preventDefault();
    close();
  } else if (drawer() && innerWidth >= 760 && event.target.closest?.(".pane.main, .pane.list")) {
    close();
  }
  const toggle = event.target.closest?.("[data-context-switch]");
  if (toggle) putAway(root.dataset.context !== "off");
});

function putAway(away) {
  if (away) root.dataset.context = "off";
  else delete root.dataset.context;
  try { localStorage.setItem("context", away ? "off" : "on"); } catch { /* private window */ }
}
try { if (localStorage.getItem("context") === "off") root.dataset.context = "off"; } catch { /* private window */ }

document.addEventListener("htmx:afterSwap", (event) => {
  const pane = event.detail.target?.closest?.(".pane");
  const panes = pane?.closest(".panes");
  if (!panes || !event.detail.requestConfig?.elt?.closest?.(".pane.list") || pane.id === "list") return;
  panes.dataset.front = pane.id;
  if (location.hash === "#list") history.replaceState(history.state, "", location.pathname + location.search);
});
