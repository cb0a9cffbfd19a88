// What is shown to whom the server does not know yet.

import { attempt, open as openDialog } from "./dialog.js";
import { post } from "./api.js";
import { h } from "./dom.js";

let isOpen = false;

/** Asks for the token, once. */
export function login() {
  if (isOpen) return;
  isOpen = true;
  const field = h("input", { type: "password", autocomplete: "off", "aria-label": "Token" });
  const form = h("form", { on: { submit: (event) => {
    event.preventDefault();
    attempt(async () => {
      await post("/login", { token: field.value.trim() });
      location.reload();
    });
  } } }, h("p", {}, "Say ", h("code", {}, "ramus open"), " in a terminal: it opens this page and logs you in. Or give the token that the server keeps in its home."),
    h("label", {}, "Token", field), h("div", { class: "buttons" }, h("button", { type: "submit", class: "main" }, "Log in")));
  openDialog("Who are you?", form, { onClose: () => (isOpen = false) });
  field.focus();
}
