// A button that unfolds a list of things to do.

import { button, fill, h } from "./dom.js";

/** Makes the button. `items()` says what is in the list when it unfolds: `{ text, key, isDanger, isOn, run }`, and `null` for a line; `isOn` is of what can be switched. */
export function menu(text, label, items) {
  const list = h("div", { role: "menu", "aria-label": label, hidden: true, on: { keydown: keys } });
  const open = button(text, () => (list.hidden ? show() : close()), { "aria-haspopup": "menu", "aria-expanded": false, title: label });
  const root = h("span", { class: "menu", on: { focusout: (event) => root.contains(event.relatedTarget) || close() } }, open, list);

  function show() {
    fill(list, items().map((one) => (one ? item(one) : h("hr"))));
    list.hidden = false;
    open.setAttribute("aria-expanded", true);
    list.querySelector("button")?.focus();
  }

  function close() {
    list.hidden = true;
    open.setAttribute("aria-expanded", false);
  }

  function item({ text: name, key, isDanger, isOn, action, run }) {
    return h("button", { type: "button", role: isOn === undefined ? "menuitem" : "menuitemcheckbox", "aria-checked": isOn, tabindex: -1, class: isDanger ? "danger" : undefined, "data-action": action, "aria-keyshortcuts": key, on: {
      click: () => {
        open.focus();
        close();
        run();
      },
    } }, name, key ? h("kbd", { "aria-hidden": "true" }, key) : null);
  }

  function keys(event) {
    const all = [...list.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement);
    const to = { ArrowDown: (at + 1) % all.length, ArrowUp: (at - 1 + all.length) % all.length, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape") {
      open.focus();
      close();
    } else if (to !== undefined) all[to]?.focus();
    // A letter means nothing behind an open list.
    else if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation();
    if (event.key !== "Enter" && event.key !== " ") event.preventDefault();
  }

  return root;
}
