// What waits, in all sessions, live. A card that is answered elsewhere says so instead of vanishing.
import { get } from "./api.js";
import { card } from "./card.js";
import { el, replace } from "./dom.js";

export function inbox(main, me) {
  const list = el("div");
  const empty = el("p", { class: "empty" }, "Nothing waits for anybody.");
  const cards = new Map();
  let chosen = -1;
  replace(main, el("h1", {}, "Inbox"), empty, list);

  async function refresh() {
    const { requests } = await get("/requests?limit=200");
    const open = new Set(requests.map((r) => r.id));
    for (const [id, c] of cards) {
      if (c.closed || open.has(id)) continue;
      const { decided } = await get("/history?session_id=" + encodeURIComponent(c.request.session_id));
      const found = decided.find((d) => d.request.id === id);
      c.close(found ?? { how: "withdrawn", by: "", via: "" });
    }
    for (const request of requests) {
      if (cards.has(request.id)) continue;
      const c = card(request, { canAnswer: me.role !== "viewer" });
      cards.set(request.id, c);
      list.append(c.node);
      c.show();
    }
    empty.hidden = cards.size > 0;
  }

  function choose(step) {
    const all = [...cards.values()].filter((c) => !c.closed);
    if (!all.length) return;
    all.forEach((c) => c.node.classList.remove("chosen"));
    chosen = Math.min(all.length - 1, Math.max(0, chosen + step));
    all[chosen].node.classList.add("chosen");
    all[chosen].node.scrollIntoView({ block: "nearest" });
  }

  const current = () => [...cards.values()].find((c) => c.node.classList.contains("chosen") && !c.closed);
  const ticking = setInterval(() => cards.forEach((c) => c.closed || c.tick()), 1000);
  return {
    refresh,
    end: () => clearInterval(ticking),
    keys: { j: () => choose(1), k: () => choose(-1), r: () => current()?.refuse(), e: () => current()?.edit(), send: () => current()?.allow() },
  };
}
