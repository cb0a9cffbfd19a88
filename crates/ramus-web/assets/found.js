// What was searched for, marked where it was found. The browser draws the marks: what is shown stays as it was made.

import { state } from "./state.js";

/** How many places are marked. */
const MOST = 500;

let words = [];
/** Where they were found: the session and the entry. */
let place = "";

/** Remembers what of a hit answered the search, before it is opened. */
export function found(id, seq, segments) {
  words = [...new Set((segments ?? []).filter((part) => part.match).map((part) => part.text.toLowerCase()))].filter(Boolean);
  place = `${id} ${seq}`;
}

/** Marks the words in the entry that is shown, if it is the one that was found. */
export function paint(content) {
  if (!CSS.highlights) return;
  CSS.highlights.delete("found");
  const shown = content.querySelector("[aria-current]");
  if (!shown || words.length === 0 || place !== `${state.s} ${state.e}`) return;
  const ranges = [];
  const texts = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() && ranges.length < MOST) {
    const node = texts.currentNode;
    const text = node.data.toLowerCase();
    // Some letters are longer when they are small: positions would be wrong.
    if (text.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0 && ranges.length < MOST; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  if (ranges.length > 0) CSS.highlights.set("found", new Highlight(...ranges));
}
