// <time datetime data-when> in the reader's own zone and language. The server's text is UTC, so
// that everyone gets the same bytes; what people read is made here and kept fresh.
import { word } from "./words.js";

// The page's language in the reader's own manner: en-GB reads 16:42, en-US 4:42 PM.
const page = document.documentElement.lang || "en";
const language = navigator.languages?.find((one) => one === page || one.startsWith(`${page}-`)) ?? page;
const format = (options) => new Intl.DateTimeFormat(language, options);
const clock = format({ hour: "2-digit", minute: "2-digit" });
const weekday = format({ weekday: "short" });
const day = format({ day: "numeric", month: "short" });
const dayAndYear = format({ day: "numeric", month: "short", year: "numeric" });
const full = format({ dateStyle: "full", timeStyle: "medium" });

const sameDay = (a, b) => a.toDateString() === b.toDateString();

function ago(moment, now) {
  const seconds = Math.round((now - moment) / 1000);
  if (seconds < 0) return until(-seconds) ?? date(moment, now);
  if (seconds < 60) return `${Math.max(1, seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (sameDay(moment, now)) return `${Math.floor(seconds / 3600)} h`;
  return date(moment, now);
}

function until(seconds) {
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 86400 ? `${Math.round(seconds / 3600)} h` : null;
}

function date(moment, now) {
  const days = (now - moment) / 86400000;
  if (days < 2 && sameDay(moment, new Date(now - 86400000))) return word("yesterday");
  if (days >= 0 && days < 6) return weekday.format(moment);
  return (moment.getFullYear() === now.getFullYear() ? day : dayAndYear).format(moment);
}

const STYLES = {
  ago,
  clock: (moment, now) => (sameDay(moment, now) ? clock.format(moment) : `${date(moment, now)} ${clock.format(moment)}`),
  day: (moment, now) => date(moment, now),
  full: (moment) => full.format(moment),
};

export function show(element, now = new Date()) {
  const moment = new Date(element.dateTime);
  if (Number.isNaN(moment.getTime())) return;
  const text = (STYLES[element.dataset.when] ?? ago)(moment, now);
  if (element.textContent !== text) element.textContent = text;
  if (!element.title) element.title = full.format(moment);
}

function all(root) {
  if (root.matches?.("time[data-when]")) show(root);
  for (const element of root.querySelectorAll?.("time[data-when]") ?? []) show(element);
}

all(document);
new MutationObserver((changes) => {
  for (const change of changes) for (const node of change.addedNodes) all(node);
}).observe(document.body, { childList: true, subtree: true });
setInterval(() => document.hidden || all(document), 10000);
document.addEventListener("visibilitychange", () => document.hidden || all(document));
