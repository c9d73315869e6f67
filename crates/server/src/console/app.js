// The door, the tabs and the theme. Each view is a function that fills the section it is given.

import { get, onDoor, post, remove } from "./api.js";
import { announce, el, problem } from "./dom.js";
import { askView } from "./ask.js";
import { journalView } from "./journal.js";
import { analystsView, auditView, grantsView, policyView } from "./steward.js";

const VIEWS = {
  ask: { title: "Ask", show: askView },
  ledger: { title: "Ledger", show: journalView },
  policy: { title: "Policy", show: policyView, steward: true },
  analysts: { title: "Analysts", show: analystsView, steward: true },
  grants: { title: "Grants", show: grantsView, steward: true },
  audit: { title: "Audit", show: auditView, steward: true },
};

const at = (id) => document.getElementById(id);
let who = null;

function allowed() {
  return Object.entries(VIEWS).filter(([, view]) => !view.steward || who.role === "steward");
}

async function show() {
  if (!who) return;
  const named = location.hash.slice(1);
  const [name, view] = allowed().find(([key]) => key === named) ?? allowed()[0];
  at("tabs").replaceChildren(...allowed().map(([key, each]) =>
    el("a", { href: `#${key}`, "aria-current": key === name ? "page" : null }, each.title)));
  document.title = `${view.title} · ${who.dataset} · Demure`;
  const section = el("section", { id: "view", class: `view ${name}` });
  at("view").replaceWith(section);
  try {
    await view.show(section, who);
  } catch (error) {
    section.replaceChildren(problem(error));
  }
}

function enter(caller) {
  who = caller;
  at("door").hidden = true;
  at("top").hidden = false;
  at("dataset").textContent = who.dataset;
  at("who").textContent = who.user;
  at("who").title = who.role;
  show();
}

function outside() {
  who = null;
  at("top").hidden = true;
  at("view").replaceChildren();
  at("view").hidden = true;
  at("door").hidden = false;
  at("sign-in").elements.user.focus();
}

at("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const told = at("door-problem");
  const button = form.querySelector("button");
  told.hidden = true;
  button.disabled = true;
  try {
    const caller = await post("/api/session", {
      user: form.elements.user.value, password: form.elements.password.value,
    });
    form.reset();
    enter(caller);
    announce(`Signed in as ${caller.user}`);
    at("main").focus();
  } catch (error) {
    told.textContent = error.message;
    told.hidden = false;
    form.elements.password.select();
  } finally {
    button.disabled = false;
  }
});

at("leave").addEventListener("click", async () => {
  try { await remove("/api/session"); } catch { /* gone either way */ }
  // Nothing of the one who leaves is kept for the next.
  location.reload();
});

function theme(wanted) {
  if (wanted) document.documentElement.dataset.theme = wanted;
}

at("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme
    ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  localStorage.setItem("theme", next);
  theme(next);
  announce(`${next} theme`);
});

theme(localStorage.getItem("theme"));
onDoor(outside);
addEventListener("hashchange", show);
get("/api/session").then(enter, outside);
