// One conversation: read from the server, then followed live; what waits in it is answered here too.
import { get, post, stream } from "./api.js";
import { card } from "./card.js";
import { ago, el, replace } from "./dom.js";
import { markdown } from "./markdown.js";

const LINES = 20; // of a result, before "show all"

export function session(main, me, id, onState) {
  const path = "/sessions/" + encodeURIComponent(id);
  const talk = el("div", { class: "talk", "aria-label": "the conversation" });
  const waiting = el("div", { class: "waiting" });
  const decisions = el("div");
  const error = el("p", { class: "error", role: "alert" });
  const text = el("textarea", { rows: "2", id: "message" });
  const send = el("button", { type: "submit", class: "yes" }, "Send");
  const stop = el("button", { type: "button", onclick: () => attempt(post(path + "/interrupt")) }, "Stop");
  const composer = el("form", { class: "composer", onsubmit: (e) => { e.preventDefault(); say(); } },
    el("label", { class: "field", for: "message" }, el("span", {}, "Message")), text, el("div", { class: "actions" }, send, stop), error);
  const cards = new Map();
  let blocks = new Map();
  let end = null;
  replace(main, el("h1", {}, "Conversation"), talk, waiting, me.role === "viewer" ? null : composer,
    el("details", { open: true }, el("summary", {}, "Who decided what"), decisions));

  async function attempt(doing) {
    error.textContent = "";
    try { await doing; return true; } catch (problem) { error.textContent = problem.message; return false; }
  }

  async function say() {
    const message = text.value.trim();
    if (message && (await attempt(post(path + "/messages", { message })))) text.value = "";
  }

  async function load() {
    const state = await get(path);
    blocks = new Map();
    replace(talk, ...state.context.flatMap((m) => m.content.map((b) => shown(m, b)).filter(Boolean)));
    main.querySelector("h1").textContent = state.row?.title || "Conversation";
    await Promise.all([refresh(), history()]);
    return state.row?.length ?? 0;
  }

  function shown(message, block) {
    if (message.role === "user") return block.type === "text" ? el("div", { class: "said user" }, block.text) : null;
    switch (block.type) {
      case "text": return words(block.id, block.text);
      case "thinking": return thoughts(block.id, block.thinking);
      case "tool_call": { const c = call(block.id, block.name, block.input); c.state(block.state); return c.node; }
      case "tool_result": result(block.id, block.name, flat(block.output), block.state, block.created_at, block.finished_at); return null;
      default: return null;
    }
  }

  function words(key, value) {
    const node = el("div", { class: "said" });
    const b = { node, value, draw() { replace(node, markdown(b.value)); } };
    blocks.set(key, b);
    b.draw();
    return node;
  }

  function thoughts(key, value) {
    const inside = el("div", { class: "thoughts" }, value);
    const b = { node: el("details", { class: "call" }, el("summary", {}, "Thinking"), inside), value, draw() { replace(inside, document.createTextNode(b.value)); } };
    blocks.set(key, b);
    return b.node;
  }

  function call(key, name, input) {
    const word = el("span", { class: "state-word" });
    const output = el("div");
    const args = el("pre", { class: "wrap", tabindex: "0" }, pretty(input));
    const telling = el("span", {}, brief(input));
    const node = el("details", { class: "call" }, el("summary", {}, el("strong", {}, name), " ", telling, word), args, output);
    const b = {
      node, input, output, text: "", word,
      state(s) { word.textContent = { pending: "…", asking: "waits for you", allowed: "runs", submitted: "waits outside", finished: word.textContent }[s] ?? s; },
      draw() { replace(args, document.createTextNode(pretty(b.input))); telling.textContent = brief(b.input); },
    };
    blocks.set(key, b);
    return b;
  }

  function result(key, name, value, state, from, to) {
    const c = blocks.get(key) ?? call(key, name ?? "tool", "{}");
    if (!c.node.isConnected && !c.node.parentNode) talk.append(c.node);
    c.text = value;
    const seconds = from && to ? (Date.parse(to) - Date.parse(from)) / 1000 : 0;
    if (state) {
      c.word.textContent = ({ success: "done", error: "failed", denied: "refused", interrupted: "stopped", running: "runs" }[state] ?? state) + (seconds >= 0.1 ? " · " + seconds.toFixed(1) + " s" : "");
      c.word.classList.toggle("failed", state !== "success" && state !== "running");
    }
    drawResult(c);
  }

  function drawResult(c) {
    const lines = c.text.split("\n");
    const pre = el("pre", { class: "wrap", tabindex: "0" }, lines.slice(0, LINES).join("\n"));
    const more = lines.length > LINES ? el("button", { type: "button", onclick: () => { replace(pre, document.createTextNode(c.text)); more.remove(); } }, "Show all " + lines.length + " lines") : null;
    replace(c.output, c.text ? pre : null, more);
  }

  function events({ seq, events: list }) {
    const fresh = new Set();
    let again = false;
    for (const e of list) {
      switch (e.type) {
        case "REPLY_START": case "REPLY_END": again = true; break;
        case "TEXT_BLOCK_START": begin(e.block_id, words); break;
        case "THINKING_BLOCK_START": begin(e.block_id, thoughts); break;
        case "TEXT_BLOCK_DELTA": case "THINKING_BLOCK_DELTA": grow(blocks.get(e.block_id), "value", e.delta); break;
        case "TOOL_CALL_START": { const c = blocks.get(e.tool_call_id); if (c) c.input = ""; else talk.append(call(e.tool_call_id, e.tool_call_name, "").node); break; }
        case "TOOL_CALL_DELTA": grow(blocks.get(e.tool_call_id), "input", e.delta); break;
        case "TOOL_RESULT_START": result(e.tool_call_id, e.tool_call_name, "", "running"); break;
        case "TOOL_RESULT_TEXT_DELTA": {
          const c = blocks.get(e.tool_call_id);
          if (!c) break;
          if (seq !== null && !fresh.has(e.tool_call_id)) c.text = "";
          fresh.add(e.tool_call_id);
          c.text += e.delta;
          drawResult(c);
          break;
        }
        case "TOOL_RESULT_END": { const c = blocks.get(e.tool_call_id); if (c) result(e.tool_call_id, "", c.text, e.state); break; }
        case "REQUIRE_USER_CONFIRM": case "REQUIRE_EXTERNAL_EXECUTION": again = true; break;
      }
    }
    if (again && seq !== null && live) load().catch((p) => (error.textContent = p.message));
  }

  function begin(key, make) {
    const b = blocks.get(key);
    if (b) { b.value = ""; b.draw(); } else talk.append(make(key, ""));
  }

  function grow(b, what, delta) {
    if (!b) return;
    b[what] += delta;
    b.draw();
  }

  async function refresh() {
    const { requests } = await get("/requests?limit=200&session_id=" + encodeURIComponent(id));
    const open = new Set(requests.map((r) => r.id));
    for (const [key, c] of cards) if (!open.has(key)) { c.node.remove(); cards.delete(key); }
    for (const request of requests) {
      if (cards.has(request.id)) continue;
      const c = card(request, { canAnswer: me.role !== "viewer" });
      cards.set(request.id, c);
      waiting.append(c.node);
      c.show();
    }
  }

  async function history() {
    const { decided } = await get("/history?limit=200&session_id=" + encodeURIComponent(id));
    const rows = decided.map((d) => el("tr", {}, el("td", {}, ago(d.at)), el("td", {}, d.request.tool), el("td", {}, brief(d.request.input)), el("td", {}, d.how + (d.by ? " by " + d.by : "") + (d.via ? " via " + d.via : ""))));
    replace(decisions, rows.length ? el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "decisions" }, el("table", {}, el("thead", {}, el("tr", {}, ...["when", "tool", "what", "outcome"].map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, ...rows))) : el("p", { class: "meta" }, "Nobody had to decide anything yet."));
  }

  let live = false;
  const ready = load().then((length) => {
    end = stream(path + "/events?after=" + length, { events, caught_up: () => (live = true) }, onState);
  }).catch((problem) => replace(main, el("p", { class: "empty" }, problem.message)));
  const ticking = setInterval(() => cards.forEach((c) => c.closed || c.tick()), 1000);
  return {
    refresh: () => ready.then(refresh),
    end() { clearInterval(ticking); end?.(); },
    keys: { send: () => (document.activeElement === text ? say() : null) },
  };
}

function flat(output) {
  return typeof output === "string" ? output : (output ?? []).map((b) => b.text ?? "[" + b.type + "]").join("\n");
}

function pretty(input) {
  try { return JSON.stringify(JSON.parse(input), null, 2); } catch { return input; }
}

export function brief(input) {
  let value;
  try { value = JSON.parse(input); } catch { return input.slice(0, 80); }
  if (Array.isArray(value?.questions)) return value.questions.map((q) => q.question).join(" · ").slice(0, 100);
  for (const name of ["command", "file_path", "path", "pattern", "query", "url"]) if (typeof value?.[name] === "string") return value[name].slice(0, 100);
  const all = Object.entries(value ?? {}).map(([k, v]) => k + "=" + (typeof v === "string" ? v : JSON.stringify(v))).join(", ");
  return all.length > 100 ? all.slice(0, 99) + "…" : all;
}
