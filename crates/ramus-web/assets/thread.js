// What was said: the messages of a turn, or all up to it, some at a time; and words as they come.

import { get, path, query } from "./api.js";
import { button, fill, h, perFrame } from "./dom.js";
import { paint } from "./found.js";
import { count } from "./format.js";
import { keep, renew } from "./keep.js";
import { live } from "./live.js";
import { markdown } from "./markdown.js";
import { transcript } from "./message.js";
import { below, entriesOf } from "./outline.js";
import { state } from "./state.js";
import { open, selectedRow } from "./tree.js";

/** How many entries are shown at a time. */
const WINDOW = 60;

/** How much of what was read is kept, in characters: pictures and long outputs count as what they are. */
const MOST = 16e6;

/** How near to the end one must be to stay there. */
const NEAR = 40;

/** Where words come. */
export const words = h("div", { class: "live", "aria-live": "off" });

let content = null;
/** Where one is, and what of it is shown, from which entry on. */
let place = "";
let shown = "";
let start = 0;
/** From where more was asked for; `Infinity` for the end, however far that is. */
let from = -1;
/** Counts what is to be shown: an answer to what was asked before is too late. */
let latest = 0;
/** Entries that were read and how they are shown, by position; of one session at a time. */
let read = new Map();
let weight = 0;
let known = new Map();
let readOf = "";

/** Says where messages are shown. */
export function use(element) {
  content = element;
}

/** Says whether messages are shown: those of a turn, or all up to it. */
export const isTalk = () => state.tab === "message" || state.tab === "thread";

/** Something else is shown now. */
export function leave() {
  latest++;
  place = shown = "";
}

/** Somebody went elsewhere: nothing more was asked for there. */
export function rewindow() {
  from = -1;
}

/** Shows the messages of a row. What did not change stays as it is, and so does the reader. */
export async function show(row) {
  const mine = ++latest;
  const { id } = open;
  const where = `${id} ${state.tab} ${state.e}`;
  const isSame = () => where === place && content.contains(words);
  const all = entries(row);
  const first = isSame() && !isAtEnd() ? start : startOf(all, row);
  const wanted = all.slice(first, first + WINDOW);
  const name = `${where} ${all.length} ${live.children.length} ${wanted.map((seq) => `${seq}${open.made.labels.get(seq) ?? ""}`).join(",")}`;
  if (name === shown && isSame()) return say();
  const source = `${id} ${open.version}`;
  if (readOf !== source) [read, weight, known, readOf] = [new Map(), 0, new Map(), source];
  const missing = wanted.filter((seq) => !read.has(seq));
  if (missing.length > 0) {
    let answer;
    try {
      answer = await get(query(path("sessions", id, "passage"), { at: missing.join(",") }));
    } catch (error) {
      if (mine === latest) fail(row, error);
      return;
    }
    if (readOf !== source) return;
    for (const entry of answer.entries) {
      read.set(entry.seq, entry);
      weight += JSON.stringify(entry).length;
    }
    for (const seq of missing) if (!read.has(seq) && !answer.rest.includes(seq)) read.set(seq, null);
    if (mine !== latest || open.id !== id || !open.made) return;
    if (answer.rest.length > 0) return show(row);
  }
  const [stays, follows] = [isSame(), isAtEnd()];
  [place, shown, start] = [where, name, first];
  draw(all, wanted);
  say();
  paint(content);
  if (!stays) arrive(row);
  else if (follows) content.scrollTop = content.scrollHeight;
  if (read.size > 2000 || weight > MOST) [read, weight] = [new Map(wanted.map((seq) => [seq, read.get(seq)])), 0];
}

const isAtEnd = () => content.scrollTop + content.clientHeight >= content.scrollHeight - NEAR;

/** The entries that belong to what is shown. */
function entries(row) {
  if (state.tab === "thread") return entriesOf(open.made, { i: -1, last: row.last });
  return row.isTurn ? entriesOf(open.made, row) : turnOf(row);
}

/** The entries around one, up to the prompts on both sides. */
function turnOf(row) {
  const { made } = open;
  let first = row.i;
  while (made.kinds[first] !== "u" && made.parent[first] >= 0) first = made.parent[first];
  let last = row.i;
  for (let steps = 0; steps < 500; steps++) {
    const all = below(made, last);
    const next = all.find((i) => made.onPath[i]) ?? all[all.length - 1];
    if (next === undefined || made.kinds[next] === "u") break;
    last = next;
  }
  return entriesOf(made, { i: first, last });
}

/** Where the entries start that are shown: where more was asked for, at the end where the session goes on, or around the entry. */
function startOf(all, row) {
  const last = Math.max(0, all.length - WINDOW);
  if (from >= 0) return Math.min(from, last);
  if (isRow(row) && row.last === open.made.leaf) return last;
  const at = all.indexOf(Number(state.e));
  return Math.max(0, Math.min((at < 0 ? all.indexOf(row.seq) : at) - WINDOW / 2, last));
}

/** Says whether the row itself is meant, not an entry within. */
const isRow = (row) => Number(state.e) === row.seq;

function draw(all, wanted) {
  const told = wanted.map((seq) => read.get(seq)).filter(Boolean);
  for (const entry of told) entry.label = open.made.labels.get(entry.seq) ?? null;
  const later = all.length - start - wanted.length;
  const of = state.tab === "thread" ? "" : " of this turn";
  keep(content, start > 0 ? step(`${count(start, "earlier entry", "earlier entries")}${of}`, Math.max(0, start - WINDOW), true) : null,
    transcript(told, state.e, known),
    later > 0 ? step(`${count(later, "later entry", "later entries")}${of}`, later > WINDOW ? start + WINDOW : Infinity, false) : null, words);
}

/** A button that leads on. Whoever goes up reads on at the end of what comes, whoever goes down at its start. */
function step(text, to, isUp) {
  return button(text, async () => {
    from = to;
    leave();
    await show(selectedRow());
    content.scrollTop = isUp ? content.scrollHeight : 0;
    content.focus({ preventScroll: true });
  }, { class: "more" });
}

/** Scrolls to what was asked for. */
function arrive(row) {
  const current = content.querySelector("[aria-current]");
  if (!current) content.scrollTop = isRow(row) && start > 0 ? content.scrollHeight : 0;
  else if (!row.isTurn) current.scrollIntoView({ block: "nearest" });
  else if (isRow(row) && state.tab === "message") content.scrollTop = 0;
  else content.scrollTop += current.getBoundingClientRect().top - content.getBoundingClientRect().top - 8;
}

function fail(row, error) {
  leave();
  fill(content, h("p", { class: "stopped" }, `${error.message} `, button("Try again", () => show(row))), words);
}

const thought = h("div", { class: "text" });
const thinking = h("details", { class: "thinking" }, h("summary", {}, "Thinking…"), thought);
const body = h("div", { class: "body" });
const answer = h("article", { class: "message assistant streaming" }, h("header", {}, h("strong", {}, "Model")), body);
const calls = h("div");
const waiting = h("p", { class: "quiet waiting" }, "The model is working…");
let said = "";

/** Shows words as they come, at the row that they will belong to. */
export const say = perFrame(() => {
  const row = selectedRow();
  const isHere = isTalk() && (!row || row.last === open.made.leaf) && live.run;
  const follows = isAtEnd();
  if (thought.textContent !== live.thinking) thought.textContent = live.thinking;
  if (said !== live.text) fill(body, markdown((said = live.text)));
  const state = live.asked.length > 0 ? "The turn waits for your answer, below." : "The model is working…";
  if (waiting.textContent !== state) waiting.textContent = state;
  renew(calls, live.calls.map((call) => h("p", { class: "quiet" }, h("code", {}, call.name), " is running…")));
  keep(words, isHere ? [live.thinking && thinking, live.text && answer, live.calls.length > 0 && calls, ((!live.text && live.calls.length === 0) || live.asked.length > 0) && waiting] : null);
  if (isHere && follows) content.scrollTop = content.scrollHeight;
});
