// Makes elements. Text is always text: nothing here turns a string into markup, a script or a style.

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element: `h("button", { class: "plain", on: { click } }, "Fork")`. */
export function h(name, props, ...children) {
  return dress(document.createElement(name), props, children);
}

/** Makes an element of a drawing. */
export function draw(name, props, ...children) {
  return dress(document.createElementNS(SVG, name), props, children);
}

function dress(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null) continue;
    // Whoever listens to a page must be told what is not so, too.
    if (name.startsWith("aria-")) {
      element.setAttribute(name, String(value));
      continue;
    }
    if (value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (name === "style") for (const [rule, text] of Object.entries(value)) element.style.setProperty(rule, text);
    else if (name === "value") element.value = value;
    else if (name === "checked") element.checked = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  return put(element, children);
}

/** Appends children: elements, text, lists of them; nothing for null and false. */
export function put(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Puts children in the place of those that were there. */
export function fill(element, ...children) {
  element.replaceChildren();
  return put(element, children);
}

/** Makes a button. What takes a while is not done twice: until it is done the button does nothing, and keeps the focus. */
export function button(text, act, props) {
  let isBusy = false;
  const press = async (event) => {
    if (isBusy) return;
    const doing = act(event);
    if (!(doing instanceof Promise)) return;
    isBusy = true;
    made.setAttribute("aria-disabled", true);
    try {
      await doing;
    } finally {
      isBusy = false;
      made.removeAttribute("aria-disabled");
    }
  };
  const made = h("button", { type: "button", ...props, on: { click: press } }, text);
  return made;
}

/** Runs something once per frame, however often it is asked for. */
export function perFrame(act) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      act();
    });
  };
}

/** Runs something some milliseconds after it was first asked for, however often it is asked for meanwhile. */
export function soon(milliseconds, act) {
  let timer = 0;
  return () => {
    timer ||= setTimeout(() => {
      timer = 0;
      act();
    }, milliseconds);
  };
}

/** Runs something when it has not been asked for during some milliseconds. */
export function afterwards(milliseconds, act) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), milliseconds);
  };
}
