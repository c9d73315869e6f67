// Bars with their 95 % intervals, in SVG. Colours come from the style sheet.

import { svg } from "./dom.js";
import { short } from "./words.js";

const MOST = 60;
const ROW = 28;
const LETTER = 7.2;

/** `bars`: label, value, low, high. `width` is the room there is, in pixels. */
export function chart({ title, bars, width }) {
  const WIDTH = Math.min(820, Math.max(280, width));
  const shown = bars.slice(0, MOST);
  const ends = shown.flatMap((bar) => [bar.value, bar.low ?? bar.value, bar.high ?? bar.value, 0]);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const letters = Math.max(...shown.map((bar) => bar.label.length));
  const left = Math.min(200, WIDTH * 0.4, 14 + letters * LETTER);
  const room = Math.floor((left - 12) / LETTER);
  const right = WIDTH - 18;
  const x = (value) => left + ((value - least) / (most - least || 1)) * (right - left);
  const height = shown.length * ROW + 30;
  const root = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${height}`, role: "img", width: "100%",
    "aria-label": `${title}: bars for ${shown.length} groups with their 95 % intervals. The table has the numbers.`,
  });
  for (const tick of ticks(least, most, WIDTH > 500 ? 6 : 4)) {
    root.append(
      svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 4, y2: height - 24 }),
      svg("text", { class: "tick", x: x(tick), y: height - 8, "text-anchor": "middle" }, short(tick)));
  }
  shown.forEach((bar, i) => {
    const y = i * ROW + 4;
    const middle = y + ROW / 2;
    const [from, to] = [Math.min(x(0), x(bar.value)), Math.max(x(0), x(bar.value))];
    const label = bar.label.length > room ? `${bar.label.slice(0, room - 1)}…` : bar.label;
    const group = svg("g", {},
      svg("title", {}, `${bar.label}: ${short(bar.value)} (${short(bar.low)} to ${short(bar.high)})`),
      svg("rect", { class: "hit", x: 0, y, width: WIDTH, height: ROW }),
      svg("text", { class: "label", x: left - 10, y: middle + 4.5, "text-anchor": "end" }, label),
      svg("rect", { class: "bar", x: from, y: y + 6, width: Math.max(1, to - from), height: ROW - 12, rx: 3 }));
    if (typeof bar.low === "number" && typeof bar.high === "number") {
      const [low, high] = [x(bar.low), x(bar.high)];
      group.append(svg("path", {
        class: "whisker",
        d: `M${low} ${middle}H${high}M${low} ${middle - 5}V${middle + 5}M${high} ${middle - 5}V${middle + 5}`,
      }));
    }
    root.append(group);
  });
  root.append(svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 4, y2: height - 24 }));
  return root;
}

/** At most `count` steps of round numbers from `least` to `most`. */
function ticks(least, most, count) {
  const span = most - least || 1;
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => span / k <= count);
  const found = [];
  for (let k = Math.ceil(least / step); k * step <= most + step * 1e-9; k += 1) found.push(k * step);
  return found;
}
