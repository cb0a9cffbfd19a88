// The middle pane: the tree of a session, a row for each turn, lanes where it branches. Texts are asked for when they can be seen.

import { get, path, query } from "./api.js";
import { complain } from "./dialog.js";
import { button, draw, h, soon } from "./dom.js";
import { ago, changed, money } from "./format.js";
import { List } from "./list.js";
import { endOf, layout, model } from "./outline.js";
import { go, state, watch } from "./state.js";

const HEIGHT = 30;
const LANE = 14;
/** Lanes further to the right are drawn in one place. */
const LANES = 12;
const BATCH = 120;

/** What is known of the session that is open. */
export const open = { id: "", made: null, laid: null, info: new Map(), rowAt: new Map(), version: 0 };

const listeners = [];
let list = null;
let loading = null;
const opened = new Set();

/** Calls `act` when the tree changed or another row was selected. */
export function onTree(act) {
  listeners.push(act);
}

const VIEWS = [["turns", "Turns"], ["all", "All"], ["user", "Prompts"], ["labels", "Labels"]];

export function pane() {
  list = new List({ label: "Tree", role: "tree", item: "treeitem", height: HEIGHT, row, seen: ask });
  const views = h("div", { class: "segments", role: "radiogroup", "aria-label": "What the tree shows" },
    VIEWS.map(([name, text]) => button(text, () => go({ view: name }), { role: "radio", "data-view": name })));
  const show = () => {
    for (const one of views.children) one.setAttribute("aria-checked", one.dataset.view === state.view);
  };
  show();
  const foot = h("p", { class: "quiet foot", id: "tree-count", role: "status" });
  pane.foot = foot;
  pane.empty = h("p", { class: "quiet middle" }, "Choose a session.");
  watch((before) => {
    show();
    if (state.s !== before.s) load();
    else if (state.view !== before.view) arrange();
    else if (state.e !== before.e) mark();
  });
  load();
  return h("section", { class: "pane tree", "aria-label": "Tree" }, h("div", { class: "bar" }, views), pane.empty, list.element, foot);
}

/** Opens the session that the address names. */
async function load() {
  loading?.abort();
  Object.assign(open, { id: state.s, made: null, laid: null, info: new Map(), rowAt: new Map() });
  opened.clear();
  list.reset(0);
  pane.empty.hidden = false;
  pane.empty.textContent = state.s ? "Loading…" : "Choose a session.";
  pane.foot.textContent = "";
  tell();
  if (!state.s) return;
  const mine = (loading = new AbortController());
  try {
    open.made = model(await get(path("sessions", state.s, "outline"), mine.signal));
    arrange();
  } catch (error) {
    if (error.name !== "AbortError") pane.empty.textContent = error.message;
  }
}

/** Reads what is new. */
export const refresh = soon(60, async () => {
  const { id, made } = open;
  if (!id || !made) return;
  try {
    let answer = await get(query(path("sessions", id, "outline"), { after: made.position }));
    const isNewer = answer.count === made.seqs.length + answer.seqs.length;
    if (!isNewer) answer = await get(path("sessions", id, "outline"));
    if (open.id !== id || open.made !== made) return;
    const follow = isOnLeaf();
    if (!isNewer) {
      // Entries may say something else now.
      open.info = new Map();
      open.version++;
    }
    open.made = model(answer, isNewer ? made : null);
    arrange({ follow });
  } catch (error) {
    complain(error);
  }
});

function isOnLeaf() {
  const row = selectedRow();
  return row ? row.last === open.made.leaf : false;
}

/** Lays out again. `follow` has the selection go with the leaf. */
function arrange({ follow = false } = {}) {
  const { made } = open;
  if (!made) return;
  open.laid = layout(made, state.view, opened);
  open.rowAt = new Map();
  open.laid.rows.forEach((row, at) => open.rowAt.set(row.i, at));
  pane.empty.hidden = open.laid.rows.length > 0;
  pane.empty.textContent = made.seqs.length === 0 ? "Nothing was said yet." : "Nothing to show here.";
  list.reset(open.laid.rows.length);
  const branches = [...made.children].reduce((sum, children) => sum + Math.max(0, children - 1), 0) + Math.max(0, made.roots.length - 1);
  pane.foot.textContent = `${made.seqs.length.toLocaleString("en")} entries, ${branches.toLocaleString("en")} ${branches === 1 ? "branch" : "branches"}`;
  if (!state.e || follow) {
    const row = open.laid.rows[made.leaf >= 0 ? atLeaf() : open.laid.rows.length - 1];
    if (row) go({ e: entryOf(row) }, { replace: true });
  }
  mark();
}

function atLeaf() {
  const owner = open.laid.owner[open.made.leaf];
  return open.rowAt.get(owner) ?? open.laid.rows.length - 1;
}

/** The entry that stands for a row: itself; in the view of all entries nothing else can be meant. */
function entryOf(row) {
  return row.seq;
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

/** The position to which checking out a row leads: the end of the turn, or the entry itself. */
export function targetOf(row) {
  return state.view === "all" ? endOf(open.made, row.i) : row.end;
}

function mark() {
  list.select(selectedRow()?.at ?? -1);
  tell();
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
  while (row && siblings(row).all.length < 2 && row.parent >= 0) row = open.laid.rows[open.rowAt.get(row.parent)] ?? null;
  const { all, at } = siblings(row);
  const next = all[at + step];
  if (next !== undefined) choose(open.laid.rows[open.rowAt.get(next)]);
}

export function focus() {
  list.element.focus();
}

function choose(row) {
  if (row) go({ e: entryOf(row), page: "" }, { replace: true });
}

/** Unfolds what was compacted. */
export function expand(row = selectedRow()) {
  if (!row?.fold) return;
  opened.add(row.seq);
  arrange();
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
  const isTurn = state.view !== "all";
  const at = missing.map((row) => (isTurn && row.end > row.seq && !row.fold ? `${row.seq}-${row.end}` : row.seq)).join(",");
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

function row(at) {
  const one = open.laid.rows[at];
  const { made } = open;
  const info = infoOf(one);
  const label = made.labels.get(one.seq);
  const isLeaf = open.laid.owner[made.leaf] === one.i && !one.fold;
  const kind = made.kinds[one.i];
  const turn = info?.turn;
  const classes = ["row", "entry", `kind-${kind}`];
  if (made.onPath[one.i]) classes.push("on-path");
  if (made.compacted[one.i]) classes.push("compacted");
  const isFailed = info?.error || (turn?.outcome && !["stop", "end_turn", ""].includes(turn.outcome));
  const sign = one.fold || kind === "C" ? "~" : isLeaf ? "@" : isFailed ? "×" : kind === "p" || turn?.snapshot ? "◆" : made.onPath[one.i] ? "●" : "○";
  const names = { "@": "leaf", "◆": "checkpoint", "×": "failed", "~": "compacted" };
  const text = one.fold ? `${one.fold} compacted turns` : (info?.preview ?? "");
  const facts = turn && !one.fold ? [one.tools ? `${one.tools} ⚒` : "", changed(turn.changed), money(turn.cost_micros, turn.unpriced)].filter(Boolean) : [];
  return h("div", { class: classes.join(" "), "aria-level": one.depth + 1, on: { click: () => {
    if (one.fold) return expand(one);
    choose(one);
    document.body.dataset.pane = "detail";
  } } },
    lanes(one, sign), names[sign] ? h("span", { class: "unseen" }, `${names[sign]}: `) : null,
    info && kind !== "u" && !one.fold ? h("span", { class: "speaker" }, info.speaker) : null,
    label ? h("span", { class: "label" }, `⚑ ${label}`) : null,
    h("span", { class: "text" }, text), h("span", { class: "facts" }, facts.join(" · ")),
    info?.timestamp && !one.fold ? h("span", { class: "when" }, ago(info.timestamp)) : null);
}

/** Draws the lanes to the left of a row, and its sign. */
function lanes(row, sign) {
  const depth = Math.min(row.depth, LANES);
  const width = (depth + 1) * LANE;
  const middle = HEIGHT / 2;
  const x = (lane) => lane * LANE + LANE / 2;
  const made = draw("svg", { class: "lanes", width, height: HEIGHT, "aria-hidden": "true" });
  for (let lane = 0; lane < depth; lane++) made.append(draw("path", { class: `lane lane-${lane % 6}`, d: `M${x(lane)} 0V${HEIGHT}` }));
  const own = `lane lane-${depth % 6}`;
  if (row.first && depth > 0) made.append(draw("path", { class: own, d: `M${x(depth - 1)} 0Q${x(depth - 1)} ${middle - 6} ${x(depth)} ${middle - 6}` }));
  else if (row.parent >= 0) made.append(draw("path", { class: own, d: `M${x(depth)} 0V${middle - 6}` }));
  if (!row.isTip) made.append(draw("path", { class: own, d: `M${x(depth)} ${middle + 6}V${HEIGHT}` }));
  made.append(draw("text", { class: `sign lane-${depth % 6}`, x: x(depth), y: middle + 4, "text-anchor": "middle" }, sign));
  return made;
}
