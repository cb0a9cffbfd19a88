// The keyboard. Nothing needs a mouse.

import { act, ACTIONS } from "./actions.js";
import { isOpen } from "./dialog.js";
import { help } from "./help.js";
import { next, palette } from "./palette.js";
import { answerBy } from "./prompt.js";
import { go, state } from "./state.js";
import { focus, move, moveSibling, moveTurn, toLeaf } from "./tree.js";

/** Moves, and what is opened; the rest are actions. */
export const MOVES = [
  ["j", "Next row", () => move(1)],
  ["k", "Previous row", () => move(-1)],
  ["J", "Next prompt", () => moveTurn(1)],
  ["K", "Previous prompt", () => moveTurn(-1)],
  ["h", "Previous sibling branch", () => moveSibling(-1)],
  ["l", "Next sibling branch", () => moveSibling(1)],
  ["G", "The leaf", () => toLeaf()],
  ["/", "Find in this session", () => palette({ here: Boolean(state.s) })],
  [".", "Next hit of the last search", () => next(1)],
  [",", "Previous hit", () => next(-1)],
  ["t", "Fold or unfold thinking", () => toggle("details.thinking")],
  ["o", "Fold or unfold calls of tools", () => toggle("details.call")],
  ["?", "This help", () => help()],
];

const OFF = "keys-off";

/** Whether keys of one letter do something. Whoever speaks to the machine, or presses keys by accident, turns them off in this browser. */
export const areOn = () => !localStorage.getItem(OFF);
export const turn = (isOn) => (isOn ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1"));

const ARROWS = { ArrowDown: () => move(1), ArrowUp: () => move(-1), ArrowRight: () => moveSibling(1), ArrowLeft: () => moveSibling(-1), PageDown: () => move(15), PageUp: () => move(-15), Home: () => move(-Infinity), End: () => move(Infinity) };

export function start() {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (!isOpen()) palette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isOpen() || isTyping(event.target)) return;
    if (event.key.length === 1 && !areOn()) return;
    const isInTree = event.target.closest?.(".tree .list");
    const arrow = isInTree && ARROWS[event.key];
    const found = arrow || MOVES.find(([key]) => key === event.key)?.[2];
    if (found) {
      event.preventDefault();
      if ("jkJKhl".includes(event.key)) focus();
      return found();
    }
    // A key that is held down moves on; it does nothing twice.
    if (event.repeat) return;
    if (event.key === "Escape" && state.page) return go({ page: "", a: "", b: "", with: "" });
    if (answerBy(event.key)) return event.preventDefault();
    const action = ACTIONS.find((one) => one.key === event.key);
    if (!action || !isMeant(action, event.target)) return;
    event.preventDefault();
    act(action.name);
  });
}

/** What is about a row needs one that can be seen, and Enter means the row only where nothing else could be meant. */
function isMeant({ key, always, free }, target) {
  if (key === "Enter" && target !== document.body && !target.closest?.(".tree .list")) return false;
  return Boolean(always || free || !state.page);
}

function isTyping(target) {
  return target.closest?.("input, textarea, select") !== null && target.closest !== undefined;
}

function toggle(what) {
  const all = [...document.querySelectorAll(`.detail ${what}`)];
  const isClosed = all.some((one) => !one.open);
  for (const one of all) one.open = isClosed;
}
