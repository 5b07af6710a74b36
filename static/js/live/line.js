// The socket: opened again whenever it is lost, with growing pauses and some chance in them, and
// at once when the page is seen again, the network is back, or the machine wakes up.
import { word } from "../words.js";

const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 15000;
const PING_EVERY = 25000;
const ANSWER_WITHIN = 8000;
const TICK = 5000;
const ACK_EVERY = 32;
// A socket that held this long was a good one: the next pause is short again.
const GOOD_AFTER = 10000;
// After these there is nothing to come back for: the reason and how it is said.
const FINAL = { signed_out: "expired", too_many: "too_many", denied: "no_access" };

export class Line {
  #bar;
  #hear;
  #opened;
  #socket = null;
  #pause = FIRST_PAUSE;
  #timer = 0;
  #count = 0;
  #heardAt = 0;
  #askedAt = 0;
  #openedAt = 0;
  #isOver = false;
  #refusals = 0;

  constructor({ bar, hear, opened }) {
    this.#bar = bar;
    this.#hear = hear;
    this.#opened = opened;
    this.#watch();
  }

  open() {
    clearTimeout(this.#timer);
    if (this.#isOver || this.#socket) return;
    const lang = document.documentElement.lang;
    const address = new URL(`/live/?lang=${encodeURIComponent(lang)}`, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = (this.#socket = new WebSocket(address));
    socket.onopen = () => this.#begin();
    socket.onmessage = (event) => socket === this.#socket && this.#take(event.data);
    socket.onclose = () => socket === this.#socket && this.#lost();
  }

  say(word) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(word));
  }

  // The server says goodbye; some goodbyes are for good.
  end(reason) {
    if (!FINAL[reason]) return;
    this.#isOver = true;
    this.#drop();
    this.#bar.end(word(FINAL[reason]));
  }

  #begin() {
    this.#count = 0;
    this.#refusals = 0;
    this.#heardAt = this.#openedAt = Date.now();
    this.#askedAt = 0;
    this.#bar.line(true);
    this.#opened();
  }

  #take(text) {
    this.#heardAt = Date.now();
    this.#askedAt = 0;
    const message = JSON.parse(text);
    if (!("bye" in message)) {
      this.#count += 1;
      if (this.#count % ACK_EVERY === 0) this.say({ got: this.#count });
    }
    if (!("pong" in message)) this.#hear(message);
  }

  #lost() {
    const wasOpen = this.#heardAt > 0;
    this.#drop();
    this.#bar.line(false);
    if (this.#isOver) return;
    if (wasOpen && Date.now() - this.#openedAt > GOOD_AFTER) this.#pause = FIRST_PAUSE;
    this.#refusals += wasOpen ? 0 : 1;
    if (this.#refusals === 3) this.#askWhy();
    this.#timer = setTimeout(() => this.open(), this.#pause * (0.5 + Math.random()));
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    this.#heardAt = 0;
    clearTimeout(this.#timer);
    socket?.close();
  }

  // A browser does not tell a refused handshake from a server that is away.
  async #askWhy() {
    try {
      const answer = await fetch(location.href, { redirect: "manual" });
      answer.body?.cancel();
      if (answer.type === "opaqueredirect" || answer.status === 401) this.end("signed_out");
    } catch {
      this.#refusals = 0;
    }
  }

  #watch() {
    let last = Date.now();
    setInterval(() => {
      const now = Date.now();
      // A machine that slept: whatever the socket says, it may be a dead one.
      if (now - last > 4 * TICK) this.#wake();
      last = now;
      if (!this.#heardAt) return;
      if (this.#askedAt && now - this.#askedAt > ANSWER_WITHIN) this.#lost();
      else if (!this.#askedAt && now - this.#heardAt > PING_EVERY) this.#ask();
    }, TICK);
    document.addEventListener("visibilitychange", () => document.hidden || this.#wake());
    addEventListener("online", () => this.#wake());
    addEventListener("offline", () => this.#socket && this.#lost());
    addEventListener("pageshow", (event) => event.persisted && this.#wake());
    addEventListener("pagehide", () => this.#drop());
  }

  #ask() {
    this.#askedAt = Date.now();
    this.say({ ping: 1 });
  }

  #wake() {
    this.#pause = FIRST_PAUSE;
    if (!this.#socket) return this.open();
    if (!this.#heardAt) return;
    this.#ask();
    setTimeout(() => this.#askedAt && this.#lost(), 2000);
  }
}
