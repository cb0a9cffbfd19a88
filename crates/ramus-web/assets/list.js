// A list of which only what can be seen is there, however long it is. All rows have one height.

import { h, perFrame } from "./dom.js";

/** How many rows are made above and below what can be seen. */
const MARGIN = 8;

export class List {
  /**
   * `row(at)` makes the element of a row, `label` is what it is called, `role` of the list and `item` of its rows. `seen(first,
   * last)` is told what can be seen.
   */
  constructor({ label, role, item, height, row, seen, key }) {
    Object.assign(this, { height, makeRow: row, seen, item, count: 0, selected: -1, rows: new Map() });
    this.space = h("div", { class: "space", role: "presentation" });
    this.element = h("div", { class: "list", role, "aria-label": label, tabindex: 0, on: { keydown: key } }, this.space);
    this.id = `list${List.made++}`;
    this.show = perFrame(() => this.update());
    this.element.addEventListener("scroll", this.show, { passive: true });
    new ResizeObserver(this.show).observe(this.element);
  }

  /** Says how many rows there are; what they show may have changed. */
  reset(count) {
    this.count = count;
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.space.style.height = `${count * this.height}px`;
    this.update();
  }

  /** Makes a row again, if it can be seen. */
  refresh(at) {
    const row = this.rows.get(at);
    if (!row) return;
    const made = this.make(at);
    row.replaceWith(made);
    this.rows.set(at, made);
  }

  range() {
    const top = this.element.scrollTop;
    const first = Math.max(0, Math.floor(top / this.height) - MARGIN);
    const last = Math.min(this.count, Math.ceil((top + this.element.clientHeight) / this.height) + MARGIN);
    return [first, last];
  }

  update() {
    const [first, last] = this.range();
    for (const [at, row] of this.rows) {
      if (at >= first && at < last) continue;
      row.remove();
      this.rows.delete(at);
    }
    let added = null;
    for (let at = first; at < last; at++) {
      if (this.rows.has(at)) continue;
      added ??= document.createDocumentFragment();
      const row = this.make(at);
      this.rows.set(at, row);
      added.append(row);
    }
    if (added) this.space.append(added);
    this.mark();
    this.seen?.(first, last);
  }

  make(at) {
    const row = this.makeRow(at);
    row.id = `${this.id}-${at}`;
    row.setAttribute("role", this.item);
    row.setAttribute("aria-setsize", this.count);
    row.setAttribute("aria-posinset", at + 1);
    row.setAttribute("aria-selected", at === this.selected);
    row.style.top = `${at * this.height}px`;
    row.style.height = `${this.height}px`;
    return row;
  }

  mark() {
    if (this.rows.has(this.selected)) this.element.setAttribute("aria-activedescendant", `${this.id}-${this.selected}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** Selects a row and brings it into view. */
  select(at, { scroll = true } = {}) {
    const before = this.selected;
    this.selected = at;
    for (const one of [before, at]) this.rows.get(one)?.setAttribute("aria-selected", one === at);
    if (scroll && at >= 0) this.reveal(at);
    this.mark();
  }

  /** Says whether a row can be seen. */
  sees(at) {
    const { scrollTop, clientHeight } = this.element;
    return at >= 0 && (at + 1) * this.height > scrollTop && at * this.height < scrollTop + clientHeight;
  }

  reveal(at) {
    const { scrollTop, clientHeight } = this.element;
    const top = at * this.height;
    if (top < scrollTop) this.element.scrollTop = Math.max(0, top - this.height);
    else if (top + this.height > scrollTop + clientHeight) this.element.scrollTop = top + 2 * this.height - clientHeight;
    this.update();
  }
}
List.made = 0;
