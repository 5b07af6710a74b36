// One socket for the page. Its topics are the [data-live-topic] elements; what comes is swapped in,
// and what was missed is fetched from the element's own address. See live/README.md.
import { Bar } from "./live/bar.js";
import { Line } from "./live/line.js";
import { People } from "./live/people.js";
import { Topics } from "./live/topics.js";

const bar = new Bar();
const line = new Line({ bar, hear, opened });
const topics = new Topics({ say: (word) => line.say(word), signedOut: () => line.end("signed_out") });
const people = new People({ say: (word) => line.say(word), locus: () => topics.main() });

function hear(message) {
  if ("live" in message) bar.source(message.live);
  else if (message.resync?.endsWith("/presence")) topics.rejoin(message.resync);
  else if ("bye" in message) line.end(message.bye);
  else if (message.kind === "presence") people.show(message.topic, message.data);
  else topics.hear(message);
}

function opened() {
  topics.joinAll();
  people.tell();
}

// What the page is about was taken from its reader.
document.body.addEventListener("live:denied", ({ detail }) => {
  if (detail.data.wasJoined && detail.topic === topics.main()) line.end("denied");
});

topics.scan();
document.addEventListener("htmx:afterSettle", () => {
  topics.scan();
  people.refresh();
});
line.open();
