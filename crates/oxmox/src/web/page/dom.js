// Elements from data. Text only ever becomes text: nothing here reads HTML.

/// h("button", {class: "x", onclick: f}, "text", child, [more])
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(...flat(children));
  return element;
}

/// The same for SVG.
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, attributes);
  element.append(...flat(children));
  return element;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
}

function flat(children) {
  return children.flat(9).filter((child) => child !== undefined && child !== null && child !== false && child !== "");
}

export function fill(element, ...children) {
  element.replaceChildren(...flat(children));
  return element;
}

/// Tells everybody, those who listen to a screen reader included.
export function say(text, kind = "good") {
  const box = document.getElementById("said");
  const note = h("p", { class: `note ${kind}` }, text);
  box.replaceChildren(note);
  setTimeout(() => note.remove(), 8000);
}

/// A failure in its place.
export function failure(error) {
  return h("div", { class: "alert bad", role: "alert" },
    h("p", {}, error.message), error.hint && h("p", { class: "quiet" }, error.hint));
}

/// Asks before something grave. Resolves to true or false.
export function ask(title, text, yes, kind) {
  return new Promise((resolve) => {
    const close = (answer) => { dialog.close(); dialog.remove(); resolve(answer); };
    const dialog = h("dialog", { "aria-labelledby": "ask-title" },
      h("h2", { id: "ask-title" }, title), text,
      h("p", { class: "buttons" },
        h("button", { type: "button", class: kind, onclick: () => close(true) }, yes),
        h("button", { type: "button", class: "plain", autofocus: true, onclick: () => close(false) }, "Cancel")));
    dialog.addEventListener("cancel", (event) => { event.preventDefault(); close(false); });
    document.body.append(dialog);
    dialog.showModal();
  });
}
