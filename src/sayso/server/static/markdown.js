// A small, safe Markdown: paragraphs, headings, lists, code, strong, emphasis, links to http(s). Builds elements; never
// parses HTML, so nothing a model writes becomes markup.
import { el } from "./dom.js";

export function markdown(text) {
  const out = document.createDocumentFragment();
  const parts = String(text).split(/^```.*$/m);
  parts.forEach((part, i) => {
    if (i % 2) out.append(el("pre", { tabindex: "0" }, el("code", {}, part.replace(/^\n|\n$/g, ""))));
    else blocks(part, out);
  });
  return out;
}

function blocks(text, out) {
  for (const block of text.split(/\n{2,}/)) {
    const lines = block.split("\n").filter((line) => line.trim());
    if (!lines.length) continue;
    if (lines.every((line) => /^\s*([-*+]|\d+[.)])\s/.test(line))) {
      const list = el(/^\s*\d/.test(lines[0]) ? "ol" : "ul");
      for (const line of lines) list.append(inline(el("li"), line.replace(/^\s*([-*+]|\d+[.)])\s+/, "")));
      out.append(list);
    } else if (/^#{1,6}\s/.test(lines[0])) {
      out.append(inline(el("h3"), lines[0].replace(/^#+\s+/, "")));
      if (lines.length > 1) blocks(lines.slice(1).join("\n"), out);
    } else {
      const p = el("p");
      lines.forEach((line, i) => {
        if (i) p.append(el("br"));
        inline(p, line);
      });
      out.append(p);
    }
  }
}

const INLINE = /(`[^`]+`)|(\*\*[^*]+\*\*)|(\*[^*\s][^*]*\*)|(\[[^\]]+\]\(https?:\/\/[^\s)]+\))/;

function inline(node, text) {
  for (let rest = text; rest; ) {
    const found = INLINE.exec(rest);
    if (!found) {
      node.append(el("span", {}, rest));
      break;
    }
    if (found.index) node.append(el("span", {}, rest.slice(0, found.index)));
    const piece = found[0];
    if (found[1]) node.append(el("code", {}, piece.slice(1, -1)));
    else if (found[2]) node.append(el("strong", {}, piece.slice(2, -2)));
    else if (found[3]) node.append(el("em", {}, piece.slice(1, -1)));
    else {
      const [, label, url] = /^\[([^\]]+)\]\((.+)\)$/.exec(piece);
      node.append(el("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, label), " (" + new URL(url).host + ")");
    }
    rest = rest.slice(found.index + piece.length);
  }
  return node;
}
