// Quality by segments of queries: changes against the baseline or, for a single ranker, means.

function segments() {
  const known = facts.segments || [];
  if (!known.length) return null;
  const compared = others.length > 0;
  const state = {
    measure: facts.measures[0].name,
    ranker: compared ? preselected() : names[0],
  };
  const parts = el("div");
  const shown = compared ? signed : number;
  const value = (fact) => (compared ? fact.gain : fact.mean);
  const verdict = (fact) => (fact.verdict ? el("span", { class: kindOf(fact) }, fact.verdict) : "");
  const kindOf = (fact) => (fact.verdict === "gains" ? "up" : "down");

  function row(fact) {
    const mean = [name(fact.segment), String(fact.queries), number(fact.mean)];
    if (!compared) return [...mean.slice(0, 2), valueCell(fact.mean, fact.margin)];
    return [...mean, valueCell(fact.gain, fact.margin, signed), pValue(fact.holm), verdict(fact)];
  }

  function part(column) {
    const found = known.filter(
      (fact) => fact.column === column && fact.measure === state.measure && fact.ranker === state.ranker,
    );
    const header = [column, "queries", "mean", ...(compared ? ["change", "p", ""] : [])];
    const rows = found.map((fact) => ({ name: fact.segment, value: value(fact), margin: fact.margin }));
    const caption = `${state.measure} by ${column}, with 95 % confidence intervals.`;
    return [
      el("h3", null, name(column)),
      figure(visible(caption), intervals(rows, caption, shown)),
      table(header.map(visible), found.map(row), { texts: compared ? [0, 5] : [0] }),
    ];
  }

  function draw() {
    parts.replaceChildren(...[...new Set(known.map((fact) => fact.column))].flatMap(part));
  }

  function control(title, key, options) {
    const pick = (chosen) => {
      state[key] = chosen;
      draw();
    };
    const listed = options.map((option) => [option, option]);
    return options.length > 1 ? choice(title, listed, state[key], pick) : null;
  }

  const controls = [
    control("segments of", "ranker", compared ? others : names),
    control("segments by", "measure", facts.measures.map((measure) => measure.name)),
  ];
  draw();
  return section(
    "Segments",
    compared ? el("p", null, "Changes against ", name(facts.baseline), "; positive is better.") : null,
    el("div", { class: "controls" }, controls),
    parts,
    note(
      compared
        ? "Two-sided p-values of a randomization test over queries, after Holm's correction for all segments, measures " +
            "and rankers; those with p ≤ 0.05 are said to gain or lose. "
        : null,
      "Segments with few queries are pooled as others.",
    ),
  );
}
