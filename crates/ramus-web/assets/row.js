// A row of the tree: its sign among the lanes, what it says, and what it came to.

import { draw, h } from "./dom.js";
import { base, changed, money, plain, since } from "./format.js";
import { go, state } from "./state.js";
import { choose, expand, infoOf, open } from "./tree.js";

export const HEIGHT = 30;
const LANE = 14;
/** Lanes further to the right are drawn in one place. */
const LANES = 12;

/** Makes the row that stands at a place. */
export function row(at) {
  const one = open.laid.rows[at];
  const { made } = open;
  const info = infoOf(one);
  const labels = one.fold ? [] : one.labels.map((seq) => made.labels.get(seq));
  const isLeaf = open.laid.owner[made.leaf] === one.i && !one.fold;
  const kind = made.kinds[one.i];
  const turn = info?.turn;
  const classes = ["row", "entry", `kind-${kind}`];
  if (made.onPath[one.i]) classes.push("on-path");
  if (made.compacted[one.i]) classes.push("compacted");
  const isFailed = info?.error || (turn?.outcome && !["stop", "end_turn", ""].includes(turn.outcome));
  const sign = isLeaf ? "@" : one.fold || kind === "C" || made.compacted[one.i] ? "~" : isFailed ? "×" : kind === "p" || turn?.snapshot ? "◆" : made.onPath[one.i] ? "●" : "○";
  const names = { "@": "leaf", "◆": "checkpoint", "×": "failed", "~": "compacted" };
  const text = one.fold ? `${one.fold} compacted turns` : info ? plain(info.preview || info.speaker || info.type || "") : "…";
  const facts = one.fold ? [] : [...place(one, isLeaf), ...(turn ? figures(one, turn) : [])];
  const isOpen = one.fold ? false : one.unfolded === one.seq ? true : undefined;
  return h("div", { class: classes.join(" "), "aria-level": one.depth + 1, "aria-expanded": isOpen, on: { click: () => {
    if (one.fold) return expand(one);
    choose(one);
    go({ pane: "detail" });
  } } },
    lanes(one, sign), names[sign] ? h("span", { class: "unseen" }, `${names[sign]}: `) : null,
    info && kind !== "u" && !one.fold ? h("span", { class: "speaker" }, info.speaker) : null,
    labels.map((label) => h("span", { class: "label" }, `⚑ ${label}`)),
    h("span", { class: "text" }, text), h("span", { class: "facts" }, facts.join(" · ")),
    info?.timestamp && !one.fold ? since(info.timestamp) : null);
}

/** What a turn came to. */
const figures = (one, turn) => [modelOf(one, turn), one.tools ? `${one.tools} ⚒` : "", changed(turn.changed), money(turn.cost_micros, turn.unpriced)].filter(Boolean);

/** The model of a turn, where it is another one than that of the turn before. */
function modelOf({ parent }, { model }) {
  for (let at = open.rowAt.get(parent); model && at !== undefined; at = open.rowAt.get(open.laid.rows[at].parent)) {
    const above = infoOf(open.laid.rows[at]);
    // It is not known yet.
    if (!above) return "";
    if (above.turn?.model) return above.turn.model === model ? "" : base(model);
  }
  return "";
}

/** Where a row hangs, and what hangs from it, when that is not the end of a turn. */
function place(one, isLeaf) {
  const { made } = open;
  return [one.isInner ? "from the middle of a turn" : "", state.view === "turns" && one.ways > 1 ? `${one.ways} ways on` : "", isLeaf && one.last !== made.leaf ? "@ is in the middle" : ""].filter(Boolean);
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
