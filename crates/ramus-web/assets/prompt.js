// The box at the bottom: saying something, talking to a turn that runs, stopping it, answering what it asks.

import { path, post } from "./api.js";
import { attempt } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { findRun, live, onLive, settle } from "./live.js";
import { state } from "./state.js";

let field = null;

/** What may be answered, and the key for it. */
const ANSWERS = [["once", "Allow once"], ["session", "Allow in this session"], ["project", "Allow in this project"], ["deny", "Deny"]];

export function box() {
  field = h("textarea", { id: "prompt", rows: 2, "aria-label": "Prompt", placeholder: "Say something. Ctrl+Enter sends it.", on: { keydown: (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send(event.shiftKey ? "queue" : "steer");
    }
    if (event.key === "Escape") field.blur();
  } } });
  const buttons = h("div", { class: "buttons" });
  const questions = h("div", { class: "questions", role: "alert" });
  const show = () => {
    fill(questions, live.asked.map(question));
    const told = h("span", { class: "quiet", role: "status" }, live.run ? `A turn is running${live.queue ? `, ${live.queue} waiting` : ""}` : live.state === "waiting" ? "The server does not answer; trying again" : "");
    fill(buttons, told, live.run
      ? [button("Steer", () => send("steer"), { title: "Counts before the next request (Ctrl+Enter)" }), button("Queue", () => send("queue"), { title: "Counts when the turn would end (Ctrl+Shift+Enter)" }),
        button("Cancel", cancel, { class: "danger", id: "cancel" })]
      : button("Send", () => send(), { class: "main", id: "send" }));
    root.hidden = !state.s;
  };
  onLive((what) => what !== "words" && show());
  const root = h("form", { class: "prompt", "aria-label": "Prompt", on: { submit: (event) => event.preventDefault() } }, questions, field, buttons);
  show();
  return root;
}

/** Puts a text into the box, to be said again otherwise. */
export function compose(text) {
  field.value = text;
  field.focus();
  document.body.dataset.pane = "detail";
}

export function focus() {
  field.focus();
}

async function send(when = "steer") {
  const text = field.value.trim();
  if (!text || !state.s) return;
  const done = await attempt(() => (live.run
    ? post(path("sessions", state.s, "runs", live.run, "messages"), { text, when })
    : post(path("sessions", state.s, "runs"), { prompt: text, when_busy: when })));
  if (!done) return;
  field.value = "";
  findRun();
}

/** Stops the turn that runs. */
export function cancel() {
  if (live.run) attempt(() => post(path("sessions", state.s, "runs", live.run, "cancel")));
}

function question(asked) {
  const answer = async (verdict) => {
    // A question may be told before it is known which turn asks.
    if (!live.run) await findRun();
    if (!live.run) return;
    const done = await attempt(() => post(path("sessions", state.s, "runs", live.run, "permissions", asked.call), { answer: verdict }));
    // Whoever comes second is told so; either way it is asked no more.
    settle(asked.call);
    if (!done) findRun();
  };
  return h("div", { class: "question", "data-call": asked.call },
    h("p", {}, "May the model use ", h("code", {}, asked.permission), "?"), h("pre", {}, asked.exact), h("p", { class: "quiet" }, asked.because),
    h("div", { class: "buttons" }, ANSWERS.map(([verdict, text]) => button(text, () => answer(verdict), { class: verdict === "deny" ? "danger" : verdict === "once" ? "main" : "", "data-answer": verdict }))));
}
