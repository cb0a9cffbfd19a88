// The left pane: every session, with filters. Pages come as one scrolls.

import { get, path, query } from "./api.js";
import { complain } from "./dialog.js";
import { afterwards, button, fill, h } from "./dom.js";
import { ago, base, count as plural, money } from "./format.js";
import { List } from "./list.js";
import { go, state, watch } from "./state.js";

const PAGE = 200;
const HEIGHT = 52;
const FILTERS = ["q", "project", "star", "archived", "children"];

let sessions = [];
let cursor = null;
let loading = null;
let hidden = null;
let list = null;
let onEmpty = () => {};
const running = new Set();
const projects = new Set();

/** The pane. `whenEmpty(isEmpty)` is told whether there are no sessions at all. */
export function pane(whenEmpty) {
  onEmpty = whenEmpty;
  list = new List({ label: "Sessions", role: "listbox", item: "option", height: HEIGHT, row, seen: (_, last) => last + 20 >= sessions.length && more() });
  const search = h("input", { type: "search", id: "filter", value: state.q, placeholder: "Filter by title or directory", "aria-label": "Filter sessions by title or directory", on: {
    input: afterwards(150, () => go({ q: search.value }, { replace: true })),
    keydown: (event) => {
      if (event.key === "ArrowDown" || event.key === "Enter") list.element.focus();
    },
  } });
  const projectsBox = h("select", { "aria-label": "Project", on: { change: () => go({ project: projectsBox.value }) } });
  const toggle = (name, text, title) => {
    const box = button(text, () => go({ [name]: state[name] ? "" : "1" }), { class: "toggle", title, "aria-label": title });
    const show = () => box.setAttribute("aria-pressed", Boolean(state[name]));
    show();
    watch(show);
    return box;
  };
  const fillProjects = () => {
    fill(projectsBox, h("option", { value: "" }, "All projects"), [...projects].sort().map((name) => h("option", { value: name }, name)));
    projectsBox.value = state.project;
  };
  fillProjects();
  pane.fillProjects = fillProjects;
  list.element.addEventListener("keydown", keys);
  watch((before) => {
    if (search.value !== state.q) search.value = state.q;
    if (FILTERS.some((name) => state[name] !== before[name])) reload();
    if (state.s !== before.s) mark();
  });
  const count = h("p", { class: "quiet foot", id: "session-count", role: "status" });
  pane.count = count;
  reload();
  return h("section", { class: "pane sessions", "aria-label": "Sessions" }, h("div", { class: "filters" }, search, projectsBox,
    h("div", { class: "toggles" }, toggle("star", "★", "Only starred sessions"), toggle("archived", "Archived", "Archived sessions too"),
      toggle("children", "Subagents", "Subagents: sessions that other sessions started too"))), list.element, count);
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
  if (sessions.length === 0) return;
  const at = Math.min(sessions.length - 1, Math.max(0, Math.max(list.selected, 0) + (list.selected < 0 ? 0 : step)));
  choose(sessions[at].id);
}

/** Opens a session. */
export function choose(id) {
  if (id !== state.s) go({ s: id, e: "", page: "", a: "", b: "", tab: "message" });
}

function filter() {
  return { search: state.q, project: state.project, starred: Boolean(state.star), archived: Boolean(state.archived), drafts: true, limit: PAGE };
}

/** Reads the list again. What is shown stays until it came. */
export async function reload() {
  loading?.abort();
  const mine = (loading = new AbortController());
  try {
    const answer = await get(query(path("sessions"), filter()), mine.signal);
    const isFiltered = FILTERS.some((name) => state[name]);
    const top = list.element.scrollTop;
    sessions = [];
    take(answer);
    list.element.scrollTop = Math.min(top, sessions.length * HEIGHT);
    mark();
    onEmpty(!isFiltered && sessions.length === 0 && !cursor && answer.hidden.archived === 0);
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
  if (loading) return;
  const answer = await get(query(path("sessions"), filter())).catch(complain);
  const news = new Map(answer?.sessions.map((one) => [one.id, one]) ?? []);
  sessions = sessions.map((one) => news.get(one.id) ?? one);
  for (const [at] of list.rows) if (news.has(sessions[at]?.id)) list.refresh(at);
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
    if (loading === mine) loading = null;
    list.show();
  }
}

function take(answer) {
  const wanted = answer.sessions.filter((one) => state.children || !one.parent);
  sessions = sessions.concat(wanted);
  cursor = answer.next_cursor;
  hidden = answer.hidden;
  for (const one of answer.sessions) if (one.project) projects.add(one.project);
  pane.fillProjects();
  list.reset(sessions.length);
  pane.count.textContent = `${cursor ? `${sessions.length.toLocaleString("en")}+ sessions` : plural(sessions.length, "session")}${hidden.archived ? `, ${hidden.archived} archived` : ""}`;
}

function mark(how) {
  list.select(sessions.findIndex((one) => one.id === state.s), how);
}

/** Returns what the list knows about a session. */
export function known(id) {
  return sessions.find((one) => one.id === id);
}

/** Marks sessions in which a turn runs. */
export function setRunning(id, isRunning) {
  if (running.has(id) === isRunning) return;
  if (isRunning) running.add(id);
  else running.delete(id);
  const at = sessions.findIndex((one) => one.id === id);
  if (at >= 0) list.refresh(at);
}

function row(at) {
  const one = sessions[at];
  const kind = one.parent ? "↳ " : one.forked_from ? "↗ " : "";
  const agent = one.imported_from?.agent ?? one.provider ?? "";
  const isRunning = running.has(one.id) || one.status === "running";
  const facts = [one.project ?? base(one.cwd), agent, `${one.messages} msg`, money(one.cost_micros, one.unpriced)].filter(Boolean).join(" · ");
  return h("div", { class: "row session", on: { click: () => {
    choose(one.id);
    document.body.dataset.pane = "tree";
  } } },
    h("div", { class: "line" }, h("span", { class: isRunning ? "dot live" : "dot", title: isRunning ? "A turn is running" : one.status }),
      one.starred ? h("span", { class: "star", "aria-label": "starred" }, "★") : null,
      h("span", { class: "title", title: one.title }, kind, one.title || "Untitled"), h("span", { class: "when" }, ago(one.updated))),
    h("div", { class: "line quiet" }, h("span", { class: "facts", title: one.cwd }, facts),
      one.damaged ? h("span", { class: "chip warn" }, "damaged") : null, one.archived ? h("span", { class: "chip" }, "archived") : null,
      one.share ? h("span", { class: "chip" }, "shared") : null, one.tags.map((tag) => h("span", { class: "chip" }, tag))));
}
