// The topics of the page and how far each is. A topic's place is (epoch, n): what comes twice is
// dropped, what is missing is fetched, what comes too early waits for a moment.
import { placeOf } from "./place.js";
import { fetchInto, swap } from "./swap.js";
import { Texts } from "./texts.js";

const REORDER_WITHIN = 150;
const LEAVE_AFTER = 2000;

export class Topics {
  #say;
  #signedOut;
  #topics = new Map();
  #seen = new WeakSet();

  constructor({ say, signedOut }) {
    this.#say = say;
    this.#signedOut = signedOut;
  }

  // Elements that are new are joined; a topic that no element has any more is left.
  scan() {
    for (const element of document.querySelectorAll("[data-live-topic]")) {
      if (this.#seen.has(element)) continue;
      this.#seen.add(element);
      this.#found(element);
    }
    for (const topic of this.#topics.values()) topic.texts.refresh();
    clearTimeout(this.leaving);
    this.leaving = setTimeout(() => this.#leaveGone(), LEAVE_AFTER);
  }

  joinAll() {
    for (const topic of this.#topics.values()) topic.join();
  }

  hear(message) {
    const name = message.topic ?? message.joined ?? message.resync ?? message.denied;
    this.#topics.get(name)?.hear(message);
  }

  rejoin(name) {
    this.#topics.get(name)?.join();
  }

  // What the page is about: the first of its topics that can be fetched.
  main() {
    return document.querySelector("[data-live-topic][data-live-backfill]")?.dataset.liveTopic ?? "";
  }

  #found(element) {
    const name = element.dataset.liveTopic;
    const place = placeOf(element);
    const known = this.#topics.get(name);
    if (known) return known.shownAgain(place);
    const topic = new Topic(name, place, { say: this.#say, signedOut: this.#signedOut });
    this.#topics.set(name, topic);
    topic.join();
  }

  #leaveGone() {
    for (const [name, topic] of this.#topics) {
      if (topic.elements().length) continue;
      this.#topics.delete(name);
      this.#say({ leave: name });
    }
  }
}

class Topic {
  #name;
  #say;
  #signedOut;
  #place;
  #held = new Map();
  #timer = 0;
  #isFilling = false;
  #fillAgain = false;

  constructor(name, place, { say, signedOut }) {
    this.#name = name;
    this.#place = place;
    this.#say = say;
    this.#signedOut = signedOut;
    this.texts = new Texts(name, () => this.join());
  }

  elements() {
    return [...document.querySelectorAll(`[data-live-topic="${CSS.escape(this.#name)}"]`)];
  }

  join() {
    const after = this.#place && [this.#place.epoch, this.#place.n];
    this.#say({ join: this.#name, after });
  }

  // A fragment of this topic came with a swap: if it is older than what we had shown, what came
  // since is missing from it.
  shownAgain(place) {
    if (!place || this.#isFilling) return;
    const had = this.#place;
    this.#place = place;
    if (!had || had.epoch !== place.epoch || had.n !== place.n) this.join();
  }

  hear(message) {
    if (message.joined) this.#joined(message);
    else if (message.resync) this.#fill();
    else if (message.denied) this.#announce({ kind: "denied", data: { wasJoined: this.wasJoined } });
    else if (message.error) setTimeout(() => this.join(), 2000);
    else if (message.kind === "delta") this.texts.take(message.data);
    else if (message.n === undefined) this.#apply(message);
    else this.#take(message);
  }

  #joined({ epoch, n, blocks }) {
    this.wasJoined = true;
    if (blocks) this.texts.keepOnly(blocks);
    // How far the page is after a fetch that this join may ask for.
    this.reached = epoch ? { epoch, n } : null;
  }

  #take(message) {
    const { epoch, n } = message;
    if (this.#isFilling) return this.#hold(message);
    const place = this.#place;
    if (place?.epoch !== epoch) {
      // From an epoch that we do not know. A fetch would have it too; a page that is not fetched
      // but asks for itself hears of it.
      this.reached = { epoch, n: this.#sources().length ? n : n - 1 };
      this.#hold(message);
      return this.#fill();
    }
    if (n <= place.n) return;
    this.#hold(message);
    this.#drain();
  }

  #hold(message) {
    this.#held.set(message.n, message);
  }

  #drain() {
    clearTimeout(this.#timer);
    for (let next; (next = this.#held.get(this.#place.n + 1)); ) {
      this.#held.delete(next.n);
      this.#place = { epoch: next.epoch, n: next.n };
      this.#apply(next);
    }
    if (this.#held.size) this.#timer = setTimeout(() => this.#giveUpWaiting(), REORDER_WITHIN);
  }

  #giveUpWaiting() {
    const last = [...this.#held.values()].reduce((a, b) => (a.n > b.n ? a : b));
    this.reached = { epoch: last.epoch, n: last.n };
    this.#fill();
  }

  #apply(message) {
    if (message.html) swap(message.html);
    if (message.data?.block) this.texts.end(message.data.block);
    this.#announce(message);
  }

  #sources() {
    return this.elements().filter((element) => element.dataset.liveBackfill);
  }

  async #fill() {
    if (this.#isFilling) {
      this.#fillAgain = true;
      return;
    }
    this.#isFilling = true;
    clearTimeout(this.#timer);
    const reached = this.reached;
    const answer = await this.#fetch();
    this.#isFilling = false;
    if (answer === "signed_out") return this.#signedOut();
    if (answer === "again") return setTimeout(() => this.#fill(), 1000 + Math.random() * 2000);
    this.#place = answer ?? reached ?? this.#place;
    this.#catchUp();
  }

  // Where the topic is now, undefined when the answer does not say, or why there is none.
  async #fetch() {
    let place;
    for (const element of this.#sources()) {
      const answer = await fetchInto(element, this.#place);
      if (answer === "signed_out" || answer === "again") return answer;
      if (answer) place = answer;
    }
    return place;
  }

  #catchUp() {
    this.#announce({ kind: "resync" });
    const held = [...this.#held.values()].sort((a, b) => a.n - b.n);
    this.#held.clear();
    for (const message of held) this.#take(message);
    if (!this.#fillAgain) return;
    this.#fillAgain = false;
    this.#fill();
  }

  // What a page may listen for, on the body: `live:message` for everything; for what brought no
  // fragment `live-<area of the topic>` and `<kind>-changed`, and `live-changed` where the topic
  // has nothing that could be fetched.
  #announce(message) {
    const detail = { topic: this.#name, kind: message.kind, data: message.data ?? null };
    const names = ["live:message"];
    if (message.kind === "denied") names.push("live:denied");
    else if (!message.html) {
      names.push(`live-${area(this.#name)}`, `${message.kind}-changed`);
      if (!this.#sources().length) names.push("live-changed");
    }
    for (const name of names) document.body.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
  }
}

// w/<id>/roster → roster; w/<id>/run/<id> → run.
const area = (topic) => topic.split("/")[2] ?? topic.split("/")[0];
