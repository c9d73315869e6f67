// What stewards see and do.

import { get, post } from "./api.js";
import { gauge } from "./budget.js";
import { announce, el, problem, table, values } from "./dom.js";
import { main, moment, short } from "./words.js";

/** A form that posts its fields with `action`, then calls `after`. */
function form(path, action, label, fields, after) {
  const told = el("div", {});
  const button = el("button", { type: "submit" }, label);
  return el("form", {
    class: "row-form",
    async onsubmit(event) {
      event.preventDefault();
      button.disabled = true;
      try {
        const done = await post(path, { ...(action ? { action } : {}), ...values(event.target) });
        event.target.reset();
        told.replaceChildren();
        announce("Done");
        await after(done);
      } catch (error) {
        told.replaceChildren(problem(error));
      } finally {
        button.disabled = false;
      }
    },
  }, ...fields, button, told);
}

const field = (label, name, more) => el("label", {}, label, el("input", { name, required: true, ...more }));
const number = (label, name, more) => field(label, name, { type: "number", min: "0", step: "any", inputmode: "decimal", ...more });

/** A button that posts, then calls `after`; trouble is told beside it. */
function act(label, path, body, after, question) {
  return el("button", {
    class: "small", type: "button",
    async onclick(event) {
      const button = event.target;
      if (question && !button.dataset.sure) {
        button.dataset.sure = "1";
        button.textContent = question;
        setTimeout(() => { delete button.dataset.sure; button.textContent = label; }, 4000);
        return;
      }
      try {
        await post(path, body);
        announce(`${label}: done`);
        await after();
      } catch (error) {
        button.replaceWith(problem(error));
      }
    },
  }, label);
}

export async function policyView(section) {
  const policy = await get("/api/policy");
  section.append(el("div", { class: "card" },
    el("h1", {}, "Policy"),
    el("p", { class: "muted" }, "What may be asked, as the file says it. It is changed in the file, and read when the server starts."),
    ...policy.warnings.map((warning) => el("p", { class: "note" }, warning)),
    el("pre", { tabindex: "0", "aria-label": "The policy's text" }, policy.text)));
}

export async function analystsView(section, who) {
  const place = el("div", {});
  const secret = el("div", { "aria-live": "polite" });
  const names = el("datalist", { id: "names" });
  section.append(
    el("div", { class: "card" }, el("h1", {}, "Analysts"), place, secret),
    el("div", { class: "card" }, el("h2", {}, "Add an account"),
      form("/api/users", "add", "Add", [
        field("Name", "name", { autocomplete: "off", autocapitalize: "none" }),
        el("label", {}, "Role", el("select", { name: "role" }, el("option", { value: "analyst" }, "analyst"), el("option", { value: "steward" }, "steward"))),
        field("Password", "password", { type: "password", minlength: "10", autocomplete: "new-password" }),
      ], load)),
    el("div", { class: "card" }, el("h2", {}, "Change a password"),
      el("p", { class: "muted" }, "Ends all sessions of that account, and unlocks it."),
      form("/api/users", "password", "Change", [
        field("Name", "name", { list: "names", autocomplete: "off" }),
        field("New password", "password", { type: "password", minlength: "10", autocomplete: "new-password" }),
      ], load)),
    el("div", { class: "card" }, el("h2", {}, "Make a token"),
      el("p", { class: "muted" }, "For programs, as Authorization: Bearer … It is shown once."),
      form("/api/users", "token", "Make", [
        field("Name", "name", { list: "names", autocomplete: "off" }),
        field("For", "label", { maxlength: "80", placeholder: "notebook" }),
        number("Days", "days", { step: "1", min: "1", max: "3650", placeholder: "30" }),
      ], async (done) => { secret.replaceChildren(el("p", { class: "note" }, "The token, now and never again: ", el("code", {}, done.token))); await load(); })),
    names);
  await load();

  async function load() {
    const { users } = await get("/api/users");
    names.replaceChildren(...users.map((user) => el("option", { value: user.name })));
    place.replaceChildren(table("Accounts", ["name", "role", "since", "state", { text: "tokens", number: true }, ""],
      users.map((user) => {
        const body = { action: user.disabled ? "enable" : "disable", name: user.name };
        const state = user.disabled ? "disabled" : user.locked ? "locked" : "enabled";
        return [user.name, user.role, moment(user.created), el("span", { class: `badge ${state}` }, state), String(user.tokens),
          el("span", { class: "actions" },
            user.name === who.user ? null : act(user.disabled ? "Enable" : "Disable", "/api/users", body, load, user.disabled ? null : "Really disable?"),
            user.tokens > 0 ? act("Revoke tokens", "/api/users", { action: "revoke-tokens", name: user.name }, load, "Really revoke?") : null)];
      })));
  }
}

export async function grantsView(section) {
  const left = el("div", { class: "stack" });
  section.append(el("h1", { class: "hidden-text" }, "Grants"), left,
    el("div", { class: "stack" },
      el("div", { class: "card" }, el("h2", {}, "Set a personal limit"),
        el("p", { class: "muted" }, "The most that an analyst, or a @group together, may ever be shown."),
        form("/api/grants", "grant", "Grant", [field("Analyst or @group", "subject"), number("ε", "epsilon"), number("δ", "delta", { required: false, placeholder: "0" })], load)),
      el("div", { class: "card" }, el("h2", {}, "Groups"),
        form("/api/grants", "join", "Join", [field("Analyst", "analyst"), field("Group", "group", { placeholder: "@oncology" })], load),
        form("/api/grants", "leave", "Leave", [field("Analyst", "analyst"), field("Group", "group", { placeholder: "@oncology" })], load)),
      el("div", { class: "card" }, el("h2", {}, "Period"),
        el("p", { class: "muted" }, "The most that all analysts together may spend from now until the next period."),
        form("/api/period", "open", "Open", [number("ε", "epsilon"), number("δ", "delta", { required: false, placeholder: "0" })], load))));
  await load();

  async function load() {
    const budget = await get("/api/budget");
    const { dataset, period: open, frozen } = budget;
    const limits = budget.limits.map((limit) => el("div", { class: "limit" },
      gauge(limit.subject, limit.spent, limit.left, `ε ${short(limit.epsilon)}${limit.delta ? `, δ ${limit.delta.toExponential(1)}` : ""} granted`),
      el("span", { class: "actions" },
        act("Stop", "/api/grants", { action: "deny", subject: limit.subject }, load, "Really stop?"),
        act("Remove limit", "/api/grants", { action: "revoke", subject: limit.subject }, load, "Only the whole budget limits them then. Sure?"))));
    const groups = budget.groups.map((group) => el("p", {}, el("strong", {}, group.name), ` ${group.members.join(", ")}`));
    left.replaceChildren(
      el("div", { class: "card" }, el("h2", {}, "The whole"),
        gauge("Everyone's", dataset.spent, dataset.left, `ε ${short(dataset.epsilon)}, ${dataset.accounting} accounting`),
        open ? gauge("Period", open.spent, open.left, "since it was opened") : el("p", { class: "muted" }, "No period is open."),
        el("p", { class: "actions" }, open ? act("Close the period", "/api/period", { action: "close" }, load) : null,
          open ? act("Remove the period", "/api/period", { action: "remove" }, load) : null),
        frozen ? el("p", { class: "note bad" }, `Frozen by ${frozen.by}${frozen.why ? `: ${frozen.why}` : ""}`) : null,
        frozen ? act("Unfreeze", "/api/unfreeze", {}, load)
          : form("/api/freeze", null, "Freeze all spending", [field("Why", "why")], load)),
      el("div", { class: "card" }, el("h2", {}, "Personal limits"),
        limits.length > 0 ? limits : el("p", { class: "muted" }, `There are none: all analysts share ${main(dataset.left)}.`)),
      el("div", { class: "card" }, el("h2", {}, "Members"),
        groups.length > 0 ? groups : el("p", { class: "muted" }, "There are no groups.")));
  }
}

export async function auditView(section) {
  const { records } = await get("/api/audit?limit=500");
  section.append(el("div", { class: "card" },
    el("h1", {}, "Audit"),
    el("p", { class: "muted" }, "Sign-ins and changes to accounts, the newest first. What concerns the budget is in the ledger."),
    table("Audit", ["when", "who", "what", "detail"], records.map((record) =>
      [moment(record.time), record.who, record.action, record.detail]))));
}
