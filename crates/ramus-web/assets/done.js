// What was done to the session, by whom and when; the newest of it can be taken back.

import { act } from "./actions.js";
import { get, path, query } from "./api.js";
import { button, fill, h } from "./dom.js";
import { time } from "./format.js";
import { go, state } from "./state.js";

const PAGE = 100;

let latest = 0;

export async function show(content) {
  const mine = ++latest;
  const head = h("header", { class: "page" }, h("h1", { tabindex: -1 }, "What was done"), button("Undo", () => again("undo")), button("Redo", () => again("redo")), button("Close", () => go({ page: "" })));
  // The page is shown again when what it tells has changed.
  const again = async (name) => {
    await act(name);
    if (state.page === "done") show(content);
  };
  const rows = h("tbody");
  const known = new Map();
  const more = h("p");
  const read = async (cursor) => {
    const answer = await get(query(path("sessions", state.s, "log"), { limit: PAGE, cursor }));
    for (const one of answer.operations) known.set(one.id, one);
    for (const one of answer.operations) rows.append(row(one, known.get(one.takes_back)));
    fill(more, answer.next_cursor ? button("Earlier", () => read(answer.next_cursor).catch((error) => fill(more, error.message))) : null);
  };
  fill(content, head, h("table", { class: "figures" }, h("thead", {}, h("tr", {}, ["What", "About", "When", "By"].map((text) => h("th", { scope: "col" }, text)))), rows), more);
  content.querySelector("h1").focus();
  try {
    await read();
    if (mine === latest && rows.childNodes.length === 0) fill(more, h("span", { class: "quiet" }, "Nothing that could be taken back was done yet."));
  } catch (error) {
    fill(more, h("span", { class: "stopped" }, error.message));
  }
}

/** What was done, in words. What is not named here is called what it is. */
const WORDS = { create: "Began", say: "Said", run: "Turn", append: "Added", label: "Label", rename: "Renamed", star: "Starred", unstar: "Star taken away", archive: "Archived", unarchive: "Brought back",
  tag: "Tags", share: "Shared", unshare: "Share taken back", branch: "Went to", reset_leaf: "Went to the start", revert: "Rewound", unrevert: "Rewinding taken back", restore: "Files put back", snapshot: "Snapshot",
  fork: "Forked", compact: "Compacted", clear: "Cleared", merge_back: "Brought back from a branch", undo: "Undone", redo: "Done again", todo: "Tasks", import: "Imported", meta: "Changed", model: "Model",
  thinking: "Thinking", approve: "Allowed", revoke: "No more allowed", purge: "Erased", workspace: "Workspace", conversation: "Saved" };

/** Through what it was done. */
const SURFACES = { web: "web view", cli: "command line", http: "HTTP" };

/** What it was about, when that is more than what was done. Metadata is told as it is stored. */
function aboutOf(op, about) {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(about) ?? [];
  if (["star", "unstar", "archive", "unarchive"].includes(op) || about.startsWith("ramus.")) return "";
  if (!name) return about;
  let told;
  try {
    told = JSON.parse(value);
  } catch {
    return about;
  }
  if (name === "starred") return told ? "starred" : "star taken away";
  if (name === "archived_at") return told ? "archived" : "brought back";
  if (Array.isArray(told)) return told.join(", ") || "none";
  return `${name}: ${told === null ? "nothing" : typeof told === "string" ? told : JSON.stringify(told)}`;
}

const nameOf = ({ op, about }) => WORDS[op === "star" && /^starred=(null|false)$/.test(about) ? "unstar" : op] ?? op;

/** A row; `back` is the operation that this one took back. */
function row({ op, about, time: when, client, undone, entries }, back) {
  const seq = entries[entries.length - 1]?.seq;
  const text = (back ? [nameOf(back), aboutOf(back.op, back.about)].filter(Boolean).join(": ") : aboutOf(op, about ?? "")) || "…";
  return h("tr", { class: undone ? "same" : "" }, h("th", { scope: "row", title: op }, nameOf({ op, about }), undone ? h("span", { class: "chip" }, "undone") : null),
    h("td", {}, seq ? button(text, () => go({ e: seq, page: "" }), { class: "plain" }) : text), h("td", {}, time(when)), h("td", {}, SURFACES[client] ?? client ?? ""));
}
