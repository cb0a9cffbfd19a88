// Which keys there are, and which signs.

import { ACTIONS } from "./actions.js";
import { open as openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { held } from "./format.js";
import { areOn, MOVES, turn } from "./keys.js";
import { ANSWERS } from "./prompt.js";
import { paneNow } from "./state.js";

const SIGNS = [["@", "the leaf: where the session goes on"], ["●", "on the path to it"], ["○", "on another branch"], ["◆", "files are kept as they were here"], ["⚑", "a label"], ["×", "something failed"], ["~", "compacted: the model is sent a summary"], ["↗ ↳", "a fork, a subagent"]];

const TALKING = [["Ctrl+Enter", "Send; tell the turn that runs"], ["Ctrl+Shift+Enter", "Say it when the turn would end"], ["Esc", "Leave the box or the page"]];

/** What the keys are about, and in which pane they are told first. */
const ABOUT = [
  ["tree", "Through the tree", ["j", "k", "J", "K", "h", "l", "G", "b", "x"]],
  ["tree", "From a row", ["Enter", "r", "a", "f", "L", "c"]],
  ["detail", "The entry", ["d", "t", "o", "/", ".", ","]],
  ["sessions", "Sessions", ["[", "]", "n", "s", "e", "z", "T", "u"]],
];

/** Tells all keys, those of the pane that one is in first. */
export function help() {
  const here = document.activeElement?.closest(".sessions, .tree, .detail")?.classList[1] ?? paneNow();
  const keys = new Map([...MOVES.map(([key, text]) => [key, text]), ...ACTIONS.filter((one) => one.key).map((one) => [one.key, one.text])]);
  const told = (all) => all.filter((key) => keys.has(key)).map((key) => [key, keys.get(key)]);
  const named = new Set(ABOUT.flatMap(([, , all]) => all));
  const about = ABOUT.map(([pane, title, all]) => [pane, title, told(all)]).sort(([a], [b]) => (b === here) - (a === here));
  const parts = [...about.map(([, title, rows]) => [title, rows]), ["Anywhere", [[held("K"), "Search or jump"], ...told([...keys.keys()].filter((key) => !named.has(key)))]],
    ["Talking", [...TALKING, ...ANSWERS.map(([, text, key]) => [key, text])]], ["Signs", SIGNS]];
  const box = h("input", { type: "checkbox", id: "keys-on", checked: areOn(), on: { change: () => turn(box.checked) } });
  openDialog("Help", [h("label", { class: "check" }, box, " Keys of one letter do something (kept in this browser)"), h("div", { class: "columns", role: "group", "aria-label": "Keys and signs", tabindex: 0 }, parts.map(([title, rows]) => h("section", {}, h("h3", {}, title),
    h("dl", {}, rows.map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])))))], { kind: "help" });
}
