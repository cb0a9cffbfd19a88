// What happens in the session that is open, as it happens: words as they come, calls, questions, the end of turns.

import { get, path } from "./api.js";
import { complain, note } from "./dialog.js";
import { soon } from "./dom.js";
import * as pieces from "./pieces.js";
import * as said from "./said.js";
import { look, renew, setRunning, showAsking, showOpen } from "./sessions.js";
import { state, watch } from "./state.js";
import { isListening, join, leave, on as onAny, whenOpened } from "./stream.js";
import { refresh } from "./tree.js";

/** What is known of the session beside its tree. */
export const live = { id: "", info: null, isMissing: false, children: [], titles: new Map(), run: null, asked: [], text: "", thinking: "", calls: [], waiting: [] };

const listeners = [];
/** Where a text goes that was said and not heard. */
let giveBack = () => {};
/** The turns that ended, as far as it is settled what became of what was said to them. */
const settled = new Set();
/** Calls of the answer that is heard that have ended: one that is said to start after that is over. */
const over = new Set();
/** How often something was told that an answer of the server's tells as well: one from before that is out of date. */
let told = 0;

/** Calls `act(what)` when something of it changed: "info", "run" or "words". */
export function onLive(act) {
  listeners.push(act);
}

/** Says where a text goes that was said in a session and not heard. */
export function whenUnheard(act) {
  giveBack = act;
}

const tell = (what) => listeners.forEach((act) => act(what));

/** Starts watching whatever session the address names. */
export function start() {
  listen();
  whenOpened(catchUp, () => tell("run"));
  watch((before) => state.s !== before.s && open());
  document.addEventListener("visibilitychange", () => (document.hidden || isListening() ? attend() : comeBack()));
  attend();
  open();
}

/** A page that nobody looks at hears nothing, unless it shows a turn that runs: that may need whoever is elsewhere. */
function attend() {
  if (!document.hidden || live.run) join();
  else leave();
}

/** Whoever was away has missed what is told once only: all of it is read again. */
function comeBack() {
  look();
  attend();
  open({ again: true });
}

async function open({ again = false } = {}) {
  over.clear();
  if (!again || live.id !== state.s) Object.assign(live, { id: state.s, info: null, isMissing: false, children: [], titles: new Map() });
  Object.assign(live, { run: null, asked: [], calls: [], waiting: [] });
  pieces.forget(live);
  tell("run");
  if (!state.s) return;
  await Promise.all([describe(), findRun()]);
  if (again) refresh();
}

let times = 0;

/** What happened before the stream was there is read. */
function catchUp() {
  if (times++ > 0) {
    live.calls = [];
    pieces.forget(live);
    look();
    describeSoon();
  }
  showAsking();
  refresh();
  // The end of a turn is told once only: whoever comes, or comes back, asks.
  findRun();
  tell("run");
}

/** Reads a session again that was changed, if it is still the one that is open. */
export function reread(id) {
  if (state.s !== id) return;
  refresh();
  describe();
}

/** Reads what a session is. */
export const describe = async () => {
  const id = state.s;
  if (!id) return;
  try {
    const [{ session }, { children }] = await Promise.all([get(path("sessions", id)), get(path("sessions", id, "children"))]);
    if (state.s !== id) return;
    Object.assign(live, { info: session, children, isMissing: false });
    for (const child of children) live.titles.set(child.id, child.title);
    showOpen(session);
    tell("info");
    await nameOrigins(session);
  } catch (error) {
    if (error.status !== 404) return complain(error);
    if (state.s !== id) return;
    live.isMissing = true;
    tell("info");
  }
};

/** Finds out what the sessions are called that one came from. */
async function nameOrigins({ id, parent, forked_from: from }) {
  const unknown = [parent, from?.session].filter((one) => one && !live.titles.has(one));
  if (unknown.length === 0) return;
  const found = await Promise.all(unknown.map((one) => get(path("sessions", one)).catch(() => null)));
  if (state.s !== id) return;
  unknown.forEach((one, at) => live.titles.set(one, found[at]?.session.title ?? "a session that is gone"));
  tell("info");
}

const describeSoon = soon(150, describe);

/** Finds out whether a turn runs, and what it asks. */
export async function findRun() {
  const id = state.s;
  const before = told;
  const known = live.asked.map((one) => one.question);
  if (!id) return;
  try {
    const { runs } = await get(path("sessions", id, "runs"));
    if (state.s !== id) return;
    if (told !== before) return findRun();
    const run = runs.find((one) => one.status === "running") ?? null;
    // Another turn counts from its own start.
    if (live.run && live.run !== run?.run) pieces.forget(live);
    live.run = run?.run ?? null;
    // What was asked meanwhile counts too: the answer may be older. What was asked before and is not in it was answered.
    live.asked = run ? [...run.asked, ...live.asked.filter((one) => !known.includes(one.question) && !run.asked.some((other) => other.question === one.question))] : [];
    live.waiting = run?.waiting ?? [];
    live.calls = (run?.answer?.calls ?? []).filter((one) => !over.has(one.call));
    if (!run?.answer) pieces.forget(live);
    else if (!pieces.read(live, run.answer)) findSoon();
    // A turn that ended while nobody listened is told nowhere else; one that nobody knows ended with its server.
    for (const turn of said.turnsOf(id)) if (turn !== live.run) settleSaid(runs.find((one) => one.run === turn) ?? { session: id, run: turn });
    setRunning(id, Boolean(run));
    attend();
    tell("run");
  } catch (error) {
    if (error.status !== 404) complain(error);
  }
}

const findSoon = soon(100, findRun);

/** Says that a question was answered. */
export function settle(question) {
  live.asked = live.asked.filter((one) => one.question !== question);
  tell("run");
}

/** Gives back what was said to a turn and not heard. */
function settleSaid(run) {
  if (settled.has(run.run)) return;
  settled.add(run.run);
  const { ours, others } = said.ended(run);
  for (const text of ours) giveBack(run.session, text);
  if (run.session === state.s) for (const text of others) note(`Not told: ${text}`, { action: "Put it into the box", act: () => giveBack(run.session, text), stays: true });
}

function listen() {
  const on = (name, act) => onAny(name, (what) => what.session === state.s && act(what));
  // What the server kept of the answer before that is out of date.
  const begin = () => {
    told++;
    pieces.begin(live);
  };
  const hear = (name) => (piece) => {
    if (!pieces.take(live, name, piece)) findSoon();
    tell("words");
  };
  on("reset", () => location.reload());
  on("entry.appended", () => refresh());
  on("session.updated", describeSoon);
  on("turn.start", () => {
    told++;
    pieces.forget(live);
    over.clear();
    live.calls = [];
    findRun();
  });
  on("message.start", () => {
    begin();
    over.clear();
  });
  on("message.delta", hear("text"));
  on("thinking.delta", hear("thinking"));
  on("message.end", () => {
    begin();
    tell("words");
  });
  on("tool.start", ({ call, name }) => {
    told++;
    if (over.has(call) || live.calls.some((one) => one.call === call)) return;
    live.calls.push({ call, name });
    tell("words");
  });
  on("tool.end", ({ call }) => {
    told++;
    over.add(call);
    live.calls = live.calls.filter((one) => one.call !== call);
    tell("words");
  });
  on("permission.asked", (asked) => {
    if (!live.asked.some((one) => one.question === asked.question)) live.asked.push(asked);
    if (!live.run) findRun();
    tell("run");
  });
  on("permission.answered", ({ question }) => {
    told++;
    settle(question);
  });
  onAny("queue.changed", (queue) => {
    const out = said.notice(queue.session, queue);
    if (out) giveBack(queue.session, out);
    if (queue.session !== state.s) return;
    told++;
    live.waiting = queue.texts;
    tell("run");
  });
  on("retry", ({ reason }) => note(`The model is asked again: ${reason}`));
  onAny("run.ended", settleSaid);
  on("run.ended", (run) => {
    told++;
    Object.assign(live, { run: null, asked: [], calls: [], waiting: [] });
    pieces.forget(live);
    if (run.status === "failed") complain(new Error(run.error?.message ?? "The turn could not be run."));
    else if (run.end?.error) complain(new Error(run.end.error));
    else if (run.end?.finish_reason === "cancelled") note("The turn was cancelled.");
    refresh();
    describeSoon();
    attend();
    tell("run");
  });
  // The list is kept current, too.
  const again = soon(400, renew);
  for (const name of ["session.created", "session.updated", "session.deleted", "reset"]) onAny(name, again);
  for (const name of ["reset", "lagged"]) onAny(name, ({ session }) => !session && state.s && catchUp());
  onAny("session.created", ({ info }) => info?.parent === state.s && describeSoon());
  onAny("turn.start", ({ session }) => setRunning(session, true));
  for (const name of ["turn.end", "turn.cancelled", "turn.interrupted", "run.ended"]) {
    onAny(name, ({ session }) => {
      setRunning(session, false);
      again();
    });
  }
  for (const name of ["permission.asked", "permission.answered", "run.ended"]) onAny(name, ({ session }) => showAsking(session));
}
