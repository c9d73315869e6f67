// Asking: the editor, the price before the run, the answer after it.

import { get, post } from "./api.js";
import { budgetCard } from "./budget.js";
import { announce, el, problem } from "./dom.js";
import { editor } from "./editor.js";
import { resultCard } from "./result.js";
import { firstQuestion, schemaCard } from "./schema.js";
import { amount, main, price, short, sure, tidy } from "./words.js";

const WAIT = 350;
let draft = null;
// Settings that a question from the ledger was asked with; they hold until its text is changed.
let kept = null;

/** Puts a question from the ledger into the editor. It is priced there, and asked only when somebody runs it. */
export function again({ sql, settings }) {
  draft = sql;
  const others = Object.entries(settings)
    .map(([name, value]) => [name.replace("demure.", ""), Number(value)])
    .filter(([, value]) => Number.isFinite(value));
  kept = { sql, settings: Object.fromEntries(others) };
}

export async function askView(section, who) {
  const [schema, budget] = await Promise.all([get("/api/schema"), get("/api/budget")]);
  const quote = el("div", { class: "quote", id: "price", "aria-live": "polite" });
  const answer = el("div", { id: "answer" });
  const gauges = el("div", {}, budgetCard(budget, who));
  const run = el("button", { class: "primary", id: "run", type: "button", onclick: ask }, "Run");
  const by = el("select", { id: "by", "aria-label": "What to fix: the price or the error", onchange: settle },
    el("option", { value: "epsilon" }, "Spend ε"),
    el("option", { value: "error_at_most" }, "Error at most ±"));
  const much = el("input", {
    id: "much", type: "number", min: "0", step: "any", inputmode: "decimal",
    "aria-label": "How much", placeholder: short(budget.dataset.per_query), oninput: changed,
  });
  const text = editor({ text: draft ?? firstQuestion(schema), onchange: changed, onrun: ask });
  const then = el("p", { class: "muted", id: "kept" });
  if (kept) {
    by.value = "error_at_most" in kept.settings ? "error_at_most" : "epsilon";
    much.value = kept.settings[by.value] ?? "";
    if (by.value !== "epsilon") much.placeholder = "e.g. 50";
  }
  let timer = 0;
  let asking = null;
  let quoting = null;

  section.append(
    el("aside", { class: "side", "aria-label": "Budget and tables" },
      gauges, schemaCard(schema, (word) => text.insert(word), (sql) => text.set(sql))),
    el("div", { class: "work" },
      el("div", { class: "card ask-card" },
        el("h1", { class: "hidden-text" }, "Ask"),
        text.node,
        el("div", { class: "controls" },
          el("div", { class: "pair" }, by, much),
          el("span", { class: "muted keys", id: "editor-keys" }, el("kbd", {}, "Ctrl"), " ", el("kbd", {}, "Enter"), " runs"),
          run),
        then, quote),
      answer));
  explain();

  function question() {
    const { delta, max_groups, max_rows_per_group } = kept?.settings ?? {};
    const asked = { sql: text.text(), delta, max_groups, max_rows_per_group };
    if (much.value !== "") asked[by.value] = Number(much.value);
    return asked;
  }

  function settle() {
    much.placeholder = by.value === "epsilon" ? short(budget.dataset.per_query) : "e.g. 50";
    changed();
  }

  function changed() {
    draft = text.text();
    if (kept && kept.sql !== draft) kept = null;
    quote.classList.add("stale");
    clearTimeout(timer);
    timer = setTimeout(explain, WAIT);
  }

  async function explain() {
    quoting?.abort();
    quoting = new AbortController();
    const { signal } = quoting;
    then.textContent = keptInWords();
    if (text.text().trim() === "") return quoted(el("p", { class: "muted" }, "Write a question in SQL. Its price appears here before you pay."));
    try {
      const told = await post("/api/explain", question(), signal);
      quoted(...priced(told, budget.dataset.neighbours));
      run.textContent = amount(told.cost) > 0 ? `Run for ${price(told.cost)}` : "Run, free";
    } catch (error) {
      if (signal.aborted) return;
      run.textContent = "Run";
      quoted(problem(error));
    }
  }

  function keptInWords() {
    const others = Object.entries(kept?.settings ?? {}).filter(([name]) => name !== "epsilon" && name !== "error_at_most");
    return others.length === 0 ? "" : `As it was asked: ${others.map(([name, value]) => `${name} ${short(value)}`).join(", ")}`;
  }

  function quoted(...nodes) {
    quote.classList.remove("stale");
    quote.replaceChildren(...nodes);
  }

  async function ask() {
    if (asking || text.text().trim() === "") return;
    clearTimeout(timer);
    asking = true;
    run.disabled = true;
    answer.setAttribute("aria-busy", "true");
    answer.replaceChildren(el("div", { class: "card waiting" }, el("span", { class: "spinner" }), "Asking…"));
    try {
      const told = await post("/api/query", { ...question(), intervals: true });
      if (told.aggregates) answer.replaceChildren(el("div", { class: "card quote" }, ...priced(told, budget.dataset.neighbours)));
      else {
        answer.replaceChildren(resultCard(told));
        announce(`${told.rows.length} rows, cost ${price(told.cost)}`);
      }
    } catch (error) {
      answer.replaceChildren(el("div", { class: "card" },
        el("h2", {}, error.kind === "refused" ? "Refused" : "No answer"), problem(error)));
    } finally {
      asking = null;
      run.disabled = false;
      answer.removeAttribute("aria-busy");
    }
    try {
      gauges.replaceChildren(budgetCard(await get("/api/budget"), who));
    } catch { /* the next answer shows it */ }
    explain();
  }
}

/** An explanation: the price, what it means, how wrong the answer will be. */
function priced(told, neighbours) {
  const columns = told.aggregates.flatMap((aggregate) => aggregate.columns);
  const bought = told.aggregates.length > 0 && told.aggregates.every((a) => a.bought_before);
  const public_only = told.aggregates.length === 0;
  const epsilon = Number(/^ε ([0-9.e-]+):/.exec(told.notes[0] ?? "")?.[1]);
  const free = bought ? "Free: this was bought before, and its noise is the same"
    : public_only ? "Free: public tables only" : null;
  const figures = el("div", { class: "figures" },
    figure("Price", free ? "nothing" : price(told.cost), told.affordable ? "" : "bad"),
    columns.length > 0 ? figure("Expected error, 95 %", errors(columns)) : null,
    figure("You have left", main(told.left)));
  const meaning = free ? el("p", { class: "muted" }, `${free}.`)
    : Number.isFinite(epsilon) ? odds(epsilon, told.cost.delta, neighbours) : null;
  const warnings = told.notes.filter((note) => !/^ε [0-9.e-]+:/.test(note));
  return [figures, meaning,
    ...warnings.map((note) => el("p", { class: note.includes("would be refused") ? "note bad" : "note" }, note)),
    public_only ? null : details(told)].filter(Boolean);
}

function figure(name, value, state = "") {
  return el("div", { class: `figure ${state}` }, el("span", {}, name), el("strong", {}, value));
}

function errors(columns) {
  const different = [...new Set(columns.map((column) => column.error_95))];
  if (different.length === 1) return tidy(different[0]);
  return columns.map((column) => el("div", {}, tidy(column.error_95), " ", el("em", {}, column.name)));
}

/** ε in plain words: what an attacker's odds can become. */
function odds(epsilon, delta, neighbours) {
  const percent = sure(epsilon);
  const secret = neighbours === "replace" ? "a given person's data are this or that" : "a given person is in the data";
  const unless = delta > 0 ? `, but for a chance of ${delta.toExponential(0)}` : "";
  const bar = el("span", { class: "odds", "aria-hidden": "true" },
    el("span", { class: "even" }), el("span", { class: "gain", style: { width: `${percent - 50}%` } }));
  return el("div", { class: "meaning" }, bar,
    el("p", {}, `In plain words: someone who would bet 50:50 on whether ${secret} `
      + `can become at most ${percent} % sure from this answer${unless}.`));
}

function details(told) {
  const rows = told.aggregates.flatMap((aggregate) => aggregate.columns.map((column) =>
    [column.name, column.mechanism, column.sensitivity, short(column.scale), tidy(column.error_95)]));
  return el("details", {}, el("summary", {}, "How it is made private"),
    el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ["column", "mechanism", "sensitivity", "scale", "error"].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell))))))),
    ...told.aggregates.map((aggregate) => el("p", { class: "muted" },
      `${aggregate.groups}; ${aggregate.contributions}${aggregate.joins ? `; joins: ${aggregate.joins}` : ""}${aggregate.work ? `; work: ${aggregate.work}` : ""}. Charged as `, el("code", {}, aggregate.event))));
}
