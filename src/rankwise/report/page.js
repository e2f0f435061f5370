// The page: one function per section, which returns nothing where there are no facts.

// The verdict, what it is about, and a picture of it.
function answer() {
  const [verdict, ...sentences] = facts.answer.map(visible);
  const counts = facts.data ? [counted(facts.data.queries, "query", "queries"), counted(facts.data.rows, "row")] : [];
  const written = facts.origin ? [facts.origin.written.slice(0, 10)] : [];
  return el(
    "header",
    { class: "answer" },
    el(
      "div",
      null,
      el("h1", null, verdict.replaceAll(" %", "\u00a0%")),
      el("p", { class: "about" }, [visible(facts.title), ...counts, ...written].join(" · ")),
    ),
    verdictFigure(),
    el(
      "div",
      null,
      sentences.map((sentence) => el("p", null, sentence)),
    ),
  );
}

function verdictFigure() {
  const found = facts.verdict;
  const { name: measure, higher_is_better: higher } = facts.measures[0];
  const values = facts.queries.values[measure];
  const known = (list) => list.filter((value) => !isMissing(value)).sort((a, b) => b - a);
  if (!found) {
    const all = known(values[names[0]]);
    const caption = `${measure} of each query, from the best to the poorest.`;
    return all.length ? figure(caption, ordered(higher ? all : all.reverse(), caption)) : null;
  }
  const change = (value, k) => (isMissing(value) ? null : (higher ? 1 : -1) * (value - values[found.against][k]));
  const changes = known(values[found.ranker].map(change)).map((value) => (Math.abs(value) < NOISE ? 0 : value));
  const caption = `Each bar is a query: how much ${measure} improves with ${found.ranker} in place of ${found.against}.`;
  const counts = [
    `${found.n_better.toLocaleString("en")} better`,
    `${found.n_worse.toLocaleString("en")} worse`,
  ];
  return figure(visible(caption), ordered(changes, caption, counts));
}

function best(measure) {
  const better = (a, b) => (measure.higher_is_better ? a > b : a < b);
  return names.reduce((found, model) => {
    const [value, most] = [model, found].map((one) => facts.means[one][measure.name]);
    return !isMissing(value) && (isMissing(most) || better(value, most)) ? model : found;
  });
}

function quality() {
  const first = facts.measures[0];
  const mean = (model, measure) => ({
    name: model,
    value: facts.means[model][measure.name],
    margin: facts.margins[model][measure.name],
  });
  const kind = (model) =>
    model.not_retrieved ? `${model.kind}, ${counted(model.not_retrieved, "row")} not retrieved` : model.kind;
  const rows = facts.models.map((model) => [
    name(model.name),
    ...facts.measures
      .map((measure) => mean(model.name, measure))
      .map(({ value, margin }) => valueCell(value, margin)),
    kind(model),
  ]);
  const measures = facts.measures.map((measure) => measure.name);
  const lower = facts.measures.filter((measure) => !measure.higher_is_better).map((measure) => measure.name);
  const compared = names.length > 1;
  return section(
    "Quality",
    table(["ranker", ...measures, "kind"], rows, {
      texts: [0, measures.length + 1],
      best: facts.verdict && facts.verdict.decision !== "equal" ? names.indexOf(best(first)) : -1,
    }),
    compared
      ? figure(
          `Mean ${first.name} over queries, with 95 % confidence intervals.`,
          intervals(
            names.map((model) => mean(model, first)),
            `${first.name} of each ranker`,
          ),
        )
      : null,
    facts.note ? note(visible(facts.note)) : null,
    note(
      "± is half of a 95 % confidence interval, by Student's t over queries. ",
      lower.length ? `Lower is better for ${lower.join(", ")}. ` : null,
      uncounted(),
    ),
  );
}

// Queries that do not count, by measure, and why.
function uncounted() {
  const found = facts.measures.filter((measure) => measure.left_out);
  const what = found.map(
    ({ name: measure, left_out: count, reason }) => `${count} for ${measure} (${reason})`,
  );
  return what.length ? `Queries that do not count: ${what.join(", ")}.` : null;
}

function significance() {
  if (!facts.tests.length) return null;
  const better = Object.fromEntries(
    facts.measures.map((measure) => [measure.name, measure.higher_is_better]),
  );
  const isOneBaseline = facts.tests.every((test) => test.b === facts.tests[0].b);
  const rows = facts.tests.map((test) => {
    const isSure = !isMissing(test.holm_randomization) && test.holm_randomization <= 0.05;
    const kind = test.difference > 0 === better[test.measure] ? "up" : "down";
    return [
      test.measure,
      name(test.a),
      ...(isOneBaseline ? [] : [name(test.b)]),
      el("span", { class: isSure ? kind : null }, valueCell(test.difference, test.margin, signed)),
      String(test.n_better),
      String(test.n_worse),
      String(test.n_equal),
      pValue(test.holm_randomization),
      pValue(test.holm_wilcoxon),
    ];
  });
  const counts = ["better", "worse", "equal"];
  const header = [
    "measure",
    "ranker",
    ...(isOneBaseline ? [] : ["against"]),
    "difference",
    ...counts,
    "p (randomization)",
    "p (Wilcoxon)",
  ];
  return section(
    "Significance",
    isOneBaseline ? el("p", null, "Against ", name(facts.tests[0].b), ".") : null,
    table(header, rows, { texts: isOneBaseline ? [0, 1] : [0, 1, 2] }),
    note(
      "Better, worse and equal count queries. Two-sided p-values over queries, after Holm's correction for all tests " +
        "above; a difference in color has p ≤ 0.05 in the randomization test.",
    ),
  );
}

// Why sections are missing, or rankers in them.
function absent() {
  const titles = {
    weights: "Columns",
    choices: "Choice of alpha",
    calibration: "Calibration",
    learning: "Number of training queries",
    audit: "Judgments and features to check",
  };
  const lines = Object.entries(facts.absent || {}).map(([key, reason]) =>
    el("li", null, el("strong", null, titles[key]), ": ", visible(reason)),
  );
  return section("Not shown", lines.length ? el("ul", null, lines) : null);
}

function folds() {
  if (!facts.folds) return null;
  const measures = facts.measures.map((measure) => measure.name);
  const rows = Object.entries(facts.folds).flatMap(([fold, learners]) =>
    Object.entries(learners).map(([learner, found]) => [
      name(fold),
      name(learner),
      visible(found.chosen),
      ...measures.map((measure) => number(found.means[measure])),
    ]),
  );
  return section("By fold", table(["fold", "learner", "chosen", ...measures], rows, { texts: [0, 1, 2] }));
}

// Links to the sections. In a notebook, the address of a section would be one in the notebook, so they only scroll.
function contents(sections) {
  const link = (one) => {
    const title = one.querySelector("h2");
    const go = (event) => {
      event.preventDefault();
      title.focus();
      title.scrollIntoView();
    };
    return el("a", { href: `#${one.id}`, onclick: go }, title.textContent);
  };
  return el("nav", { "aria-label": "Sections" }, sections.map(link));
}

// A link to a query ends with #query=LABEL.
function openLinked() {
  const found = /^#query=(.+)$/.exec(location.hash);
  const query = found ? facts.queries.label.indexOf(decodeURIComponent(found[1])) : -1;
  if (query >= 0) document.dispatchEvent(new CustomEvent("open-query", { detail: query }));
}

const sections = [
  ...[quality(), significance(), segments(), folds(), queries(), weights(), shapes(), interactions(), choices(), sizes(), calibration()],
  ...[learning(), data(), audit(), absent(), origin()],
].filter((part) => part);
document.body.append(el("main", null, answer(), contents(sections), sections));
openLinked();
addEventListener("hashchange", openLinked);
