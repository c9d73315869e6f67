// Elements from plain calls. Text is always text: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else if (name in node && (typeof value === "boolean" || name === "value")) node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** An HTML element: `el("p", { class: "muted" }, "text", child)`. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Says something to who does not see it. */
export function announce(text) {
  const live = document.getElementById("live");
  live.textContent = "";
  requestAnimationFrame(() => { live.textContent = text; });
}

/** A table: headings (`{ text, number }` or a text) and rows of cells. */
export function table(caption, headings, rows) {
  const named = headings.map((h) => (typeof h === "string" ? { text: h } : h));
  const cell = (content, i) => el("td", { class: named[i]?.number ? "number" : null, "data-label": named[i]?.text }, content ?? "");
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("caption", { class: "hidden-text" }, caption),
      el("thead", {}, el("tr", {}, named.map((h) =>
        el("th", { scope: "col", class: h.number ? "number" : null }, h.text)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map(cell))))));
}

/** A problem, with what to do about it. */
export function problem(error) {
  return el("div", { class: "problem", role: "alert" },
    el("p", {}, error.message),
    error.hint ? el("p", { class: "hint" }, error.hint) : null);
}

/** A form's fields as an object; empty ones are left out, numbers are numbers. */
export function values(form) {
  const found = {};
  for (const field of form.elements) {
    if (!field.name || field.value === "") continue;
    found[field.name] = field.type === "number" ? Number(field.value) : field.value;
  }
  return found;
}
