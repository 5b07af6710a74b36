// Fragments into the page, through htmx. Doing it twice gives the same page: an element that is
// appended but already there takes the other's place.
import { placeOf, read } from "./place.js";

const { htmx } = window;
const AT_ONCE = { swapDelay: 0, settleDelay: 0, ignoreTitle: true };

// Out-of-band fragments, each with its own target.
export function swap(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const group of template.content.querySelectorAll("[hx-swap-oob*=':']")) withoutTwins(group);
  // What this page does not show: the run of a subagent that nobody has opened.
  for (const element of template.content.querySelectorAll('[hx-swap-oob="true"][id]'))
    if (!document.getElementById(element.id)) element.remove();
  if (!template.content.children.length) return;
  htmx.swap(document.body, template.innerHTML, { swapStyle: "none", ...AT_ONCE });
}

// Fetches an element's own address and puts the answer where it belongs. Gives the place it brings
// along, nothing if it brings none, "signed_out", or "again" when the server did not answer.
export async function fetchInto(element, place) {
  let response;
  try {
    response = await fetch(address(element, place), { headers: { "HX-Request": "true" }, redirect: "manual" });
  } catch {
    return "again";
  }
  if (response.type === "opaqueredirect" || response.status === 401) return "signed_out";
  if (response.status >= 500 || response.status === 429) return "again";
  if (!response.ok) return undefined;
  const html = await response.text();
  return put(element, html) ?? read(response.headers.get("Live-Cursor")) ?? undefined;
}

function put(element, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const root = template.content.firstElementChild;
  if (!root) return undefined;
  if (root.matches("[hx-swap-oob]")) {
    swap(html);
    return undefined;
  }
  const target = element.dataset.liveTarget ? document.querySelector(element.dataset.liveTarget) : element;
  if (!target?.isConnected) return undefined;
  htmx.swap(target, html, { swapStyle: "outerHTML", ...AT_ONCE });
  return placeOf(root) ?? undefined;
}

function withoutTwins(group) {
  const [how] = group.getAttribute("hx-swap-oob").split(":");
  if (how !== "beforeend" && how !== "afterbegin") return;
  for (const fresh of [...group.children]) {
    const twin = fresh.id && document.getElementById(fresh.id);
    if (!twin) continue;
    fresh.remove();
    htmx.swap(twin, fresh.outerHTML, { swapStyle: "outerHTML", ...AT_ONCE });
  }
  if (!group.children.length) group.remove();
}

function address(element, place) {
  const url = new URL(element.dataset.liveBackfill, location.href);
  if (place) url.searchParams.set("after", place.n);
  return url;
}
