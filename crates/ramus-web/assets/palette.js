// The palette: type what is looked for. Commands, sessions by title, and everything that was said.

import { act, ACTIONS } from "./actions.js";
import { get, path, query } from "./api.js";
import { attempt, note, open as openDialog } from "./dialog.js";
import { afterwards, fill, h } from "./dom.js";
import { ago, base, called, count } from "./format.js";
import { found } from "./found.js";
import { enter, go, state } from "./state.js";

const HITS = 30;

/** What the last search found, and which of it was opened last. */
let hits = [];
let opened = -1;

/** Asks which of several things is meant. `look(text)` finds them (`show` is what is seen of one, `run` what choosing it does) and says what is told below, above the `hint`. */
export function pick(title, label, look, hint = null) {
  let items = [];
  let at = 0;
  let asked = 0;
  /** The text whose results are shown; none until there are some. */
  let looked = null;
  let isChoosing = false;
  const field = h("input", { type: "text", id: "palette", role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-autocomplete": "list", "aria-label": label, placeholder: label });
  const found = h("ul", { id: "found", class: "found", role: "listbox", "aria-label": "Results" });
  const told = h("p", { class: "quiet", role: "status" });
  const close = openDialog(title, [field, found, told, hint], { kind: "finder" });
  const show = () => {
    fill(found, items.map((item, n) => h("li", { id: `found-${n}`, role: "option", "aria-selected": n === at, on: { click: () => choose(n) } }, item.show())));
    if (items[at]) field.setAttribute("aria-activedescendant", `found-${at}`);
    else field.removeAttribute("aria-activedescendant");
    found.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const choose = (n) => {
    const item = items[n];
    if (!item) return;
    close();
    item.run();
  };
  const renew = async () => {
    const mine = ++asked;
    const text = field.value.trim();
    const answer = await look(text);
    if (mine !== asked) return;
    looked = text;
    items = answer.items;
    told.textContent = answer.told;
    at = 0;
    show();
  };
  /** What is chosen is what the text finds, also when whoever typed it was faster. */
  const chooseFound = async () => {
    if (isChoosing) return;
    isChoosing = true;
    while (looked !== field.value.trim() && field.isConnected) await renew();
    isChoosing = false;
    if (field.isConnected) choose(at);
  };
  field.addEventListener("input", afterwards(80, renew));
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      at = Math.max(0, Math.min(items.length - 1, at + step));
      show();
    } else if (event.key === "Enter") {
      event.preventDefault();
      chooseFound();
    }
  });
  field.focus();
  renew();
}

/** Opens the palette. `here` searches only the session that is open. */
export function palette({ here = false } = {}) {
  if (here) pick("Find", "Find in this session", (text) => search(text, { here }), narrowing());
  else pick("Search or jump", "Search everything, or type a command", search, narrowing());
}

/** What a search can be narrowed by; some of it as an example. */
const OPERATORS = ["role:", "tool:", "model:", "file:", "has:error", "after:7d", "before:", "cwd:", "project:", "tag:", "is:starred"];

function narrowing() {
  return h("p", { class: "quiet hint" }, "Narrow it: ", [...OPERATORS, '"two words"', "-without"].map((one) => [h("code", {}, one), " "]));
}

/** Says which word looks as if it should narrow a search and is text. */
function taken(text) {
  const known = OPERATORS.map((one) => one.split(":")[0]);
  const word = text.replace(/"[^"]*"/g, " ").split(/\s+/).map((one) => /^-?([a-z]+)(?::(?!:|\/\/)|[<>=])/i.exec(one)?.[1]).find((name) => name && !known.includes(name.toLowerCase()));
  return word ? `. There is no operator ${word}: it was looked for as text` : "";
}

async function search(text, { here = false } = {}) {
  const commands = here ? [] : commandsFor(text).map(command);
  try {
    const [listed, searched] = await Promise.all([
      here ? { sessions: [] } : get(query(path("sessions"), { search: text, limit: 8, drafts: true })),
      text ? get(query(path("search"), { q: text, session: here ? state.s : "", limit: HITS, prefix: true })) : { hits: [], total: 0 },
    ]);
    const told = text ? `${count(searched.total, "hit")}${searched.hits.length < searched.total ? `, the best ${searched.hits.length}` : ""}${searched.total === 0 ? taken(text) : ""}` : "";
    const sessions = listed.sessions.map(session);
    return { items: text ? [...commands.slice(0, 6), ...sessions, ...searched.hits.map(hit)] : [...sessions, ...commands], told };
  } catch (error) {
    return { items: commands, told: error.hint ? `${error.message}. ${error.hint}` : error.message };
  }
}

/** Returns what can be done that has every word of a text somewhere in its name. Where no session is open there is less. */
function commandsFor(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const can = ACTIONS.filter((one) => one.free || state.s);
  return can.filter((one) => words.every((word) => `${one.name} ${one.text} ${one.menu?.() ?? ""} ${one.button ?? ""}`.toLowerCase().includes(word)));
}

function command(one) {
  return { show: () => [h("span", { class: "kind" }, "›"), one.text, one.key ? h("kbd", {}, one.key) : null], run: () => act(one.name) };
}

function session(one) {
  return { show: () => [h("span", { class: "kind" }, "session"), h("strong", {}, called(one.title)), h("span", { class: "quiet" }, ` ${base(one.project ?? one.cwd)} ${ago(one.updated)}`)],
    run: () => enter(one.id) };
}

/** A hit opens where it was said, and the others of its search can be gone through from there. */
function hit(one, n, all) {
  return { show: () => [h("span", { class: "kind" }, one.role ?? "text"), h("span", { class: "snippet" }, one.segments.map((part) => (part.match ? h("mark", {}, part.text) : part.text))),
    h("span", { class: "quiet" }, ` ${called(one.title)}`)], run: () => {
    hits = all;
    show(n);
  } };
}

function show(n) {
  opened = n;
  const { entry, session: id } = hits[n];
  return attempt(async () => {
    const { rows } = entry ? await get(query(path("sessions", id, "rows"), { entry })) : { rows: [] };
    found(id, rows[0]?.seq ?? "", hits[n].segments);
    go({ s: id, e: rows[0]?.seq ?? "", tab: "message", page: "", view: "turns" });
  });
}

/** Opens the next or the previous hit of the last search. */
export function next(step) {
  if (hits.length === 0) return note("Search first: the hits can be gone through then.");
  if (!hits[opened + step]) return note(step > 0 ? "This is the last hit." : "This is the first hit.");
  return show(opened + step);
}
