// One query: the ranked lists side by side, and why one row is above another.

// The higher a label among those of the query, the stronger its color.
function labelOf(value, most) {
  const share = value > 0 && most > 0 ? value / most : 0;
  const kind = share > 0.6 ? "label relevant full" : share ? "label relevant" : "label";
  return el("span", { class: kind, style: `--share:${Math.round(100 * share)}%`, title: "label" }, brief(value));
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
  const most = Math.max(...list.labels);
  const line = (row) => {
    const pressed = String(picked.includes(row));
    return el(
      "button",
      { type: "button", "aria-pressed": pressed, "data-row": row, onclick: () => pick(row) },
      el("span", { class: "rank" }, String(ranks[row])),
      titled(list.docs[row]),
      labelOf(list.labels[row], most),
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

// Contributions that are smaller than this share of the largest are rounding.
const SMALL = 1e-6;
// Columns that are listed at first.
const FIRST = 8;

// Why a model places one row above another: contributions of columns add up to the difference of their scores.
function why(list, model, picked) {
  const [above, below] = inOrder(list, model, picked);
  const parts = list.parts[model];
  const difference = list.scores[model][above] - list.scores[model][below];
  const columns = parts.columns.map((column, k) => ({
    name: facts.lists.columns[model][column],
    values: [above, below].map((row) => (list.values[facts.lists.sources[model][column]] || [])[row]),
    part: parts.contributions[above][k] - parts.contributions[below][k],
  }));
  const most = Math.max(...columns.map((column) => Math.abs(column.part)), Math.abs(difference), 1e-300);
  columns.sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
  const nActive = columns.filter((column) => Math.abs(column.part) > SMALL * most).length;
  const contributed = (part) => [
    el("span", { class: `meter ${part < 0 ? "down" : "up"}`, style: `width:${((Math.abs(part) / most) * 3.5).toFixed(2)}rem` }),
    signed(Math.abs(part) > SMALL * most ? part : 0),
  ];
  const line = ({ name: column, values, part }) => [name(column), ...values.map(brief), contributed(part)];
  const nShown = Math.min(nActive, FIRST);
  const [shown, folded] = [columns.slice(0, nShown), columns.slice(nShown)];
  const sum = (found) => found.reduce((total, column) => total + column.part, 0);
  const left = parts.n_others + columns.length - shown.length;
  const rest = difference - sum(shown);
  const rows = shown.map(line);
  if (left) rows.push([counted(left, "other column"), "", "", contributed(rest)]);
  rows.push([
    el("strong", null, "score"),
    ...[above, below].map((row) => number(list.scores[model][row])),
    el("strong", { class: "difference" }, signed(difference)),
  ]);
  const header = ["column", titled(list.docs[above]), titled(list.docs[below]), "contributes"];
  const listed = table(header, rows, { texts: [0] });
  listed.dataset.model = model;
  return el(
    "section",
    null,
    el("h4", null, name(model)),
    preferred(list, model, above, below, difference),
    listed,
    folded.length ? otherColumns(header, folded.map(line), left - folded.length) : null,
  );
}

function otherColumns(header, rows, unlisted) {
  const names = header.map((title) => (typeof title === "string" ? title : title.cloneNode(true)));
  const more = unlisted ? note(`${counted(unlisted, "column")} with smaller contributions, or none.`) : null;
  return el("details", null, el("summary", null, "Other columns"), table(names, rows, { texts: [0] }), more);
}

// The row that the model places higher comes first, so that contributions to its place are positive.
function inOrder(list, model, picked) {
  const [one, other] = picked;
  return list.scores[model][one] < list.scores[model][other] ? [other, one] : [one, other];
}

// How sure the order of two rows is, where the model is calibrated.
function preferred(list, model, above, below, difference) {
  const known = (facts.calibration || {})[model];
  const probability = known && 1 / (1 + Math.exp(-known.slope * difference));
  return note(
    titled(list.docs[above]),
    difference === 0 ? " has the same score as " : " is above ",
    titled(list.docs[below]),
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

// Where the page has an address of its own; in a notebook it has none.
function linkTo(query) {
  if (location.protocol === "about:") return null;
  return el("a", { href: `#query=${encodeURIComponent(facts.queries.label[query])}` }, "Link to this query");
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
      rankedList("ideal order", list, list.ideal, () => el("span", { class: "move" }), picked, pick),
      ...models.map((model) =>
        rankedList(name(model), list, list.ranks[model], (row) => movement(list, row, model), picked, pick),
      ),
    ];
    const reasons = picked.length < 2 ? null : explained.map((model) => why(list, model, picked));
    area.replaceChildren(
      el("div", { class: "lists wide" }, lists),
      note(cutOff, advice, " ", linkTo(query)),
      el("div", { class: "why", "aria-live": "polite" }, reasons),
    );
    area.firstChild.scrollLeft = scrolled;
  }

  draw();
  return area;
}
