// What is shown when there are no sessions: what this is, what could be imported, and an example. Importing is offered later, too.

import { get, path, post } from "./api.js";
import { attempt, complain, note, open as openDialog } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { demo } from "./demo.js";
import { count, size } from "./format.js";
import { reload } from "./sessions.js";

/** How often it is looked how far an import has come. */
const EVERY = 500;

/** Counts the sessions of other agents, and imports those that are wanted. */
function offering() {
  const offer = h("div", { class: "offer", "aria-live": "polite" }, h("p", { class: "quiet" }, "Looking for sessions of other agents on this machine…"));
  look(offer);
  return offer;
}

/** Offers what could be imported, at any time. What was imported before only grows. */
export function importing() {
  openDialog("Import", offering(), { wide: true });
}

export function welcome() {
  return h("section", { class: "welcome", "aria-label": "Welcome" }, h("h1", {}, "No sessions yet"),
    h("p", {}, "ramus keeps the sessions of coding agents as trees: going back and trying something else makes a branch, and nothing is lost. Here one reads them, searches them, goes back in them and goes on."),
    offering(), h("h2", {}, "Or look at an example"), h("p", {}, "A session with branches, labels and calls of tools, made up for this. Delete it when you have seen it."),
    button("Make the example", () => attempt(demo), { id: "demo" }),
    h("h2", {}, "Or start"), h("p", {}, "Press ", h("kbd", {}, "n"), " for a new session, or say ", h("code", {}, "ramus run \"…\""), " in a terminal."));
}

async function look(offer) {
  try {
    show(offer, await get(path("foreign")));
  } catch (error) {
    fill(offer, h("p", { class: "quiet" }, error.message));
  }
}

function show(offer, { found, import: state }) {
  if (state.status === "running") return watch(offer);
  const files = found.reduce((sum, one) => sum + one.files, 0);
  if (files === 0) return fill(offer, h("p", { class: "quiet" }, "No sessions of other agents were found on this machine."));
  const boxes = found.map((one) => h("input", { type: "checkbox", value: one.agent, checked: true }));
  fill(offer, h("h2", {}, `Found ${count(files, "file")} of ${count(found.length, "agent")} on this machine`),
    h("p", {}, "Importing only reads them: nothing of theirs is changed, and nothing leaves this machine."),
    h("ul", { class: "plain agents" }, found.map((one, n) => h("li", {}, h("label", { class: "check" }, boxes[n], ` ${one.agent}`), h("span", { class: "quiet" }, ` ${count(one.files, "file")}, ${size(one.bytes)}`)))),
    button("Import", () => attempt(async () => {
      const agents = boxes.filter((box) => box.checked).map((box) => box.value);
      if (agents.length === 0) return;
      await post(path("foreign"), { agents });
      watch(offer);
    }), { class: "main", "data-do": "import" }));
}

/** Shows how far an import has come until it ends. */
async function watch(offer) {
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Import" });
  const told = h("p", { role: "status" }, "Importing…");
  fill(offer, bar, told);
  for (;;) {
    let state;
    try {
      state = (await get(path("foreign"))).import;
    } catch (error) {
      return complain(error);
    }
    // Whoever closed the dialog wants to know no more; the list tells.
    if (!offer.isConnected) return;
    if (state.status !== "running") return ended(offer, state);
    bar.max = Math.max(1, state.of_files);
    bar.value = state.files;
    told.textContent = `${state.files} of ${count(state.of_files, "file")}`;
    await new Promise((resolve) => setTimeout(resolve, EVERY));
  }
}

function ended(offer, state) {
  if (state.status === "failed") return fill(offer, h("p", { class: "stopped" }, state.reason));
  // The list that now has sessions hides what offered to import them.
  const failed = state.failed.length > 0 ? ` ${count(state.failed.length, "file")} could not be read: import again to see which.` : "";
  note(`${count(state.imported, "session")} imported.${failed}`, { keep: state.failed.length > 0 });
  fill(offer, h("p", { role: "status" }, `${count(state.imported, "session")} imported.`),
    state.failed.length > 0 ? h("details", {}, h("summary", {}, `${count(state.failed.length, "file")} could not be read`), h("ul", {}, state.failed.slice(0, 50).map((one) => h("li", {}, `${one.file}: ${one.reason}`)))) : null);
  reload();
}
