"use strict";
(() => {
  const all = [...document.querySelectorAll(".entry")];
  const rows = [];
  document.querySelectorAll(".row").forEach((row) => { rows[Number(row.dataset.at)] = row; });
  const parents = all.map((entry) => ("parent" in entry.dataset ? Number(entry.dataset.parent) : -1));
  const lastChild = new Map();
  parents.forEach((parent, at) => lastChild.set(parent, at));
  const root = document.documentElement;
  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const nothing = document.getElementById("nothing");
  const texts = [];
  let here = -1;

  const isShown = (at) => !all[at].classList.contains("side");

  // Shows the branch that an entry is on: everything above it, and what last followed it.
  const showBranch = (at) => {
    if (isShown(at)) return;
    const path = new Set();
    for (let up = at; up >= 0 && !path.has(up); up = parents[up]) path.add(up);
    for (let down = lastChild.get(at); down !== undefined && !path.has(down); down = lastChild.get(down)) path.add(down);
    all.forEach((entry, index) => entry.classList.toggle("side", !path.has(index)));
    rows.forEach((row, index) => row.classList.toggle("off", !path.has(index)));
  };

  const goTo = (at, scroll) => {
    if (!all[at]) return;
    showBranch(at);
    if (here >= 0) {
      all[here].classList.remove("here");
      if (rows[here]) rows[here].classList.remove("here");
    }
    here = at;
    all[at].classList.add("here");
    if (rows[at]) {
      rows[at].classList.add("here");
      rows[at].scrollIntoView({ block: "nearest", behavior: "instant" });
    }
    if (scroll) all[at].scrollIntoView({ block: "start", behavior: "instant" });
  };

  const follow = () => {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { return; }
    const target = document.getElementById(name);
    if (target && target.dataset.at) goTo(Number(target.dataset.at), true);
    document.body.classList.remove("tree");
  };

  const isVisible = (at) => isShown(at) && all[at].offsetParent !== null;

  const step = (by) => {
    let at = here < 0 ? (by > 0 ? -1 : all.length) : here;
    do { at += by; } while (all[at] && !isVisible(at));
    if (all[at]) goTo(at, true);
  };

  const find = () => {
    const wanted = search.value.trim().toLowerCase();
    let hits = 0;
    all.forEach((entry, at) => {
      if (wanted && texts[at] === undefined) texts[at] = entry.textContent.toLowerCase();
      const fits = !wanted || texts[at].includes(wanted);
      entry.classList.toggle("miss", !fits);
      if (rows[at]) rows[at].hidden = !fits;
      if (fits) hits += 1;
    });
    count.textContent = wanted ? String(hits) : "";
    nothing.hidden = hits > 0;
  };

  const toggle = (button) => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    document.body.classList.toggle("no-" + button.dataset.filter, !on);
  };

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, 120);
  });
  document.querySelectorAll(".filter").forEach((button) => button.addEventListener("click", () => toggle(button)));
  document.getElementById("menu").addEventListener("click", () => document.body.classList.toggle("tree"));
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Escape") { search.value = ""; find(); search.blur(); }
      return;
    }
    const press = (name) => toggle(document.querySelector('[data-filter="' + name + '"]'));
    const keys = {
      j: () => step(1), k: () => step(-1), "/": () => search.focus(), t: () => press("thinking"), o: () => press("tool"),
      g: () => scrollTo(0, 0), G: () => scrollTo(0, document.body.scrollHeight),
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  document.getElementById("tree").addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) { goTo(Number(row.dataset.at), true); document.body.classList.remove("tree"); }
  });
  rows.forEach((row, at) => row.classList.toggle("off", !isShown(at)));
  addEventListener("hashchange", follow);
  if (location.hash) follow();
  root.dataset.ready = "true";
})();
