// The tables and what the policy says of them.

import { el } from "./dom.js";
import { short } from "./words.js";

/** Something to begin with: a count by the column with the most values, if they are not too many. */
export function firstQuestion(schema) {
  const keys = schema.tables.filter((t) => t.access === "protected")
    .flatMap((t) => t.columns.filter((c) => c.values && c.values_count <= 40).map((c) => [t.name, c.name, c.values_count]))
    .sort((a, b) => b[2] - a[2]);
  if (keys.length > 0) {
    const [from, key] = keys[0];
    return `SELECT ${key}, COUNT(*) AS n\nFROM ${from}\nGROUP BY ${key}\nORDER BY n DESC`;
  }
  const table = schema.tables.find((t) => t.access === "protected") ?? schema.tables[0];
  return table ? `SELECT COUNT(*) AS n FROM ${table.name}` : "";
}

function counted(table) {
  const [rows, groups] = [table.max_rows_per_group, table.max_groups];
  const some = rows === 1 ? "one row" : `${rows} rows`;
  return groups === 1 ? some : `${some} in each of ${groups} groups`;
}

/** A date or time is a text already. */
function end(bound) {
  return typeof bound === "string" ? bound : short(bound);
}

function known(column) {
  const parts = [];
  if (column.bounds) parts.push(column.bounds.map(end).join(" … "));
  if (column.values) {
    const shown = column.values.slice(0, 8).map(String).join(", ");
    parts.push(column.values_count > 8 ? `${shown}, … (${column.values_count})` : shown);
  }
  if (column.unit) parts.push("whose row it is");
  return parts.join("; ");
}

/** `insert` writes a name into the editor; `set` replaces what is there. */
export function schemaCard(schema, insert, set) {
  const tables = schema.tables.map((table, i) => {
    const open = i === 0 && !matchMedia("(max-width: 60rem)").matches;
    const whose = table.access === "public" ? "public"
      : table.unit === "row" ? "each row is protected" : `protected by ${table.unit}`;
    return el("details", { class: "table", open },
      el("summary", {}, el("span", { class: "name" }, table.name),
        el("span", { class: `badge ${table.access}` }, table.access)),
      el("p", { class: "muted" }, table.access === "public" ? "Nobody's data: no noise, no cost."
        : `${whose[0].toUpperCase()}${whose.slice(1)}. Counted of each: ${counted(table)}.`),
      el("ul", {}, table.columns.map((column) => el("li", {},
        el("button", { class: "column", type: "button", title: `Write ${column.name}`, onclick: () => insert(column.name) }, column.name),
        el("span", { class: "type" }, column.type),
        known(column) ? el("span", { class: "known" }, known(column)) : null))),
      el("button", { class: "quiet small", type: "button", onclick: () => set(`SELECT COUNT(*) AS n FROM ${table.name}`) }, "Count its rows"));
  });
  return el("div", { class: "card schema" }, el("h2", {}, "Tables"), ...tables);
}
