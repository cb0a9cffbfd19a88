// Which sessions belong together: forks and subagents stand below the session they came from, as far as that is listed.

/** Rows further in are drawn in one place. */
const DEEPEST = 3;

/** The session that one came from: the one that started it, or the one that it was forked from. */
const originOf = (one) => one.parent ?? one.forked_from?.session ?? null;

/** Arranges sessions in rows. A family stands where its first member would, with its origin on top. */
export function arrange(sessions) {
  const byId = new Map(sessions.map((one) => [one.id, one]));
  const below = new Map();
  const tops = new Set();
  for (const one of sessions) {
    const above = byId.get(originOf(one));
    if (above && above !== one) {
      if (!below.has(above.id)) below.set(above.id, []);
      below.get(above.id).push(one);
    }
    tops.add(topOf(one, byId));
  }
  const rows = [];
  const placed = new Set();
  const stack = [...tops].reverse().map((one) => [one, 0]);
  while (stack.length > 0) {
    const [one, depth] = stack.pop();
    if (placed.has(one.id)) continue;
    placed.add(one.id);
    rows.push({ one, depth: Math.min(depth, DEEPEST) });
    for (const child of (below.get(one.id) ?? []).toReversed()) stack.push([child, depth + 1]);
  }
  return rows;
}

/** The oldest origin that is listed. Nothing keeps files from naming each other in a circle. */
function topOf(one, byId) {
  const seen = new Set([one.id]);
  let top = one;
  for (let above = byId.get(originOf(one)); above && !seen.has(above.id); above = byId.get(originOf(above))) {
    seen.add(above.id);
    top = above;
  }
  return top;
}
