// The ledger, page by page, the newest first.

import { get } from "./api.js";
import { again } from "./ask.js";
import { announce, el, problem, table } from "./dom.js";
import { moment, price } from "./words.js";

const PAGE = 25;
const OUTCOMES = { answered: "answered", cancelled: "taken back", open: "no answer" };
const KINDS = {
  limit: "budget set", reserve: "debit", cancel: "taken back", settle: "answered", grant: "personal limit",
  member: "group", window: "period", freeze: "frozen", thaw: "unfrozen", identity: "ledger", unit: "unit",
  receive: "received",
};

export async function journalView(section, who) {
  const place = el("div", {});
  const newer = el("button", { type: "button", onclick: () => { pages.pop(); load(); } }, "Newer");
  const older = el("button", { type: "button", onclick: () => { pages.push(next); load(); } }, "Older");
  const pages = [null];
  let next = null;
  section.append(el("div", { class: "card" },
    el("h1", {}, "Ledger"),
    el("p", { class: "muted" }, who.role === "steward"
      ? "Every debit and every rule, chained by hashes. What is spent stays spent."
      : "What you asked and what it cost. What is spent stays spent."),
    place,
    el("div", { class: "pages" }, newer, older)));
  await load();

  async function load() {
    const before = pages.at(-1);
    try {
      const page = await get(`/api/ledger?limit=${PAGE}${before === null ? "" : `&before=${before}`}`);
      next = page.next;
      place.replaceChildren(page.entries.length === 0 ? el("p", { class: "muted" }, "Nothing yet.")
        : table("Ledger", [{ text: "#", number: true }, "when", "who", "what", "question or rule", { text: "cost", number: true }],
          page.entries.map(line)));
      newer.disabled = pages.length === 1;
      older.disabled = next === null;
      announce(`Ledger, page ${pages.length}`);
    } catch (error) {
      place.replaceChildren(problem(error));
    }
  }
}

function line(entry) {
  const costs = ["reserve", "cancel", "receive"].includes(entry.kind);
  return [String(entry.seq), el("span", { class: "when" }, moment(entry.time)), entry.who,
    [el("span", { class: `badge ${entry.kind}` }, KINDS[entry.kind] ?? entry.kind),
      entry.outcome ? el("span", { class: `outcome ${entry.outcome}` }, OUTCOMES[entry.outcome] ?? entry.outcome) : null],
    entry.asked ? question(entry) : el("code", { class: "clip", title: [entry.query, entry.event].filter(Boolean).join("\n") }, about(entry)),
    costs ? `${entry.kind === "cancel" ? "−" : ""}${price(entry.cost)}` : ""];
}

/** What a line without a question is about. */
function about(entry) {
  return { settle: `answer to #${entry.refers}`, cancel: `of #${entry.refers}` }[entry.kind]
    ?? [entry.key, (entry.query || entry.event).split("\n")[0]].filter(Boolean).join(" ");
}

/** The question as it was written, and a button that puts it into the editor again. */
function question({ seq, asked, query, event }) {
  const { sql, values, settings, complete } = asked;
  const beside = [...values.map((value, i) => `$${i + 1} = ${value}`), ...Object.entries(settings).map((pair) => pair.join(" = "))];
  const details = [beside.join(", "), complete ? "" : "The question was longer: this is its beginning.", query, event];
  const lines = sql.split("\n");
  const first = lines.length > 1 ? `${lines[0]} …` : sql;
  return el("div", { class: "asked" },
    el("details", {},
      el("summary", {}, el("code", { class: "clip" }, first)),
      el("pre", {}, sql),
      ...details.filter(Boolean).map((text) => el("p", { class: "muted" }, text))),
    complete && values.length === 0
      ? el("button", { type: "button", "aria-label": `Ask question ${seq} again`, onclick: () => { again(asked); location.hash = "#ask"; } }, "Ask again")
      : null);
}
