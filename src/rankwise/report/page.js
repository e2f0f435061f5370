// The page: one function per section, which returns nothing where there are no facts.

const facts = JSON.parse(document.getElementById("facts").textContent);
const names = facts.models.map((model) => model.name);
const others = names.filter((model) => model !== facts.baseline);
const SHOWN_AT_FIRST = 20, BARS = 20;

function section(title, ...content) {
  const known = content.flat(Infinity).filter((part) => part);
  return known.length ? el("section", { id: title.toLowerCase().replaceAll(" ", "-") }, el("h2", null, title), known) : null;
}

function answer() {
  return el("header", { class: "answer" }, el("h1", null, visible(facts.title)), facts.answer.map((text) => el("p", null, visible(text))));
}

function quality() {
  const first = facts.measures[0];
  const best = names.reduce((a, b) => {
    const [x, y] = [a, b].map((model) => facts.means[model][first.name]);
    return y !== null && (x === null || (first.higher_is_better ? y > x : y < x)) ? b : a;
  });
  const kinds = facts.models.map((model) => [model.kind, model.not_retrieved ? `, ${model.not_retrieved} rows not retrieved` : ""].join(""));
  const rows = names.map((model, k) => [name(model), kinds[k], ...facts.measures.map((measure) => withMargin(facts.means[model][measure.name], facts.margins[model][measure.name]))]);
  const leftOut = facts.measures.filter((measure) => measure.left_out).map((measure) => `${measure.name} ${measure.left_out} (${measure.reason})`);
  const lower = facts.measures.filter((measure) => !measure.higher_is_better).map((measure) => measure.name);
  return section("Quality",
    table(["ranker", "kind", ...facts.measures.map((measure) => measure.name)], rows, { texts: [0, 1], best: names.length > 1 ? names.indexOf(best) : -1 }),
    names.length > 1 ? figure(`${first.name}, with 95 % confidence intervals.`, intervals(names.map((model) => ({ name: model, value: facts.means[model][first.name], margin: facts.margins[model][first.name] })), `${first.name} of each ranker`)) : null,
    facts.note ? el("p", { class: "note" }, visible(facts.note)) : null,
    el("p", { class: "note" }, "± is half of a 95 % confidence interval, by Student's t over queries. ",
      lower.length ? `Lower is better for ${lower.join(", ")}. ` : "", leftOut.length ? `Queries without a value do not count: ${leftOut.join(", ")}.` : ""));
}

function significance() {
  if (!facts.tests.length) return null;
  const better = Object.fromEntries(facts.measures.map((measure) => [measure.name, measure.higher_is_better]));
  const rows = facts.tests.map((test) => {
    const sure = test.holm_randomization !== null && test.holm_randomization <= 0.05;
    const gain = (test.difference > 0) === better[test.measure];
    return [test.measure, name(test.a), name(test.b), el("span", { class: sure ? (gain ? "up" : "down") : null }, withMargin(test.difference, test.margin, signed)),
      String(test.n_better), String(test.n_worse), String(test.n_equal), number(test.holm_randomization), number(test.holm_wilcoxon)];
  });
  return section("Significance", table(["measure", "ranker", "against", "difference", "better", "worse", "equal", "p randomization", "p Wilcoxon"], rows, { texts: [0, 1, 2] }),
    el("p", { class: "note" }, "Better, worse and equal count queries. Two-sided p-values over queries, after Holm's correction for all tests above; a difference in color has p ≤ 0.05."));
}

function choice(title, options, chosen, change) {
  return el("label", null, title, el("select", { "data-control": title, onchange: (event) => change(event.target.value) },
    options.map(([value, text]) => el("option", { value, selected: value === chosen ? "" : null }, visible(text)))));
}

// Wins and losses against the baseline, or, for a single ranker, the values of its queries.
function queries() {
  const table = facts.queries, compared = others.length > 0;
  const state = { measure: facts.measures[0].name, model: compared ? others[0] : names[0], kind: "all", order: compared ? "contrast" : "poorest", text: "", count: SHOWN_AT_FIRST };
  const area = el("div"), chart = el("div"), body = el("tbody"), summary = el("p", { class: "note", "aria-live": "polite" });
  const opened = new Set();
  const change = (query) => (compared ? table.changes[state.measure][state.model][query] : table.values[state.measure][state.model][query]);
  const kinds = { all: () => true, better: (value) => value > 0, worse: (value) => value < 0, equal: (value) => value === 0, uncounted: (value) => value === null };
  const sign = compared || facts.measures.find((measure) => measure.name === state.measure).higher_is_better ? 1 : -1;
  const orders = {
    contrast: (a, b) => Math.abs(change(b)) - Math.abs(change(a)), losses: (a, b) => change(a) - change(b), gains: (a, b) => change(b) - change(a),
    poorest: (a, b) => sign * (change(a) - change(b)), label: (a, b) => table.label[a].localeCompare(table.label[b], "en", { numeric: true }), size: (a, b) => table.rows[b] - table.rows[a],
  };

  function selected() {
    const found = table.label.map((_, query) => query).filter((query) => kinds[state.kind](change(query)) && table.label[query].toLowerCase().includes(state.text.toLowerCase()));
    const missing = (query) => (change(query) === null ? 1 : 0);
    return found.sort((a, b) => missing(a) - missing(b) || orders[state.order](a, b) || a - b);
  }

  function toggle(query) {
    if (!opened.delete(query)) opened.add(query);
    draw();
    body.querySelector(`button[data-query="${query}"]`).focus();
  }

  function row(query) {
    const values = (compared ? [facts.baseline, state.model] : [state.model]).map((model) => el("td", null, number(table.values[state.measure][model][query])));
    const value = change(query);
    const isOpen = opened.has(query);
    const line = el("tr", { class: "query" },
      el("td", { class: "text" }, el("button", { type: "button", class: "open", "data-query": query, "aria-expanded": String(isOpen), onclick: () => toggle(query) }, name(table.label[query]))),
      el("td", null, String(table.rows[query])), values,
      compared ? el("td", { class: value > 0 ? "up" : value < 0 ? "down" : null }, value === null ? "not counted" : signed(value)) : null);
    return isOpen && facts.lists ? [line, el("tr", { class: "detail" }, el("td", { colspan: 9 }, el("div", null, queryDetail(facts, query))))] : line;
  }

  function drawChart(found) {
    const counted = found.filter((query) => change(query) !== null);
    const width = WIDTH, height = 140, step = width / Math.max(counted.length, 1), gap = Math.min(step * 0.15, 1);
    const reach = Math.max(...counted.map((query) => Math.abs(change(query))), 1e-300);
    const zero = compared ? height / 2 : height, scale = (compared ? height / 2 : height) - 2;
    const marks = counted.map((query, k) => {
      const size = Math.max((Math.abs(change(query)) / reach) * scale, 0.5), up = change(query) >= 0;
      return svg("rect", { class: `bar ${up ? "up" : "down"}`, x: (k * step).toFixed(2), width: Math.max(step - gap, 0.4).toFixed(2), y: (up ? zero - size : zero).toFixed(2), height: size.toFixed(2),
        onclick: () => { if (!opened.has(query)) opened.add(query); state.count = Math.max(state.count, found.indexOf(query) + 1); draw(); body.querySelector(`button[data-query="${query}"]`).scrollIntoView({ block: "center" }); } },
        svg("title", null, `${cut(table.label[query], 80)}: ${compared ? signed(change(query)) : number(change(query))}`));
    });
    const axis = svg("line", { class: "axis", x1: 0, x2: width, y1: zero, y2: zero });
    const what = compared ? `Change in ${state.measure} of each query, up is better for ${visible(state.model)}; the largest is ${number(reach)}.` : `${state.measure} of each query.`;
    chart.replaceChildren(figure(what, drawing(width, height, what, axis, ...marks)));
  }

  function draw() {
    const found = selected();
    drawChart(found);
    const shown = found.slice(0, state.count);
    body.replaceChildren(...shown.map(row).flat());
    const more = found.length - shown.length;
    summary.replaceChildren(`${found.length} of ${table.label.length} queries. `, more ? el("button", { type: "button", class: "more", onclick: () => { state.count += 100; draw(); } }, `Show ${Math.min(more, 100)} more`) : "");
  }

  const set = (key) => (value) => { state[key] = value; if (key === "measure" || key === "model") drawHead(); draw(); };
  const head = el("tr");
  const drawHead = () => head.replaceChildren(...["query", "rows", ...(compared ? [facts.baseline, state.model, "change"] : [state.measure])].map((title, k) => el("th", { class: k ? null : "text" }, k > 1 ? name(title) : title)));
  drawHead();
  draw();
  const orderNames = compared ? [["contrast", "largest change"], ["losses", "losses first"], ["gains", "gains first"]] : [["poorest", "poorest first"]];
  area.append(
    el("div", { class: "controls" },
      others.length > 1 ? choice("ranker", others.map((model) => [model, model]), state.model, set("model")) : null,
      facts.measures.length > 1 ? choice("measure", facts.measures.map((measure) => [measure.name, measure.name]), state.measure, set("measure")) : null,
      compared ? choice("show", [["all", "all queries"], ["better", "better"], ["worse", "worse"], ["equal", "equal"], ["uncounted", "not counted"]], state.kind, set("kind")) : null,
      choice("order", [...orderNames, ["label", "by name"], ["size", "by number of rows"]], state.order, set("order")),
      el("label", null, "find", el("input", { type: "search", "data-control": "find", placeholder: "query", oninput: (event) => set("text")(event.target.value) }))),
    chart, el("div", { class: "wide" }, el("table", { class: "queries" }, el("thead", null, head), body)), summary);
  return section(compared ? "Wins and losses" : "Queries", compared ? el("p", null, "Against ", name(facts.baseline), ", query by query. Choose a query to see its ranked lists.") : el("p", null, "Choose a query to see its ranked list."), area);
}

function weights() {
  return section("Columns", Object.entries(facts.weights || {}).map(([model, found]) => {
    const rows = found.columns.slice(0, BARS).map((column, k) => ({ name: column, value: found.effects[k], margin: found.effect_margins && found.effect_margins[k] }));
    const listed = found.columns.map((column, k) => [name(column), signed(found.effects[k]), found.weights ? brief(found.weights[k]) : "–",
      ...(found.margins ? [`± ${brief(found.margins[k])}`, `${(100 * found.same_sign[k]).toFixed(0)} %`] : [])]);
    const header = ["column", "effect", "weight", ...(found.margins ? ["95 % interval", "same sign"] : [])];
    return [el("h3", null, name(model)),
      figure(`Effect of the ${rows.length} columns of ${found.n_columns} that move scores most: the standard deviation, within queries, of what the column contributes (${found.effects_from_queries} queries)${found.weights ? ", with the sign of its weight" : ""}.`, bars(rows, `Effects of columns in ${model}`)),
      found.margins ? el("p", { class: "note" }, `Intervals by the jackknife: the exact weights without each of the ${found.training_queries} training queries, from the decomposition of the whole, and Student's t. "Same sign" is the share of these models in which the weight has the same sign.`) : null,
      found.weights ? el("details", null, el("summary", null, "Weights as a table"), table(header, listed)) : null];
  }));
}

function shapes() {
  return section("Functions of columns", Object.entries(facts.shapes || {}).map(([model, found]) => [
    el("h3", null, name(model)),
    el("p", { class: "note" }, "The score is the sum of these functions; only differences matter, so each has mean 0. ", found.some((one) => one.margins) ? "Intervals by the jackknife: the exact models without each training query, and Student's t." : ""),
    el("div", { class: "why" }, found.filter((one) => one.points.length).map((one) => el("div", { class: "shape" }, el("h4", null, name(one.column)),
      typeof one.points[0] === "number"
        ? lines({ x: one.points, series: [{ name: "adds", values: one.values, margins: one.margins }], xLabel: cut(one.column, 30), label: `What ${one.column} adds to the score` })
        : bars(one.points.map((point, k) => ({ name: point, value: one.values[k], margin: one.margins && one.margins[k] })), `What ${one.column} adds to the score`)))),
  ]));
}

function choices() {
  return section("Choice of alpha", Object.entries(facts.choices || {}).map(([model, found]) => {
    const at = found.alphas.findIndex((alpha) => Math.abs(alpha - found.chosen.alpha) <= 1e-6 * Math.abs(alpha));
    const y = at < 0 ? null : found.scores[found.chosen.setting][at];
    const series = found.settings.map((setting, k) => ({ name: setting === "score" ? found.measure || "score" : setting, values: found.scores[k] }));
    const better = found.higher_is_better === null || found.higher_is_better === undefined ? "" : found.higher_is_better ? "; higher is better" : "; lower is better";
    return [el("h3", null, name(model)),
      figure(`${found.measure || "Criterion"} by ${found.by}${better}. The circle is the choice: alpha ${brief(found.chosen.alpha)}.`, ...lines({ x: found.alphas, series, xLabel: "alpha", log: true, label: `Criterion by alpha of ${model}`, chosen: { x: found.chosen.alpha, y } })),
      found.on_margin ? figure("Pairs on the margin along the path.", ...lines({ x: found.alphas, series: [{ name: "pairs", values: found.on_margin }], xLabel: "alpha", log: true, label: `Pairs on the margin of ${model}` })) : null,
      found.surface ? figure(`${found.measure || "Criterion"} by alpha and iteration: the darker, the larger.`, ...surface(found.alphas, found.surface.iterations, found.surface.values, `Criterion by alpha and iteration of ${model}`)) : null];
  }));
}

function sizes() {
  return section("Number of features", Object.entries(facts.sizes || {}).map(([model, found]) => {
    const x = found.scores.map((_, k) => k + 1), chosen = { x: found.chosen, y: found.scores[found.chosen - 1] };
    const rows = x.map((size, k) => [String(size), found.added[k].map((column, place) => [place ? ", " : "", name(column)]), `${number(found.scores[k])} ± ${number(found.standard_errors[k])}`, brief(found.costs[k])]);
    return [el("h3", null, name(model)),
      figure(`${found.measure} by ${found.by}; ${found.higher_is_better ? "higher" : "lower"} is better. The circle is the choice.`, ...lines({ x, series: [{ name: found.measure, values: found.scores }], xLabel: "features", label: `Quality by number of features of ${model}`, chosen })),
      table(["features", "adds", `${found.measure} ± standard error`, "cost"], rows, { texts: [1], best: found.chosen - 1 })];
  }));
}

function calibration() {
  return section("Calibration", Object.entries(facts.calibration || {}).map(([model, found]) => {
    const [predicted, observed] = ["predicted", "observed"].map((key) => found.curve.map((bin) => bin[key]));
    return [el("h3", null, name(model)),
      figure(`How often the row that the model prefers is judged above the other, by the probability it gives: ${found.n_pairs.toLocaleString("en")} pairs by ${found.source}. The expected calibration error is ${number(found.expected_calibration_error, 3)}.`,
        ...lines({ x: predicted, series: [{ name: "observed", values: observed }, { name: "as predicted", values: predicted }], xLabel: "predicted probability", label: `Calibration of ${model}` }))];
  }));
}

function learning() {
  const found = Object.entries(facts.learning || {});
  if (!found.length) return null;
  const [, first] = found[0];
  return section("Number of training queries", figure(`${first.measure} on the judged rows after training on so many queries, drawn at random, each time with the alpha of the model.`,
    ...lines({ x: first.queries, series: found.map(([model, one]) => ({ name: model, values: one.values })), xLabel: "training queries", log: true, label: "Quality by number of training queries" })));
}

function folds() {
  if (!facts.folds) return null;
  const rows = Object.entries(facts.folds).flatMap(([fold, learners]) => Object.entries(learners).map(([learner, found]) =>
    [name(fold), name(learner), visible(found.chosen), ...facts.measures.map((measure) => number(found.means[measure.name]))]));
  return section("By fold", table(["fold", "learner", "chosen", ...facts.measures.map((measure) => measure.name)], rows, { texts: [0, 1, 2] }));
}

function histogram(bins) {
  const whole = bins.edges.every(Number.isInteger);
  return bins.counts.map((count, k) => {
    const [low, high] = [bins.edges[k], bins.edges[k + 1]];
    return { count, name: whole ? (high - low === 1 ? String(low) : `${low}–${high - 1}`) : brief(Number(low.toPrecision(2))) };
  });
}

function data() {
  const found = facts.data;
  if (!found) return null;
  const counted = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
  const labels = found.labels.values ? found.labels.values.map((value, k) => ({ name: brief(value), count: found.labels.counts[k] })) : histogram(found.labels.bins);
  const features = found.features;
  const listed = (title, items) => (items.length ? el("p", null, `${title}: `, items.slice(0, 30).map((item, k) => [k ? ", " : "", name(item)]), items.length > 30 ? `, and ${items.length - 30} more.` : ".") : null);
  return section("Data",
    el("p", null, `${counted(found.queries, "query", "queries")} with ${counted(found.rows, "row", "rows")}, ${found.sizes.smallest} to ${found.sizes.largest} per query, ${brief(found.sizes.median)} in the median`, features ? `; ${counted(features.number, "feature", "features")}${features.scaled_per_query ? ", scaled within each query" : ""}.` : "."),
    found.all_tied ? el("p", null, `In ${counted(found.all_tied, "query", "queries")} all labels are equal${found.one_row ? ` (${found.one_row} with a single row)` : ""}: no order can be wrong there.`) : null,
    el("div", { class: "why" }, figure("Rows per query.", columns(histogram(found.sizes.bins), "Queries by number of rows")), figure("Labels.", columns(labels, "Rows by label"))),
    features && features.constant ? [listed("The same in all rows of every query, so useless to a ranker", features.constant), listed("Repeat another feature", features.repeated.map(([one, other]) => `${one} = ${other}`))] : null);
}

function audit() {
  const found = facts.audit;
  if (!found) return null;
  const part = (kind, title, header, cells) => (found[kind].number ? [el("h3", null, title), table(header, found[kind].findings.map(cells), { texts: [0, 1] }),
    found[kind].number > found[kind].findings.length ? el("p", { class: "note" }, `${found[kind].findings.length} of ${found[kind].number}.`) : null] : null);
  return section("Judgments and features to check",
    part("rows", "Rows to judge again", ["query", "document", "label", "judged", "probability of the label"], (row) => [name(row.query), name(row.doc ?? `row ${row.row}`), brief(row.label), visible(row.judged), number(row.probability, 3)]),
    found.rows.number ? el("p", { class: "note" }, "Each query was scored by a RankRLS model of the other queries. These labels are the least probable by its scores; they need not be wrong.") : null,
    part("duplicates", "Equal rows with different labels", ["query", "document", "label", "same as", "label"], (row) => [name(row.query), name(row.doc ?? `row ${row.row}`), brief(row.label), name(row.same_doc ?? `row ${row.same_row}`), brief(row.same_label)]),
    part("revealing_features", "Features that give the label away", ["feature", "order", "pairs ordered"], (row) => [name(row.feature), visible(row.order), number(row.pairs_ordered, 3)]));
}

function origin() {
  const found = facts.origin;
  if (!found) return null;
  const rows = [["command", found.command], ["written", `${found.written}, in ${found.seconds} s`], ["seed of the tests", found.random_state], ["versions", Object.entries(found.versions).map((pair) => pair.join(" ")).join(", ")],
    ...found.files.map((file) => [file.name, file.sha256 ? `${file.bytes.toLocaleString("en")} bytes, SHA-256 ${file.sha256}` : "not a file"])];
  return section("How it was made", el("table", null, el("tbody", null, rows.filter(([, value]) => value !== null).map(([key, value]) =>
    el("tr", null, el("td", { class: "text" }, name(key)), el("td", { class: "text", style: "white-space:normal;overflow-wrap:anywhere" }, visible(value)))))));
}

document.body.append(el("main", null, [answer(), quality(), significance(), folds(), queries(), weights(), shapes(), choices(), sizes(), calibration(), learning(), data(), audit(), origin()].filter((part) => part)));
