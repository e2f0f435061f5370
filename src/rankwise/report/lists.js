// One query: the ranked lists side by side, and why one row is above another.

function labelOf(value) {
  return el("span", { class: value > 0 ? "label relevant" : "label", title: "label" }, brief(value));
}

// How far a row moved against the baseline; up is better.
function movement(list, row, model, baseline) {
  const before = list.ranks[baseline][row], now = list.ranks[model][row];
  if (model === baseline || before === now) return el("span", { class: "move" });
  if (before === null) return el("span", { class: "move up", title: `not retrieved by ${visible(baseline)}` }, "new");
  const up = before - now;
  return el("span", { class: `move ${up > 0 ? "up" : "down"}`, title: `from ${before} to ${now}` }, `${up > 0 ? "▲" : "▼"}${Math.abs(up)}`);
}

function rankedList(title, list, ranks, extra, picked, pick) {
  const order = list.docs.map((_, row) => row).filter((row) => ranks[row] !== null).sort((a, b) => ranks[a] - ranks[b]);
  return el("section", null,
    el("h4", null, title),
    el("ol", null, order.map((row) => el("li", null, el("button", {
      type: "button", "aria-pressed": String(picked.includes(row)), "data-row": row, onclick: () => pick(row),
    }, el("span", { class: "note" }, String(ranks[row])), name(list.docs[row]), labelOf(list.labels[row]), extra(row))))));
}

// The contributions of columns to the difference of two scores; what is left is the sum of all other columns.
function why(facts, list, model, first, second) {
  const parts = list.parts[model], difference = list.scores[model][first] - list.scores[model][second];
  const columns = parts.columns.map((column, k) => ({
    name: facts.lists.columns[model][column],
    values: [first, second].map((row) => (list.values[facts.lists.sources[model][column]] || [])[row]),
    part: parts.contributions[first][k] - parts.contributions[second][k],
  }));
  columns.sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
  const others = parts.others[first] - parts.others[second];
  const most = Math.max(...columns.map((column) => Math.abs(column.part)), Math.abs(others), 1e-300);
  const meter = (part) => el("span", { class: `meter ${part < 0 ? "down" : "up"}`, style: `width:${((Math.abs(part) / most) * 5).toFixed(2)}rem` });
  const rows = columns.map((column) => [name(column.name), signed(column.part), meter(column.part), ...column.values.map(brief)]);
  if (parts.n_others) rows.push([`${parts.n_others} other columns`, signed(others), meter(others), "", ""]);
  rows.push([el("strong", null, "score"), el("strong", { class: "difference" }, signed(difference)), "", ...[first, second].map((row) => number(list.scores[model][row]))]);
  const shown = table(["column", "contributes", "", cut(list.docs[first], 18), cut(list.docs[second], 18)], rows, { texts: [0, 2] });
  shown.dataset.model = model;
  return el("section", null, el("h4", null, name(model), preference(facts, model, difference)), shown);
}

function preference(facts, model, difference) {
  const known = (facts.calibration || {})[model];
  if (!known) return null;
  const probability = 1 / (1 + Math.exp(-known.slope * difference));
  return el("span", { class: "note probability" }, ` if their labels differ, the first is better with probability ${probability.toFixed(2)}`);
}

function queryDetail(facts, query) {
  const list = facts.lists.queries.find((one) => one.query === query);
  if (!list) {
    return el("p", { class: "note" }, `The lists of ${facts.lists.queries.length} of ${facts.lists.n_queries} queries are in this page: those that change most, and then the poorest. This query is not among them.`);
  }
  const picked = [], area = el("div");
  const pick = (row) => {
    const place = picked.indexOf(row);
    if (place >= 0) picked.splice(place, 1);
    else { picked.push(row); if (picked.length > 2) picked.shift(); }
    const focused = document.activeElement && document.activeElement.closest("section");
    const section = focused && [...area.querySelectorAll(".lists section")].indexOf(focused);
    draw();
    const again = area.querySelectorAll(".lists section")[section];
    if (again) again.querySelector(`[data-row="${row}"]`).focus();
  };
  const draw = () => {
    const models = facts.models.map((one) => one.name);
    const lists = el("div", { class: "lists" },
      rankedList("ideal order", list, list.ideal, () => el("span"), picked, pick),
      models.map((model) => rankedList(name(model), list, list.ranks[model], (row) => movement(list, row, model, facts.baseline), picked, pick)));
    const hidden = list.rows - list.docs.length;
    const explained = models.filter((model) => list.parts[model]);
    const [first, second] = picked;
    area.replaceChildren(lists,
      el("p", { class: "note" }, hidden ? `${hidden} of ${list.rows} rows, which no ranker places high, are left out. ` : null,
        explained.length ? "Choose two rows to see why one is above the other." : "No ranker here has a score that is a sum over columns."),
      el("div", { class: "why", "aria-live": "polite" }, picked.length < 2 ? null : explained.map((model) => why(facts, list, model, first, second))));
  };
  draw();
  return area;
}
