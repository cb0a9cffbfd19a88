// Going back, with the files, without them, or with the files alone: says first which files would change, and can be taken back.

import { post, within } from "./api.js";
import { attempt, note, open as openDialog } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { count } from "./format.js";
import { reread } from "./live.js";
import { state } from "./state.js";
import * as tree from "./tree.js";

const WORDS = { create: "comes back", overwrite: "changes back", delete: "goes" };
const WHY = { changed: "you changed it since", uncovered: "no snapshot holds it", forbidden: "it must not be touched" };

/** Asks how far to go back from a row on. */
export async function rewind(row) {
  const id = state.s;
  const at = within(id);
  const before = tree.open.made.leafSeq;
  const entry = `#${tree.targetOf(row)}`;
  const plan = h("div", { class: "plan" }, h("p", { class: "quiet" }, "Looking which files would change…"));
  const force = h("input", { type: "checkbox", id: "force" });
  const told = h("input", { type: "text", id: "left", maxlength: 2000, placeholder: "Plan A broke the login" });
  const both = button("Conversation and files", () => go(force.checked), { class: "main", disabled: true, "data-do": "both" });
  const talk = button("Conversation only", () => leave(), { "data-do": "talk" });
  const only = button("Files only", () => put(force.checked), { disabled: true, "data-do": "files" });
  let snapshot = null;
  const close = openDialog("Rewind", [h("p", {}, "The session goes on from here. A snapshot of the files is taken first, and everything can be undone."), plan,
    h("label", {}, "With the conversation only, the model can be told what came of the branch that is left:", told), h("div", { class: "buttons" }, talk, only, both)], { wide: true });
  const go = (forced) => attempt(async () => {
    const answer = await post(at("revert"), { entry, force: forced });
    close();
    done(id, answer.plan.length - answer.kept.length);
  });
  const put = (forced) => attempt(async () => {
    const answer = await post(at("restore"), { snapshot, force: forced });
    close();
    reread(id);
    if (!answer.safety_snapshot) return note("The files were left as they are.");
    note(`The files are as they were there: ${count(answer.restored, "file")} changed.`, { action: "Undo", act: () => attempt(async () => {
      await post(at("restore"), { snapshot: answer.safety_snapshot });
      reread(id);
      note("The files are as they were before.");
    }), keep: true });
  });
  const leave = () => attempt(async () => {
    await post(at("branch"), { entry, summary: told.value.trim() || null });
    close();
    reread(id);
    note("Checked out. The files are as they were before.", { action: "Undo", act: () => attempt(async () => {
      await post(at("branch"), { entry: before ? `#${before}` : null });
      reread(id);
    }) });
  });
  // Whoever writes already, or has chosen, stays where they are.
  const focused = document.activeElement;
  const lead = (button) => document.activeElement === focused && button.focus();
  try {
    const answer = await post(at("revert"), { entry, dry_run: true });
    // Going back undoes what was changed since; the files alone become what they were there, whoever changed them.
    const files = answer.snapshot ? await post(at("restore"), { snapshot: answer.snapshot, dry_run: true }).catch((error) => ({ error, plan: [] })) : null;
    const yours = new Set([...answer.plan, ...(files?.plan ?? [])].filter((step) => step.conflict === "changed").map((step) => step.path)).size;
    fill(plan, steps(answer.plan),
      !files ? h("p", { class: "quiet" }, "No snapshot of the files belongs to this entry, so they cannot go back alone.")
        : files.error ? h("p", { class: "quiet" }, `The files cannot go back alone: ${files.error.message}.`)
        : spelled(files.plan) === spelled(answer.plan) ? null : [h("h3", {}, "With the files only"), steps(files.plan)],
      yours > 0 ? h("label", { class: "check" }, force, ` Put back the ${count(yours, "file")} that you changed, too`) : null);
    snapshot = answer.snapshot;
    only.disabled = !files?.plan.length;
    both.disabled = false;
    lead(both);
  } catch (error) {
    fill(plan, h("p", { class: "stopped" }, error.hint ? `${error.message}. ${error.hint}` : error.message));
    lead(talk);
  }
}

/** Tells what would become of files. */
function steps(plan) {
  const [changes, stays] = [plan.filter((step) => !step.conflict), plan.filter((step) => step.conflict)];
  return [changes.length === 0 ? h("p", {}, "No file would change.") : [h("p", {}, `${count(changes.length, "file")} would change:`),
    h("ul", { class: "steps" }, changes.map((step) => h("li", {}, h("code", {}, step.path), " ", WORDS[step.action] ?? step.action)))],
    stays.length === 0 ? null : [h("p", {}, `${count(stays.length, "file")} would stay as ${stays.length === 1 ? "it is" : "they are"}:`),
      h("ul", { class: "steps" }, stays.map((step) => h("li", { class: "conflict" }, h("code", {}, step.path), h("span", { class: "quiet" }, ` ${WHY[step.conflict] ?? step.conflict}`))))]];
}

/** What is planned, in an order that does not matter. */
const spelled = (plan) => plan.map(({ path, action, conflict }) => `${path} ${action} ${conflict}`).sort().join("\n");

function done(id, files) {
  reread(id);
  note(`Went back; ${count(Math.max(0, files), "file")} changed.`, { action: "Undo", act: () => attempt(() => unrevert(id)), keep: true });
}

/** Takes the revert back that is in force in a session. */
export async function unrevert(id = state.s) {
  await post(within(id)("unrevert"), {});
  reread(id);
  note("The revert was taken back.");
}
