"""HTTP, server-sent events, AG-UI and the web inbox over a `Host`. Needs the extra `server`."""
