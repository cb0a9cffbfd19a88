// Where one is: the address of the page says all of it, so every view is a link and the browser's arrows work.

const DEFAULTS = {
  s: "", // the session
  e: "", // the entry, by its position
  tab: "message", // what is shown of it
  view: "turns", // how much of the tree
  diff: "turn", // which difference of files
  page: "", // something instead of the tree: compare, usage
  a: "", // the two sides of a comparison
  b: "",
  by: "day", // what usage is counted by
  q: "", // filters of the list
  project: "",
  star: "",
  archived: "",
  children: "",
};

const watchers = [];

export const state = read();

function read() {
  const given = new URLSearchParams(location.search);
  const found = {};
  for (const [name, value] of Object.entries(DEFAULTS)) found[name] = given.get(name) ?? value;
  return found;
}

function write() {
  const given = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
  const text = new URLSearchParams(given).toString();
  return text ? `?${text}` : location.pathname;
}

/** Goes elsewhere. Small steps replace where one was, so that going back does not take a hundred of them. */
export function go(change, { replace = false } = {}) {
  const before = { ...state };
  for (const [name, value] of Object.entries(change)) state[name] = value === null || value === undefined ? DEFAULTS[name] : String(value);
  if (Object.keys(state).every((name) => state[name] === before[name])) return;
  if (replace) history.replaceState(null, "", write());
  else history.pushState(null, "", write());
  tell(before);
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
