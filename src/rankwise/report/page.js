// The page: one function per section, which returns nothing where there are no facts.

function answer() {
  const sentences = facts.answer.map((text) => el("p", null, visible(text)));
  return el("header", { class: "answer" }, el("h1", null, visible(facts.title)), sentences);
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
      .map(({ value, margin }) => withMargin(value, margin)),
    kind(model),
  ]);
  const measures = facts.measures.map((measure) => measure.name);
  const lower = facts.measures.filter((measure) => !measure.higher_is_better).map((measure) => measure.name);
  const compared = names.length > 1;
  return section(
    "Quality",
    table(["ranker", ...measures, "kind"], rows, {
      texts: [0, measures.length + 1],
      best: compared ? names.indexOf(best(first)) : -1,
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
      el("span", { class: isSure ? kind : null }, withMargin(test.difference, test.margin, signed)),
      String(test.n_better),
      String(test.n_worse),
      String(test.n_equal),
      number(test.holm_randomization),
      number(test.holm_wilcoxon),
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

const sections = [
  ...[quality(), significance(), folds(), queries(), weights(), shapes(), interactions(), choices(), sizes(), calibration()],
  ...[learning(), data(), audit(), origin()],
].filter((part) => part);
document.body.append(el("main", null, answer(), contents(sections), sections));
