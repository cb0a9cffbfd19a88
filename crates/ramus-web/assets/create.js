// Starting a session: where it works, what it is called, and which model answers.

import { get, path, post } from "./api.js";
import { open as openDialog } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { base } from "./format.js";
import { live } from "./live.js";
import { models } from "./models.js";
import { newest } from "./sessions.js";

/** How many of the sessions used last are asked where they work, and how many places are offered. */
const [ASKED, OFFERED] = [100, 6];

/** Asks what a session starts with, and makes it. Returns it; nothing when nobody wants it any more. */
export function create() {
  return new Promise((resolve) => {
    let made = null;
    const known = [...new Set([live.info?.cwd, ...newest(ASKED).sessions.map((one) => one.cwd)].filter(Boolean))];
    const directories = h("datalist", { id: "directories" });
    const place = h("input", { type: "text", id: "new-place", list: "directories", value: known[0] ?? "", placeholder: "where the server was started", spellcheck: "false", autocomplete: "off", maxlength: 4000 });
    const title = h("input", { type: "text", id: "new-title", placeholder: "optional", maxlength: 500 });
    const model = h("select", { id: "new-model" });
    const choose = h("label", { hidden: true }, "Model", model);
    const wrong = h("p", { class: "stopped", role: "alert" });
    const offered = h("div", { class: "places", role: "group", "aria-label": "Directories used last" });
    const offer = () => {
      fill(directories, known.map((one) => h("option", { value: one })));
      fill(offered, known.slice(0, OFFERED).map((one, _, all) => button(shortly(one, all), () => {
        place.value = one;
        place.focus();
      }, { class: "chip", title: one, "aria-label": one })));
      offered.hidden = known.length < 2;
    };
    offer();
    models((all) => {
      const askable = all.filter((one) => one.available).map((one) => `${one.provider}/${one.name}`);
      fill(model, h("option", { value: "" }, "As the settings say"), askable.map((name) => h("option", { value: name }, name)));
      choose.hidden = askable.length === 0;
    });
    // Projects of older sessions can be written as well.
    get(path("facets")).then(({ projects }) => {
      for (const { name } of projects) if (name.startsWith("/") && !known.includes(name)) known.push(name);
      offer();
    }, () => {});
    const start = async () => {
      try {
        made = (await post(path("sessions"), { cwd: place.value.trim() || null, title: title.value.trim() || null, model: model.value || null })).session;
        close();
      } catch (error) {
        wrong.textContent = error.hint ? `${error.message}. ${error.hint}` : error.message;
        place.focus();
      }
    };
    const go = button("Start", start, { class: "main", type: "submit", id: "start" });
    const form = h("form", { on: { submit: (event) => event.preventDefault() } },
      h("label", {}, "Directory it works in", place), directories, offered, h("label", {}, "Title", title), choose, wrong, h("div", { class: "buttons" }, button("Cancel", () => close()), go));
    const close = openDialog("New session", form, { onClose: () => resolve(made) });
    place.focus();
    place.select();
  });
}

/** The end of a directory; where another one ends alike, what it lies in as well. */
function shortly(one, all) {
  return all.filter((other) => base(other) === base(one)).length > 1 ? one.split("/").slice(-2).join("/") : base(one);
}
