// Elements, numbers and names. Text from data becomes text nodes only, so nothing has to be escaped.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function note(...children) {
  return el("p", { class: "note" }, ...children);
}

// Characters that would reorder or break a line are shown by their code, as on the terminal.
function visible(text) {
  return String(text).replace(
    /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (found) => "\\u" + found.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

function name(text) {
  return el("bdi", { title: visible(text) }, visible(text));
}

function named(items) {
  return items.map((item, k) => [k ? ", " : "", name(item)]);
}

function cut(text, length) {
  const shown = visible(text);
  return shown.length > length ? shown.slice(0, length - 1) + "…" : shown;
}

// What a query or document is called: its title, if there is one, with its label under the pointer.
function titleOf(label) {
  return facts.titles && Object.hasOwn(facts.titles, label) ? facts.titles[label] : label;
}

function titled(label) {
  const shown = name(titleOf(label));
  if (titleOf(label) !== label) shown.title += ` (${visible(label)})`;
  return shown;
}

const isMissing = (value) => value === null || value === undefined;

// Differences smaller than this are rounding.
const NOISE = 1e-12;

// As `rankwise.rendering.format_cell`, with which the terminal shows the same numbers.
function number(value, digits = 4) {
  if (isMissing(value)) return "–";
  if (Math.abs(value) < NOISE) return (0).toFixed(digits);
  const shown = value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential(2) : value.toFixed(digits);
  return shown.replace("-", "−");
}

function signed(value, digits = 4) {
  if (isMissing(value)) return "–";
  return Math.abs(value) < NOISE ? number(0, digits) : (value < 0 ? "−" : "+") + number(Math.abs(value), digits);
}

function brief(value) {
  if (isMissing(value)) return "–";
  if (typeof value === "string") return cut(value.replace(/^-(?=\d)/, "−"), 24);
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(4))).replace("-", "−");
}

function withMargin(value, margin, shown = number) {
  return isMissing(margin) ? shown(value) : `${shown(value)} ± ${number(margin)}`;
}

// A mean that takes two lines where there is no room for one.
function valueCell(value, margin, shown = number) {
  if (isMissing(margin)) return shown(value);
  return [shown(value), el("span", { class: "margin" }, ` ± ${number(margin)}`)];
}

function pValue(p) {
  return !isMissing(p) && p < 1e-4 ? "< 0.0001" : number(p);
}

function counted(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

function table(header, rows, { texts = [0], best = -1 } = {}) {
  const cell = (tag, content, column, scope = null) =>
    el(tag, { class: texts.includes(column) ? "text" : null, scope }, content);
  const line = (row, r) =>
    el(
      "tr",
      { class: r === best ? "best" : null },
      row.map((content, k) => (k ? cell("td", content, k) : cell("th", content, k, "row"))),
    );
  return el(
    "div",
    { class: "wide" },
    el(
      "table",
      null,
      el(
        "thead",
        null,
        el(
          "tr",
          null,
          header.map((title, k) => cell("th", title, k, "col")),
        ),
      ),
      el("tbody", null, rows.map(line)),
    ),
  );
}

function figure(caption, ...content) {
  return el("figure", null, ...content, el("figcaption", null, caption));
}

// Nothing if all content is missing.
function section(title, ...content) {
  const known = content.flat(Infinity).filter((part) => part);
  if (!known.length) return null;
  const id = title.toLowerCase().replaceAll(" ", "-");
  return el(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title`, tabindex: -1 }, title),
    known,
  );
}
