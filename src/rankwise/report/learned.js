// What models learned: effects of columns, functions of columns, and how alpha and the number of features were chosen.

const BARS = 20;

// A part of a section for each model that has these facts.
function byModel(known, draw) {
  return Object.entries(known || {}).map(([model, found]) => [
    el("h3", null, name(model)),
    draw(found, model),
  ]);
}

function direction(higherIsBetter) {
  return isMissing(higherIsBetter) ? "" : `; ${higherIsBetter ? "higher" : "lower"} is better`;
}

function weights() {
  const draw = (found, model) => {
    const rows = found.columns.slice(0, BARS).map((column, k) => ({
      name: column,
      value: found.effects[k],
      margin: found.effect_margins && found.effect_margins[k],
    }));
    const sign = found.weights ? ", with the sign of its weight" : "";
    const caption =
      `${movers(found, rows.length)} The effect of a column is the standard deviation, within queries, of what it ` +
      `contributes to scores (measured on ${counted(found.effects_from_queries, "query", "queries")})${sign}.`;
    return [
      rows.length
        ? figure(caption, bars(rows, `Effects of columns in ${model}`))
        : note("All rows have the same score."),
      found.margins ? jackknifeNote(found) : null,
      found.weights && rows.length ? weightTable(found) : null,
    ];
  };
  return section("Columns", byModel(facts.weights, draw));
}

function movers({ columns, n_columns: all }, shown) {
  if (shown < columns.length) return `The ${shown} of ${all} columns that move scores most.`;
  return shown < all ? `${shown} of ${all} columns move scores.` : "";
}

function jackknifeNote(found) {
  return note(
    `Intervals by the jackknife: the exact weights without each of the ${found.training_queries} training queries, ` +
      "from the decomposition of the whole, and Student's t. “Same sign” is the share of these models in which the " +
      "weight has the same sign.",
  );
}

function weightTable(found) {
  const sure = (k) => (found.margins ? [`± ${brief(found.margins[k])}`, percent(found.same_sign[k])] : []);
  const rows = found.columns.map((column, k) => [
    name(column),
    signed(found.effects[k]),
    brief(found.weights[k]),
    ...sure(k),
  ]);
  const header = ["column", "effect", "weight", ...(found.margins ? ["95 % interval", "same sign"] : [])];
  const left = found.n_columns - rows.length;
  const more = left ? note(`${counted(left, "other column")} with smaller effects, or none.`) : null;
  return el("details", null, el("summary", null, "Weights as a table"), table(header, rows), more);
}

const percent = (share) => `${(100 * share).toFixed(0)} %`;

function shapes() {
  const draw = (found) => [
    note(
      "The score is the sum of these functions, of which those that differ most come first; scales differ. Only differences matter, so each has mean 0. ",
      found.some((one) => one.margins)
        ? "Intervals by the jackknife: the exact models without each training query, and Student's t."
        : null,
    ),
    el("div", { class: "pairs" }, found.filter((one) => one.points.length).map(shape)),
  ];
  return section("Functions of columns", byModel(facts.shapes, draw));
}

function shape(one) {
  const label = `What ${one.column} adds to the score`;
  const margin = (k) => one.margins && one.margins[k];
  const isNumeric = typeof one.points[0] === "number";
  const points = one.points.map((point, k) => ({ name: point, value: one.values[k], margin: margin(k) }));
  const series = [{ name: "adds", values: one.values, margins: one.margins }];
  const axis = { xLabel: cut(one.column, 30), xTitle: "", label, width: HALF };
  const curve = () => lines({ x: one.points, series, log: isSkewed(one.points), ...axis });
  const byDate = () => lines({ x: one.points.map((day) => Date.parse(day)), series, dates: true, ...axis });
  return el(
    "div",
    { class: "shape" },
    el("h4", null, name(one.column)),
    isNumeric ? curve() : one.kind === "date" ? byDate() : bars(points, label, HALF),
  );
}

// Prices, counts and the like: most values are small, and some much larger.
function isSkewed(points) {
  const [low, middle, high] = [points[0], points[Math.floor(points.length / 2)], points[points.length - 1]];
  return low > 0 && high > 20 * low && middle - low < (high - low) / 4;
}

function interactions() {
  const draw = (found) => [
    note(
      "What two columns add to the score together, beyond what each adds alone: between the points of a table it is " +
        "linear, and beyond the outer ones constant. Along either axis, the mean over training rows is 0.",
    ),
    found.map(({ columns, points, values }) => [
      el("h4", null, name(columns[0]), " × ", name(columns[1])),
      table(
        [`${columns[0]} ↓ ${columns[1]} →`, ...points[1]],
        values.map((row, k) => [name(points[0][k]), ...row.map(signed)]),
      ),
    ]),
  ];
  return section("Interactions", byModel(facts.interactions, draw));
}

function choices() {
  const draw = (found, model) => {
    const measure = found.measure || "Criterion";
    const at = found.alphas.findIndex((alpha) => isClose(alpha, found.chosen.alpha));
    const chosen = at < 0 ? null : { at, y: found.scores[found.chosen.setting][at] };
    const title = (setting) => (setting === "score" ? found.measure || "score" : setting);
    const series = found.settings.map((setting, k) => ({ name: title(setting), values: found.scores[k] }));
    const caption =
      `${measure} by alpha (${found.by}${direction(found.higher_is_better)}). ` +
      `The circle is the choice: alpha ${brief(found.chosen.alpha)}.`;
    const axis = { x: found.alphas, xLabel: "alpha", log: true };
    const onMargin = {
      series: [{ name: "pairs", values: found.on_margin }],
      label: `Pairs on the margin of ${model}`,
    };
    return [
      figure(
        caption,
        lines({ ...axis, series, yLabel: measure, label: `Criterion by alpha of ${model}`, chosen }),
      ),
      found.on_margin
        ? figure("Pairs on the margin along the path.", lines({ ...axis, yLabel: "pairs", ...onMargin }))
        : null,
      found.surface ? surfaceFigure(found, measure, model) : null,
    ];
  };
  return section("Choice of alpha", byModel(facts.choices, draw));
}

const isClose = (a, b) => Math.abs(a - b) <= 1e-6 * Math.abs(a);

function surfaceFigure(found, measure, model) {
  const { alphas, iterations, values, chosen } = found.surface;
  const place = {
    alpha: alphas.findIndex((alpha) => isClose(alpha, chosen.alpha)),
    iteration: iterations.indexOf(chosen.iteration),
  };
  const isDrawn = place.alpha >= 0 && place.iteration >= 0;
  const caption =
    `${measure} by alpha and iteration of conjugate gradient: the stronger the color, the better. ` +
    `The circle is the choice: alpha ${brief(chosen.alpha)}, iteration ${chosen.iteration}.`;
  const better = found.higher_is_better === false ? -1 : 1;
  const label = `Criterion by alpha and iteration of ${model}`;
  return figure(
    caption,
    surface({ alphas, iterations, values, chosen: isDrawn ? place : null, better, label }),
  );
}

function sizes() {
  const draw = (found, model) => {
    const x = found.scores.map((_, k) => k + 1);
    const at = found.chosen - 1;
    const rows = x.map((size, k) => [
      String(size),
      named(found.added[k]),
      `${number(found.scores[k])} ± ${number(found.standard_errors[k])}`,
      brief(found.costs[k]),
    ]);
    const series = [{ name: found.measure, values: found.scores, margins: found.standard_errors }];
    const label = `Quality by number of features of ${model}`;
    const chosen = { at, y: found.scores[at] };
    return [
      figure(
        `${found.measure} by number of features (${found.by}${direction(found.higher_is_better)}), with a standard error. The circle is the choice: ${found.chosen}.`,
        lines({ x, series, xLabel: "features", yLabel: found.measure, label, chosen }),
      ),
      table(["features", "adds", `${found.measure} ± standard error`, "cost"], rows, {
        texts: [1],
        best: at,
      }),
    ];
  };
  return section("Number of features", byModel(facts.sizes, draw));
}

function calibration() {
  const draw = (found, model) => {
    const [predicted, observed] = ["predicted", "observed"].map((key) => found.curve.map((bin) => bin[key]));
    const caption =
      "How often the row that the model prefers is judged above the other, by the probability it gives: " +
      `${counted(found.n_pairs, "pair")} by ${found.source}. ` +
      `The expected calibration error is ${number(found.expected_calibration_error, 3)}.`;
    const series = [
      { name: "observed", values: observed },
      { name: "as predicted", values: predicted },
    ];
    return figure(
      caption,
      lines({ x: predicted, series, xLabel: "predicted probability", label: `Calibration of ${model}` }),
    );
  };
  return section("Calibration", byModel(facts.calibration, draw));
}

function learning() {
  const found = Object.entries(facts.learning || {});
  if (!found.length) return null;
  const [, { measure, queries, gain }] = found[0];
  const gains = found.map(
    ([model, one]) => `${visible(model)} ${withMargin(one.gain.mean, one.gain.margin, signed)}`,
  );
  const caption =
    `${measure} on left-out training queries after training on so many others, with the alpha of the model; the last ` +
    "two points are predicted. The band shows 95 % intervals. The gain over the training data is more certain than the " +
    `band: with ${brief(gain.queries)} queries, ${gains.join(", ")}.`;
  const series = found.map(([model, one]) => ({ name: model, values: one.values, margins: one.margins }));
  const label = "Quality by number of training queries";
  return section(
    "Number of training queries",
    figure(
      caption,
      lines({ x: queries, series, xLabel: "training queries", yLabel: measure, log: true, label }),
    ),
  );
}
