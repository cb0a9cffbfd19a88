// Going on with a session in another agent: the command that writes it for that agent and starts it there.

import { attempt, note, open as openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { state } from "./state.js";
import { selectedRow, targetOf } from "./tree.js";

const AGENTS = [["claude", "Claude Code"], ["codex", "Codex"], ["gemini", "Gemini CLI"], ["opencode", "opencode"], ["pi", "pi"], ["omp", "oh-my-pi"], ["goose", "goose"]];

/** Shows the commands. A page starts no programs. */
export function continueIn() {
  const row = selectedRow();
  const place = row ? `${state.s}@#${targetOf(row)}` : state.s;
  const line = ([agent, name]) => {
    const command = `ramus resume '${place}' --in ${agent}`;
    return h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, h("code", {}, command)), h("td", {}, button("Copy", () => attempt(async () => {
      await navigator.clipboard.writeText(command);
      note("Copied.");
    }), { "aria-label": `Copy the command for ${name}` })));
  };
  openDialog("Continue in another agent", [h("p", {}, "Run one of these in a terminal on this machine. The path to the entry becomes a session of that agent, with its own id; this session stays as it is."),
    h("table", { class: "figures" }, h("tbody", {}, AGENTS.map(line)))], { wide: true });
}
