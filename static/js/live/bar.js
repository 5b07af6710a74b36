// Says whether the page is live. What it last knew stays, greyed by :root[data-live="off"]; the bar
// appears only when being off lasts, since every page begins without a socket.
import { show } from "../time.js";
import { word } from "../words.js";

const PATIENCE = 1000;

export class Bar {
  #element = document.querySelector("[data-live-bar]");
  #text = this.#element?.querySelector("[data-live-text]");
  #said = this.#text?.textContent;
  #isOpen = false;
  #hasSource = true;
  #off = null;
  #timer = 0;

  constructor() {
    this.#tell("connecting");
    this.#wait();
  }

  // The socket is open or not.
  line(isOpen) {
    this.#isOpen = isOpen;
    this.#look();
  }

  // The server itself hears what happens, or not.
  source(isLive) {
    this.#hasSource = isLive;
    this.#look();
  }

  // There will be no more: why, in words.
  end(text) {
    this.#isOpen = false;
    this.#look("ended");
    if (this.#text) this.#text.textContent = text;
    this.#reveal();
  }

  #look(state = this.#isOpen && this.#hasSource ? "live" : "reconnecting") {
    if (state === document.documentElement.dataset.liveState) return;
    this.#tell(state);
    if (state === "live") return this.#hide();
    if (!this.#off) this.#wait();
  }

  #tell(state) {
    const root = document.documentElement;
    root.dataset.liveState = state;
    // A page that is only beginning is not yet old.
    root.dataset.live = state === "live" || state === "connecting" ? "on" : "off";
    if (this.#element) this.#element.dataset.state = state;
  }

  #wait() {
    this.#off = new Date();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#reveal(), PATIENCE);
  }

  #hide() {
    clearTimeout(this.#timer);
    this.#off = null;
    if (this.#element) this.#element.hidden = true;
    if (this.#text) this.#text.textContent = this.#said;
  }

  #reveal() {
    document.documentElement.dataset.live = "off";
    const since = this.#element?.querySelector("[data-live-since]");
    if (since && this.#off) {
      since.dateTime = this.#off.toISOString();
      since.dataset.when ||= "ago";
      show(since);
    }
    if (this.#element) this.#element.hidden = false;
  }
}
