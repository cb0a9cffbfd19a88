// What happens in the session that is open, as it happens: words as they come, calls, questions, the end of turns.

import { get, path } from "./api.js";
import { complain, note } from "./dialog.js";
import { soon } from "./dom.js";
import { renew, setRunning } from "./sessions.js";
import { state, watch } from "./state.js";
import { refresh } from "./tree.js";

/** What is known of the session beside its tree. */
export const live = { id: "", info: null, run: null, asked: [], text: "", thinking: "", calls: [], queue: 0, state: "closed" };

const listeners = [];
let source = null;
let everything = null;
/** How often a turn started or ended: an answer from before that tells nothing. */
let turns = 0;

/** Calls `act(what)` when something of it changed: "info", "run" or "words". */
export function onLive(act) {
  listeners.push(act);
}

const tell = (what) => listeners.forEach((act) => act(what));

/** Starts watching whatever session the address names. */
export function start() {
  watch((before) => state.s !== before.s && open());
  // A page that nobody looks at holds no connection; browsers have few of them for one server.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open({ again: true })));
  open();
}

function close() {
  source?.close();
  everything?.close();
  source = everything = null;
  live.state = "closed";
}

async function open({ again = false } = {}) {
  close();
  watchAll();
  if (!again || live.id !== state.s) Object.assign(live, { id: state.s, info: null });
  Object.assign(live, { run: null, asked: [], text: "", thinking: "", calls: [], queue: 0 });
  tell("run");
  if (!state.s || document.hidden) return;
  const id = state.s;
  source = new EventSource(path("sessions", id, "events"));
  listen(source, id);
  await Promise.all([describe(), findRun()]);
  if (again) refresh();
}

/** Reads what a session is. */
export const describe = async () => {
  const id = state.s;
  if (!id) return;
  try {
    const { session } = await get(path("sessions", id));
    if (state.s !== id) return;
    live.info = session;
    tell("info");
  } catch (error) {
    if (error.status !== 404) complain(error);
  }
};
const describeSoon = soon(150, describe);

/** Finds out whether a turn runs, and what it asks. */
export async function findRun() {
  const id = state.s;
  const before = turns;
  if (!id) return;
  try {
    const { runs } = await get(path("sessions", id, "runs"));
    if (state.s !== id) return;
    if (turns !== before) return findRun();
    const run = runs.find((one) => one.status === "running") ?? null;
    live.run = run?.run ?? null;
    // What was told meanwhile counts too: the answer may be older than the event.
    const told = (run?.asked ?? []).map((one) => one.call);
    live.asked = run ? [...run.asked, ...live.asked.filter((one) => !told.includes(one.call))] : [];
    setRunning(id, Boolean(run));
    tell("run");
  } catch (error) {
    if (error.status !== 404) complain(error);
  }
}

/** Says that a question was answered. */
export function settle(call) {
  live.asked = live.asked.filter((one) => one.call !== call);
  tell("run");
}

function listen(source, id) {
  // The browser has an event called open too, which tells nothing.
  const on = (name, act) => source.addEventListener(name, (event) => event.data && state.s === id && act(JSON.parse(event.data)));
  const clear = () => Object.assign(live, { text: "", thinking: "" });
  on("open", () => {
    live.state = "open";
    refresh();
    tell("run");
  });
  source.onerror = () => {
    live.state = "waiting";
    tell("run");
  };
  on("reset", () => location.reload());
  on("entry.appended", () => refresh());
  on("session.updated", describeSoon);
  on("turn.start", () => {
    turns++;
    clear();
    live.calls = [];
    findRun();
  });
  on("message.start", () => clear());
  on("message.delta", ({ text }) => {
    live.text += text;
    tell("words");
  });
  on("thinking.delta", ({ text }) => {
    live.thinking += text;
    tell("words");
  });
  on("message.end", () => {
    clear();
    tell("words");
  });
  on("tool.start", ({ call, name, input }) => {
    live.calls.push({ call, name, input });
    tell("words");
  });
  on("tool.end", ({ call }) => {
    live.calls = live.calls.filter((one) => one.call !== call);
    tell("words");
  });
  on("permission.asked", (asked) => {
    if (!live.asked.some((one) => one.call === asked.call)) live.asked.push(asked);
    if (!live.run) findRun();
    tell("run");
  });
  on("permission.answered", ({ call }) => settle(call));
  on("queue.changed", ({ steer, follow_up: later }) => {
    const length = (list) => (Array.isArray(list) ? list.length : Number(list) || 0);
    live.queue = length(steer) + length(later);
    tell("run");
  });
  on("retry", ({ reason }) => note(`The model is asked again: ${reason}`));
  on("run.ended", (run) => {
    turns++;
    Object.assign(live, { run: null, asked: [], calls: [], queue: 0 });
    clear();
    setRunning(id, false);
    if (run.status === "failed") complain(new Error(run.error?.message ?? "The turn could not be run."));
    else if (run.end?.error) complain(new Error(run.end.error));
    else if (run.end?.finish_reason === "cancelled") note("The turn was cancelled.");
    refresh();
    describeSoon();
    tell("run");
  });
}

/** Keeps the list current. */
function watchAll() {
  if (document.hidden) return;
  everything = new EventSource(path("events"));
  const again = soon(400, renew);
  for (const name of ["session.created", "session.updated", "session.deleted", "reset"]) everything.addEventListener(name, again);
  everything.addEventListener("turn.start", (event) => setRunning(JSON.parse(event.data).session, true));
  for (const name of ["turn.end", "turn.cancelled", "turn.interrupted"]) {
    everything.addEventListener(name, (event) => {
      setRunning(JSON.parse(event.data).session, false);
      again();
    });
  }
}
