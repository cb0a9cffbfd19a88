// Differences of files: unified, with the words that changed marked.

import { h } from "./dom.js";
import { count } from "./format.js";

/** Of longer differences the start is shown. */
const MOST = 3000;

/** Shows files and what changed in them. `open` says whether they are unfolded. */
export function files(list, { open = true } = {}) {
  if (list.length === 0) return h("p", { class: "quiet" }, "No file differs.");
  const total = (name) => list.reduce((sum, file) => sum + file[name], 0);
  return h("div", { class: "diffs" },
    h("p", { class: "quiet" }, `${count(list.length, "file")} `, h("span", { class: "plus" }, `+${total("additions")}`), " ",
      h("span", { class: "minus" }, `−${total("deletions")}`)),
    list.map((file, at) => one(file, open && at < 20)));
}

function one(file, open) {
  const head = h("summary", {}, h("span", { class: `status ${file.status}` }, file.status), " ", h("span", { class: "path" }, file.path),
    file.from ? ` (from ${file.from})` : null, " ", h("span", { class: "plus" }, `+${file.additions}`), " ",
    h("span", { class: "minus" }, `−${file.deletions}`));
  const body = h("div", { class: "body" });
  const details = h("details", { class: "diff", open }, head, body);
  const show = () => {
    if (body.childNodes.length === 0) body.append(file.diff ? unified(file.diff) : h("p", { class: "quiet" }, file.binary ? "Not text." : "Nothing to show."));
  };
  if (open) show();
  details.addEventListener("toggle", show);
  return details;
}

/** Shows a unified difference line by line. */
export function unified(text) {
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  const out = [];
  for (let at = 0; at < Math.min(lines.length, MOST); at++) {
    const line = lines[at];
    if (/^(diff |index |--- |\+\+\+ |new file|deleted file|old mode|new mode|similarity|rename )/.test(line)) continue;
    const next = lines[at + 1] ?? "";
    const isPair = line.startsWith("-") && next.startsWith("+") && !(lines[at - 1] ?? "").startsWith("-") && !(lines[at + 2] ?? "").startsWith("+");
    if (isPair) {
      const [start, end] = common(line.slice(1), next.slice(1));
      out.push(marked("minus", line, start, end), marked("plus", next, start, end));
      at++;
    } else out.push(row(line));
  }
  if (lines.length > MOST) out.push(h("div", { class: "hunk" }, `… ${count(lines.length - MOST, "more line")}`));
  return h("div", { class: "lines", role: "region", tabindex: 0, "aria-label": "difference" }, out);
}

function row(line) {
  const kind = { "+": "plus", "-": "minus", "@": "hunk" }[line[0]] ?? "same";
  return h("div", { class: kind }, line || " ");
}

/** How much two lines have in common at the start and at the end. */
function common(a, b) {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return [start, end];
}

function marked(kind, line, start, end) {
  const text = line.slice(1);
  const middle = text.slice(start, text.length - end);
  return h("div", { class: kind }, line[0], text.slice(0, start), middle ? h("mark", {}, middle) : null, text.slice(text.length - end));
}
