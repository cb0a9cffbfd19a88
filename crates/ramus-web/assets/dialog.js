// What comes in front of the page: dialogs, and short notes at its edge.

import { button, h } from "./dom.js";

let notes = null;

/** Shows a dialog and returns how to close it. What was in focus before is so again afterwards. */
export function open(title, content, { wide = false, onClose } = {}) {
  const id = `dialog${Date.now()}`;
  const close = () => dialog.close();
  const dialog = h("dialog", { class: wide ? "wide" : "", "aria-labelledby": id },
    h("header", {}, h("h2", { id }, title), button("✕", close, { class: "plain", "aria-label": "Close" })), h("div", { class: "content" }, content));
  const before = document.activeElement;
  dialog.addEventListener("click", (event) => event.target === dialog && close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    before?.focus?.();
    onClose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return close;
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

/** Asks whether something shall be done. */
export function confirm(title, text, action) {
  return new Promise((resolve) => {
    let answer = false;
    const yes = button(action, () => {
      answer = true;
      close();
    }, { class: "main danger" });
    const close = open(title, [h("p", {}, text), h("div", { class: "buttons" }, yes)], { onClose: () => resolve(answer) });
    yes.focus();
  });
}

/** Tells something at the edge of the page, with what can be done about it. */
export function note(text, { action, act, isError = false, keep = false } = {}) {
  notes ??= document.body.appendChild(h("div", { class: "notes", role: "status", "aria-live": "polite" }));
  const gone = () => one.remove();
  const one = h("div", { class: isError ? "note error" : "note", role: isError ? "alert" : undefined }, h("span", {}, text),
    action ? button(action, () => {
      gone();
      act();
    }) : null, button("✕", gone, { class: "plain", "aria-label": "Dismiss" }));
  notes.append(one);
  while (notes.childNodes.length > 4) notes.firstChild.remove();
  if (!keep) setTimeout(gone, action ? 20000 : isError ? 12000 : 5000);
}

/** Tells what went wrong. */
export function complain(error) {
  if (error?.name === "AbortError") return;
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
