// Asks for the estimates every two seconds and draws them. Whatever comes from the survey is text, never markup.
"use strict";
const EVERY = 2000, MOST = 100;
const at = (id) => document.getElementById(id);
const make = (kind, name, text) => {
  const node = document.createElement(kind);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
};
const short = (x) => (Math.abs(x) < 10 ? x.toFixed(3) : x.toFixed(1));

/* Rows of one attribute: name, estimate, and an interval where there is one. */
function rows(found) {
  if (found.values) return Object.entries(found.values).map(([name, v]) => ({ name, ...v }));
  if (found.bins) return found.bins.map((b) => ({ name: `${short(b.from)} – ${short(b.to)}`, ...b }));
  if (found.mean && typeof found.mean === "object") return [{ name: "mean", ...found.mean }];
  return [];
}

function chart(name, found) {
  const part = make("section");
  if (name) part.append(make("h2", "", name));
  let all = rows(found);
  const cut = all.length > MOST;
  if (cut) all = all.sort((a, b) => b.estimate - a.estimate).slice(0, MOST);
  const ends = all.flatMap((r) => [r.estimate, r.upper ?? r.estimate]);
  const highest = Math.max(1e-9, ...ends), lowest = Math.min(0, ...all.map((r) => r.lower ?? 0));
  const to = found.values && highest > 0.5 ? 1 : highest;
  const place = (x) => `${100 * Math.min(1, Math.max(0, (x - lowest) / (to - lowest)))}%`;
  for (const r of all) {
    const row = make("div", "row"), track = make("div", "track"), bar = make("div", "bar");
    bar.style.width = place(r.estimate);
    track.append(bar);
    const number = make("div", "number", short(r.estimate) + " ");
    if (r.lower !== undefined) {
      const span = make("div", "span"), dot = make("div", "at");
      span.style.left = place(r.lower);
      span.style.width = `calc(${place(r.upper)} - ${place(r.lower)})`;
      dot.style.left = place(r.estimate);
      track.append(span, dot);
      number.append(make("span", "", `${short(r.lower)} – ${short(r.upper)}`));
    }
    row.append(make("div", "name", r.name), track, number);
    part.append(row);
  }
  if (cut) part.append(make("p", "note", `the ${MOST} largest`));
  if (all.length === 0) part.append(make("p", "note", "nothing frequent enough yet"));
  return part;
}

function draw(found) {
  document.title = found.question;
  at("question").textContent = found.question;
  const dropped = Object.values(found.rejected).reduce((a, b) => a + b, 0);
  at("counts").className = "";
  at("counts").textContent =
    `${found.reports.toLocaleString("en")} reports, ε ${found.epsilon.toPrecision(4)} each` +
    (dropped ? `, ${dropped.toLocaleString("en")} not counted` : "") +
    (found.confidence ? `, intervals at ${Math.round(1000 * found.confidence) / 10} %` : "");
  if (found.reports === 0) return at("estimates").replaceChildren();
  const parts = found.attributes ? Object.entries(found.attributes) : [["", found]];
  at("estimates").replaceChildren(...parts.map(([name, one]) => chart(name, one)));
}

async function look() {
  try {
    const answer = await fetch("estimates", { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.status);
    draw(await answer.json());
  } catch {
    at("counts").className = "lost";
    at("counts").textContent = "the collector does not answer; trying again";
  }
  setTimeout(look, EVERY);
}
look();
