// A question of a turn: what the model wants to do, in words, and everything that it would do it with.

import { unified } from "./diff.js";
import { h } from "./dom.js";
import { count } from "./format.js";
import { edited } from "./message.js";

/** What is asked, by permission; what is named first by its argument, and what of it is shown as it will stand there. */
const ASKED = {
  bash: { text: "Run this command?" },
  write: { text: "Write this file?", first: "path", block: "content" },
  edit: { text: "Change this file?", first: "path" },
  read: { text: "Read this file?", first: "path" },
  list: { text: "List this directory?", first: "path" },
  glob: { text: "Look for files by name?", first: "pattern" },
  grep: { text: "Search in files?", first: "pattern" },
};

/** Differences are drawn up to these; a longer text is shown whole, as it was and as it will be. */
const [MOST_LETTERS, MOST_LINES] = [20000, 3000];

/** Letters that nobody sees, or that turn others around: what is asked must not look like something else. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u061c\u115f\u1160\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Shows what is asked. Nothing of it is left out. */
export function described({ permission, exact, because, name }) {
  // What a command writes is asked as "write", with the command.
  const isCommand = permission === "bash" || name === "bash";
  const given = isCommand ? null : read(exact);
  const about = (isCommand && permission === "write" ? { text: "Let this command write files?" } : ASKED[permission]) ?? {};
  const first = typeof given?.[about.first] === "string" ? about.first : null;
  return [h("p", { class: "asks" }, h("strong", {}, about.text ?? ["Use ", h("code", {}, spelled(permission)), "?"]),
    first ? [" ", h("code", { class: "path" }, spelled(given[first]).replaceAll("\n", named))] : null, size(given?.[about.block])),
    h("div", { class: "given", role: "region", "aria-label": "What it would do", tabindex: 0 }, given ? all(given, first, about.block, exact) : h("pre", {}, spelled(exact))),
    h("p", { class: "quiet because", title: because }, reason(because))];
}

const named = (letter) => `⟨U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** Spells a text out, with the names of letters that would not be seen. */
export const spelled = (text) => text.replace(UNSEEN, named);

/** Reads arguments; a command is none. */
function read(exact) {
  try {
    const value = JSON.parse(exact);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function size(text) {
  if (typeof text !== "string") return null;
  return h("span", { class: "quiet" }, ` ${count(text.split("\n").length - (text.endsWith("\n") ? 1 : 0), "line")}`);
}

function all(given, first, block, exact) {
  const edit = edited(given, { most: MOST_LETTERS });
  const isDrawn = edit && edit.lines.length <= MOST_LINES && edit.names.every((name) => given[name].length <= MOST_LETTERS);
  const rest = Object.entries(given).filter(([name]) => name !== first && name !== block && !(isDrawn && edit.names.includes(name)));
  return [isDrawn ? unified(`@@ -1 +1 @@\n${edit.lines.map(spelled).join("\n")}\n`, { isNumbered: false }) : null,
    typeof given[block] === "string" ? h("pre", {}, spelled(given[block])) : null,
    rest.map(([name, value]) => argument(name, value)),
    // A number that a page cannot hold would be told as another one.
    JSON.stringify(given) === exact ? null : argument("as it was sent", exact)];
}

function argument(name, value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const isShort = text.length < 80 && !text.includes("\n");
  return h("div", { class: isShort ? "argument short" : "argument" }, h("span", { class: "quiet" }, spelled(name)), isShort ? h("code", {}, spelled(text)) : h("pre", {}, spelled(text)));
}

const LAYERS = { agent: "The rules of the agent", user: "Your settings", project: "The settings of the project", session: "The rules of this session" };

/** Says in words why it is asked. */
function reason(because) {
  const rule = /^rule of the (agent|user|project|session): ask (\S+) (.*)$/s.exec(because);
  if (rule) {
    const [, layer, permission, pattern] = rule;
    if (permission === "*" && pattern === "*") return `${LAYERS[layer]} have everything asked that nothing else allows.`;
    return [`${LAYERS[layer]} have `, permission === "*" ? "everything" : h("code", {}, spelled(permission)), " asked", pattern === "*" ? " every time." : [" for ", h("code", {}, spelled(pattern)), "."]];
  }
  if (because.startsWith("no rule matches")) return `No rule speaks of it: ${spelled(because.slice("no rule matches ".length))}.`;
  const text = spelled(because);
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
