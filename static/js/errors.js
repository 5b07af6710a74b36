// What went wrong with a request is said in words, with what was kept. Nothing fails in silence.
import { toast } from "./toast.js";
import { word } from "./words.js";

const BY_STATUS = { 403: "not_allowed", 404: "not_found", 409: "conflict", 413: "too_large", 429: "too_many" };

function inWords(status) {
  if (BY_STATUS[status]) return word(BY_STATUS[status]);
  return word(status >= 500 ? "server_error" : "refused", { status });
}

document.addEventListener("htmx:sendError", () => toast({ text: word("no_connection"), tone: "failed" }));
document.addEventListener("htmx:timeout", () => toast({ text: word("timeout"), tone: "failed" }));
document.addEventListener("htmx:responseError", (event) => {
  const { xhr } = event.detail;
  const said = xhr.getResponseHeader("X-Said");
  toast({ text: said ? decodeURIComponent(said) : inWords(xhr.status), tone: "failed" });
});

// A refusal is a sentence, not a fragment: it is said, and what was written stays.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!event.detail.xhr.getResponseHeader("X-Said")) return;
  event.detail.shouldSwap = false;
  event.detail.isError = true;
});

// A whole page in answer to a request for a fragment: the session has ended, or a form was
// answered by a redirect. It is opened as a page, never swapped into a pane.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig, elt } = event.detail;
  if (requestConfig?.boosted || elt?.closest?.("[hx-select]")) return;
  if (!/^\s*<!doctype html/i.test(xhr.responseText)) return;
  event.detail.shouldSwap = false;
  const there = new URL(xhr.responseURL || location.href);
  if (there.pathname.startsWith("/accounts/login")) toast({ text: word("expired"), tone: "blocked" });
  if (xhr.status < 400) location.assign(there.pathname.startsWith("/accounts/login") ? `${there.pathname}?next=${encodeURIComponent(location.pathname + location.search)}` : there);
});

document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-reload]")) location.reload();
});
