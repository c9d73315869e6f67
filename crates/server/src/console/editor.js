// A text area with line numbers. Tab leaves it, as everywhere; Ctrl+Enter runs.

import { el } from "./dom.js";

export function editor({ text, onchange, onrun }) {
  const numbers = el("div", { class: "numbers", "aria-hidden": "true" });
  const area = el("textarea", {
    id: "sql", spellcheck: "false", autocapitalize: "off", autocomplete: "off",
    rows: "6", wrap: "off", "aria-label": "SQL", "aria-describedby": "price editor-keys",
    value: text,
  });
  const count = () => {
    const lines = area.value.split("\n").length;
    if (numbers.childElementCount === lines) return;
    numbers.replaceChildren(...Array.from({ length: lines }, (_, i) => el("span", {}, String(i + 1))));
  };
  const changed = () => { count(); onchange(area.value); };
  area.addEventListener("input", changed);
  area.addEventListener("scroll", () => { numbers.scrollTop = area.scrollTop; });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onrun();
    }
  });
  count();
  return {
    node: el("div", { class: "editor" }, numbers, area),
    text: () => area.value,
    /** Writes at the cursor. */
    insert(words) {
      area.setRangeText(words, area.selectionStart, area.selectionEnd, "end");
      area.focus();
      changed();
    },
    set(words) { area.value = words; changed(); area.focus(); },
  };
}
