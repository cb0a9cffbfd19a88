// The shape of a session: pure functions over columns of numbers, so that a hundred thousand entries take milliseconds. The
// server sends positions, parents and kinds; texts come later, for what can be seen.

/** What only keeps book is not shown: the ends of turns, and snapshots around a restore. */
const BOOK = "kq";

/** What stands for the end of what it closes. */
const END = "k";

/** What is no part of a turn but stands between turns, or marks a place in one. */
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

/** The position where what an entry closes ends. */
export function endOf(made, i) {
  return Math.max(made.tail.get(i) ?? 0, made.seqs[i]);
}

export const isLandmark = (made, i) => LANDMARKS.includes(made.kinds[i]);

/** The entries that hang from one. */
export function below(made, i) {
  const found = [];
  for (let child = made.first[i]; child >= 0; child = made.next[child]) found.push(child);
  return found;
}

/** The position where the turn starts in which an entry is: the one of its prompt, or its own when it is in none. */
export function turnOf(made, i) {
  for (let at = i; at >= 0; at = made.parent[at]) {
    if (made.kinds[at] === "u") return made.seqs[at];
    if (isLandmark(made, at) && (at === i || "SR".includes(made.kinds[at]))) break;
  }
  return made.seqs[i];
}

/** The position of the nearest entry above one from which another branch goes; 0 when there is none. */
export function branchPoint(made, i) {
  for (let at = made.parent[i]; at >= 0; at = made.parent[at]) if (made.children[at] > 1) return made.seqs[at];
  return 0;
}

/** The positions on the way to one, itself included; what keeps book is on it too. */
export function pathTo(made, seq) {
  const found = new Set();
  for (let at = seq; at > 0 && !found.has(at); at = made.parents[made.at.get(at)] ?? 0) found.add(at);
  return found;
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
