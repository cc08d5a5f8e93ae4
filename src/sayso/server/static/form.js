// Arguments as typed fields, from the tool's schema; what is changed is marked, and can be set back.
import { el } from "./dom.js";

export function argumentForm(input, schema) {
  const proposed = parse(input);
  const names = [...new Set([...Object.keys(proposed), ...Object.keys(schema?.properties ?? {})])];
  const fields = names.map((name) => field(name, proposed[name], schema?.properties?.[name] ?? {}, name in proposed));
  const node = el("fieldset", {}, el("legend", {}, "Arguments"), ...fields.map((f) => f.node));
  return {
    node,
    reset: () => fields.forEach((f) => f.reset()),
    // The arguments as JSON text, or the name of the field that cannot be read.
    read() {
      const value = { ...proposed };
      for (const f of fields) {
        const got = f.read();
        if (got.error) return { error: f.name + ": " + got.error };
        if (got.absent) delete value[f.name];
        else value[f.name] = got.value;
      }
      return { text: JSON.stringify(value), changed: JSON.stringify(value) !== JSON.stringify(proposed) };
    },
  };
}

function parse(input) {
  try {
    const value = JSON.parse(input);
    return value && typeof value === "object" && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

function field(name, proposed, schema, present) {
  const either = schema.anyOf?.find((s) => s.type && s.type !== "null");
  if (either) schema = { ...schema, ...either };
  const kind = Array.isArray(schema.type) ? schema.type.find((t) => t !== "null") : schema.type ?? guess(proposed);
  const mark = el("span", { class: "edited" });
  const control = makeControl(kind, proposed, schema);
  const shown = present ? show(kind, proposed) : "";
  set(control, shown);
  const changed = () => (control.type === "checkbox" ? control.checked !== shown : control.value !== shown);
  control.addEventListener("input", () => (mark.textContent = changed() ? " · edited" : ""));
  const label = el("span", {}, name + (schema.description ? ": " + schema.description : ""), mark);
  return {
    name,
    node: el("label", { class: "field" }, label, control),
    reset() {
      set(control, shown);
      mark.textContent = "";
    },
    read() {
      if (!changed()) return present ? { value: proposed } : { absent: true };
      return value(kind, control);
    },
  };
}

function guess(value) {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "boolean" ? "boolean" : typeof value === "string" ? "string" : "object";
}

function makeControl(kind, proposed, schema) {
  if (Array.isArray(schema.enum)) {
    return el("select", {}, ...schema.enum.map((v) => el("option", { value: show(kind, v) }, show(kind, v))));
  }
  if (kind === "boolean") return el("input", { type: "checkbox" });
  if (kind === "integer" || kind === "number") return el("input", { type: "number", step: kind === "integer" ? "1" : "any" });
  if (kind === "string" && !String(proposed ?? "").includes("\n") && String(proposed ?? "").length < 80) {
    return el("input", { type: "text", spellcheck: "false" });
  }
  return el("textarea", { spellcheck: "false", rows: "5" });
}

function show(kind, v) {
  if (kind === "boolean") return Boolean(v);
  return typeof v === "string" && kind === "string" ? v : v === undefined ? "" : typeof v === "string" ? v : JSON.stringify(v, null, 2);
}

function set(control, v) {
  if (control.type === "checkbox") control.checked = v;
  else control.value = v;
}

function value(kind, control) {
  if (kind === "boolean") return { value: control.checked };
  if (kind === "string") return { value: control.value };
  if (control.value === "") return { absent: true };
  if (kind === "integer" || kind === "number") {
    const n = Number(control.value);
    return Number.isFinite(n) && (kind !== "integer" || Number.isInteger(n)) ? { value: n } : { error: "not a whole number" };
  }
  try {
    return { value: JSON.parse(control.value) };
  } catch (problem) {
    return { error: "not JSON: " + problem.message };
  }
}
