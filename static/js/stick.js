// [data-stick]: a scrolling place that begins at its end and stays there as it grows, unless one
// has scrolled up to read; then a pill says that there is more below.
import { word } from "./words.js";

const NEAR = 80;
const SELECTOR = "[data-stick]";
const watched = new WeakSet();

function watch(place) {
  if (watched.has(place)) return;
  watched.add(place);
  let sticks = true;
  let last = 0;
  const pill = makePill(() => toEnd("smooth"));
  const atEnd = () => place.scrollHeight - place.scrollTop - place.clientHeight < NEAR;
  const toEnd = (behavior = "instant") => place.scrollTo({ top: place.scrollHeight, behavior });

  place.addEventListener("scroll", () => {
    // Growth moves the end, not the reader: only scrolling up lets go.
    if (atEnd()) { sticks = true; pill.hidden = true; }
    else if (place.scrollTop < last - 4) sticks = false;
    last = place.scrollTop;
  }, { passive: true });
  place.addEventListener("stick:end", () => { sticks = true; toEnd(); });
  // One reads further up: what came in there, or was opened, is nothing new below.
  const reads = () => { sticks = atEnd(); last = place.scrollTop; height = place.scrollHeight; };
  place.addEventListener("stick:read", reads);
  place.addEventListener("toggle", () => { height = place.scrollHeight; }, true);

  let height = place.scrollHeight;
  const grown = () => {
    if (sticks) toEnd();
    else if (!atEnd() && place.scrollHeight > height) pill.hidden = false;
    height = place.scrollHeight;
  };
  const sizes = new ResizeObserver(grown);
  sizes.observe(place);
  const watchChildren = () => { for (const child of place.children) sizes.observe(child); };
  watchChildren();
  place.append(pill);
  // The whole of it may be fetched anew.
  new MutationObserver(watchChildren).observe(place, { childList: true });
  if (!location.hash || location.hash === "#main") {
    toEnd();
    document.fonts?.ready.then(() => sticks && toEnd());
  } else {
    sticks = false;
  }
}

function makePill(act) {
  const pill = document.createElement("div");
  pill.className = "to-end";
  pill.hidden = true;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "btn sm", textContent: `↓ ${word("new_below")}` });
  button.addEventListener("click", act);
  pill.append(button);
  return pill;
}

const all = () => document.querySelectorAll(SELECTOR).forEach(watch);
all();
document.addEventListener("htmx:afterSettle", all);
