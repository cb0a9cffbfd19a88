// The one stream that tells what happens, for all windows that show this server: a browser has six connections for a server, and
// they are for asking. The window that has the lock holds the stream and hands on what it hears; when it goes, another one does.

import { get, path, query } from "./api.js";

const NAME = "ramus-events";
const NAMES = ["session.created", "session.updated", "session.deleted", "reset", "lagged", "entry.appended", "turn.start", "turn.end", "turn.cancelled", "turn.interrupted", "message.start", "message.delta",
  "thinking.delta", "message.end", "tool.start", "tool.end", "permission.asked", "permission.answered", "queue.changed", "retry", "run.ended"];
/** After how many milliseconds a stream is asked for again that the server refused: each time later. */
const PAUSES = [1000, 2000, 5000, 10000, 30000];

/** Whether the stream is there: "closed", "open" or "waiting". */
export const stream = { state: "closed" };

const acts = new Map();
const channel = new BroadcastChannel(NAME);
let opened = () => {};
let changed = () => {};
let isIn = false;
let source = null;
let waiting = null;
let release = null;
let pause = 0;
let refusals = 0;
/** Questions that are open: who comes later is told too. */
const asked = new Map();

/** Calls `act(told)` with what an event tells, of whatever session. */
export function on(name, act) {
  acts.set(name, [...(acts.get(name) ?? []), act]);
}

/** Says what is done when the stream was opened, and what may have happened before is to be read; and when its state changed. */
export function whenOpened(act, whenChanged) {
  [opened, changed] = [act, whenChanged];
}

/** Whether this window listens. */
export const isListening = () => isIn;

/** Listens. */
export function join() {
  if (isIn) return;
  isIn = true;
  channel.onmessage = ({ data }) => hear(data);
  // Only a page that came over a safe way, or from this machine, has locks; any other one has a stream for itself.
  if (!navigator.locks) return lead();
  const mine = (waiting = new AbortController());
  navigator.locks.request(NAME, { signal: mine.signal }, () => new Promise((done) => {
    if (waiting !== mine) return done();
    release = done;
    lead();
  })).catch(() => {});
  channel.postMessage({ isAsked: true });
}

/** Does not listen any more, and lets another window have the stream. */
export function leave() {
  isIn = false;
  channel.onmessage = null;
  waiting?.abort();
  waiting = null;
  stop();
  asked.clear();
  stream.state = "closed";
}

function stop() {
  clearTimeout(pause);
  source?.close();
  source = null;
  release?.();
  release = null;
}

function lead() {
  const mine = (source = new EventSource(query(path("events"), { pieces: true })));
  mine.onopen = () => {
    refusals = 0;
    tell({ state: "open", isNew: true });
  };
  mine.onerror = () => {
    if (mine !== source) return;
    tell({ state: "waiting" });
    if (mine.readyState === EventSource.CLOSED) refused(mine);
  };
  for (const name of NAMES) mine.addEventListener(name, (event) => event.data && tell({ name, told: JSON.parse(event.data) }));
}

/** Browsers give up a stream that was refused. Whoever is not known any more is asked for the token; others ask again later. */
function refused(mine) {
  clearTimeout(pause);
  pause = setTimeout(async () => {
    refusals++;
    const found = await get(path("facets")).catch((error) => error);
    if (mine !== source) return;
    if (found.status === 401) return stop();
    if (found instanceof Error) return refused(mine);
    lead();
  }, PAUSES[Math.min(refusals, PAUSES.length - 1)]);
}

/** Hands on what was heard, and hears it. */
function tell(what) {
  if (navigator.locks) channel.postMessage(what);
  hear(what);
}

function hear({ isAsked, state, isNew, name, told, questions }) {
  if (isAsked) {
    if (source) channel.postMessage({ state: stream.state, questions: [...asked.values()] });
    return;
  }
  // A window without locks leads itself, and hears nobody else.
  if (state) {
    if (isNew) asked.clear();
    stream.state = state;
    changed();
    if (isNew) opened();
  }
  for (const question of questions ?? []) dispatch("permission.asked", question);
  if (name) dispatch(name, told);
}

function dispatch(name, told) {
  if (name === "permission.asked") asked.set(told.question, told);
  if (name === "permission.answered") asked.delete(told.question);
  if (name === "run.ended") for (const [key, one] of asked) if (one.session === told.session) asked.delete(key);
  for (const act of acts.get(name) ?? []) act(told);
}

/** Says whether a turn of a session waits for an answer. */
export const isAsking = (id) => [...asked.values()].some((one) => one.session === id);
