// The questions of AskUser: one or several options, each with its preview, and words of one's own.
import { el, replace } from "./dom.js";

export function questionForm(questions, id) {
  const asked = questions.map((question, n) => one(question, id + "-" + n));
  return {
    node: el("div", {}, ...asked.map((q) => q.node)),
    read() {
      const answers = asked.map((q) => q.read());
      const open = answers.find((a) => !a.selected.length && !a.other);
      return open ? { error: "Not answered yet: " + open.question } : { answers };
    },
  };
}

function one(question, name) {
  const several = Boolean(question.multi_select);
  const preview = el("div", { "aria-live": "polite" });
  const other = el("input", { type: "text", "aria-label": "Your own words: " + question.question });
  const boxes = (question.options ?? []).map((option, n) => {
    const box = el("input", { type: several ? "checkbox" : "radio", name, value: String(n) });
    const show = () => replace(preview, option.preview ? el("pre", { class: "wrap", tabindex: "0" }, option.preview) : null);
    box.addEventListener("focus", show);
    box.addEventListener("change", () => { show(); if (!several) other.value = ""; });
    return { box, option };
  });
  if (!several) other.addEventListener("input", () => { if (other.value) boxes.forEach((b) => (b.box.checked = false)); });
  const node = el("fieldset", {}, el("legend", {}, question.header || "Question"), el("p", { class: "why" }, question.question),
    question.context ? el("p", { class: "meta" }, question.context) : "",
    ...boxes.map(({ box, option }) => el("label", { class: "option" }, box,
      el("span", {}, option.label, " ", option.description ? el("small", {}, option.description) : ""))),
    preview, el("label", { class: "field" }, el("span", {}, "Other"), other));
  return {
    node,
    read: () => ({
      question: question.question,
      selected: boxes.filter((b) => b.box.checked).map((b) => b.option.label),
      other: other.value.trim() || null,
    }),
  };
}
