// Differences of files: unified or side by side, with the words that changed marked.

import { button, h } from "./dom.js";
import { count } from "./format.js";
import { refold } from "./keep.js";
import { go, state } from "./state.js";

/** Of longer differences the start is shown. */
const MOST = 3000;

/** How many files are unfolded at first. */
const UNFOLDED = 20;

/** Shows files and what changed in them. `restore(file)` puts one of them back, where that can be done. */
export function files(list, { restore } = {}) {
  if (list.length === 0) return h("p", { class: "quiet" }, "No file differs.");
  const total = (name) => list.reduce((sum, file) => sum + file[name], 0);
  const all = () => list.map((file, at) => one(file, at < UNFOLDED, restore));
  const shown = h("div", { class: "diffs" }, all());
  // The button stays, and so does the focus; what was folded stays folded.
  const toggle = button("Side by side", () => {
    go({ sides: state.sides ? "" : "1" }, { replace: true });
    toggle.setAttribute("aria-pressed", Boolean(state.sides));
    shown.replaceChildren(...refold(shown, h("div", {}, all())).childNodes);
  }, { class: "toggle", "aria-pressed": Boolean(state.sides) });
  return h("div", { class: "diffs" },
    h("p", { class: "quiet over" }, h("span", {}, `${count(list.length, "file")} `, h("span", { class: "plus" }, `+${total("additions")}`), " ",
      h("span", { class: "minus" }, `−${total("deletions")}`)), toggle), shown);
}

function one(file, open, restore) {
  const head = h("summary", {}, h("span", { class: `status ${file.status}` }, file.status), " ", h("span", { class: "path" }, file.path),
    file.from ? ` (from ${file.from})` : null, " ", h("span", { class: "plus" }, `+${file.additions}`), " ",
    h("span", { class: "minus" }, `−${file.deletions}`));
  const body = h("div", { class: "body" });
  const details = h("details", { class: "diff", open, "data-fold": file.path }, head, body);
  const show = () => {
    if (body.childNodes.length > 0) return;
    body.append(file.diff ? (state.sides ? split(file.diff) : unified(file.diff)) : h("p", { class: "quiet" }, file.binary ? "Not text." : "Nothing to show."));
    if (restore) body.append(h("p", { class: "buttons" }, button("Put this file back", () => restore(file), { "data-restore": file.path })));
  };
  if (open) show();
  details.addEventListener("toggle", show);
  return details;
}

/** Reads a unified difference: heads of hunks, lines that stayed, and runs of lines that went and came. */
export function read(text) {
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  const blocks = [];
  let [left, right, isIn] = [0, 0, false];
  let run = null;
  for (const line of lines.slice(0, MOST)) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (hunk) {
      [left, right, isIn, run] = [Number(hunk[1]), Number(hunk[2]), true, null];
      blocks.push({ hunk: line });
    } else if (!isIn) continue;
    else if (line[0] === "-" || line[0] === "+") {
      if (!run) blocks.push((run = { minus: [], plus: [] }));
      if (line[0] === "-") run.minus.push([left++, line.slice(1)]);
      else run.plus.push([right++, line.slice(1)]);
    } else if (line[0] === "\\") blocks.push({ hunk: line.slice(2) });
    else {
      run = null;
      blocks.push({ same: line.slice(1), left: left++, right: right++ });
    }
  }
  if (lines.length > MOST) blocks.push({ hunk: `… ${count(lines.length - MOST, "more line")}` });
  return blocks;
}

const region = (kind, rows) => h("div", { class: kind, role: "region", tabindex: 0, "aria-label": "difference" }, rows);
const number = (at) => h("span", { class: "number", "aria-hidden": "true" }, at ?? "");

/** Shows a difference line by line. Where nobody knows at which line it begins, lines have no numbers. */
export function unified(text, { isNumbered = true } = {}) {
  const line = (kind, sign, left, right, content) => h("div", { class: kind }, isNumbered ? [number(left), number(right)] : null, sign, content);
  return region("lines", read(text).map((block) => {
    if (block.hunk !== undefined) return isNumbered || !block.hunk.startsWith("@@") ? h("div", { class: "hunk" }, block.hunk) : null;
    if (block.same !== undefined) return line("same", " ", block.left, block.right, block.same);
    return [block.minus.map(([at, old], n) => line("minus", "-", at, null, marked(old, block.plus[n]?.[1], block))),
      block.plus.map(([at, now], n) => line("plus", "+", null, at, marked(now, block.minus[n]?.[1], block)))];
  }));
}

/** Shows what was on the left and what is on the right. */
export function split(text) {
  const cell = (kind, line, other, block) => h("div", { class: line ? kind : "none" }, line ? [number(line[0]), marked(line[1], other?.[1], block)] : null);
  return region("lines two", read(text).map((block) => {
    if (block.hunk !== undefined) return h("div", { class: "hunk" }, block.hunk);
    if (block.same !== undefined) return [cell("same", [block.left, block.same]), cell("same", [block.right, block.same])];
    const { minus, plus } = block;
    return Array.from({ length: Math.max(minus.length, plus.length) }, (_, n) => [cell("minus", minus[n], plus[n], block), cell("plus", plus[n], minus[n], block)]);
  }));
}

/** Marks what a line does not have in common with the one in its place. Runs of different lengths have no such lines. */
function marked(text, other, block) {
  if (other === undefined || !block || block.minus.length !== block.plus.length) return text;
  const most = Math.min(text.length, other.length);
  let start = 0;
  while (start < most && text[start] === other[start]) start++;
  let end = 0;
  while (end < most - start && text[text.length - 1 - end] === other[other.length - 1 - end]) end++;
  if (start + end === 0) return text;
  const middle = text.slice(start, text.length - end);
  return [text.slice(0, start), middle ? h("mark", {}, middle) : null, text.slice(text.length - end)];
}
