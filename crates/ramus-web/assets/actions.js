// What can be done, each under one name: buttons, keys and the palette all come here.

import { get, patch, path, post, query, remove } from "./api.js";
import { ask, attempt, confirm, note } from "./dialog.js";
import { describe, live } from "./live.js";
import * as prompt from "./prompt.js";
import { rewind, unrevert } from "./rewind.js";
import { known, move as moveSession, reload } from "./sessions.js";
import { share } from "./share.js";
import { go, state } from "./state.js";
import * as tree from "./tree.js";

/** `button` has it shown above an entry, `key` is what is pressed for it, `always` needs no entry. */
export const ACTIONS = [
  { name: "checkout", text: "Go on from here", key: "Enter", button: "Checkout", run: checkout },
  { name: "rewind", text: "Go back, with the files as they were", key: "r", button: "Rewind…", run: (row) => rewind(row) },
  { name: "again", text: "Say this prompt otherwise, on a new branch", key: "a", button: "Edit & retry", run: again },
  { name: "fork", text: "Start a new session from here", key: "f", button: "Fork", run: fork },
  { name: "label", text: "Name this entry", key: "L", button: "Label", run: label },
  { name: "compare", text: "Compare this branch with another", key: "c", button: "Compare", run: compare },
  { name: "diff", text: "Show what changed in files", key: "d", run: () => go({ tab: "files", page: "" }, { replace: true }) },
  { name: "raw", text: "Show what is stored", run: () => go({ tab: "raw", page: "" }, { replace: true }) },
  { name: "context", text: "Show what a model would be sent", run: () => go({ tab: "context", page: "" }, { replace: true }) },
  { name: "expand", text: "Unfold what was compacted", key: "x", run: () => tree.expand() },
  { name: "share", text: "Share the path to here as a page", button: "Share…", run: (row) => share(row) },
  { name: "star", text: "Star the session, or take the star away", key: "s", always: true, run: star },
  { name: "rename", text: "Rename the session", always: true, run: rename },
  { name: "archive", text: "Archive the session, or bring it back", button: "Archive", always: true, run: archive },
  { name: "undo", text: "Take back what was done last to the session", always: true, run: () => back("undo") },
  { name: "redo", text: "Do again what was undone last", always: true, run: () => back("redo") },
  { name: "unrevert", text: "Take the revert back", always: true, run: () => unrevert() },
  { name: "delete", text: "Delete the session for good", always: true, run: erase },
  { name: "export-md", text: "Export as Markdown", always: true, run: () => download("md") },
  { name: "export-html", text: "Export as a page", always: true, run: () => download("html") },
  { name: "export-json", text: "Export as a bundle that loses nothing", always: true, run: () => download("json") },
  { name: "prompt", text: "Write a prompt", key: "i", always: true, run: () => prompt.focus() },
  { name: "cancel", text: "Stop the turn that runs", always: true, run: () => prompt.cancel() },
  { name: "new", text: "Start a new session", key: "n", free: true, run: create },
  { name: "usage", text: "Show usage and cost", key: "u", free: true, run: () => go({ page: state.page === "usage" ? "" : "usage" }) },
  { name: "next", text: "Next session", key: "]", free: true, run: () => moveSession(1) },
  { name: "previous", text: "Previous session", key: "[", free: true, run: () => moveSession(-1) },
];

/** Does something by its name, if it can be done here. */
export function act(name) {
  const action = ACTIONS.find((one) => one.name === name);
  const row = tree.selectedRow();
  if (!action || (!action.free && !state.s) || (!action.free && !action.always && !row)) return;
  attempt(() => action.run(row));
}

const at = (...parts) => path("sessions", state.s, ...parts);

async function checkout(row) {
  const before = tree.open.made.leafSeq;
  const target = tree.targetOf(row);
  if (target === before) return note("The session is here already.");
  await post(at("branch"), { entry: `#${target}` });
  tree.refresh();
  note("Checked out. The files are as they were before.", { action: "Undo", act: () => attempt(async () => {
    if (before) await post(at("branch"), { entry: `#${before}` });
    else await post(at("branch"), { entry: null });
    tree.refresh();
  }) });
}

async function again(row) {
  const { made } = tree.open;
  let i = row.i;
  while (i >= 0 && made.kinds[i] !== "u") i = made.parent[i];
  if (i < 0) return note("There is no prompt above.");
  const { entries } = await get(query(at("passage"), { at: made.seqs[i] }));
  const above = made.parent[i];
  await post(at("branch"), { entry: above < 0 ? null : `#${Math.max(made.tail.get(above) ?? 0, made.seqs[above])}` });
  prompt.compose(entries[0]?.text ?? "");
  tree.refresh();
}

async function fork(row) {
  const { session } = await post(at("fork"), { entry: `#${tree.targetOf(row)}` });
  await reload();
  note("Forked: this is the new session.");
  go({ s: session.id, e: "", page: "" });
}

async function label(row) {
  const old = tree.open.made.labels.get(row.seq) ?? "";
  const name = await ask("Label", { label: "A name for this entry; nothing takes it away", value: old, allowEmpty: true });
  if (name === null || name === old) return;
  await post(at("label"), { entry: `#${row.seq}`, name: name || null });
  tree.refresh();
  note(name ? `Labelled ⚑ ${name}.` : "The label is gone.", { action: "Undo", act: () => attempt(async () => {
    await post(at("label"), { entry: `#${row.seq}`, name: old || null });
    tree.refresh();
  }) });
}

/** The first side is kept until the second is chosen; a row beside the path is compared with the path at once. */
async function compare(row) {
  const { made } = tree.open;
  const target = tree.targetOf(row);
  if (state.a && state.a !== String(target)) return go({ page: "compare", b: target });
  if (!made.onPath[row.i] && made.leaf >= 0) return go({ page: "compare", a: made.leafSeq, b: target });
  go({ a: target }, { replace: true });
  note("Choose the other branch and press c again.", { action: "Never mind", act: () => go({ a: "", b: "" }, { replace: true }) });
}

async function star() {
  await patch(at(), { starred: !live.info?.starred });
  await Promise.all([describe(), reload()]);
}

async function rename() {
  const title = await ask("Rename", { label: "Title", value: live.info?.title ?? "" });
  if (title === null) return;
  await patch(at(), { title });
  await Promise.all([describe(), reload()]);
}

async function archive() {
  const isArchived = live.info?.archived ?? known(state.s)?.archived;
  const verb = isArchived ? "unarchive" : "archive";
  const id = state.s;
  await post(at(verb));
  await Promise.all([describe(), reload()]);
  note(isArchived ? "The session is back." : "Archived.", { action: "Undo", act: () => attempt(async () => {
    await post(path("sessions", id, isArchived ? "archive" : "unarchive"));
    await Promise.all([describe(), reload()]);
  }) });
}

async function back(verb) {
  await post(at(verb));
  tree.refresh();
  describe();
  note(verb === "undo" ? "Undone." : "Done again.", { action: verb === "undo" ? "Redo" : "Undo", act: () => attempt(() => back(verb === "undo" ? "redo" : "undo")) });
}

async function erase() {
  if (!(await confirm("Delete the session?", `"${live.info?.title || "Untitled"}" goes for good: nothing brings it back.`, "Delete"))) return;
  await remove(at());
  go({ s: "", e: "", page: "" });
  await reload();
}

function download(format) {
  const link = document.createElement("a");
  link.href = query(at("export"), { to: format });
  link.download = "";
  link.click();
}

async function create() {
  const { session } = await post(path("sessions"), live.info ? { cwd: live.info.cwd } : {});
  await reload();
  go({ s: session.id, e: "", page: "" });
  prompt.focus();
}
