// Which keys there are, and which signs.

import { ACTIONS } from "./actions.js";
import { open as openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { MOVES } from "./keys.js";

const SIGNS = [["@", "the leaf: where the session goes on"], ["●", "on the path to it"], ["○", "on another branch"], ["◆", "files are kept as they were here"], ["⚑", "a label"], ["×", "something failed"], ["~", "compacted: the model is sent a summary"], ["↗ ↳", "a fork, a subagent"]];

export function help() {
  const row = ([key, text]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, text));
  openDialog("Help", h("div", { class: "columns" },
    h("div", {}, h("h3", {}, "Moving"), h("table", {}, [["⌘K, Ctrl+K", "Search or jump"], ...MOVES].map(row))),
    h("div", {}, h("h3", {}, "Doing"), h("table", {}, ACTIONS.filter((one) => one.key).map((one) => row([one.key, one.text])))),
    h("div", {}, h("h3", {}, "Signs"), h("table", {}, SIGNS.map(row)))), { wide: true });
}
