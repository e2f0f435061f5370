// Elements and simple charts as SVG. Text from data becomes text nodes only, so nothing has to be escaped.

const SVG = "http://www.w3.org/2000/svg";
// Charts are as wide as the page when it is opened, so that their text stays readable on a phone.
const WIDTH = Math.max(340, Math.min(720, document.documentElement.clientWidth - 24));
const NAMES = Math.min(170, WIDTH * 0.33);
const COLORS = ["#2b6cb0", "#c05621", "#2f855a", "#805ad5", "#b7791f", "#0f8b8d", "#b83280", "#718096"];

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

// Characters that would reorder or break a line are shown by their code, as on the terminal.
function visible(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (found) => "\\u" + found.charCodeAt(0).toString(16).padStart(4, "0"));
}

function name(text) {
  return el("bdi", { title: visible(text) }, visible(text));
}

function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 1e-4) return value.toExponential(2);
  return value.toFixed(digits);
}

function brief(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return cut(value, 24);
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
}

function signed(value, digits = 4) {
  return value === null || value === undefined ? "–" : (value < 0 ? "−" : "+") + number(Math.abs(value), digits);
}

function withMargin(value, margin, shown = number) {
  return margin === null || margin === undefined ? shown(value) : `${shown(value)} ± ${number(margin)}`;
}

function cut(text, length) {
  const shown = visible(text);
  return shown.length > length ? shown.slice(0, length - 1) + "…" : shown;
}

function figure(caption, ...content) {
  return el("figure", null, ...content, caption ? el("figcaption", null, caption) : null);
}

function drawing(width, height, label, ...shapes) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": visible(label), style: `max-width:${width}px` }, ...shapes);
}

function table(header, rows, { texts = [0], best = -1 } = {}) {
  const kind = (column) => (texts.includes(column) ? "text" : null);
  const cell = (tag, content, column) => el(tag, { class: kind(column) }, content);
  return el("div", { class: "wide" }, el("table", null,
    el("thead", null, el("tr", null, header.map((title, k) => cell("th", title, k)))),
    el("tbody", null, rows.map((row, r) =>
      el("tr", { class: r === best ? "best" : null }, row.map((content, k) => cell("td", content, k)))))));
}

// Bars around zero, each with a name, a value and, if known, a margin.
function bars(rows, label) {
  const line = 22, left = NAMES, width = WIDTH, middle = left + (width - left) / 2;
  const reach = Math.max(...rows.map((row) => Math.abs(row.value) + (row.margin || 0)), 1e-300);
  const scale = ((width - left) / 2 - 50) / reach;
  const shapes = rows.map((row, k) => {
    const y = k * line, length = Math.abs(row.value) * scale, above = row.value >= 0;
    const end = (Math.abs(row.value) + (row.margin || 0)) * scale + 6;
    const x = middle + row.value * scale, spread = (row.margin || 0) * scale;
    return [
      svg("text", { x: 0, y: y + 15 }, cut(row.name, NAMES / 6.6), svg("title", null, visible(row.name))),
      svg("rect", { class: above ? "up" : "down", x: above ? middle : middle - length, y: y + 4, width: length, height: line - 8, rx: 2 }),
      row.margin ? svg("path", { class: "whisker", d: `M${x - spread},${y + 11}H${x + spread}M${x - spread},${y + 7}v8M${x + spread},${y + 7}v8` }) : null,
      svg("text", { x: above ? middle + end : middle - end, y: y + 15, "text-anchor": above ? "start" : "end" }, signed(row.value, 3)),
    ];
  });
  const height = Math.max(line * rows.length, 1);
  return drawing(width, height, label, svg("line", { class: "axis", x1: middle, y1: 0, x2: middle, y2: height }), ...shapes);
}

// A dot and a whisker for each name.
function intervals(rows, label) {
  const line = 26, left = NAMES, width = WIDTH, right = 110;
  const known = rows.filter((row) => row.value !== null);
  const low = Math.min(...known.map((row) => row.value - (row.margin || 0)));
  const high = Math.max(...known.map((row) => row.value + (row.margin || 0)));
  const x = (value) => left + ((value - low) / (high - low || 1)) * (width - left - right);
  return drawing(width, line * rows.length + 4, label, ...rows.map((row, k) => {
    const y = k * line + 15;
    if (row.value === null) return svg("text", { x: 0, y: y + 4 }, cut(row.name, NAMES / 6.6));
    const spread = row.margin || 0;
    return [
      svg("text", { x: 0, y: y + 4 }, cut(row.name, NAMES / 6.6), svg("title", null, visible(row.name))),
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y, y2: y }),
      svg("line", { class: "whisker", x1: x(row.value - spread), x2: x(row.value + spread), y1: y, y2: y }),
      svg("circle", { class: "mark", cx: x(row.value), cy: y, r: 5 }),
      svg("text", { x: width - right + 10, y: y + 4 }, withMargin(row.value, row.margin)),
    ];
  }));
}

// Counts in columns below which their names stand.
function columns(rows, label) {
  const width = Math.min(480, WIDTH), height = 150, step = width / rows.length;
  const most = Math.max(...rows.map((row) => row.count), 1);
  return drawing(width, height, label, ...rows.map((row, k) => {
    const size = (row.count / most) * 104;
    return [
      svg("rect", { class: "mark", x: k * step + 3, y: 122 - size, width: Math.max(step - 6, 1), height: size, rx: 2 }),
      svg("text", { x: (k + 0.5) * step, y: 116 - size, "text-anchor": "middle" }, String(row.count)),
      svg("text", { class: "soft", x: (k + 0.5) * step, y: 138, "text-anchor": "middle" }, row.name),
    ];
  }));
}

function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

function powers(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first) / (WIDTH / 90)));
  const found = [];
  for (let power = first; power <= last; power += step) found.push(10 ** power);
  return found.length > 1 ? found : [low, high];
}

// Lines over a common axis, with the values under the pointer, or at the arrow keys, as text.
function lines({ x, series, xLabel, label, log = false, chosen = null }) {
  const width = WIDTH, height = 270, left = 62, right = 24, top = 10, bottom = 40;
  const usable = x.map((value) => !log || value > 0);
  const xs = x.filter((_, k) => usable[k]);
  const known = series.flatMap((one) => one.values.flatMap((value, k) => (one.margins ? [value - one.margins[k], value + one.margins[k]] : [value]))).filter((value) => value !== null);
  let low = Math.min(...known), high = Math.max(...known);
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  low -= room; high += room;
  const scale = log ? Math.log : (value) => value;
  const [x0, x1] = [scale(Math.min(...xs)), scale(Math.max(...xs))];
  const px = (value) => left + ((scale(value) - x0) / (x1 - x0 || 1)) * (width - left - right);
  const py = (value) => top + ((high - value) / (high - low)) * (height - top - bottom);
  const shapes = ticks(low, high, 5).map((value) => [
    svg("line", { class: "grid", x1: left, x2: width - right, y1: py(value), y2: py(value) }),
    svg("text", { class: "soft", x: left - 6, y: py(value) + 4, "text-anchor": "end" }, brief(value)),
  ]);
  for (const value of log ? powers(Math.min(...xs), Math.max(...xs)) : ticks(Math.min(...xs), Math.max(...xs), 6)) {
    shapes.push(svg("text", { class: "soft", x: px(value), y: height - 20, "text-anchor": "middle" }, brief(value)));
  }
  shapes.push(svg("text", { class: "soft", x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, xLabel));
  series.forEach((one, s) => {
    if (one.margins) {
      const edge = (side) => x.map((value, k) => `${px(value).toFixed(1)},${py(one.values[k] + side * one.margins[k]).toFixed(1)}`);
      shapes.push(svg("polygon", { fill: COLORS[s % COLORS.length], "fill-opacity": 0.15, points: [...edge(1), ...edge(-1).reverse()].join(" ") }));
    }
    const points = x.map((value, k) => [value, one.values[k], usable[k]]).filter(([, value, use]) => use && value !== null);
    shapes.push(svg("path", { class: "series", stroke: COLORS[s % COLORS.length], d: points.map(([a, b], k) => `${k ? "L" : "M"}${px(a).toFixed(1)},${py(b).toFixed(1)}`).join("") }));
    if (points.length <= 60) for (const [a, b] of points) shapes.push(svg("circle", { fill: COLORS[s % COLORS.length], cx: px(a), cy: py(b), r: 2.5 }));
  });
  if (chosen && chosen.y !== null) shapes.push(svg("circle", { class: "chosen", cx: px(chosen.x), cy: py(chosen.y), r: 6 }));
  const cursor = svg("line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" });
  const picture = drawing(width, height, label, ...shapes, cursor);
  const readout = el("div", { class: "readout", "aria-live": "polite" });
  let at = -1;
  const show = (place) => {
    at = Math.max(0, Math.min(x.length - 1, place));
    if (!usable[at]) return;
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, px(x[at]));
    cursor.setAttribute("visibility", "visible");
    readout.replaceChildren(`${xLabel} ${brief(x[at])}: ` + series.map((one) => `${visible(one.name)} ${number(one.values[at])}`).join(", "));
  };
  picture.setAttribute("tabindex", "0");
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect(), here = ((event.clientX - box.left) / box.width) * width;
    show(x.reduce((best, value, k) => (usable[k] && Math.abs(px(value) - here) < Math.abs(px(x[best]) - here) ? k : best), usable.indexOf(true)));
  });
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) { show(at < 0 ? usable.indexOf(true) : at + step); event.preventDefault(); }
  });
  const keys = series.length < 2 ? null : el("div", { class: "note" }, series.map((one, s) => [el("span", { style: `color:${COLORS[s % COLORS.length]}` }, "— "), name(one.name), " "]));
  return [keys, picture, readout];
}

// A table of colors: rows by alpha, columns by iteration.
function surface(rows, columnNames, values, label) {
  const width = WIDTH, left = 80, top = 6, size = Math.max(8, Math.min(22, 260 / rows.length));
  const known = values.flat().filter((value) => value !== null);
  const low = Math.min(...known), high = Math.max(...known), step = (width - left) / columnNames.length;
  const readout = el("div", { class: "readout", "aria-live": "polite" });
  const shapes = rows.map((row, r) => [
    svg("text", { class: "soft", x: left - 6, y: top + (r + 0.7) * size, "text-anchor": "end" }, brief(row)),
    values[r].map((value, c) => value === null ? null : svg("rect", {
      class: "mark", "fill-opacity": (0.05 + 0.95 * (value - low) / (high - low || 1)).toFixed(3),
      x: left + c * step, y: top + r * size, width: step + 0.3, height: size,
      onpointerenter: () => readout.replaceChildren(`alpha ${brief(row)}, iteration ${columnNames[c]}: ${number(value)}`),
    })),
  ]);
  const height = top + rows.length * size + 36;
  const below = columnNames.map((title, c) => (c % Math.ceil(columnNames.length / 10) ? null :
    svg("text", { class: "soft", x: left + (c + 0.5) * step, y: height - 20, "text-anchor": "middle" }, String(title))));
  const axis = svg("text", { class: "soft", x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, "iteration");
  return [drawing(width, height, label, ...shapes, ...below, axis), readout];
}
