// Lines and surfaces whose values are read with the pointer or with the arrow keys.

// Series beyond these repeat their colors.
const COLORS = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => `var(--series-${k})`);
const color = (k) => COLORS[k % COLORS.length];

function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) {
    found.push(Number(value.toPrecision(12)));
  }
  return found;
}

function tickLabel(value) {
  const size = Math.abs(value);
  const isShort = size === 0 || (size >= 1e-3 && size < 1e5);
  return isShort
    ? brief(value)
    : Number(value.toPrecision(4)).toExponential().replace("+", "").replace(/-/g, "−");
}

// Powers of ten, or of two where there are too few of ten.
function powers(low, high, most) {
  for (const base of [10, 2]) {
    const first = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
    const last = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
    const step = Math.max(1, Math.ceil((last - first) / most));
    const found = [];
    for (let power = first; power <= last; power += step) found.push(base ** power);
    if (found.length > 2) return found;
  }
  return low < high ? [low, high] : [low];
}

// Days at which an axis of dates has a label, and the labels: years where there are several, else months or days.
function dateTicks(low, high, most) {
  const years = [new Date(low).getUTCFullYear() + 1, new Date(high).getUTCFullYear()];
  if (years[1] - years[0] >= 2) {
    const step = Math.ceil((years[1] - years[0] + 1) / most);
    const found = [];
    for (let year = years[0]; year <= years[1]; year += step) found.push([Date.UTC(year), String(year)]);
    return found;
  }
  const count = Math.max(2, Math.min(4, Math.floor(most)));
  const days = Array.from({ length: count }, (_, k) => low + ((high - low) * k) / (count - 1));
  return days.map((day) => [day, shownDay(day)]);
}

const shownDay = (value) => new Date(value).toISOString().slice(0, 10);

// What `read(column, row)` says about a place, which `find(x, y)` names by the pointer; arrow keys move it.
function explored(picture, { columns, rows = 1, start = null, find, read }) {
  const readout = el("div", { class: "readout", "aria-live": "polite" });
  let place = start;
  const show = (column, row) => {
    const within = (value, count) => Math.max(0, Math.min(count - 1, value));
    place = [within(column, columns), within(row, rows)];
    readout.replaceChildren(read(...place));
  };
  if (start) show(...start);
  picture.setAttribute("tabindex", "0");
  picture.setAttribute("aria-description", "Arrow keys read its values.");
  const point = (event) => {
    const box = picture.getBoundingClientRect();
    const scale = picture.viewBox.baseVal.width / box.width;
    show(...find((event.clientX - box.left) * scale, (event.clientY - box.top) * scale));
  };
  for (const kind of ["pointermove", "pointerdown"]) picture.addEventListener(kind, point);
  picture.addEventListener("keydown", (event) => {
    const steps = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ...(rows > 1 && { ArrowUp: [0, -1], ArrowDown: [0, 1] }),
    };
    const step = steps[event.key];
    if (!step) return;
    show(...(place ? [place[0] + step[0], place[1] + step[1]] : [0, 0]));
    event.preventDefault();
  });
  return readout;
}

function legend(series) {
  const entry = (one, s) =>
    el("span", null, el("span", { class: "swatch", style: `border-color:${color(s)}` }), name(one.name));
  return series.length < 2 ? null : el("div", { class: "note legend" }, series.map(entry));
}

// The smallest and the largest value of all series with their margins, and some room around them.
function extent(series) {
  const known = series.flatMap((one) =>
    one.values.flatMap((value, k) => {
      const margin = one.margins ? one.margins[k] || 0 : 0;
      return isMissing(value) ? [] : [value - margin, value + margin];
    }),
  );
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - room, high + room];
}

// Lines over a common axis, without values of 0 if it is logarithmic.
function lines({
  x,
  series,
  xLabel,
  xTitle = xLabel,
  yLabel = "",
  label,
  log = false,
  dates = false,
  chosen = null,
  width = WIDTH,
}) {
  const height = width < WIDTH ? 200 : 270;
  const [left, right, top, bottom] = [62, 24, yLabel ? 24 : 10, 40];
  const isLog = log && x.some((value) => value > 0);
  const usable = x.map((_, k) => k).filter((k) => !isLog || x[k] > 0);
  const [low, high] = extent(series);
  const scale = isLog ? Math.log : (value) => value;
  const [first, last] = [Math.min, Math.max].map((end) => end(...usable.map((k) => x[k])));
  const px = (value) =>
    left + ((scale(value) - scale(first)) / (scale(last) - scale(first) || 1)) * (width - left - right);
  const py = (value) => top + ((high - value) / (high - low)) * (height - top - bottom);
  const soft = (anchor) => ({ class: "soft", "text-anchor": anchor });
  const shapes = ticks(low, high, 5).map((value) => [
    svg("line", { class: "grid", x1: left, x2: width - right, y1: py(value), y2: py(value) }),
    text(left - 6, py(value) + 4, tickLabel(value), soft("end")),
  ]);
  const most = (width - left - right) / 60;
  const marked = dates
    ? dateTicks(first, last, most)
    : (isLog ? powers(first, last, most) : ticks(first, last, most)).map((value) => [value, tickLabel(value)]);
  for (const [value, title] of marked) shapes.push(text(px(value), height - 20, title, soft("middle")));
  shapes.push(text((left + width - right) / 2, height - 4, xTitle, soft("middle")));
  if (yLabel) shapes.push(text(0, 12, yLabel, soft("start")));
  series.forEach((one, s) => shapes.push(line(one, color(s), x, usable, px, py)));
  const start = chosen && usable.includes(chosen.at) ? [usable.indexOf(chosen.at), 0] : null;
  if (start) shapes.push(svg("circle", { class: "chosen", cx: px(x[chosen.at]), cy: py(chosen.y), r: 6 }));
  const cursor = svg("line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" });
  const picture = drawing(width, height, label, ...shapes, cursor);
  const read = (column) => {
    const at = usable[column];
    cursor.setAttribute("x1", px(x[at]));
    cursor.setAttribute("x2", px(x[at]));
    cursor.setAttribute("visibility", "visible");
    const values = series.map(
      (one) => `${visible(one.name)} ${withMargin(one.values[at], one.margins && one.margins[at])}`,
    );
    return `${xLabel} ${dates ? shownDay(x[at]) : brief(x[at])}: ${values.join(", ")}`;
  };
  const distance = (k, here) => Math.abs(px(x[usable[k]]) - here);
  const find = (here) => [
    usable.reduce((best, _, k) => (distance(k, here) < distance(best, here) ? k : best), 0),
    0,
  ];
  return [legend(series), picture, explored(picture, { columns: usable.length, start, find, read })];
}

// One series: a line with a point for each value, unless there are many, in a band as wide as the margins.
function line(one, stroke, x, usable, px, py) {
  const at = usable.filter((k) => !isMissing(one.values[k]));
  const edge = (side) =>
    at.map((k) => `${px(x[k]).toFixed(1)},${py(one.values[k] + side * one.margins[k]).toFixed(1)}`);
  const place = (k) => `${px(x[k]).toFixed(1)},${py(one.values[k]).toFixed(1)}`;
  return [
    one.margins
      ? svg("polygon", { class: "band", fill: stroke, points: [...edge(1), ...edge(-1).reverse()].join(" ") })
      : null,
    svg("path", { class: "series", stroke, d: `M${at.map(place).join("L")}` }),
    at.length > 60
      ? null
      : at.map((k) => svg("circle", { fill: stroke, cx: px(x[k]), cy: py(one.values[k]), r: 2.5 })),
  ];
}

// A grid of colors, the stronger the better: rows by alpha, columns by iteration.
function surface({ alphas, iterations, values, chosen, better, label }) {
  const [left, top] = [80, 6];
  const size = Math.max(8, Math.min(22, 260 / alphas.length));
  const step = (WIDTH - left) / iterations.length;
  const height = top + alphas.length * size + 36;
  const known = values.flat().filter((value) => !isMissing(value));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const strength = (value) => 0.05 + (0.95 * (better > 0 ? value - low : high - value)) / (high - low || 1);
  const soft = (anchor) => ({ class: "soft", "text-anchor": anchor });
  const everyRow = Math.ceil(14 / size);
  const everyColumn = Math.ceil(iterations.length / 10);
  const cell = (r, c) => ({ x: left + c * step, y: top + r * size, width: step, height: size });
  const shapes = alphas.map((alpha, r) => [
    r % everyRow ? null : text(left - 6, top + r * size + size / 2 + 4, tickLabel(alpha), soft("end")),
    values[r].map((value, c) =>
      isMissing(value)
        ? null
        : svg("rect", { class: "mark cell", "fill-opacity": strength(value).toFixed(3), ...cell(r, c) }),
    ),
  ]);
  iterations.forEach((iteration, c) => {
    if (c % everyColumn === 0)
      shapes.push(text(left + (c + 0.5) * step, height - 20, String(iteration), soft("middle")));
  });
  shapes.push(text((left + WIDTH) / 2, height - 4, "iteration", soft("middle")));
  const center = (r, c) => ({ cx: left + (c + 0.5) * step, cy: top + (r + 0.5) * size });
  if (chosen)
    shapes.push(svg("circle", { class: "chosen", ...center(chosen.alpha, chosen.iteration), r: 6 }));
  const cursor = svg("rect", { class: "chosen", visibility: "hidden" });
  const picture = drawing(WIDTH, height, label, ...shapes, cursor);
  const read = (c, r) => {
    fill(cursor, { ...cell(r, c), visibility: "visible" }, []);
    return `alpha ${brief(alphas[r])}, iteration ${iterations[c]}: ${number(values[r][c])}`;
  };
  const find = (x, y) => [Math.floor((x - left) / step), Math.floor((y - top) / size)];
  const start = chosen ? [chosen.iteration, chosen.alpha] : null;
  return [picture, explored(picture, { columns: iterations.length, rows: alphas.length, start, find, read })];
}
