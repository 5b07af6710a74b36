// Words in the reader's language, put into the page by {% words %}.
const block = document.getElementById("words");
const words = block ? JSON.parse(block.textContent) : {};

export function word(key, values = {}) {
  const text = words[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
