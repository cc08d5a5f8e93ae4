// The HTTP API. The token comes in the URL's fragment, is exchanged for a cookie and forgotten.

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || "the server answered " + status);
    this.status = status;
    this.body = body;
  }
}

async function call(method, path, body) {
  const options = { method, credentials: "same-origin", headers: {} };
  if (method === "POST") {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body ?? {});
  }
  const response = await fetch(path, options);
  const value = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, value);
  return value;
}

export const get = (path) => call("GET", path);
export const post = (path, body) => call("POST", path, body);

export async function signIn() {
  const found = /(?:^#|&)token=([^&]+)/.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", "/#/inbox");
  await post("/login", { token: decodeURIComponent(found[1]) });
}

// A stream that comes back by itself. handlers: kind -> function of the data. Returns how to end it.
export function stream(path, handlers, onState) {
  const source = new EventSource(path);
  for (const [kind, handle] of Object.entries(handlers)) {
    source.addEventListener(kind, (event) => handle(JSON.parse(event.data)));
  }
  source.addEventListener("open", () => onState(true));
  source.addEventListener("error", () => onState(false));
  return () => source.close();
}
