// The left pane: every session, with filters. Pages come as one scrolls.

import { act } from "./actions.js";
import { get, path, query } from "./api.js";
import { complain } from "./dialog.js";
import { afterwards, button, fill, h } from "./dom.js";
import { arrange } from "./families.js";
import { base, called, count as plural, money, since } from "./format.js";
import { renew as renewElement } from "./keep.js";
import { List } from "./list.js";
import { menu } from "./menu.js";
import { enter, go, state, watch } from "./state.js";
import { isAsking } from "./stream.js";

const PAGE = 200;
const HEIGHT = 52;
const FILTERS = ["q", "agent", "project", "tag", "sort", "star", "archived", "children"];

/** What the list can be narrowed to: the name in the address, what it is called, what comes first, where the server counts it. */
const NARROWED = [["agent", "Agent", "All agents", "agents"], ["project", "Project", "All projects", "projects"], ["tag", "Tag", "All tags", "tags"]];
const ORDERS = [["updated", "Newest"], ["cost", "Costliest"], ["messages", "Longest"], ["title", "By title"]];
/** What is shown besides, behind "⋯". */
const BESIDES = [["archived", "Archived sessions"], ["children", "Sessions of subagents"]];

let sessions = [];
/** The sessions as they are shown, each below the one it came from. */
let rows = [];
let cursor = null;
let loading = null;
/** Whether something changed while a page came. */
let isStale = false;
let hidden = null;
let list = null;
/** How many subagents are not shown. */
let subagents = 0;
/** The session that is open, as far as it is known. */
let shown = null;
/** The session that was reached by going from one to the next. */
let stepped = "";
let onEmpty = () => {};
/** Whether the session that is open shall be brought into view when the list came. */
let isWanted = false;
const running = new Set();
const listeners = [];

/** The pane. `whenEmpty(isEmpty)` is told whether there are no sessions at all. */
export function pane(whenEmpty) {
  onEmpty = whenEmpty;
  list = new List({ label: "Sessions", role: "listbox", item: "option", height: HEIGHT, row, seen: (_, last) => last + 20 >= rows.length && more() });
  const search = h("input", { type: "search", id: "filter", value: state.q, placeholder: "Filter sessions", "aria-label": "Filter sessions by title or directory", on: {
    input: afterwards(150, () => go({ q: search.value }, { replace: true })),
    keydown: (event) => {
      if (!event.isComposing && (event.key === "ArrowDown" || event.key === "Enter")) list.element.focus();
    },
  } });
  const boxes = NARROWED.map(([name, label]) => {
    const box = h("select", { "aria-label": label, "data-filter": name, hidden: true, on: { change: () => go({ [name]: box.value }) } });
    return box;
  });
  const order = h("select", { class: "order", "aria-label": "Order", title: "Order", on: { change: () => go({ sort: order.value }) } }, ORDERS.map(([value, text]) => h("option", { value }, text)));
  order.value = state.sort;
  const star = button("★", () => go({ star: state.star ? "" : "1" }), { class: "toggle", title: "Only starred sessions", "aria-label": "Only starred sessions" });
  const switched = (name, text) => ({ text, isOn: Boolean(state[name]), run: () => go({ [name]: state[name] ? "" : "1" }) });
  const besides = menu("⋯", "More sessions", () => [...BESIDES.map(([name, text]) => switched(name, text)), null, { text: "Import…", run: () => act("import") }]);
  const showSwitches = () => {
    star.setAttribute("aria-pressed", Boolean(state.star));
    besides.firstChild.classList.toggle("chosen", BESIDES.some(([name]) => state[name]));
  };
  showSwitches();
  pane.narrow = async () => {
    const facets = await get(path("facets")).catch(() => null);
    if (facets) NARROWED.forEach(([name, , all, counted], at) => offer(boxes[at], facets[counted], all, state[name]));
  };
  list.element.addEventListener("keydown", keys);
  watch((before) => {
    // Whoever types meanwhile goes on typing.
    if (state.q !== before.q && search.value !== state.q) search.value = state.q;
    NARROWED.forEach(([name], at) => choose(boxes[at], state[name]));
    order.value = state.sort;
    showSwitches();
    if (FILTERS.some((name) => state[name] !== before[name])) reload({ reveal: true });
    if (state.s !== before.s) mark();
  });
  const count = h("p", { class: "quiet foot", id: "session-count", role: "status" });
  pane.count = count;
  pane.hidden = h("p", { class: "quiet foot", id: "session-hidden", hidden: true });
  reload({ reveal: true });
  return h("section", { class: "pane sessions", "aria-label": "Sessions" }, h("div", { class: "filters" }, h("div", {}, search, order), h("div", {}, boxes, star, besides)), list.element, pane.hidden, count);
}

/** Fills a box with what can be chosen. One choice is none. */
function offer(box, facets, all, chosen) {
  const names = facets.map((facet) => facet.name);
  if (chosen && !names.includes(chosen)) facets = [...facets, { name: chosen, sessions: 0 }];
  fill(box, h("option", { value: "" }, all), facets.map(({ name, sessions: count }) => h("option", { value: name }, `${name} (${count.toLocaleString("en")})`)));
  box.hidden = facets.length < 2 && !chosen;
  choose(box, chosen);
}

function choose(box, chosen) {
  box.value = chosen;
  box.classList.toggle("chosen", Boolean(chosen));
}

function keys(event) {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  move(step);
}

/** Opens the next or the previous session. */
export function move(step) {
  if (rows.length === 0) return;
  const at = Math.min(rows.length - 1, Math.max(0, Math.max(list.selected, 0) + (list.selected < 0 ? 0 : step)));
  const { id } = rows[at].one;
  const isAgain = stepped !== "" && state.s === stepped;
  stepped = id;
  enter(id, { replace: isAgain });
}

function filter() {
  return { search: state.q, agent: state.agent, project: state.project, tag: state.tag, sort: state.sort, starred: Boolean(state.star), archived: Boolean(state.archived), drafts: true, limit: PAGE };
}

/** Reads the list again. What is shown stays until it came, and where one has scrolled to, unless another list was asked for. */
export async function reload({ reveal = false } = {}) {
  isWanted ||= reveal;
  isStale = false;
  loading?.abort();
  const mine = (loading = new AbortController());
  try {
    const answer = await get(query(path("sessions"), filter()), mine.signal);
    const isFiltered = FILTERS.some((name) => state[name] && name !== "sort");
    const top = list.element.scrollTop;
    [sessions, subagents] = [[], 0];
    take(answer);
    if (isWanted || top < HEIGHT) list.element.scrollTop = Math.min(top, rows.length * HEIGHT);
    pane.narrow();
    mark({ scroll: isWanted });
    isWanted = false;
    onEmpty(!isFiltered && sessions.length === 0 && !cursor && answer.hidden.archived === 0);
    for (const act of listeners) act();
  } catch (error) {
    complain(error);
  } finally {
    if (loading === mine) loading = null;
    list.show();
  }
}

/** Reads again what may have changed. Whoever has scrolled far stays there: only what is known is told anew. */
export async function renew() {
  if (sessions.length <= PAGE || list.element.scrollTop < HEIGHT) return reload();
  if (loading) {
    isStale = true;
    return;
  }
  const answer = await get(query(path("sessions"), filter())).catch(complain);
  isStale = false;
  const news = new Map(answer?.sessions.map((one) => [one.id, one]) ?? []);
  sessions = sessions.map((one) => news.get(one.id) ?? one);
  for (const row of rows) row.one = news.get(row.one.id) ?? row.one;
  for (const [at] of list.rows) if (news.has(rows[at]?.one.id)) list.refresh(at);
}

/** Reads the list again after one was away: which turns run is not known any more. */
export async function look() {
  running.clear();
  await renew();
  for (const [at] of list.rows) list.refresh(at);
}

async function more() {
  if (loading || !cursor) return;
  const mine = (loading = new AbortController());
  try {
    take(await get(query(path("sessions"), { ...filter(), cursor }), mine.signal));
    mark({ scroll: false });
  } catch (error) {
    complain(error);
  } finally {
    if (loading === mine) {
      loading = null;
      if (isStale) renew();
    }
    list.show();
  }
}

function take(answer) {
  const wanted = answer.sessions.filter((one) => state.children || !one.parent);
  sessions = sessions.concat(wanted);
  subagents += answer.sessions.length - wanted.length;
  cursor = answer.next_cursor;
  hidden = answer.hidden;
  const { scrollTop } = list.element;
  const top = rows[Math.floor(scrollTop / HEIGHT)]?.one.id;
  const before = indexOf(top);
  rows = arrange(sessions);
  list.reset(rows.length);
  // An origin that came late stands above its forks: whoever looks at a row keeps looking at it.
  if (before >= 0 && indexOf(top) > before) list.element.scrollTop = scrollTop + (indexOf(top) - before) * HEIGHT;
  pane.count.textContent = `${cursor ? `${sessions.length.toLocaleString("en")}+ sessions` : plural(sessions.length, "session")}${subagents ? `, ${plural(subagents, "subagent")} not shown` : ""}${hidden.archived ? `, ${hidden.archived} archived` : ""}`;
}

const indexOf = (id) => rows.findIndex((row) => row.one.id === id);

function mark(how) {
  list.select(indexOf(state.s), how);
  sayHidden();
}

/** Says which session is open, for when the list does not show it. */
export function showOpen(session) {
  shown = session;
  sayHidden();
}

function sayHidden() {
  const isOpen = shown && shown.id === state.s && indexOf(shown.id) < 0;
  const why = !isOpen ? null : shown.parent && !state.children ? ["children", "a subagent", "subagents"] : shown.archived && !state.archived ? ["archived", "archived", "archived ones"] : null;
  pane.hidden.hidden = !why;
  if (why) renewElement(pane.hidden, `What is open is ${why[1]}, and not in this list. `, button(`Show ${why[2]}`, () => go({ [why[0]]: "1" }, { replace: true })));
}

/** Returns the sessions that come first in the list, and how many there are as far as that is known. */
export function newest(most) {
  return { sessions: sessions.slice(0, most), count: sessions.length, isMore: Boolean(cursor), running: running.size };
}

/** Calls `act` when the list was read. */
export function onList(act) {
  listeners.push(act);
}

/** Returns what the list knows about a session. */
export function known(id) {
  return sessions.find((one) => one.id === id);
}

/** Returns the forks of a session that the list knows, and what it was forked from. */
export function kin(id, origin) {
  const found = sessions.filter((one) => one.id === origin || one.forked_from?.session === id);
  return !origin || found.some((one) => one.id === origin) ? found : [{ id: origin, title: "What it was forked from" }, ...found];
}

/** Marks sessions in which a turn runs. */
export function setRunning(id, isRunning) {
  if (running.has(id) === isRunning) return;
  if (isRunning) running.add(id);
  else running.delete(id);
  const at = indexOf(id);
  if (at >= 0) list.refresh(at);
}

/** Shows whether turns wait for an answer: that of one session, or of all. */
export function showAsking(id) {
  for (const [at] of list.rows) if (!id || rows[at]?.one.id === id) list.refresh(at);
}

function row(at) {
  const { one, depth } = rows[at];
  const kind = one.parent ? ["subagent", "↳ "] : one.forked_from ? ["fork", "↗ "] : null;
  const agent = one.imported_from?.agent ?? one.provider ?? "";
  const isRunning = running.has(one.id) || one.status === "running";
  const facts = [base(one.project ?? one.cwd), `${one.messages} msg`, money(one.cost_micros, one.unpriced)].filter(Boolean).join(" · ");
  return h("div", { class: `row session depth-${depth}`, on: { click: () => enter(one.id) } },
    h("div", { class: "line" }, isRunning ? h("span", { class: "dot live", title: "A turn is running" }) : null,
      one.starred ? h("span", { class: "star", role: "img", "aria-label": "starred" }, "★") : null,
      h("span", { class: "title", title: one.title }, kind ? [h("span", { class: "unseen" }, `${kind[0]}: `), h("span", { "aria-hidden": "true" }, kind[1])] : null, called(one.title)), since(one.updated)),
    h("div", { class: "line quiet" }, h("span", { class: "facts", title: one.cwd }, facts), isAsking(one.id) ? h("span", { class: "chip asks" }, "needs you") : null,
      agent ? h("span", { class: "chip agent" }, agent) : null,
      one.damaged ? h("span", { class: "chip warn" }, "damaged") : null, one.archived ? h("span", { class: "chip" }, "archived") : null,
      one.share ? h("span", { class: "chip" }, "shared") : null, one.tags.map((tag) => h("span", { class: "chip" }, tag))));
}
