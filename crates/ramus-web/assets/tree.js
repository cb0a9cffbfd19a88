// The middle pane: the tree of a session, a row for each turn, lanes where it branches. Texts are asked for when they can be seen.

import { get, path, query } from "./api.js";
import { choice } from "./choice.js";
import { complain } from "./dialog.js";
import { button, fill, h, soon } from "./dom.js";
import { count } from "./format.js";
import { List } from "./list.js";
import { isLandmark, model, turnOf } from "./outline.js";
import { HEIGHT, row } from "./row.js";
import { layout } from "./rows.js";
import { go, state, watch } from "./state.js";

const BATCH = 120;

/** What is known of the session that is open. */
export const open = { id: "", made: null, laid: null, info: new Map(), rowAt: new Map(), version: 0 };

const listeners = [];
let list = null;
/** What is being read, and whether something happened since it was asked for. */
let reading = null;
let isStale = false;
/** Stretches that are unfolded, by their first row, and the rows in those that are not. */
const opened = new Set();
let folded = new Map();
/** Whether the selection goes by itself, with the leaf: whoever has scrolled away is left there. */
let isQuiet = false;

/** The tree comes a moment after a page that was opened with an address. */
export async function ready() {
  for (let tries = 0; tries < 200 && !open.made; tries++) await new Promise((resolve) => setTimeout(resolve, 25));
  if (!open.made) throw new Error("The session cannot be read.");
  return open;
}

/** Calls `act` when the tree changed or another row was selected. */
export function onTree(act) {
  listeners.push(act);
}

const VIEWS = [["turns", "Turns"], ["all", "All"], ["user", "Prompts"], ["labels", "Labels"]];

export function pane() {
  list = new List({ label: "Tree", role: "tree", item: "treeitem", height: HEIGHT, row, seen: ask });
  const views = choice("What the tree shows", VIEWS, (name) => go({ view: name }), "view");
  const show = () => views.show(state.view);
  show();
  const foot = h("p", { class: "quiet foot", id: "tree-count", role: "status" });
  pane.foot = foot;
  pane.empty = h("p", { class: "quiet middle" }, "Choose a session.");
  watch((before) => {
    show();
    if (state.s !== before.s) load();
    else if (state.view !== before.view) turn();
    else if (state.e !== before.e) mark({ scroll: !isQuiet });
  });
  load();
  return h("section", { class: "pane tree", "aria-label": "Tree" }, h("div", { class: "bar" }, views.element), pane.empty, list.element, foot);
}

/** Opens the session that the address names. */
function load() {
  reading?.abort();
  reading = null;
  isStale = false;
  Object.assign(open, { id: state.s, made: null, laid: null, info: new Map(), rowAt: new Map() });
  opened.clear();
  list.reset(0);
  pane.empty.hidden = false;
  pane.empty.textContent = state.s ? "Loading…" : "Choose a session.";
  pane.foot.textContent = "";
  tell();
  read();
}

/** Reads what is new, or everything when nothing is known. An answer tells what was when it was asked for: what happens meanwhile is read afterwards. */
async function read() {
  if (!open.id) return;
  if (reading) {
    isStale = true;
    return;
  }
  const mine = (reading = new AbortController());
  try {
    if (open.made) await readOn(mine);
    else await readAll(mine);
  } catch (error) {
    if (error.name !== "AbortError") fail(error);
  } finally {
    if (reading === mine) {
      reading = null;
      if (isStale) refresh();
      isStale = false;
    }
  }
}

async function readAll({ signal }) {
  const answer = await get(path("sessions", open.id, "outline"), signal);
  if (signal.aborted) return;
  open.made = model(answer);
  arrange();
}

async function readOn({ signal }) {
  const { id, made } = open;
  let answer = await get(query(path("sessions", id, "outline"), { after: made.position }), signal);
  const isNewer = answer.count === made.seqs.length + answer.seqs.length;
  if (!isNewer) answer = await get(path("sessions", id, "outline"), signal);
  if (signal.aborted) return;
  const follow = isOnLeaf();
  if (!isNewer) {
    // Entries may say something else now.
    open.info = new Map();
    open.version++;
  }
  open.made = model(answer, isNewer ? made : null);
  arrange({ follow, reveal: list.selected < 0 || list.sees(list.selected) });
}

/** Says what went wrong; where nothing is shown it stands there, with a way to try again. */
function fail(error) {
  if (open.made) complain(error);
  else fill(pane.empty, `${error.message} `, button("Try again", () => read()));
}

/** Reads what is new, a moment after it was asked for. */
export const refresh = soon(60, read);

/** Says whether the row that has the leaf is selected, itself and not an entry within. */
function isOnLeaf() {
  const row = selectedRow();
  return row ? open.laid.owner[open.made.leaf] === row.i && row.seq === Number(state.e) : false;
}

/** Lays out again. `follow` has the selection go with the leaf; `reveal` brings it into view. */
function arrange({ follow = false, reveal = true } = {}) {
  const { made } = open;
  if (!made) return;
  open.laid = layout(made, state.view, opened);
  open.rowAt = new Map();
  folded = new Map();
  open.laid.rows.forEach((row, at) => {
    open.rowAt.set(row.i, at);
    for (const one of row.folded ?? []) folded.set(one.i, { row: one, fold: row });
  });
  pane.empty.hidden = open.laid.rows.length > 0;
  pane.empty.textContent = made.seqs.length === 0 ? "Nothing was said yet." : "Nothing to show here.";
  list.reset(open.laid.rows.length);
  const branches = [...made.children].reduce((sum, children) => sum + Math.max(0, children - 1), made.roots.length);
  pane.foot.textContent = `${count(made.seqs.length, "entry", "entries")}, ${count(branches, "branch", "branches")}`;
  if (!state.e || follow) {
    const row = open.laid.rows[made.leaf >= 0 ? atLeaf() : open.laid.rows.length - 1];
    isQuiet = !reveal;
    if (row) go({ e: row.seq }, { replace: true });
    isQuiet = false;
  }
  mark({ scroll: reveal });
}

/** Shows another view. Whoever was in the turn of the leaf is there still. */
function turn() {
  arrange();
  const { made } = open;
  const i = made?.at.get(Number(state.e)) ?? -1;
  if (i >= 0 && made.leaf >= 0 && !selectedRow() && turnOf(made, i) === turnOf(made, made.leaf)) go({ e: made.seqs[made.leaf] }, { replace: true });
}

function atLeaf() {
  const owner = open.laid.owner[open.made.leaf];
  return open.rowAt.get(owner) ?? open.laid.rows.length - 1;
}

/** The row that is selected. */
export function selectedRow() {
  const { made, laid } = open;
  if (!made || !laid || !state.e) return null;
  const i = made.at.get(Number(state.e));
  if (i === undefined) return null;
  const direct = open.rowAt.get(i);
  const at = direct ?? open.rowAt.get(laid.owner[i]);
  return at === undefined ? null : { ...laid.rows[at], at };
}

/** The position to which checking out a row leads: the end of the turn that it stands for, or the entry itself. */
export const targetOf = (row) => row.end;

/** The position where the turn starts that a row stands for, or is in. */
export const startOf = (row) => (row.isTurn && isLandmark(open.made, row.i) ? row.seq : turnOf(open.made, row.i));

/** The entry of a row that is meant by its label: the one that was chosen or has one, else the row's own. */
export function labelledOf(row) {
  const [seq, labels] = [Number(state.e), row.labels];
  if (labels.includes(seq) || labels.length === 0) return labels.length > 0 ? seq : row.seq;
  return labels[0];
}

function mark({ scroll = true } = {}) {
  const fold = foldAround();
  if (fold) {
    opened.add(fold.seq);
    return arrange({ reveal: scroll });
  }
  list.select(selectedRow()?.at ?? -1, { scroll });
  tell();
}

/** The folded stretch that the selected entry is in. One that is selected itself, by its first row, stays folded. */
function foldAround() {
  const i = open.made && open.laid ? open.made.at.get(Number(state.e)) : undefined;
  const fold = i === undefined ? undefined : folded.get(open.laid.owner[i])?.fold;
  return fold && fold.seq !== Number(state.e) ? fold : null;
}

function tell() {
  for (const act of listeners) act();
}

/** Selects the row so many rows further. */
export function move(step) {
  const rows = open.laid?.rows ?? [];
  if (rows.length === 0) return;
  const now = selectedRow()?.at ?? 0;
  choose(rows[Math.min(rows.length - 1, Math.max(0, now + step))]);
}

/** Selects the row of the leaf. */
export function toLeaf() {
  if (open.laid && open.made.leaf >= 0) choose(open.laid.rows[atLeaf()]);
}

/** Selects the next or previous prompt. */
export function moveTurn(step) {
  const rows = open.laid?.rows ?? [];
  for (let at = (selectedRow()?.at ?? 0) + step; at >= 0 && at < rows.length; at += step) {
    if (open.made.kinds[rows[at].i] === "u") return choose(rows[at]);
  }
}

/** The rows that stand beside a row: other ways the conversation went on. */
export function siblings(row) {
  const { laid } = open;
  if (!laid || !row) return { all: [], at: -1 };
  const all = row.parent >= 0 ? laid.siblings.get(row.parent) ?? [] : laid.roots;
  return { all, at: all.indexOf(row.i) };
}

/** Selects the next or previous sibling. */
export function moveSibling(step) {
  let row = selectedRow();
  // Whoever stands further down a branch means the branch.
  while (row && siblings(row).all.length < 2 && row.parent >= 0) row = rowOf(row.parent);
  const { all, at } = siblings(row);
  const next = all[at + step];
  if (next !== undefined) choose(rowOf(next));
}

/** The row of an entry that has one, folded or not. */
function rowOf(i) {
  return folded.get(i)?.row ?? open.laid.rows[open.rowAt.get(i)] ?? null;
}

export function focus() {
  list.element.focus();
}

/** Selects a row. */
export function choose(row) {
  if (row) go({ e: row.seq, page: "" }, { replace: true });
}

/** Unfolds what was compacted; where it is unfolded, folds it again. */
export function expand(row = selectedRow()) {
  if (row?.fold) opened.add(row.seq);
  else if (!opened.delete(row?.unfolded)) return;
  if (row.unfolded) go({ e: row.unfolded }, { replace: true });
  arrange({ reveal: Boolean(row.unfolded) });
}

/** Forgets what is known about rows that may have changed. */
const key = (row) => `${row.seq}-${row.end}`;

/** Asks for what can be seen and is not known. */
let isAsking = false;
const ask = soon(20, async () => {
  const { id, laid, info } = open;
  // One request at a time: whoever scrolls on is answered for where they are then.
  if (!laid || isAsking) return;
  const [first, last] = list.range();
  const missing = laid.rows.slice(first, last).filter((row) => !info.has(key(row))).slice(0, BATCH);
  if (missing.length === 0) return;
  isAsking = true;
  for (const row of missing) info.set(key(row), null);
  const at = missing.map((row) => (row.isTurn && row.end > row.seq && !row.fold ? `${row.seq}-${row.end}` : row.seq)).join(",");
  try {
    const answer = await get(query(path("sessions", id, "rows"), { at }));
    if (open.info !== info) return;
    const bySeq = new Map(answer.rows.map((one) => [one.seq, one]));
    for (const row of missing) info.set(key(row), bySeq.get(row.seq) ?? {});
    for (const [at] of list.rows) list.refresh(at);
    list.mark();
  } catch (error) {
    for (const row of missing) info.delete(key(row));
    complain(error);
  } finally {
    isAsking = false;
    if (open.laid !== laid || list.range()[0] !== first) ask();
  }
});

/** Returns what is known about a row. */
export function infoOf(row) {
  return (row && open.info.get(key(row))) || null;
}
