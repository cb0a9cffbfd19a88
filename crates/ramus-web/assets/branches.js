// All branches of the session, each by the last prompt on it, to go to one of them.

import { get, path, query } from "./api.js";
import { h } from "./dom.js";
import { ago, count, plain } from "./format.js";
import { pick } from "./palette.js";
import { go, state } from "./state.js";
import { open } from "./tree.js";

/** How many of the newest branches are listed, and how many are asked for at a time. */
const MOST = 240;
const BATCH = 120;

/** Shows the branches. */
export function branches() {
  const { id, made } = open;
  if (!made) return;
  const tips = tipsOf(made);
  let asked = null;
  pick("Branches", "Find a branch by its last prompt", async (text) => {
    try {
      const rows = await (asked ??= read(id, tips.slice(0, MOST)));
      const items = rows.filter((row) => row.text.toLowerCase().includes(text.toLowerCase())).map(item);
      return { items, told: `${count(tips.length, "end")}${tips.length > MOST ? `, the newest ${MOST}` : ""}` };
    } catch (error) {
      return { items: [], told: error.message };
    }
  });
}

/** Where branches end, and the last prompt on each; the one the session is on comes first, then the newest. */
function tipsOf(made) {
  const prompt = new Int32Array(made.seqs.length).fill(-1);
  const tips = [];
  for (let i = 0; i < made.seqs.length; i++) {
    const above = made.parent[i];
    prompt[i] = made.kinds[i] === "u" ? i : above >= 0 ? prompt[above] : -1;
    if (made.children[i] === 0 && !made.hidden[i]) tips.push({ i, seq: made.seqs[i], prompt: made.seqs[prompt[i] >= 0 ? prompt[i] : i], isLeaf: i === made.leaf });
  }
  return tips.sort((a, b) => b.isLeaf - a.isLeaf || b.i - a.i);
}

async function read(id, tips) {
  const found = new Map();
  for (let at = 0; at < tips.length; at += BATCH) {
    const wanted = [...new Set(tips.slice(at, at + BATCH).map((tip) => tip.prompt))].join(",");
    const { rows } = await get(query(path("sessions", id, "rows"), { at: wanted }));
    for (const row of rows) found.set(row.seq, row);
  }
  return tips.map((tip) => ({ ...tip, id, text: plain(found.get(tip.prompt)?.preview ?? "") || "…", when: found.get(tip.prompt)?.timestamp, label: open.made?.labels.get(tip.seq) }));
}

function item({ id, seq, text, when, label, isLeaf }) {
  return { show: () => [h("span", { class: "kind" }, isLeaf ? "@" : "○"), label ? h("span", { class: "label" }, `⚑ ${label}`) : null, text, h("span", { class: "quiet" }, ` ${ago(when)}`)],
    run: () => state.s === id && go({ e: seq, page: "" }) };
}
