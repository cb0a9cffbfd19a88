// What comes in front of the page: dialogs, and short notes at its edge.

import { button, h } from "./dom.js";

/** How long a note is there, in milliseconds: one that only tells, one that says what went wrong, one that offers something, and one that offers what is offered nowhere else. */
const TIMES = { tells: 5000, wrong: 12000, offers: 15000, keeps: 60000 };

let notes = null;
/** Where notes stand when no dialog is open. */
let place = document.body;

/** Says where notes stand. */
export function notesIn(element) {
  place = element;
}

/** Shows a dialog and returns how to close it. What was in focus before is so again when it has closed: the browser sees to that. */
export function open(title, content, { wide = false, kind, onClose } = {}) {
  const id = `dialog${Date.now()}`;
  const close = () => dialog.close();
  const dialog = h("dialog", { class: kind ?? (wide ? "wide" : ""), "aria-labelledby": id },
    h("header", {}, h("h2", { id }, title), button("✕", close, { class: "plain", "aria-label": "Close" })), h("div", { class: "content" }, content));
  // Whoever marks text and lets go outside was inside.
  let isOutside = false;
  dialog.addEventListener("pointerdown", (event) => (isOutside = event.target === dialog));
  dialog.addEventListener("click", (event) => event.target === dialog && isOutside && close());
  dialog.addEventListener("close", () => {
    bring();
    dialog.remove();
    onClose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  bring();
  return close;
}

/** Has the notes in what is in front: behind a dialog they could be neither pressed nor heard. */
function bring() {
  const front = [...document.querySelectorAll("dialog[open]")].pop() ?? place;
  if (notes && notes.parentNode !== front) front.append(notes);
}

/** Says whether a dialog is open. */
export function isOpen() {
  return document.querySelector("dialog[open]") !== null;
}

/** Asks for a line of text. */
export function ask(title, { label, value = "", action = "Save", allowEmpty = false }) {
  return new Promise((resolve) => {
    let answer = null;
    const field = h("input", { type: "text", value, "aria-label": label, maxlength: 500 });
    const form = h("form", { on: {
      submit: (event) => {
        event.preventDefault();
        if (field.value.trim() === "" && !allowEmpty) return;
        answer = field.value.trim();
        close();
      },
    } }, h("label", {}, label, field), h("div", { class: "buttons" }, h("button", { type: "submit", class: "main" }, action)));
    const close = open(title, form, { onClose: () => resolve(answer) });
    field.focus();
    field.select();
  });
}

/** Asks whether something shall be done. What cannot be undone is not what a careless Enter does. */
export function confirm(title, text, action, { isDanger = false } = {}) {
  return new Promise((resolve) => {
    let answer = false;
    const yes = button(action, () => {
      answer = true;
      close();
    }, { class: isDanger ? "danger" : "main" });
    const no = button("Cancel", () => close());
    const close = open(title, [h("p", {}, text), h("div", { class: "buttons" }, no, yes)], { onClose: () => resolve(answer) });
    (isDanger ? no : yes).focus();
  });
}

/** Tells something at the edge of the page, with what can be done about it. What `stays` is there until somebody takes it away. */
export function note(text, { action, act, isError = false, keep = false, stays = false } = {}) {
  notes ??= h("div", { class: "notes", role: "status", "aria-live": "polite" });
  bring();
  const gone = () => one.remove();
  const one = h("div", { class: isError ? "note error" : "note", role: isError ? "alert" : undefined }, h("span", {}, text),
    action ? button(action, () => {
      gone();
      act();
    }) : null, button("✕", gone, { class: "plain", "aria-label": "Dismiss" }));
  notes.append(one);
  const passing = [...notes.querySelectorAll(".note:not(.stays)")];
  while (notes.childNodes.length > 4 && passing.length > 0) passing.shift().remove();
  if (stays) one.classList.add("stays");
  else expire(one, keep ? TIMES.keeps : action ? TIMES.offers : isError ? TIMES.wrong : TIMES.tells);
}

/** Takes a note away after a while. Whoever is at it, or does not look at the page, has the whole while afterwards. */
function expire(one, time) {
  let timer = 0;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => (document.hidden || one.matches(":hover, :focus-within") ? wait() : one.remove()), time);
  };
  for (const name of ["pointerleave", "focusout"]) one.addEventListener(name, wait);
  wait();
}

/** Tells what went wrong. */
export function complain(error) {
  if (error?.name === "AbortError" || error?.isAsked) return;
  note(error?.hint ? `${error.message}. ${error.hint}` : String(error?.message ?? error), { isError: true });
}

/** Does something, and tells what went wrong. Returns nothing then. */
export async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    complain(error);
    return undefined;
  }
}
