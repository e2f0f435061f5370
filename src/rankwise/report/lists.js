// One query: the ranked lists side by side, and why one row is above another.

function labelOf(value) {
  return el("span", { class: value > 0 ? "label relevant" : "label", title: "label" }, brief(value));
}

// How far a row moved against the baseline; up is better.
function movement(list, row, model) {
  const before = list.ranks[facts.baseline][row];
  const now = list.ranks[model][row];
  if (model === facts.baseline || before === now) return el("span", { class: "move" });
  if (before === null) {
    return el("span", { class: "move up", title: `not retrieved by ${visible(facts.baseline)}` }, "new");
  }
  const [kind, arrow] = now < before ? ["up", "▲"] : ["down", "▼"];
  const title = `rank ${before} by ${visible(facts.baseline)}`;
  return el("span", { class: `move ${kind}`, title }, `${arrow}${Math.abs(before - now)}`);
}

function rankedList(title, list, ranks, extra, picked, pick) {
  const rows = list.docs.map((_, row) => row);
  const order = rows.filter((row) => ranks[row] !== null).sort((a, b) => ranks[a] - ranks[b]);
  const missing = rows.length - order.length;
  const line = (row) => {
    const pressed = String(picked.includes(row));
    return el(
      "button",
      { type: "button", "aria-pressed": pressed, "data-row": row, onclick: () => pick(row) },
      el("span", { class: "rank" }, String(ranks[row])),
      name(list.docs[row]),
      labelOf(list.labels[row]),
      extra(row),
    );
  };
  return el(
    "section",
    null,
    el("h4", null, title),
    el(
      "ol",
      null,
      order.map((row) => el("li", null, line(row))),
    ),
    missing ? note(`${counted(missing, "row")} of these not retrieved`) : null,
  );
}

// The contributions of columns to the difference of two scores; what is left is the sum of all other columns.
function why(list, model, first, second) {
  const parts = list.parts[model];
  const difference = list.scores[model][first] - list.scores[model][second];
  const columns = parts.columns.map((column, k) => ({
    name: facts.lists.columns[model][column],
    values: [first, second].map((row) => (list.values[facts.lists.sources[model][column]] || [])[row]),
    part: parts.contributions[first][k] - parts.contributions[second][k],
  }));
  const active = columns.filter((column) => column.part !== 0);
  active.sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
  const others = parts.others[first] - parts.others[second];
  const most = Math.max(...active.map((column) => Math.abs(column.part)), Math.abs(others), 1e-300);
  const meter = (part) => {
    const width = ((Math.abs(part) / most) * 3.5).toFixed(2);
    return el("span", { class: `meter ${part < 0 ? "down" : "up"}`, style: `width:${width}rem` });
  };
  const rows = active.map((column) => [
    name(column.name),
    signed(column.part),
    meter(column.part),
    ...column.values.map(brief),
  ]);
  const left = parts.n_others + columns.length - active.length;
  if (left) {
    rows.push([counted(left, "other column"), signed(others), meter(others), "", ""]);
  }
  rows.push([
    el("strong", null, "score"),
    el("strong", { class: "difference" }, signed(difference)),
    "",
    ...[first, second].map((row) => number(list.scores[model][row])),
  ]);
  const header = ["column", "contributes", "", name(list.docs[first]), name(list.docs[second])];
  const shown = table(header, rows, { texts: [0, 2] });
  shown.dataset.model = model;
  return el(
    "section",
    null,
    el("h4", null, name(model)),
    preferred(list, model, first, second, difference),
    shown,
  );
}

// Which of two rows is above the other and, where the model is calibrated, how sure that is.
function preferred(list, model, first, second, difference) {
  const [above, below] = difference < 0 ? [second, first] : [first, second];
  const known = (facts.calibration || {})[model];
  const probability = known && 1 / (1 + Math.exp(-known.slope * Math.abs(difference)));
  return note(
    name(list.docs[above]),
    difference === 0 ? " has the same score as " : " is above ",
    name(list.docs[below]),
    ". ",
    known
      ? el(
          "span",
          { class: "probability" },
          `If their labels differ, it is better with probability ${probability.toFixed(2)}.`,
        )
      : null,
  );
}

function absentDetail() {
  const { queries, n_queries: all } = facts.lists;
  return note(
    `This page has the ranked lists of ${queries.length} of ${all} queries: those that change most, then the poorest. ` +
      "This query is not among them.",
  );
}

function queryDetail(query) {
  const list = facts.lists.queries.find((one) => one.query === query);
  if (!list) return absentDetail();
  const models = facts.models.map((one) => one.name);
  const explained = models.filter((model) => list.parts[model]);
  const hidden = list.rows - list.docs.length;
  const picked = [];
  const area = el("div");
  const advice = explained.length
    ? "Choose two rows to see why one is above the other."
    : "No ranker here has a score that is a sum over columns, so none can be explained.";
  const cutOff = hidden ? `${hidden} of ${list.rows} rows, which no ranker places high, are left out. ` : "";

  function pick(row) {
    const place = picked.indexOf(row);
    if (place >= 0) picked.splice(place, 1);
    else picked.push(row);
    if (picked.length > 2) picked.shift();
    const sections = () => [...area.querySelectorAll(".lists section")];
    const focused = sections().findIndex((one) => one.contains(document.activeElement));
    draw();
    if (focused >= 0) sections()[focused].querySelector(`[data-row="${row}"]`).focus();
  }

  function draw() {
    const scrolled = area.firstChild ? area.firstChild.scrollLeft : 0;
    const lists = [
      rankedList("ideal order", list, list.ideal, () => el("span"), picked, pick),
      ...models.map((model) =>
        rankedList(name(model), list, list.ranks[model], (row) => movement(list, row, model), picked, pick),
      ),
    ];
    const reasons = picked.length < 2 ? null : explained.map((model) => why(list, model, ...picked));
    area.replaceChildren(
      el("div", { class: "lists" }, lists),
      note(cutOff, advice),
      el("div", { class: "why", "aria-live": "polite" }, reasons),
    );
    area.firstChild.scrollLeft = scrolled;
  }

  draw();
  return area;
}
