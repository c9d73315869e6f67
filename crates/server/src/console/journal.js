// The ledger, page by page, the newest first.

import { get } from "./api.js";
import { announce, el, problem, table } from "./dom.js";
import { moment, price } from "./words.js";

const PAGE = 25;
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
  const text = { settle: `answer to #${entry.refers}`, cancel: `of #${entry.refers}` }[entry.kind]
    ?? [entry.key, (entry.query || entry.event).split("\n")[0]].filter(Boolean).join(" ");
  return [String(entry.seq), moment(entry.time), entry.who,
    el("span", { class: `badge ${entry.kind}` }, KINDS[entry.kind] ?? entry.kind),
    el("code", { class: "clip", title: [entry.query, entry.event].filter(Boolean).join("\n") }, text),
    costs ? `${entry.kind === "cancel" ? "−" : ""}${price(entry.cost)}` : ""];
}
