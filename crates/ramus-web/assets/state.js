// Where one is: the address of the page says all of it, so every view is a link and the browser's arrows work.

const DEFAULTS = {
  s: "", // the session
  e: "", // the entry, by its position
  tab: "message", // what is shown of it
  view: "turns", // how much of the tree
  diff: "turn", // which difference of files
  sides: "", // whether differences stand side by side
  page: "", // something instead of the tree: compare, done, timeline, usage
  pane: "", // what a narrow screen shows: sessions, tree, detail
  a: "", // the two sides of a comparison
  b: "",
  with: "", // the other session of a comparison, a fork or what it was forked from
  by: "day", // what usage is counted by
  q: "", // filters of the list
  agent: "",
  project: "",
  tag: "",
  sort: "updated",
  star: "",
  archived: "",
  children: "",
};

/** What there is to choose from; anything else means what is shown without a choice. */
const CHOICES = { tab: ["message", "thread", "files", "context", "raw"], view: ["turns", "all", "user", "labels"], diff: ["turn", "branch", "start", "now"], page: ["", "compare", "done", "timeline", "usage"] };

/** Where panes come one at a time; the style sheet says the same. */
const narrow = matchMedia("(max-width: 760px)");

const watchers = [];

export const state = read();

function read() {
  const given = new URLSearchParams(location.search);
  const found = {};
  for (const [name, value] of Object.entries(DEFAULTS)) found[name] = given.get(name) ?? value;
  for (const [name, all] of Object.entries(CHOICES)) if (!all.includes(found[name])) found[name] = DEFAULTS[name];
  return found;
}

function write() {
  const given = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
  const text = new URLSearchParams(given).toString();
  return text ? `?${text}` : location.pathname;
}

/** Goes elsewhere. Small steps replace where one was, so that going back does not take a hundred of them. */
export function go(wanted, { replace = false } = {}) {
  const before = { ...state };
  // Half of a comparison means nothing in another session.
  const isElsewhere = wanted.s !== undefined && String(wanted.s ?? "") !== state.s;
  const change = { ...(isElsewhere ? { a: "", b: "", with: "" } : {}), ...wanted, pane: narrow.matches ? wanted.pane ?? leadsTo(wanted, replace) : state.pane };
  for (const [name, value] of Object.entries(change)) state[name] = value === null || value === undefined ? DEFAULTS[name] : String(value);
  if (Object.keys(state).every((name) => state[name] === before[name])) return;
  if (replace) history.replaceState(null, "", write());
  else history.pushState(null, "", write());
  tell(before);
}

/** The pane that has what was asked for; a step that nobody took leads nowhere. */
function leadsTo({ s, e }, replace) {
  if (s !== undefined && s !== state.s) return e ? "detail" : s ? "tree" : "sessions";
  return e && !replace ? "detail" : state.pane;
}

/** The pane that a narrow screen shows. */
export function paneNow() {
  return state.pane || (state.s ? "detail" : "sessions");
}

/** Opens a session where it goes on. The one that is open already stays as it is. */
export function enter(id, how) {
  if (id === state.s) go({ page: "", a: "", b: "", with: "", pane: "tree" }, how);
  else go({ s: id, e: "", page: "", tab: "message" }, how);
}

/** Calls `act(before)` whenever something of it changed. */
export function watch(act) {
  watchers.push(act);
}

function tell(before) {
  for (const act of watchers) act(before);
}

addEventListener("popstate", () => {
  const before = { ...state };
  Object.assign(state, read());
  tell(before);
});
