// How far a fragment is: data-live-after="<epoch>:<n>".
export function placeOf(element) {
  return read(element.dataset.liveAfter);
}

export function read(text) {
  const [epoch, n] = (text ?? "").split(":");
  return epoch && /^\d+$/.test(n) ? { epoch, n: Number(n) } : null;
}
