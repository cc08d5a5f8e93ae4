// The page: who asks, which view, the live count, the keys. Never moves the focus by itself.
import { get, signIn, stream } from "./api.js";
import { el, replace } from "./dom.js";
import { inbox } from "./inbox.js";
import { history, oneRequest, overview, sessions } from "./lists.js";
import { session } from "./session.js";

const main = document.getElementById("main");
const state = document.getElementById("state");
const count = document.getElementById("count");
let view = null;
let me = null;

const online = (ok) => (state.textContent = ok ? "" : "The connection is gone; it comes back by itself. Nothing is lost.");

function show() {
  view?.end();
  const [, name, id] = location.hash.split("/");
  const key = decodeURIComponent(id ?? "");
  const make = { session: () => session(main, me, key, online), request: () => oneRequest(main, me, key), sessions: () => sessions(main, me), history: () => history(main), overview: () => overview(main) };
  view = (make[name] ?? (() => inbox(main, me)))();
  document.querySelectorAll(".bar nav a").forEach((a) => {
    const here = a.hash === "#/" + name || (a.hash === "#/inbox" && !make[name]) || (a.hash === "#/sessions" && name === "session");
    if (here) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  });
  refresh();
}

async function refresh() {
  try {
    await view.refresh();
    const { requests } = await get("/requests?limit=200");
    const n = requests.length;
    count.textContent = n >= 200 ? "200+" : String(n);
    count.hidden = n === 0;
    document.title = (n ? "(" + (n >= 200 ? "200+" : n) + ") " : "") + "Sayso";
  } catch (problem) {
    state.textContent = problem.message;
  }
}

let due = null;
function soon() {
  due ??= setTimeout(() => { due = null; refresh(); }, 120);
}

document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    view?.keys.send?.();
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (event.key === "?") document.getElementById("keys").showModal();
    else if (view?.keys[event.key]) { event.preventDefault(); view.keys[event.key](); }
  }
});

async function start() {
  try {
    await signIn();
    me = await get("/me");
  } catch (problem) {
    replace(main, el("h1", {}, "Not signed in"), el("p", {}, "Open the address that the server printed when it started: it carries your token. " + problem.message));
    return;
  }
  document.getElementById("who").textContent = me.name + " · " + me.role;
  window.addEventListener("hashchange", show);
  show();
  stream("/events", { session: soon, caught_up: soon }, online);
}

start();
