// Sharing the path to an entry: what would be in it, the address, and taking it back.

import { get, path, post, query, remove } from "./api.js";
import { attempt, note, open as openDialog } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { count, time } from "./format.js";
import { describe } from "./live.js";
import { state } from "./state.js";
import { targetOf } from "./tree.js";

const PARTS = [["messages", "What was said", true], ["tools", "Calls of tools", true], ["diffs", "How files changed", true], ["thinking", "What the model thought", false]];
const TIMES = [["86400", "a day"], ["604800", "a week"], ["2592000", "a month"], ["", "until it is taken back"]];

export function share(row) {
  const id = state.s;
  const at = (...parts) => path("sessions", id, ...parts);
  const entry = `#${targetOf(row)}`;
  const boxes = PARTS.map(([name, , checked]) => h("input", { type: "checkbox", value: name, checked, on: { change: () => preview() } }));
  const lasts = h("select", { "aria-label": "How long it lasts" }, TIMES.map(([seconds, text]) => h("option", { value: seconds, selected: seconds === "604800" }, text)));
  const told = h("div", { "aria-live": "polite" });
  const made = h("div");
  const order = (more) => ({ entry, include: boxes.filter((box) => box.checked).map((box) => box.value), expires_in: lasts.value ? Number(lasts.value) : null, ...more });
  const preview = () => attempt(async () => {
    const answer = await post(at("share"), order({ dry_run: true }));
    const taken = answer.redacted.reduce((sum, one) => sum + one.count, 0);
    fill(told, h("p", {}, `${count(answer.entries.length, "entry", "entries")} would be shared.`, taken ? ` Taken out: ${answer.redacted.map((one) => `${one.count} × ${one.kind}`).join(", ")}.` : " Nothing had to be taken out."));
  });
  const create = () => attempt(async () => {
    const answer = await post(at("share"), order({}));
    const field = h("input", { type: "text", readonly: true, value: answer.share.url, id: "share-url", "aria-label": "Address of the share" });
    fill(made, h("p", {}, "Whoever has this address sees the page, and nothing else:"), field, h("div", { class: "buttons" }, button("Copy", () => attempt(async () => {
      await navigator.clipboard.writeText(answer.share.url);
      note("Copied.");
    }))));
    field.focus();
    field.select();
    list();
    describe();
  });
  const others = h("div");
  const list = () => attempt(async () => {
    const { shares } = await get(at("share"));
    const open = shares.filter((one) => !one.revoked);
    fill(others, open.length > 0 ? [h("h3", {}, "Shared now"), h("ul", { class: "plain" }, open.map((one) => h("li", {}, `${one.include.join(", ")}, ${one.expires ? `until ${time(one.expires)}` : "until it is taken back"} `,
      button("Take back", () => attempt(async () => {
        await remove(query(at("share"), { share: one.id }));
        note("Its address works no more.");
        list();
        describe();
      })))))] : null);
  });
  openDialog("Share", [h("p", {}, "A frozen page of the path to this entry, on this server. Secrets, names and directories are taken out."),
    h("fieldset", {}, h("legend", {}, "What is in it"), PARTS.map(([, text], n) => h("label", { class: "check" }, boxes[n], ` ${text}`))), h("label", {}, "It lasts ", lasts), told,
    h("div", { class: "buttons" }, button("Share", create, { class: "main", id: "share-now" })), made, others], { wide: true });
  preview();
  list();
}
