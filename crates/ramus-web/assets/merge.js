// Telling the branch one is on what came of another one.

import { post, within } from "./api.js";
import { attempt, note, open as openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { reread } from "./live.js";
import { go, state } from "./state.js";

/** Shows what would be told, lets it be put in other words, and tells it at the leaf. */
export async function mergeBack(entry) {
  const id = state.s;
  const at = within(id);
  const what = { from: id, entry: `#${entry}` };
  const { text } = await post(at("merge-back"), { ...what, dry_run: true });
  const field = h("textarea", { rows: 10, value: text, "aria-label": "What is told" });
  const tell = () => attempt(async () => {
    const said = field.value.trim();
    const { merged } = await post(at("merge-back"), { ...what, summary: said && said !== text.trim() ? said : null });
    close();
    if (state.s === id) go({ page: "", a: "", b: "" });
    reread(id);
    note("The branch knows it now.", { action: "Undo", act: () => attempt(async () => {
      await post(at("undo"), { operation: merged[0] });
      reread(id);
    }) });
  });
  const close = openDialog("Bring back what came of it", [h("p", {}, "This is added where the session goes on, and the model is sent it from then on."), field,
    h("div", { class: "buttons" }, button("Bring back", tell, { class: "main", "data-do": "merge" }))], { wide: true });
  field.focus();
}
