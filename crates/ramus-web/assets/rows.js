// How a session is laid out in rows, for each view of it. A row stands for one entry, or for a whole turn: what is done with the
// row is done where that ends.

import { endOf, isLandmark } from "./outline.js";

/** What goes on with a turn, beside what only notes something. */
const SPEECH = "atboc";

/** What marks a place in a turn and does not end it. */
const MARKS = "Cp";

/**
 * Lays the tree out in rows. Side branches come first, one lane to the right, and what they left goes on below them; so every lane
 * to the left of a row goes on, and the newest is at the end.
 */
export function layout(made, view, opened = new Set()) {
  const forks = forksOf(made);
  const kept = keep(made, view, forks);
  const holder = holders(made, kept);
  const { last, tools, labels, cover, isTurn } = reaches(made, view, kept, holder, forks);
  const tree = fold(made, kept, holder);
  const rows = [];
  const stack = tree.roots.map((i) => [i, 0, false]).reverse();
  while (stack.length > 0) {
    const [i, depth, first] = stack.pop();
    const children = tree.children.get(i) ?? [];
    const main = mainOf(made, children);
    const above = tree.parent[i];
    rows.push({
      i, seq: made.seqs[i], end: endOf(made, last[i]), last: last[i], depth, first, isTip: children.length === 0, tools: tools[i], parent: above,
      labels: labels.get(i) ?? [], isTurn: isTurn[i] === 1, isInner: above >= 0 && cover[made.parent[i]] === above && made.parent[i] !== last[above],
      ways: forks.ways[last[i]],
    });
    if (main >= 0) stack.push([main, depth, false]);
    for (let at = children.length - 1; at >= 0; at--) if (children[at] !== main) stack.push([children[at], depth + 1, true]);
  }
  return { rows: view === "turns" ? elide(made, rows, opened) : rows, owner: owners(view, kept, holder, cover), siblings: tree.children, roots: tree.roots };
}

/**
 * Where turns branch in their middle: entries that go on with a turn beside others that do. A prompt that was said in the middle of
 * a turn leaves the turn whole.
 */
function forksOf(made) {
  const count = made.seqs.length;
  const speaks = new Uint8Array(count);
  const isFork = new Uint8Array(count);
  const ways = new Int32Array(count);
  // What is below comes later.
  for (let i = count - 1; i >= 0; i--) {
    if (made.hidden[i] || "uSR".includes(made.kinds[i])) continue;
    if (SPEECH.includes(made.kinds[i])) speaks[i] = 1;
    const above = made.parent[i];
    if (!speaks[i] || above < 0) continue;
    speaks[above] = 1;
    ways[above]++;
  }
  for (let i = 0; i < count; i++) if (speaks[i] && made.parent[i] >= 0 && ways[made.parent[i]] > 1 && !isLandmark(made, i)) isFork[i] = 1;
  return { speaks, isFork, ways };
}

/** The entries that get a row. */
function keep(made, view, { isFork }) {
  const count = made.seqs.length;
  const kept = new Uint8Array(count);
  let some = false;
  for (let i = 0; i < count; i++) if (keeps(made, view, i, isFork)) some = kept[i] = 1;
  if (view !== "turns") return kept;
  if (!some) for (let i = 0; i < count; i++) kept[i] = made.hidden[i] ? 0 : 1;
  // What is in no turn and has a label is shown for it.
  if (made.labels.size === 0) return kept;
  const holder = holders(made, kept);
  for (let i = 0; i < count; i++) if (holder[i] < 0 && !made.hidden[i] && made.labels.has(made.seqs[i])) kept[i] = 1;
  return kept;
}

function keeps(made, view, i, isFork) {
  if (made.hidden[i]) return false;
  if (view === "all") return true;
  if (view === "user") return made.kinds[i] === "u";
  if (view === "labels") return made.labels.has(made.seqs[i]) || i === made.leaf;
  return isLandmark(made, i) || isFork[i] === 1;
}

/** For every entry the row that it hangs from, or that it is. */
function holders(made, kept) {
  const count = made.seqs.length;
  const holder = new Int32Array(count).fill(-2);
  const trail = [];
  for (let start = 0; start < count; start++) {
    let i = start;
    while (i >= 0 && holder[i] === -2 && !kept[i]) {
      holder[i] = -3;
      trail.push(i);
      i = made.parent[i];
    }
    const found = i < 0 || holder[i] === -3 ? -1 : kept[i] ? i : holder[i];
    if (i >= 0 && kept[i]) holder[i] = i;
    for (const one of trail) holder[one] = found;
    trail.length = 0;
  }
  return holder;
}

/** How far rows reach: a prompt to the end of its turn, what is looked for by name no further than itself. */
function reaches(made, view, kept, holder, forks) {
  const count = made.seqs.length;
  const found = { last: new Int32Array(count).fill(-1), tools: new Int32Array(count), labels: new Map(), cover: new Int32Array(count).fill(-1), isTurn: new Uint8Array(count) };
  for (const isPrompt of [true, false]) {
    for (let i = 0; i < count; i++) if (kept[i] && (made.kinds[i] === "u") === isPrompt) reach(found, i);
  }
  return found;

  function reach({ last, tools, labels, cover, isTurn }, i) {
    const isWhole = view !== "all" && (made.kinds[i] === "u" || (view !== "labels" && cover[i] < 0));
    const named = [];
    const take = (one) => {
      if (cover[one] < 0 || one === i) cover[one] = i;
      if (made.kinds[one] === "t") tools[i]++;
      if (made.labels.has(made.seqs[one]) && (one === i || !kept[one])) named.push(made.seqs[one]);
    };
    // A mark is part of the turn only when the turn goes on behind it.
    let waiting = [];
    for (let at = i; at >= 0; at = isWhole ? next(i, at) : -1) {
      const kind = made.kinds[at];
      if ((at !== i && MARKS.includes(kind)) || (waiting.length > 0 && !SPEECH.includes(kind))) {
        waiting.push(at);
        continue;
      }
      if (waiting.length > 0) {
        waiting.forEach(take);
        waiting = [];
      }
      take(at);
      last[i] = at;
    }
    if (isWhole) isTurn[i] = 1;
    if (named.length > 0) labels.set(i, named);
  }

  /** The entry with which a turn goes on; where it branches that is a row of its own among turns, and the way to the leaf elsewhere. */
  function next(i, at) {
    let best = -1;
    for (let child = made.first[at]; child >= 0; child = made.next[child]) {
      if ("uSR".includes(made.kinds[child])) continue;
      if (view === "turns" && forks.isFork[child]) continue;
      if (made.kinds[i] !== "u" && kept[child]) continue;
      if (best < 0 || rank(child) >= rank(best)) best = child;
    }
    return best;
  }

  function rank(i) {
    return 2 * forks.speaks[i] + made.onPath[i];
  }
}

/** For every entry the row that stands for it; -1 when none does. */
function owners(view, kept, holder, cover) {
  return holder.map((held, i) => (kept[i] ? i : cover[i] >= 0 ? cover[i] : view === "labels" ? -1 : held));
}

/** The tree of rows. */
function fold(made, kept, holder) {
  const count = made.seqs.length;
  const parent = new Int32Array(count).fill(-1);
  const children = new Map();
  const roots = [];
  for (let i = 0; i < count; i++) {
    if (!kept[i]) continue;
    const above = made.parent[i] >= 0 ? holder[made.parent[i]] : -1;
    parent[i] = above;
    if (above < 0) roots.push(i);
    else if (children.has(above)) children.get(above).push(i);
    else children.set(above, [i]);
  }
  // The root that leads to the leaf comes last, where the newest is.
  roots.sort((a, b) => made.onPath[a] - made.onPath[b] || a - b);
  return { parent, children, roots };
}

/** The child that goes on in the same lane: the one on the path, else the newest. */
function mainOf(made, children) {
  for (const i of children) if (made.onPath[i]) return i;
  return children.length > 0 ? children[children.length - 1] : -1;
}

/** Puts one row in the place of several that the model is not sent any more. It knows them; those that were unfolded know their first. */
function elide(made, rows, opened) {
  const out = [];
  let run = [];
  const close = () => {
    if (run.length < 3) out.push(...run);
    else if (opened.has(run[0].seq)) out.push(...run.map((row) => ({ ...row, unfolded: run[0].seq })));
    else out.push({ ...run[0], fold: run.length, folded: run, end: run[run.length - 1].end });
    run = [];
  };
  for (const row of rows) {
    const isPlain = made.compacted[row.i] && row.labels.length === 0 && !row.first && row.depth === 0;
    if (!isPlain) close();
    if (isPlain) run.push(row);
    else out.push(row);
  }
  close();
  return out;
}
