// What can be done, each under one name: buttons, keys and the palette all come here.

import { get, patch, path, post, query, remove, within } from "./api.js";
import { branches } from "./branches.js";
import { create } from "./create.js";
import { ask, attempt, confirm, note, open as openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { continueIn } from "./elsewhere.js";
import { exportAs } from "./export.js";
import { called, short } from "./format.js";
import { describe, live, reread } from "./live.js";
import { picturesOf } from "./pictures.js";
import * as prompt from "./prompt.js";
import { rewind, unrevert } from "./rewind.js";
import { kin, known, move as moveSession, reload } from "./sessions.js";
import { share } from "./share.js";
import { go, state } from "./state.js";
import * as tree from "./tree.js";
import { importing } from "./welcome.js";

/** `button` has it shown above an entry, as far as there is room, `menu` behind "More" unless it is shown, `key` is what is pressed for it, `always` needs no entry. */
export const ACTIONS = [
  { name: "checkout", text: "Go on from here", key: "Enter", button: "Checkout", run: checkout },
  { name: "rewind", text: "Go back, with the files as they were", key: "r", button: "Rewind…", run: (row) => rewind(row) },
  { name: "again", text: "Say this prompt otherwise, on a new branch", key: "a", button: "Edit & retry", menu: () => "Edit & retry", run: again },
  { name: "fork", text: "Start a new session from here", key: "f", button: "Fork", menu: () => "Fork", run: fork },
  { name: "label", text: "Name this entry", key: "L", button: "Label", menu: () => "Label…", run: label },
  { name: "compare", text: "Compare this branch with another", key: "c", button: "Compare", menu: () => "Compare", run: compare },
  { name: "compare-fork", text: "Compare with a fork, or with what it was forked from", always: true, run: compareFork },
  { name: "diff", text: "Show what changed in files", key: "d", run: () => go({ tab: "files", page: "" }, { replace: true }) },
  { name: "raw", text: "Show what is stored", run: () => go({ tab: "raw", page: "" }, { replace: true }) },
  { name: "context", text: "Show what a model would be sent", run: () => go({ tab: "context", page: "" }, { replace: true }) },
  { name: "expand", text: "Unfold what was compacted, or fold it again", key: "x", run: () => tree.expand() },
  { name: "share", text: "Share the path to here as a page", menu: () => "Share…", run: (row) => share(row) },
  { name: "star", text: "Star the session, or take the star away", key: "s", menu: (info) => (info?.starred ? "Remove star" : "Star"), always: true, run: star },
  { name: "rename", text: "Rename the session", menu: () => "Rename…", always: true, run: rename },
  { name: "tags", text: "Tag the session", menu: () => "Tags…", always: true, run: tags },
  { name: "archive", text: "Archive the session, or bring it back", menu: (info) => (info?.archived ? "Unarchive" : "Archive"), always: true, run: archive },
  { name: "undo", text: "Take back what was done last to the session", menu: () => "Undo last change", always: true, run: () => back("undo") },
  { name: "redo", text: "Do again what was undone last", always: true, run: () => back("redo") },
  { name: "unrevert", text: "Take the revert back", always: true, run: () => unrevert() },
  { name: "delete", text: "Delete the session for good", menu: () => "Delete…", danger: true, always: true, run: erase },
  { name: "export", text: "Export the session as a file", key: "e", menu: () => "Export…", always: true, run: () => exportAs() },
  { name: "export-md", text: "Export as Markdown", always: true, run: () => download("md") },
  { name: "export-html", text: "Export as a page", always: true, run: () => download("html") },
  { name: "export-json", text: "Export as a bundle that loses nothing", always: true, run: () => download("json") },
  { name: "branches", text: "Go to a branch, by its last prompt", key: "b", always: true, run: () => branches() },
  { name: "prompt", text: "Write a prompt", key: "i", always: true, run: () => prompt.focus() },
  { name: "cancel", text: "Stop the turn that runs", always: true, run: () => prompt.cancel() },
  { name: "new", text: "Start a new session", key: "n", free: true, run: begin },
  { name: "import", text: "Import sessions of other agents", free: true, run: () => importing() },
  { name: "usage", text: "Show usage and cost", key: "u", free: true, run: () => go({ page: state.page === "usage" ? "" : "usage" }) },
  { name: "timeline", text: "Show where time and money went", key: "T", menu: () => "Timeline", always: true, run: () => go({ page: state.page === "timeline" ? "" : "timeline" }) },
  { name: "done", text: "Show what was done to the session", key: "z", menu: () => "History of changes", always: true, run: () => go({ page: state.page === "done" ? "" : "done" }) },
  { name: "compact", text: "Compact: have the model sent a summary of what is old", menu: () => "Compact…", always: true, run: compact },
  { name: "continue", text: "Go on with this session in another agent", menu: () => "Continue in…", always: true, run: () => continueIn() },
  { name: "next", text: "Next session", key: "]", free: true, run: () => moveSession(1) },
  { name: "previous", text: "Previous session", key: "[", free: true, run: () => moveSession(-1) },
];

/** What is being done. */
const doing = new Set();

/** Does something by its name, if it can be done here; ends when it is done. What takes a while is not begun twice. */
export function act(name) {
  const action = ACTIONS.find((one) => one.name === name);
  const row = tree.selectedRow();
  if (!action || (!action.free && !state.s) || (!action.free && !action.always && !row)) return undefined;
  if (doing.has(name)) return undefined;
  doing.add(name);
  return attempt(() => action.run(row)).finally(() => doing.delete(name));
}

/** What is done goes to the session that was open when it was asked for, whatever is opened until it is done or undone. */
const here = () => ({ id: state.s, at: within(state.s) });

async function checkout(row) {
  if (row.fold) return tree.expand(row);
  const { id, at } = here();
  const before = tree.open.made.leafSeq;
  const target = tree.targetOf(row);
  if (target === before) return note("The session is here already.");
  await post(at("branch"), { entry: `#${target}` });
  reread(id);
  note("Checked out. The files are as they were before.", { action: "Undo", act: () => attempt(async () => {
    await post(at("branch"), { entry: before ? `#${before}` : null });
    reread(id);
  }) });
}

async function again(row) {
  const { id, at } = here();
  const { made } = tree.open;
  let i = row.i;
  while (i >= 0 && made.kinds[i] !== "u") i = made.parent[i];
  if (i < 0) return note("There is no prompt above.");
  const { entries } = await get(query(at("passage"), { at: made.seqs[i] }));
  const [before, above] = [made.leafSeq, made.parent[i]];
  await post(at("branch"), { entry: above < 0 ? null : `#${Math.max(made.tail.get(above) ?? 0, made.seqs[above])}` });
  reread(id);
  if (state.s !== id) return;
  const takeOut = prompt.compose(entries[0]?.text ?? "", picturesOf(entries[0]?.parts));
  note("The session goes on in front of this prompt.", { action: "Undo", act: () => attempt(async () => {
    await post(at("branch"), { entry: before ? `#${before}` : null });
    reread(id);
    takeOut();
  }) });
}

async function fork(row) {
  const { at } = here();
  const { session } = await post(at("fork"), { entry: `#${tree.targetOf(row)}` });
  await reload();
  note("Forked: this is the new session.");
  go({ s: session.id, e: "", page: "" });
}

async function label(row) {
  const { id, at } = here();
  const seq = tree.labelledOf(row);
  const old = tree.open.made.labels.get(seq) ?? "";
  const name = await ask("Label", { label: "A name for this entry; nothing takes it away", value: old, allowEmpty: true });
  if (name === null || name === old) return;
  await post(at("label"), { entry: `#${seq}`, name: name || null });
  reread(id);
  note(name ? `Labelled ⚑ ${name}.` : "The label is gone.", { action: "Undo", act: () => attempt(async () => {
    await post(at("label"), { entry: `#${seq}`, name: old || null });
    reread(id);
  }) });
}

/** The first side is kept until the second is chosen; a row beside the path is compared with the path at once. */
async function compare(row) {
  const { made } = tree.open;
  const target = tree.targetOf(row);
  if (state.a && state.a !== String(target)) return go({ page: "compare", b: target, with: "" });
  if (!made.onPath[row.last] && made.leaf >= 0) return go({ page: "compare", a: made.leafSeq, b: target, with: "" });
  go({ a: target }, { replace: true });
  note("Choose the other branch and press c again.", { action: "Never mind", act: () => go({ a: "", b: "" }, { replace: true }) });
}

/** The ends of two sessions that share their start. */
function compareFork() {
  const others = kin(state.s, live.info?.forked_from?.session);
  if (others.length === 0) return note("The session has no fork, and is none.");
  const choose = (id) => go({ page: "compare", a: "", b: "", with: id });
  if (others.length === 1) return choose(others[0].id);
  const close = openDialog("Compare with", h("ul", { class: "plain" }, others.map((one) => h("li", {}, button(one.title || "Untitled", () => {
    close();
    choose(one.id);
  })))));
}

async function star() {
  const { at } = here();
  await patch(at(), { starred: !live.info?.starred });
  await Promise.all([describe(), reload()]);
}

async function rename() {
  const { at } = here();
  const title = await ask("Rename", { label: "Title", value: live.info?.title ?? "" });
  if (title === null) return;
  await patch(at(), { title });
  await Promise.all([describe(), reload()]);
}

async function tags() {
  const { id, at } = here();
  const old = live.info?.tags ?? known(id)?.tags ?? [];
  const text = await ask("Tags", { label: "Tags, with commas between them", value: old.join(", "), allowEmpty: true });
  if (text === null || text === old.join(", ")) return;
  const set = async (all) => {
    await patch(at(), { tags: all });
    await Promise.all([describe(), reload()]);
  };
  await set([...new Set(text.split(",").map((tag) => tag.trim()).filter(Boolean))]);
  note("The tags were changed.", { action: "Undo", act: () => attempt(() => set(old)) });
}

async function archive() {
  const { id, at } = here();
  const isArchived = live.info?.archived ?? known(id)?.archived;
  await post(at(isArchived ? "unarchive" : "archive"));
  await Promise.all([describe(), reload()]);
  note(isArchived ? "The session is back." : "Archived.", { action: "Undo", act: () => attempt(async () => {
    await post(at(isArchived ? "archive" : "unarchive"));
    await Promise.all([describe(), reload()]);
  }) });
}

/** Takes back what was done last, or does it again. What a note offers is what the note tells of, and nothing that was done since. */
async function back(verb, id = state.s, operation = null) {
  const other = verb === "undo" ? "redo" : "undo";
  const answer = await post(within(id)(verb), { operation });
  const done = answer.operation.takes_back ?? answer.operation.id;
  reread(id);
  note(verb === "undo" ? "Undone." : "Done again.", { action: verb === "undo" ? "Redo" : "Undo", act: () => attempt(() => back(other, id, done)) });
}

/** Says first what would be summarised. */
async function compact() {
  const { id, at } = here();
  const plan = await post(at("compact"), { dry_run: true });
  if (plan.messages_after >= plan.messages_before) return note("There is nothing old enough to be summarised.");
  const saved = `${plan.messages_before - plan.messages_after} messages become a summary: ${short(plan.tokens_before)} tokens become about ${short(plan.tokens_after)}.`;
  if (!(await confirm("Compact the session?", `${saved} Nothing is deleted, and it can be undone.`, "Compact"))) return;
  const { compaction } = await post(at("compact"), {});
  reread(id);
  note("Compacted.", { action: "Undo", act: () => attempt(() => back("undo", id, compaction)) });
}

async function erase() {
  const { id, at } = here();
  if (!(await confirm("Delete the session?", `"${called(live.info?.title)}" goes for good: nothing brings it back. Forks keep what they show of it.`, "Delete", { isDanger: true }))) return;
  await remove(at());
  if (state.s === id) go({ s: "", e: "", page: "" });
  await reload();
}

function download(format) {
  const link = document.createElement("a");
  link.href = query(here().at("export"), { to: format });
  link.download = "";
  link.click();
}

async function begin() {
  const made = await create();
  if (!made) return;
  await reload();
  go({ s: made.id, e: "", page: "" });
  prompt.focus();
}
