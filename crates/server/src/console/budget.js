// What is spent and left, as gauges.

import { el } from "./dom.js";
import { amount, main, price, short, symbol } from "./words.js";

/** A bar of what is spent of a whole. */
export function gauge(name, spent, left, words) {
  const [used, rest] = [amount(spent), amount(left)];
  const part = used + rest > 0 ? Math.min(100, (100 * used) / (used + rest)) : 100;
  const state = part > 90 ? "low" : "";
  return el("div", { class: `gauge ${state}` },
    el("div", { class: "gauge-head" }, el("span", {}, name), el("strong", {}, `${main(left)} left`)),
    el("div", {
      class: "rail", role: "meter", "aria-label": `${name}: spent`, "aria-valuemin": "0", "aria-valuemax": "100",
      "aria-valuenow": part.toFixed(0), "aria-valuetext": `${price(spent)} spent, ${price(left)} left`,
    }, el("span", { style: { width: `${part}%` } })),
    words ? el("p", { class: "muted" }, words) : null);
}

export function budgetCard(budget, who) {
  const { dataset, you, frozen } = budget;
  const converted = dataset.accounting === "zcdp"
    ? `Spent so far amounts to ε ${short(dataset.spent_epsilon)} of ${short(dataset.epsilon)}.`
    : `${symbol(dataset.spent)} ${short(amount(dataset.spent))} of ${short(dataset.epsilon)} spent, by everyone, for ever.`;
  const bound = you.bound_by === "the budget" ? "You have no personal limit."
    : `What binds you is ${you.bound_by.replace(`of ${who.user}`, "granted to you")}.`;
  return el("div", { class: "card budget" },
    el("h2", {}, "Budget"),
    frozen ? el("p", { class: "note bad" }, `Frozen by ${frozen.by}${frozen.why ? `: ${frozen.why}` : ""}`) : null,
    gauge("Yours", you.spent, you.left, bound),
    gauge("Everyone's", dataset.spent, dataset.left, converted));
}
