// Conversations, the history with its filters and export, the overview, and one request by its link.
import { get, post } from "./api.js";
import { card } from "./card.js";
import { ago, el, replace } from "./dom.js";
import { brief } from "./session.js";

export function sessions(main, me) {
  const list = el("ul", { class: "list" });
  const error = el("p", { class: "error", role: "alert" });
  const text = el("textarea", { rows: "2", id: "first" });
  const agent = el("select", { id: "agent" }, ...me.agents.map((a) => el("option", { value: a }, a)));
  const begin = async () => {
    if (!text.value.trim()) return;
    try {
      const { session_id } = await post("/sessions", { message: text.value.trim(), agent: agent.value });
      location.hash = "#/session/" + encodeURIComponent(session_id);
    } catch (problem) { error.textContent = problem.message; }
  };
  const form = el("form", { onsubmit: (e) => { e.preventDefault(); begin(); } },
    el("label", { class: "field" }, el("span", {}, "Begin a conversation"), text),
    el("div", { class: "actions" }, me.agents.length > 1 ? el("label", {}, "with ", agent) : null, el("button", { class: "yes", type: "submit" }, "Begin")), error);
  replace(main, el("h1", {}, "Conversations"), me.role === "viewer" ? null : form, list);
  async function refresh() {
    const found = await get("/sessions?limit=100");
    const words = { parked: "waits for a person", working: "at work", idle: "" };
    replace(list, ...found.sessions.map((s) => el("li", {}, el("a", { href: "#/session/" + encodeURIComponent(s.session_id) }, s.title || s.session_id),
      el("div", { class: "meta" }, [s.agent, words[s.state], ago(s.updated_at)].filter(Boolean).join(" · ")))));
    if (!found.sessions.length) replace(list, el("li", {}, "There are none yet."));
  }
  return { refresh, end() {}, keys: { send: begin } };
}

export function history(main) {
  const filters = {
    how: el("select", {}, ...["", "approved", "refused", "answered", "dismissed", "expired", "withdrawn"].map((h) => el("option", { value: h }, h || "any"))),
    by: el("input", { type: "text" }),
    tool: el("input", { type: "text" }),
  };
  const body = el("tbody");
  let decided = [];
  const exported = () => {
    const blob = new Blob([decided.map((d) => JSON.stringify(d)).join("\n") + "\n"], { type: "application/x-ndjson" });
    const a = el("a", { href: URL.createObjectURL(blob), download: "history.jsonl" });
    a.click();
    URL.revokeObjectURL(a.href);
  };
  async function refresh() {
    const query = Object.entries(filters).filter(([, c]) => c.value).map(([k, c]) => k + "=" + encodeURIComponent(c.value)).join("&");
    ({ decided } = await get("/history?limit=200&" + query));
    replace(body, ...decided.map((d) => el("tr", {}, el("td", {}, ago(d.at)), el("td", {}, d.request.tool),
      el("td", {}, el("a", { href: "#/session/" + encodeURIComponent(d.request.session_id) }, brief(d.request.input) || "conversation")), el("td", {}, d.how), el("td", {}, d.by || "nobody"), el("td", {}, d.via))));
  }
  Object.values(filters).forEach((c) => c.addEventListener("change", refresh));
  replace(main, el("h1", {}, "History"),
    el("div", { class: "filters" }, ...Object.entries(filters).map(([name, c]) => el("label", {}, { how: "Outcome", by: "Person", tool: "Tool" }[name], c)), el("button", { type: "button", onclick: exported }, "Export")),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "decisions" }, el("table", {}, el("thead", {}, el("tr", {}, ...["when", "tool", "what", "outcome", "by", "via"].map((h) => el("th", { scope: "col" }, h)))), body)));
  return { refresh, end() {}, keys: {} };
}

export function overview(main) {
  const place = el("div");
  replace(main, el("h1", {}, "Overview"), place);
  async function refresh() {
    const response = await fetch("/overview", { credentials: "same-origin" });
    // Made by the server, every text in it escaped; parsed apart so that no script in it could run.
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    replace(place, ...page.body.childNodes);
  }
  return { refresh, end() {}, keys: {} };
}

export function oneRequest(main, me, id) {
  const place = el("div");
  replace(main, el("h1", {}, "Request"), place);
  let c = null;
  async function refresh() {
    if (c && !c.closed) {
      try { await get("/requests/" + encodeURIComponent(id)); } catch (problem) { if (problem.body?.how) c.close(problem.body); }
      return;
    }
    if (c) return;
    try {
      c = card(await get("/requests/" + encodeURIComponent(id)), { canAnswer: me.role !== "viewer" });
      replace(place, c.node);
      c.show();
    } catch (problem) { replace(place, el("p", { class: "empty" }, problem.message)); }
  }
  return { refresh, end() {}, keys: { r: () => c?.refuse(), e: () => c?.edit(), send: () => c?.allow() } };
}
