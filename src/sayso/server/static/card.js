// One request as a card: what would happen, then the choices. Nothing answers in its first half second, nor by Enter alone.
import { get, post } from "./api.js";
import { ago, el, replace, span } from "./dom.js";
import { argumentForm } from "./form.js";
import { questionForm } from "./questions.js";

const GRACE = 500; // milliseconds after it was shown in which no choice counts

export function card(request, { canAnswer, onClosed }) {
  const node = el("article", { class: "card", id: "request-" + request.id, "aria-labelledby": "title-" + request.id });
  const age = el("span", { class: "age" }, ago(request.created_at));
  const expiry = el("span", { class: "age" });
  const error = el("p", { class: "error", role: "alert" });
  const extra = el("div");
  const actions = el("div", { class: "actions" });
  const title = { confirm: "wants your say-so", ask: "asks you", external: "waits for its result" }[request.kind];
  let shown = Infinity;
  let busy = false;
  let form = null;
  let asked = null;

  const armed = () => performance.now() - shown >= GRACE;
  const guarded = (act) => () => armed() && !busy && act();

  async function answer(fields) {
    busy = true;
    error.textContent = "";
    try {
      await post("/requests/" + encodeURIComponent(request.id) + "/answer", { digest: request.digest, ...fields });
      const how = { approve: "approved", reject: "refused", answer: "answered", dismiss: "dismissed" }[fields.decision];
      self.close({ how, by: "you", via: "this page" });
    } catch (problem) {
      if (problem.status === 409 && problem.body.how) self.close(problem.body);
      else error.textContent = problem.message;
    } finally {
      busy = false;
    }
  }

  function button(text, act, attributes = {}) {
    return el("button", { type: "button", "aria-disabled": "true", ...attributes, onclick: guarded(act) }, text);
  }

  async function edit() {
    if (form) return;
    const whole = await get("/requests/" + encodeURIComponent(request.id)).catch(() => request);
    form = argumentForm(request.input, whole.response_schema?.properties?.edited_input);
    const send = () => {
      const got = form.read();
      if (got.error) error.textContent = got.error;
      else answer(got.changed ? { decision: "approve", edited_input: got.text } : { decision: "approve" });
    };
    replace(extra, form.node, el("div", { class: "actions" },
      button("Allow with these arguments", send, { class: "yes" }),
      button("Reset", () => form.reset()),
      button("Back", back)));
    opened();
  }

  function refuse() {
    const reason = el("textarea", { rows: "2", spellcheck: "true" });
    const label = el("label", { class: "field" }, el("span", {}, "Why not? The agent reads it."), reason);
    replace(extra, label, el("div", { class: "actions" },
      button("Refuse", () => answer({ decision: "reject", reason: reason.value.trim() || null })),
      button("Back", back)));
    opened();
    reason.focus();
  }

  function rules() {
    const offers = request.suggested_rules.map((offer) =>
      el("li", {}, button(offer.matches, () => answer({ decision: "approve", rule_ids: [offer.id] }))));
    replace(extra, el("fieldset", {}, el("legend", {}, "Allow this, and from now on without asking"),
      el("ul", { class: "rules" }, ...offers)), button("Back", back));
    opened();
  }

  function result() {
    const text = el("textarea", { rows: "4" });
    const label = el("label", { class: "field" }, el("span", {}, "What came of it?"), text);
    replace(extra, label, el("div", { class: "actions" },
      button("Send the result", () => answer({ decision: "answer", output: text.value }), { class: "yes" }),
      button("It failed", () => answer({ decision: "answer", output: text.value || "It failed.", failed: true })),
      button("Back", back)));
    opened();
  }

  // While one way of answering is open the others are put away: two buttons that allow are one too many.
  function opened() {
    actions.hidden = true;
    arm();
  }

  function back() {
    form = null;
    actions.hidden = false;
    replace(extra, asked?.node);
  }

  function arm() {
    setTimeout(() => node.querySelectorAll("button").forEach((b) => armed() && b.removeAttribute("aria-disabled")),
      Math.max(0, GRACE - (performance.now() - shown)) + 10);
  }

  function choices() {
    if (!canAnswer) return replace(actions, el("span", { class: "age" }, "You may look, not answer."));
    const list = [];
    if (request.kind === "confirm") {
      list.push(button(request.in_doubt ? "Run it again" : "Allow once", () => answer({ decision: "approve" }), { class: "yes" }));
      if (request.suggested_rules.length) list.push(button("Allow with a rule…", rules));
      list.push(button("Edit…", edit), button("Refuse…", refuse));
    } else if (request.kind === "external") {
      list.push(button("Give its result…", result), button("Refuse…", refuse));
    } else {
      asked = questionForm(JSON.parse(request.input).questions, request.id);
      extra.append(asked.node);
      list.push(button("Send the answers", () => {
        const got = asked.read();
        if (got.error) error.textContent = got.error;
        else answer({ decision: "answer", answers: got.answers });
      }, { class: "yes" }), button("Decline…", refuse));
    }
    list.push(button("Dismiss", () => answer({ decision: "dismiss" })));
    replace(actions, ...list);
  }

  function tick() {
    age.textContent = ago(request.created_at);
    if (request.expires_at) {
      const left = (Date.parse(request.expires_at) - Date.now()) / 1000;
      expiry.textContent = left > 0 ? "expires in " + span(left) : "expired";
    }
  }

  const self = {
    node, request, tick, refuse: guarded(refuse), edit: guarded(edit), closed: false,
    allow: guarded(() => request.kind === "confirm" && canAnswer && answer({ decision: "approve" })),
    // It was put where a person can see it.
    show() {
      shown = performance.now();
      arm();
    },
    close({ how, by, via }) {
      if (self.closed) return;
      self.closed = true;
      const mood = { approved: "good", answered: "good", refused: "bad" }[how] ?? "none";
      const words = how === "expired" ? "Nobody answered in time." : how + (by ? " by " + by : "") + (via ? " via " + via : "");
      node.classList.add("closed");
      replace(extra);
      actions.hidden = false;
      replace(actions, el("p", { class: "outcome " + mood, role: "status" }, words));
      onClosed?.(self);
    },
  };
  node.append(
    el("header", {}, el("h2", { id: "title-" + request.id }, request.tool + " " + title), age, expiry),
    el("p", { class: "meta" }, el("a", { href: "#/session/" + encodeURIComponent(request.session_id) }, "conversation"),
      " of " + request.path.join(" › ") + (request.preview?.cwd ? " in " + request.preview.cwd : ""), " · ",
      el("a", { href: "#/request/" + encodeURIComponent(request.id) }, "link")),
    request.in_doubt ? el("p", { class: "careful" }, "It was started before, and the process that ran it is gone: it may have happened already.") : "",
    request.why ? el("p", { class: "why" }, request.why) : "",
    request.kind === "ask" ? "" : preview(request), extra, actions, error);
  choices();
  tick();
  return self;
}

function preview(request) {
  const shown = request.preview;
  if (shown?.kind === "diff") {
    const pre = el("pre", { class: "diff", tabindex: "0", "aria-label": "the change" });
    for (const line of shown.text.replace(/\n$/, "").split("\n")) {
      const head = /^(---|\+\+\+|@@)/.test(line);
      pre.append(el("span", { class: head ? "head" : line[0] === "+" ? "plus" : line[0] === "-" ? "minus" : "" }, line));
    }
    return pre;
  }
  if (shown?.kind === "command") return el("pre", { class: "command wrap", tabindex: "0", "aria-label": "the command" }, shown.text);
  let text = shown?.text ?? request.input;
  try {
    if (!shown) text = JSON.stringify(JSON.parse(request.input), null, 2);
  } catch { /* shown as it came */ }
  return el("pre", { class: "wrap", tabindex: "0", "aria-label": "the arguments" }, text);
}
