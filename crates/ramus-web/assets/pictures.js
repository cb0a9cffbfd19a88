// Pictures that go with a prompt: pasted, dropped on the box, or chosen from a file.

import { note } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { size } from "./format.js";

const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Providers take no larger ones. */
const LARGEST = 5e6;

/** Those of the draft that is shown, and whose draft it is. */
let held = [];
let owner = "";
const shown = h("ul", { class: "pictures plain", "aria-label": "Pictures that go with the prompt" });

let whenChanged = () => {};

/** Takes pictures from a box that is pasted into or dropped on; returns what shows and chooses them. Calls `act(id)` when those of a session change. */
export function pictures(box, act) {
  whenChanged = act;
  const chooser = h("input", { type: "file", accept: KINDS.join(","), multiple: true, hidden: true, on: { change: () => {
    add(chooser.files);
    chooser.value = "";
  } } });
  box.addEventListener("paste", (event) => event.clipboardData?.files.length > 0 && (event.preventDefault(), add(event.clipboardData.files)));
  // What is let go beside the box would open in the place of the page.
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
  box.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    add(event.dataTransfer.files);
  });
  return { shown, choose: [chooser, button("Picture…", () => chooser.click(), { title: "Show the model a picture; one can be pasted, too" })] };
}

/** Returns the pictures of a message as they go with a prompt. */
export const picturesOf = (parts) => (parts ?? []).filter(({ type, mime, data }) => type === "image" && KINDS.includes(mime) && typeof data === "string")
  .map(({ mime, data }) => ({ name: "picture", kind: mime, bytes: Math.floor((data.length * 3) / 4), data }));

/** Shows the pictures of another draft, that of a session; more are added to it. */
export function hold(pictures, id) {
  [held, owner] = [pictures, id];
  show();
}

async function add(files) {
  // Reading takes a moment, and one may be elsewhere by then.
  const [into, id] = [held, owner];
  for (const file of [...files]) {
    if (!KINDS.includes(file.type)) note(`${file.name || "What was pasted"} is no picture that models are shown.`, { isError: true });
    else if (file.size > LARGEST) note(`${file.name} is larger than ${size(LARGEST)}.`, { isError: true });
    else into.push({ name: file.name || "picture", kind: file.type, bytes: file.size, data: await base64(file) });
  }
  show();
  whenChanged(id);
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

function show() {
  fill(shown, held.map((one) => h("li", { class: "chip" }, `${one.name}, ${size(one.bytes)} `, button("✕", () => {
    held.splice(held.indexOf(one), 1);
    show();
    whenChanged(owner);
  }, { class: "plain", "aria-label": `Leave out ${one.name}` }))));
}
