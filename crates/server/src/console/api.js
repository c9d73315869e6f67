// The server, by name. The cookie goes along by itself; whoever is not known is sent to the door.

export class Problem extends Error {
  constructor(status, body) {
    super(body?.error ?? "the server did not answer");
    this.status = status;
    this.kind = body?.kind ?? "failed";
    this.hint = body?.hint ?? null;
  }
}

let door = () => {};

/** What to do when the session has ended. */
export function onDoor(action) { door = action; }

async function call(method, path, body, signal) {
  const options = { method, signal, headers: {}, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { error: "the server cannot be reached", hint: "check the connection, then try again" });
  }
  const text = await response.text();
  let parsed = null;
  try { parsed = text ? JSON.parse(text) : null; } catch { /* not ours */ }
  if (!response.ok) {
    if (response.status === 401 && path !== "/api/session") door();
    throw new Problem(response.status, parsed);
  }
  return parsed;
}

export const get = (path, signal) => call("GET", path, undefined, signal);
export const post = (path, body, signal) => call("POST", path, body, signal);
export const remove = (path) => call("DELETE", path);
