// The box at the bottom: saying something, talking to a turn that runs, stopping it, answering what it asks.

import { path, post } from "./api.js";
import { attempt, note } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import * as drafts from "./drafts.js";
import { renew } from "./keep.js";
import { findRun, live, onLive, settle, whenUnheard } from "./live.js";
import { models } from "./models.js";
import { hold, pictures } from "./pictures.js";
import { described } from "./question.js";
import { remember, want } from "./said.js";
import { go, state, watch } from "./state.js";
import { stream } from "./stream.js";
import { toLeaf } from "./tree.js";

let field = null;
let choice = null;

/** For how long a question is only shown, in milliseconds: what was pressed before it could be read is no answer to it. */
const SETTLES = 400;

/** What may be answered, and the key for it: one that does nothing else, so that nothing is allowed by mistake. */
export const ANSWERS = [["once", "Allow once", "y"], ["session", "Allow in this session", "Y"], ["project", "Allow in this project", "P"], ["deny", "Deny", "D"]];

export function box() {
  field = h("textarea", { id: "prompt", rows: 2, "aria-label": "Prompt", placeholder: "Say something. Ctrl+Enter sends it.", on: {
    input: () => change({ text: field.value }),
    keydown: (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        send(event.shiftKey ? "queue" : "steer");
      }
      if (event.key === "Escape") field.blur();
    },
  } });
  choice = h("select", { id: "model", "aria-label": "Model", hidden: true, on: { change: () => change({ model: choice.value }) } });
  models((known) => {
    const askable = known.filter((model) => model.available).map((model) => `${model.provider}/${model.name}`);
    fill(choice, h("option", { value: "" }, "The session's model"), askable.map((name) => h("option", { value: name }, name)));
    choice.hidden = askable.length === 0;
    choice.value = draft().model;
  });
  const seen = pictures(field, drafts.keepPictures);
  const told = h("span", { class: "quiet", role: "status" });
  const buttons = h("div", { class: "buttons" });
  const questions = h("div", { class: "questions", role: "alert" });
  const queued = h("ul", { class: "queued", "aria-label": "Said, and not told yet" });
  const root = h("form", { class: "prompt", "aria-label": "Prompt", on: { submit: (event) => event.preventDefault() } }, questions, queued, seen.shown, field, buttons);
  const show = () => {
    root.hidden = !state.s || live.isMissing;
    say(told, live.run ? `${live.asked.length > 0 ? "The turn waits for your answer" : "A turn is running"}${live.waiting.length > 0 ? `, ${live.waiting.length} waiting` : ""}` : stream.state === "waiting" ? "The server does not answer; trying again" : "");
    ask(questions);
    field.placeholder = live.info?.cwd ? `Say something; it works in ${live.info.cwd}. Ctrl+Enter sends it.` : "Say something. Ctrl+Enter sends it.";
    renew(queued, live.waiting.map((text) => h("li", {}, h("span", {}, text), button("Take out", () => takeOut(text), { title: "Do not tell the model; the text comes back into the box" }))));
    offer(buttons, told, seen.choose);
  };
  // Notes stand above the box on a narrow screen.
  new ResizeObserver(() => document.documentElement.style.setProperty("--box", `${root.offsetHeight}px`)).observe(root);
  whenUnheard(giveBack);
  onLive((what) => what !== "words" && show());
  watch((before) => state.s !== before.s && restore());
  restore();
  show();
  return root;
}

/** Tells something else. What is told again would be heard again. */
function say(told, text) {
  if (told.textContent !== text) told.textContent = text;
}

/** Shows the questions that are open. One that stays is left alone: somebody may be about to answer it. */
function ask(questions) {
  const open = live.asked.map((asked) => asked.question);
  for (const shown of [...questions.children]) if (!open.includes(shown.dataset.question)) shown.remove();
  const shown = [...questions.children].map((one) => one.dataset.question);
  questions.append(...live.asked.filter((asked) => !shown.includes(asked.question)).map(question));
}

/** Offers what can be done now: other buttons only when a turn starts or ends. */
function offer(buttons, told, choosePicture) {
  const now = live.run ? "running" : "idle";
  if (buttons.dataset.now === now) return;
  const hadFocus = buttons.contains(document.activeElement);
  buttons.dataset.now = now;
  // These two wait for nothing: the box is empty at once, and whoever goes on writing may press again.
  fill(buttons, told, live.run
    ? [button("Steer", () => void send("steer"), { title: "Counts before the next request (Ctrl+Enter)" }), button("Queue", () => void send("queue"), { title: "Counts when the turn would end (Ctrl+Shift+Enter)" }),
      button("Cancel", cancel, { class: "danger", id: "cancel" })]
    : [choosePicture, choice, button("Send", () => send(), { class: "main", id: "send" })]);
  if (hadFocus && !buttons.contains(document.activeElement)) field.focus();
}

const draft = (id = state.s) => drafts.draft(id);

/** A name that nobody else gives. */
const unique = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function change(what, id = state.s) {
  Object.assign(draft(id), what);
  drafts.keep(id);
}

/** Puts a text that was not told back into the box of its session, in front of what was written since. */
function giveBack(id, text) {
  const mine = draft(id);
  change({ text: mine.text ? `${text}\n\n${mine.text}` : text }, id);
  if (state.s === id) restore();
}

/** Takes out what waits. It comes back when the turn says that it was not told. */
async function takeOut(text) {
  const { run } = live;
  const forget = want(state.s, text);
  if (!run || !(await attempt(() => post(path("sessions", state.s, "runs", run, "messages", "take-out"), { text })))) forget();
}

/** Shows what is being written in the session that is open. */
function restore() {
  field.value = draft().text;
  choice.value = draft().model;
  hold(draft().pictures, state.s);
}

/** Puts a prompt into the box, to be said again otherwise, in front of what was written there. Returns what takes it out again, unless it was changed. */
export function compose(text, shown) {
  const id = state.s;
  const mine = draft();
  const before = { text: mine.text, pictures: [...mine.pictures] };
  const put = (what) => {
    mine.pictures.splice(0, Infinity, ...what.pictures);
    change({ text: what.text }, id);
    drafts.keepPictures(id);
    if (state.s === id) restore();
  };
  const composed = { text: before.text ? `${text}\n\n${before.text}` : text, pictures: [...shown, ...before.pictures] };
  put(composed);
  focus();
  return () => mine.text === composed.text && mine.pictures.length === composed.pictures.length && put(before);
}

/** Goes to the box, wherever one is. */
export function focus() {
  go(state.page ? { page: "", a: "", b: "", pane: "detail" } : { pane: "detail" });
  field.focus();
}

/**
 * Says what is in the box, once. It is empty at once, and what did not arrive is in it again.
 * A turn that runs is told one thing after the other; while one is started, what is written next stays in the box.
 */
async function send(when = "steer") {
  const mine = draft();
  const text = mine.text.trim();
  const id = state.s;
  const { run } = live;
  if (!id || (mine.sending && !run) || (!text && mine.pictures.length === 0)) return;
  if (!text) return note("A picture goes with words: say something about it.", { isError: true });
  const { model } = mine;
  // What was sent and not answered may have arrived: the same is the same order, whatever runs by now.
  const what = JSON.stringify([text, when, model, mine.pictures.map(({ name, bytes }) => [name, bytes])]);
  const isAgain = !mine.sending && mine.sent?.what === what;
  if (run && !isAgain && mine.pictures.length > 0) return note("A turn that runs is told words only. Send the picture when it has ended, or leave it out.", { isError: true });
  const pictures = mine.pictures.splice(0);
  const isNew = isAgain || !run;
  if (isNew && !isAgain) mine.sent = { what, key: unique() };
  if (isNew) drafts.keep(id);
  mine.text = "";
  restore();
  const told = isNew ? null : remember(id, run, text);
  const sent = isNew ? mine.sent : null;
  // A turn that started meanwhile would not be shown the pictures: then nothing is said.
  const order = () => ({ prompt: text, when_busy: pictures.length > 0 ? "reject" : when, model: model || null, pictures: pictures.map(({ kind, data }) => ({ kind, data })) });
  const sending = Promise.resolve(mine.sending).then(() => attempt(() => (isNew
    ? post(path("sessions", id, "runs"), order(), { key: sent.key }).catch((error) => {
      if (error.status > 0 && error.status < 500 && mine.sent === sent) mine.sent = null;
      throw error;
    })
    : post(path("sessions", id, "runs", run, "messages"), { text, when }))));
  mine.sending = sending;
  const done = await sending;
  if (mine.sending === sending) mine.sending = null;
  if (done) {
    told?.arrived();
    if (sent && mine.sent === sent) mine.sent = null;
  } else {
    told?.forget();
    mine.text = mine.text ? `${text}\n\n${mine.text}` : text;
    mine.pictures.unshift(...pictures);
  }
  drafts.keep(id);
  drafts.keepPictures(id);
  if (state.s !== id) return;
  if (!done) return restore();
  findRun();
  toLeaf();
  // The answer comes among the messages.
  if (!["message", "thread"].includes(state.tab)) go({ tab: "message" }, { replace: true });
}

/** Stops the turn that runs. */
export function cancel() {
  return live.run && attempt(() => post(path("sessions", state.s, "runs", live.run, "cancel")));
}

/** Answers the first question with a key, if it can be seen. Says whether the key is one for that. */
export function answerBy(key) {
  const verdict = ANSWERS.find(([, , by]) => by === key)?.[0];
  const first = document.querySelector(".question");
  if (!verdict || !first?.checkVisibility({ checkVisibilityCSS: true, visibilityProperty: true })) return false;
  first.querySelector(`[data-answer=${verdict}]`).click();
  return true;
}

function question(asked) {
  const answer = async (verdict) => {
    if (!shown.dataset.ready) return;
    // A question may be told before it is known which turn asks.
    if (!live.run) await findRun();
    if (!live.run) return;
    const { run } = live;
    // What was seen is what is answered: a call may be asked about more than once.
    const done = await attempt(() => post(path("sessions", state.s, "runs", run, "permissions", asked.call), { answer: verdict, question: asked.question }));
    // Whoever comes second is told so; either way it is asked no more.
    settle(asked.question);
    if (!done) findRun();
  };
  setTimeout(() => (shown.dataset.ready = "true"), SETTLES);
  const shown = h("div", { class: "question", "data-question": asked.question },
    described(asked),
    h("div", { class: "buttons" }, ANSWERS.map(([verdict, text, key]) => button([text, h("kbd", { "aria-hidden": "true" }, key)], () => answer(verdict),
      { class: verdict === "deny" ? "danger" : verdict === "once" ? "main" : "", "data-answer": verdict, "aria-keyshortcuts": key }))));
  // A button that is held down with Enter presses again and again.
  shown.addEventListener("keydown", (event) => event.repeat && event.key === "Enter" && event.preventDefault());
  return shown;
}
