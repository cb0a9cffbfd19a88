// The shape of a session, and how it is laid out: pure functions over columns of numbers, so that a hundred thousand entries
// take milliseconds. The server sends positions, parents and kinds; texts come later, for what can be seen.

/** What only keeps book is not shown: the ends of turns, and snapshots around a restore. */
const BOOK = "kq";

/** What stands for the end of what it closes. */
const END = "k";

/** What always has a row of its own among turns. */
const LANDMARKS = "uCSRp";

/** Makes a model of what the server sent, and of what was known before when it sent only what is new. */
export function model(answer, before) {
  const seqs = before ? before.seqs.concat(answer.seqs) : answer.seqs;
  const parents = before ? before.parents.concat(answer.parents) : answer.parents;
  const kinds = before ? before.kinds + answer.kinds : answer.kinds;
  const made = {
    seqs, parents, kinds,
    position: answer.position,
    labels: new Map(Object.entries(answer.labels).map(([seq, label]) => [Number(seq), label])),
    compaction: answer.compaction,
  };
  const count = seqs.length;
  const at = (made.at = new Map());
  for (let i = 0; i < count; i++) at.set(seqs[i], i);
  const parent = (made.parent = new Int32Array(count).fill(-1));
  for (let i = 0; i < count; i++) parent[i] = at.get(parents[i]) ?? -1;
  hideBook(made);
  findChildren(made);
  markPath(made, answer.leaf, answer.kept_from);
  return made;
}

/** Hangs what hung from bookkeeping from what that hung from. */
function hideBook(made) {
  const { seqs, kinds, labels, parent } = made;
  const count = seqs.length;
  const hidden = (made.hidden = new Uint8Array(count));
  made.tail = new Map();
  for (let i = 0; i < count; i++) hidden[i] = BOOK.includes(kinds[i]) && !labels.has(seqs[i]) ? 1 : 0;
  for (let i = 0; i < count; i++) {
    let above = parent[i];
    while (above >= 0 && hidden[above]) above = parent[above];
    parent[i] = above;
    if (hidden[i] && kinds[i] === END && above >= 0) made.tail.set(above, Math.max(seqs[i], made.tail.get(above) ?? 0));
  }
}

function findChildren(made) {
  const count = made.seqs.length;
  const first = (made.first = new Int32Array(count).fill(-1));
  const next = (made.next = new Int32Array(count).fill(-1));
  const last = new Int32Array(count).fill(-1);
  const children = (made.children = new Int32Array(count));
  made.roots = [];
  for (let i = 0; i < count; i++) {
    if (made.hidden[i]) continue;
    const above = made.parent[i];
    if (above < 0) {
      made.roots.push(i);
      continue;
    }
    children[above]++;
    if (last[above] < 0) first[above] = i;
    else next[last[above]] = i;
    last[above] = i;
  }
}

function markPath(made, leaf, keptFrom) {
  const count = made.seqs.length;
  const onPath = (made.onPath = new Uint8Array(count));
  const compacted = (made.compacted = new Uint8Array(count));
  let i = made.at.get(leaf) ?? -1;
  while (i >= 0 && made.hidden[i]) i = made.parent[i];
  made.leaf = i;
  made.leafSeq = leaf;
  let isCompacted = false;
  for (let steps = 0; i >= 0 && steps <= count; steps++, i = made.parent[i]) {
    onPath[i] = 1;
    if (isCompacted && made.seqs[i] !== made.compaction) compacted[i] = 1;
    if (keptFrom > 0 && made.seqs[i] === keptFrom) isCompacted = true;
  }
}

/** Says whether an entry gets a row. */
function keeps(made, view, i) {
  if (made.hidden[i]) return false;
  const label = made.labels.has(made.seqs[i]);
  if (view === "all") return true;
  if (view === "user") return made.kinds[i] === "u";
  if (view === "labels") return label || i === made.leaf;
  const above = made.parent[i];
  return label || LANDMARKS.includes(made.kinds[i]) || (above >= 0 && made.children[above] > 1);
}

/**
 * Lays the tree out in rows. Side branches come first, one lane to the right, and what they left goes on below them; so every lane
 * to the left of a row goes on, and the newest is at the end.
 */
export function layout(made, view, opened = new Set()) {
  const count = made.seqs.length;
  const kept = new Uint8Array(count);
  let some = false;
  for (let i = 0; i < count; i++) if (keeps(made, view, i)) some = kept[i] = 1;
  if (!some && view === "turns") for (let i = 0; i < count; i++) kept[i] = made.hidden[i] ? 0 : 1;
  const owner = owners(made, kept);
  const { end, sums, tools } = gather(made, owner);
  const tree = fold(made, kept, owner);
  const rows = [];
  const stack = tree.roots.map((i) => [i, 0, false]).reverse();
  while (stack.length > 0) {
    const [i, depth, first] = stack.pop();
    const below = tree.children.get(i) ?? [];
    const main = mainOf(made, below, end);
    rows.push({
      i, seq: made.seqs[i], end: endOf(made, end[i] >= 0 ? end[i] : i), last: end[i] >= 0 ? end[i] : i, depth, first,
      isTip: below.length === 0, count: sums[i], tools: tools[i], parent: tree.parent[i],
    });
    if (main >= 0) stack.push([main, depth, false]);
    for (let at = below.length - 1; at >= 0; at--) if (below[at] !== main) stack.push([below[at], depth + 1, true]);
  }
  return { rows: view === "turns" ? elide(made, rows, opened) : rows, owner, siblings: tree.children, roots: tree.roots };
}

/** The position where what an entry closes ends. */
export function endOf(made, i) {
  return Math.max(made.tail.get(i) ?? 0, made.seqs[i]);
}

/** For every entry the row that stands for it. */
function owners(made, kept) {
  const count = made.seqs.length;
  const owner = new Int32Array(count).fill(-2);
  const trail = [];
  for (let start = 0; start < count; start++) {
    let i = start;
    while (i >= 0 && owner[i] === -2 && !kept[i]) {
      owner[i] = -3;
      trail.push(i);
      i = made.parent[i];
    }
    const found = i < 0 || owner[i] === -3 ? -1 : kept[i] ? i : owner[i];
    if (i >= 0 && kept[i]) owner[i] = i;
    for (const one of trail) owner[one] = found;
    trail.length = 0;
  }
  return owner;
}

function gather(made, owner) {
  const count = made.seqs.length;
  const end = new Int32Array(count).fill(-1);
  const sums = new Int32Array(count);
  const tools = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const row = owner[i];
    if (row < 0 || made.hidden[i]) continue;
    sums[row]++;
    if (made.kinds[i] === "t") tools[row]++;
    if (end[row] < 0 || made.onPath[i] || !made.onPath[end[row]]) end[row] = i;
  }
  return { end, sums, tools };
}

/** The tree of rows. */
function fold(made, kept, owner) {
  const count = made.seqs.length;
  const parent = new Int32Array(count).fill(-1);
  const children = new Map();
  const roots = [];
  for (let i = 0; i < count; i++) {
    if (!kept[i]) continue;
    const above = made.parent[i] >= 0 ? owner[made.parent[i]] : -1;
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
function mainOf(made, below) {
  for (const i of below) if (made.onPath[i]) return i;
  return below.length > 0 ? below[below.length - 1] : -1;
}

/** Puts one row in the place of several that the model is not sent any more. */
function elide(made, rows, opened) {
  const out = [];
  let run = [];
  const close = () => {
    if (run.length > 2 && !opened.has(run[0].seq)) out.push({ ...run[0], fold: run.length, end: run[run.length - 1].end });
    else out.push(...run);
    run = [];
  };
  for (const row of rows) {
    const isPlain = made.compacted[row.i] && !made.labels.has(row.seq) && !row.first && row.depth === 0;
    if (!isPlain) close();
    if (isPlain) run.push(row);
    else out.push(row);
  }
  close();
  return out;
}

/** The entries of a row, in order: from its last one up to itself. */
export function entriesOf(made, row) {
  const found = [];
  for (let i = row.last; i >= 0; i = made.parent[i]) {
    found.push(made.seqs[i]);
    if (i === row.i) break;
  }
  return found.reverse();
}
