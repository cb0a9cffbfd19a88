// The tab of files: what a turn changed, what changed since the branch began or since the start, and how the files of now differ.

import { get, path, post, query } from "./api.js";
import { choice } from "./choice.js";
import { attempt, confirm, note } from "./dialog.js";
import { files as showFiles } from "./diff.js";
import { h } from "./dom.js";
import { time } from "./format.js";
import { keep, refold } from "./keep.js";
import { branchPoint, pathTo } from "./outline.js";
import { go, state } from "./state.js";
import { open, startOf, targetOf } from "./tree.js";

const CHOICES = [["turn", "This turn"], ["start", "Since the start"], ["branch", "Since it branched"], ["now", "Against the files now"]];

const bar = choice("What is compared", CHOICES, (diff) => go({ diff }, { replace: true }), "diff");
/** What the server said last. */
let told = "";

export async function show(content, row, { isAgain, isWanted, again }) {
  bar.show(state.diff);
  if (!isAgain) {
    told = "";
    keep(content, bar.element, h("p", { class: "quiet" }, "Comparing…"));
  }
  let [answer, body] = ["", null];
  try {
    [answer, body] = state.diff === "now" ? await now(open.id, row, again) : await changes(open.id, row);
  } catch (error) {
    body = () => h("p", { class: "quiet" }, error.hint ? `${error.message}. ${error.hint}` : error.message);
  }
  if (!isWanted() || (isAgain && answer && answer === told)) return;
  told = answer;
  const { scrollTop } = content;
  const made = h("div", {}, body());
  if (isAgain) refold(content, made);
  keep(content, bar.element, [...made.childNodes]);
  content.scrollTop = isAgain ? scrollTop : 0;
}

/** What calls changed in a turn, from where the branch left another one, or from the start, up to where a row ends. */
async function changes(id, row) {
  const from = state.diff === "turn" ? startOf(row) : state.diff === "branch" ? branchPoint(open.made, row.last) : 0;
  const since = from ? `#${from}` : null;
  const { diffs } = await get(query(path("sessions", id, "changes"), { since, entry: `#${targetOf(row)}` }));
  return [JSON.stringify(diffs), () => showFiles(diffs)];
}

/** How the files that are there differ from the last snapshot that was taken on the way to an entry, not on another branch. */
async function now(id, row, again) {
  const way = pathTo(open.made, targetOf(row));
  const { snapshots } = await get(path("sessions", id, "snapshots"));
  const from = snapshots.filter((one) => way.has(one.seq)).sort((a, b) => b.seq - a.seq)[0];
  if (!from) return ["none", () => h("p", { class: "quiet" }, "No snapshot of the files was taken up to here.")];
  const { diffs } = await get(query(path("sessions", id, "diff"), { from: from.id }));
  return [JSON.stringify([from.id, diffs]), () => [h("p", { class: "quiet" }, `From ◆ ${from.label} (${time(from.created)}) to the files now`),
    showFiles(diffs, { restore: (file) => attempt(() => restore(id, from.id, file, again)) })]];
}

/** Puts one file back to what a snapshot holds. What a person changed is asked about first; all of it can be undone. */
async function restore(id, snapshot, { path: name }, again) {
  const ask = (given) => post(path("sessions", id, "restore"), { snapshot, paths: [name], ...given });
  const { plan } = await ask({ dry_run: true });
  const isChanged = plan.some((step) => step.conflict);
  if (isChanged && !(await confirm("Put the file back?", `${name} was changed since, by you or another program. What it holds now is kept in a snapshot.`, "Put back"))) return;
  const answer = await ask({ force: isChanged });
  await again();
  note(answer.restored > 0 ? `${name} is as it was.` : `${name} was left as it is.`, answer.safety_snapshot ? { action: "Undo", act: () => attempt(async () => {
    await post(path("sessions", id, "restore"), { snapshot: answer.safety_snapshot, paths: [name], force: true });
    await again();
  }) } : {});
}
