// Going back with the files: says first which files would change, and can be taken back.

import { path, post } from "./api.js";
import { attempt, note, open as openDialog } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { count } from "./format.js";
import { describe } from "./live.js";
import { state } from "./state.js";
import * as tree from "./tree.js";

const at = (...parts) => path("sessions", state.s, ...parts);
const WORDS = { create: "comes back", overwrite: "changes back", delete: "goes" };
const WHY = { changed: "you changed it since", uncovered: "no snapshot holds it", forbidden: "it must not be touched" };

/** Asks how far to go back from a row on. */
export async function rewind(row) {
  const entry = `#${tree.targetOf(row)}`;
  const plan = h("div", { class: "plan" }, h("p", { class: "quiet" }, "Looking which files would change…"));
  const force = h("input", { type: "checkbox", id: "force" });
  const both = button("Conversation and files", () => go(force.checked), { class: "main", disabled: true, "data-do": "both" });
  const talk = button("Conversation only", () => leave(), { "data-do": "talk" });
  const close = openDialog("Rewind", [h("p", {}, "The session goes on from here. A snapshot of the files is taken first, and everything can be undone."), plan, h("div", { class: "buttons" }, talk, both)], { wide: true });
  const go = (forced) => attempt(async () => {
    const answer = await post(at("revert"), { entry, force: forced });
    close();
    done(answer.plan.length - answer.kept.length);
  });
  const leave = () => attempt(async () => {
    const before = tree.open.made.leafSeq;
    await post(at("branch"), { entry });
    close();
    tree.refresh();
    note("Checked out. The files are as they were before.", { action: "Undo", act: () => attempt(async () => {
      await post(at("branch"), { entry: before ? `#${before}` : null });
      tree.refresh();
    }) });
  });
  try {
    const answer = await post(at("revert"), { entry, dry_run: true });
    const conflicts = answer.plan.filter((step) => step.conflict);
    fill(plan, answer.plan.length === 0 ? h("p", {}, "No file would change.") : [h("p", {}, `${count(answer.plan.length, "file")} would change:`),
      h("ul", { class: "steps" }, answer.plan.map((step) => h("li", { class: step.conflict ? "conflict" : "" }, h("code", {}, step.path), " ", WORDS[step.action] ?? step.action,
        step.conflict ? h("span", { class: "quiet" }, ` — kept: ${WHY[step.conflict] ?? step.conflict}`) : null)))],
      conflicts.some((step) => step.conflict === "changed") ? h("label", { class: "check" }, force, ` Also ${count(conflicts.length, "file")} that changed since`) : null);
    both.disabled = false;
    both.focus();
  } catch (error) {
    fill(plan, h("p", { class: "stopped" }, error.hint ? `${error.message}. ${error.hint}` : error.message));
    talk.focus();
  }
}

function done(files) {
  tree.refresh();
  describe();
  note(`Went back; ${count(Math.max(0, files), "file")} changed.`, { action: "Undo", act: () => attempt(unrevert), keep: true });
}

/** Takes the revert back that is in force. */
export async function unrevert() {
  await post(at("unrevert"), {});
  tree.refresh();
  describe();
  note("The revert was taken back.");
}
