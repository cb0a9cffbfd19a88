// The tab of files: what a turn changed, what changed since the start, and how the files of now differ.

import { get, path, query } from "./api.js";
import { files as showFiles } from "./diff.js";
import { button, fill, h } from "./dom.js";
import { time } from "./format.js";
import { go, state } from "./state.js";
import { open, targetOf } from "./tree.js";

const CHOICES = [["turn", "This turn"], ["start", "Since the start"], ["now", "Against the files now"]];

let latest = 0;

export async function show(content, row) {
  const mine = ++latest;
  const id = open.id;
  const bar = h("div", { class: "segments", role: "radiogroup", "aria-label": "What is compared" },
    CHOICES.map(([name, text]) => button(text, () => go({ diff: name }, { replace: true }), { role: "radio", "aria-checked": state.diff === name })));
  fill(content, bar, h("p", { class: "quiet" }, "Comparing…"));
  let body;
  try {
    body = state.diff === "now" ? await now(id, row) : await changes(id, row);
  } catch (error) {
    body = h("p", { class: "quiet" }, error.hint ? `${error.message}. ${error.hint}` : error.message);
  }
  if (mine === latest && state.tab === "files") fill(content, bar, body);
}

/** What calls changed in a turn, or from the start up to its end. */
async function changes(id, row) {
  const since = state.diff === "turn" ? `#${row.seq}` : null;
  const { diffs } = await get(query(path("sessions", id, "changes"), { since, entry: `#${targetOf(row)}` }));
  return showFiles(diffs);
}

/** How the files that are there differ from the last snapshot that was taken up to an entry. */
async function now(id, row) {
  const { snapshots } = await get(path("sessions", id, "snapshots"));
  const end = targetOf(row);
  const from = snapshots.filter((one) => one.seq <= end).sort((a, b) => b.seq - a.seq)[0];
  if (!from) return h("p", { class: "quiet" }, "No snapshot of the files was taken up to here.");
  const { diffs } = await get(query(path("sessions", id, "diff"), { from: from.id }));
  return [h("p", { class: "quiet" }, `From ◆ ${from.label} (${time(from.created)}) to the files now`), showFiles(diffs)];
}
