// An answer: the table with its ± and, where there is something to compare, a chart.

import { chart } from "./chart.js";
import { el, table } from "./dom.js";
import { main, price, rounded, short } from "./words.js";

/** The most rows that are shown. */
const SHOWN = 1000;

const half = (ends) => (ends ? (ends[1] - ends[0]) / 2 : NaN);

/** How far the farther end is. */
const farther = (value, ends) => Math.max(ends[1] - value, value - ends[0]);

/** Whether one end is the value itself, so that ± would mislead: a maximum is at least what was released. */
function lopsided(value, ends) {
  const [below, above] = [value - ends[0], ends[1] - value];
  return Math.min(below, above) <= 0 && Math.max(below, above) > 0;
}

/** How far each number may be off, where that is not an interval beside it: rows of a mode. */
function errors(told, intervals) {
  const beside = intervals.some((ends) => ends?.some((pair) => pair));
  const shown = (error) => error.startsWith("± ") || error.includes("from the exact position");
  const said = (told.errors ?? []).filter(({ error_95 }) => !(beside && shown(error_95)));
  const lines = [...new Set(said.map(({ column, error_95 }) => `${column}: ${error_95} (95 %)`))];
  return lines.map((line) => el("p", { class: "muted error-line" }, line));
}

export function resultCard(told) {
  const { columns, rows } = told;
  const intervals = told.intervals ?? columns.map(() => null);
  const cost = told.repeated ? "free, bought before" : `cost ${price(told.cost)}`;
  const card = el("div", { class: "card result" },
    el("div", { class: "result-head" },
      el("h2", {}, "Answer"),
      el("span", { class: "muted" }, `${cost} · ${main(told.left)} left`),
      el("button", { class: "quiet", type: "button", onclick: () => download(told, intervals) }, "CSV")));
  card.append(...told.notes.filter((note) => !/^ε [0-9.e-]+:/.test(note))
    .map((note) => el("p", { class: "note" }, note)));
  if (rows.length === 0) {
    card.append(el("p", { class: "muted" }, "No rows."));
    return card;
  }
  if (rows.length === 1 && columns.length === 1) {
    card.append(single(rows[0][0], intervals[0]?.[0]), ...errors(told, intervals));
    return card;
  }
  card.append(drawn(columns, rows, intervals) ?? "");
  const headings = columns.map((column) => ({ text: column.name, number: isNumber(column) }));
  const lines = rows.slice(0, SHOWN).map((row, i) =>
    row.map((value, j) => cell(value, columns[j], intervals[j]?.[i])));
  card.append(table("Answer", headings, lines), ...errors(told, intervals));
  if (rows.length > SHOWN) {
    card.append(el("p", { class: "muted" }, `${SHOWN} of ${rows.length} rows; the CSV has all.`));
  }
  return card;
}

const isNumber = (column) => column.type === "integer" || column.type === "real";

function cell(value, column, ends) {
  if (value === null) return el("span", { class: "muted" }, "NULL");
  if (!ends) return isNumber(column) ? short(value, 8) : String(value);
  const width = half(ends);
  const off = lopsided(value, ends)
    ? ` (${rounded(ends[0], width)} to ${rounded(ends[1], width)})` : ` ± ${short(farther(value, ends), 2)}`;
  return [rounded(value, width), el("span", { class: "plus-minus" }, off)];
}

/** One number is shown large. */
function single(value, ends) {
  const width = half(ends);
  return el("p", { class: "single" },
    el("strong", {}, value === null ? "NULL" : rounded(value, width)),
    ends && !lopsided(value, ends) ? el("span", {}, ` ± ${short(farther(value, ends), 2)}`) : null,
    ends ? el("small", { class: "muted" }, `95 % interval: ${rounded(ends[0], width)} to ${rounded(ends[1], width)}`) : null);
}

/** A chart of one noised column over the columns without noise, and a choice of which. */
function drawn(columns, rows, intervals) {
  const noised = columns.map((_, i) => i).filter((i) => intervals[i] && isNumber(columns[i]));
  const keys = columns.map((_, i) => i).filter((i) => !intervals[i]);
  if (noised.length === 0 || keys.length === 0 || rows.length < 2) return null;
  const place = el("div", { class: "chart" });
  const draw = (at) => place.replaceChildren(chart({
    title: columns[at].name,
    width: (document.getElementById("answer")?.clientWidth ?? 760) - 44,
    bars: rows.map((row, i) => ({
      label: keys.map((key) => row[key] ?? "NULL").join(" · "),
      value: row[at], low: intervals[at][i]?.[0], high: intervals[at][i]?.[1],
    })).filter((bar) => typeof bar.value === "number"),
  }));
  draw(noised[0]);
  if (noised.length === 1) return place;
  const choice = el("select", { "aria-label": "Column of the chart", onchange: (event) => draw(Number(event.target.value)) },
    noised.map((i) => el("option", { value: String(i) }, columns[i].name)));
  return el("div", {}, el("label", { class: "chart-choice muted" }, "Chart of ", choice), place);
}

function download({ columns, rows }, intervals) {
  const quoted = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const wide = (line, ends) => line.flatMap((value, j) => (intervals[j] ? [value, ...ends(j)] : [value]));
  const lines = [
    wide(columns.map((column) => column.name), (j) => [`${columns[j].name}_low`, `${columns[j].name}_high`]),
    ...rows.map((row, i) => wide(row, (j) => intervals[j][i] ?? [null, null])),
  ];
  const text = lines.map((line) => line.map(quoted).join(",")).join("\n");
  const url = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/csv" }));
  el("a", { href: url, download: "answer.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
