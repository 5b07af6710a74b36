// Text that is being written, shown in [data-stream-place="<topic>"] until its stored event comes.
// A piece says at which byte of its block it begins: what is there already is not shown twice, and
// a hole is filled by joining again, which brings the whole block.
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const ASK_AGAIN_AFTER = 1000;

export class Texts {
  #topic;
  #ask;
  #blocks = new Map();
  #ended = new Set();
  #askedAt = 0;
  #isDue = false;

  constructor(topic, ask) {
    this.#topic = topic;
    this.#ask = ask;
  }

  take({ block, at, text, end }) {
    if (end) return this.end(block);
    if (this.#ended.has(block)) return;
    const had = this.#blocks.get(block) ?? { text: "", bytes: 0 };
    const piece = encoder.encode(text);
    if (at > had.bytes) return this.#askAgain();
    const fresh = piece.subarray(had.bytes - at);
    if (!fresh.length && this.#blocks.has(block)) return;
    had.text += fresh.length === piece.length ? text : decoder.decode(fresh);
    had.bytes += fresh.length;
    this.#blocks.set(block, had);
    this.#draw();
  }

  end(block) {
    this.#ended.add(block);
    if (this.#blocks.delete(block)) this.#element(block)?.remove();
  }

  // These are open; any other ended while we were away.
  keepOnly(blocks) {
    for (const block of this.#blocks.keys()) if (!blocks.includes(block)) this.end(block);
  }

  // The place may have been swapped for an empty one.
  refresh() {
    if (this.#blocks.size) this.#draw();
  }

  #askAgain() {
    if (Date.now() - this.#askedAt < ASK_AGAIN_AFTER) return;
    this.#askedAt = Date.now();
    this.#ask();
  }

  // As often as the screen can show it, not as often as text comes.
  #draw() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      for (const [block, { text }] of this.#blocks) this.#write(block, text);
    });
  }

  #write(block, text) {
    const paragraph = (this.#element(block) ?? this.#make(block))?.firstElementChild;
    if (!paragraph) return;
    const node = paragraph.firstChild ?? paragraph.appendChild(document.createTextNode(""));
    if (text.startsWith(node.data)) node.appendData(text.slice(node.data.length));
    else node.data = text;
  }

  #place() {
    return document.querySelector(`[data-stream-place="${CSS.escape(this.#topic)}"]`);
  }

  #element(block) {
    return this.#place()?.querySelector(`[data-block="${CSS.escape(block)}"]`);
  }

  #make(block) {
    const element = document.createElement("div");
    element.className = "streaming prose";
    element.dataset.block = block;
    // The name of a block ends in its kind, for whoever styles it.
    element.dataset.kind = block.split(".").pop();
    element.append(document.createElement("p"));
    this.#place()?.append(element);
    return element.isConnected ? element : null;
  }
}
