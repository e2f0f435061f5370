// Simple charts as SVG: bars, intervals and counts.

// Charts are as wide as the page when it is opened, so that their text stays readable on a phone.
const WIDTH = Math.max(320, Math.min(720, document.documentElement.clientWidth - 24));
// Two of these stand side by side where there is room.
const HALF = Math.min(WIDTH, 440);
const LETTER = 6.6; // the mean width of a letter

function drawing(width, height, label, ...shapes) {
  const attributes = { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": visible(label) };
  return svg("svg", { ...attributes, style: `max-width:${width}px` }, ...shapes);
}

function text(x, y, content, attributes = {}) {
  return svg("text", { x, y, ...attributes }, content);
}

// A name at the left edge, cut where the drawing begins; all of it under the pointer.
function rowName(title, y, room) {
  return text(0, y, [cut(title, room / LETTER), svg("title", null, visible(title))]);
}

const roomForNames = (width) => Math.min(170, width * 0.33);

// Bars around zero, each with a name, a value and, if known, a margin; from the left if none is negative.
function bars(rows, label, width = WIDTH) {
  const line = 22;
  const left = roomForNames(width);
  const most = Math.max(...rows.map((row) => Math.abs(row.value)), 1e-4);
  const digits = Math.max(3, 2 - Math.floor(Math.log10(most)));
  const oneSided = rows.every((row) => row.value >= 0 && (row.margin || 0) <= row.value);
  const numbers = rows.map((row) => (oneSided ? number : signed)(row.value, digits));
  const room = 16 + LETTER * Math.max(...numbers.map((shown) => shown.length));
  const far = Math.max(...rows.map((row) => Math.abs(row.value) + (row.margin || 0)), 1e-300);
  const zero = oneSided ? left : left + (width - left) / 2;
  const scale = (width - zero - room) / far;
  const shapes = rows.map((row, k) => {
    const y = k * line;
    const length = Math.abs(row.value) * scale;
    const spread = (row.margin || 0) * scale;
    const above = row.value >= 0;
    const x = zero + row.value * scale;
    const end = x + (above ? 1 : -1) * (spread + 6);
    const whisker = `M${x - spread},${y + 11}H${x + spread}M${x - spread},${y + 7}v8M${x + spread},${y + 7}v8`;
    const bar = { x: above ? zero : zero - length, y: y + 4, width: length, height: line - 8, rx: 2 };
    return [
      rowName(row.name, y + 15, left),
      svg("rect", { class: oneSided ? "mark" : above ? "up" : "down", ...bar }),
      row.margin ? svg("path", { class: "whisker", d: whisker }) : null,
      text(end, y + 15, numbers[k], {
        "text-anchor": above ? "start" : "end",
      }),
    ];
  });
  const height = Math.max(line * rows.length, 1);
  const axis = svg("line", { class: "axis", x1: zero, y1: 0, x2: zero, y2: height });
  return drawing(width, height, label, axis, ...shapes);
}

// Bars of one query each, the largest first, above and below zero, and how many there are of either.
function ordered(values, label, [above, below] = []) {
  const [width, height, edge] = [HALF, 190, 8];
  const most = Math.max(...values, 0, 1e-300);
  const least = Math.min(...values, 0);
  const y = (value) => edge + ((most - value) / (most - least)) * (height - 2 * edge);
  const step = width / Math.max(values.length, 1);
  const shapes = values.map((value, k) => {
    const [top, bottom] = [y(Math.max(value, 0)), y(Math.min(value, 0))];
    const kind = above ? (value < 0 ? "down" : "up") : "mark";
    const bar = { x: k * step, y: top, width: Math.max(step * 0.85, 0.4), height: bottom - top };
    return svg("rect", { class: kind, ...bar });
  });
  const atWorse = values.filter((value) => value >= 0).length * step - 8;
  const axis = svg("line", { class: "axis", x1: 0, x2: width, y1: y(0), y2: y(0) });
  const strong = (x, at, content, kind, anchor) =>
    text(x, at, content, { class: `${kind} strong`, "text-anchor": anchor });
  return drawing(
    width,
    height,
    label,
    axis,
    shapes,
    above ? strong(width, Math.max(y(0) - 10, 20), above, "up", "end") : null,
    below ? strong(Math.max(atWorse, 90), Math.min(y(0) + 24, height - 4), below, "down", "end") : null,
  );
}

// A dot and a whisker for each name; signed numbers also have a line at zero.
function intervals(rows, label, shown = number) {
  const line = 26;
  const [left, right] = [roomForNames(WIDTH), 126];
  const known = rows.filter((row) => !isMissing(row.value));
  const origin = shown === signed ? [0] : [];
  const low = Math.min(...origin, ...known.map((row) => row.value - (row.margin || 0)));
  const high = Math.max(...origin, ...known.map((row) => row.value + (row.margin || 0)));
  const x = (value) => left + 8 + ((value - low) / (high - low || 1)) * (WIDTH - left - right - 16);
  const shapes = rows.map((row, k) => {
    const y = k * line + 15;
    const title = rowName(row.name, y + 4, left);
    if (isMissing(row.value)) return [title, text(WIDTH - right + 10, y + 4, "–")];
    const spread = row.margin || 0;
    return [
      title,
      svg("line", { class: "grid", x1: left, x2: WIDTH - right, y1: y, y2: y }),
      svg("line", { class: "whisker", x1: x(row.value - spread), x2: x(row.value + spread), y1: y, y2: y }),
      svg("circle", { class: "mark", cx: x(row.value), cy: y, r: 5 }),
      text(WIDTH - right + 10, y + 4, withMargin(row.value, row.margin, shown)),
    ];
  });
  const height = line * rows.length + 4;
  const axis = origin.map((value) => svg("line", { class: "axis", x1: x(value), x2: x(value), y1: 0, y2: height }));
  return drawing(WIDTH, height, label, ...axis, ...shapes);
}

// Counts in columns below which their names stand; where names would overlap, only every second, third, ...
function columns(rows, label) {
  const [height, floor] = [150, 122];
  const side = 14; // for names wider than their column
  const step = (HALF - 2 * side) / rows.length;
  const most = Math.max(...rows.map((row) => row.count), 1);
  const longest = Math.max(...rows.map((row) => row.name.length));
  const every = Math.ceil(((longest + 1) * LETTER) / step);
  const shapes = rows.map((row, k) => {
    const size = (row.count / most) * 104;
    const middle = { "text-anchor": "middle" };
    const bar = { x: side + k * step + 3, y: floor - size, width: Math.max(step - 6, 1), height: size, rx: 2 };
    const count = String(row.count);
    return [
      svg("rect", { class: "mark", ...bar }, svg("title", null, `${row.name}: ${row.count}`)),
      row.count && count.length * LETTER < step + 4
        ? text(side + (k + 0.5) * step, floor - 6 - size, count, middle)
        : null,
      k % every ? null : text(side + (k + 0.5) * step, floor + 16, row.name, { class: "soft", ...middle }),
    ];
  });
  return drawing(HALF, height, label, ...shapes);
}
