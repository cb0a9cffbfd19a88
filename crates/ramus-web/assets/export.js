// The session as a file.

import { path, query } from "./api.js";
import { open as openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { state } from "./state.js";

const FORMS = [["md", "Markdown", "the path to the leaf, to read and to paste"], ["html", "A page", "every branch, to look at without ramus"],
  ["pi", "JSONL", "the log as one file, for pi and oh-my-pi"], ["json", "A bundle", "all of it, for another ramus to import"]];

/** Offers the session in every form. */
export function exportAs() {
  const link = ([to, name, what]) => h("li", {}, h("a", { href: query(path("sessions", state.s, "export"), { to }), download: "" }, name), h("span", { class: "quiet" }, ` ${what}`));
  const list = h("ul", { class: "plain" }, FORMS.map(link));
  openDialog("Export", list);
  list.querySelector("a").focus();
}
