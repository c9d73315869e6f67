// Numbers and prices as people read them.

/** With as many digits as a person needs, thousands apart. */
export function short(x, digits = 4) {
  if (typeof x !== "number") return String(x);
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e15 || size < 1e-4) return x.toExponential(1);
  const places = Math.min(12, Math.max(0, digits - 1 - Math.floor(Math.log10(size))));
  return x.toLocaleString("en", { maximumFractionDigits: places, useGrouping: size >= 10000 ? "always" : false });
}

/** A value rounded to what its error leaves of it. */
export function rounded(value, half) {
  if (typeof value !== "number" || !(half > 0)) return short(value, 6);
  const places = Number.isInteger(value) ? 0 : Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(half))));
  return value.toLocaleString("en", {
    minimumFractionDigits: places, maximumFractionDigits: places,
    useGrouping: Math.abs(value) >= 10000 ? "always" : false,
  });
}

/** `ε 0.5`, `ρ 0.01, δ 1e-6`. */
export function price(cost) {
  const [symbol, main] = "rho" in cost ? ["ρ", cost.rho] : ["ε", cost.epsilon];
  const none = main < 1e-12;
  if (none && !cost.delta) return "nothing";
  const delta = cost.delta ? `, δ ${cost.delta.toExponential(1)}` : "";
  return `${symbol} ${none ? "0" : short(main)}${delta}`;
}

/** Without its δ, which is rarely what runs out. */
export const main = (cost) => price({ ...cost, delta: 0 });

/** The main amount of a price. */
export const amount = (cost) => ("rho" in cost ? cost.rho : cost.epsilon);

/** Its symbol. */
export const symbol = (cost) => ("rho" in cost ? "ρ" : "ε");

/** How sure someone who knew nothing can become, in percent, rounded up. */
export function sure(epsilon) {
  const percent = 100 / (1 + Math.exp(-epsilon));
  return percent > 99 ? Math.ceil(percent * 100) / 100 : Math.ceil(percent * 10 - 1e-9) / 10;
}

/** A text with its long numbers shortened. */
export const tidy = (text) => text.replace(/\d+\.\d+/g, (digits) => short(Number(digits), 3));

/** A moment in the reader's own time. */
export function moment(text) {
  const time = new Date(text);
  return time.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
