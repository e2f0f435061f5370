// Wins and losses against the baseline, query by query, or, for a single ranker, the values of its queries.

const SHOWN_AT_FIRST = 20;
const SHOWN_MORE = 100;

function choice(title, options, chosen, change) {
  const option = ([value, text]) =>
    el("option", { value, selected: value === chosen ? "" : null }, visible(text));
  const attributes = { "data-control": title, onchange: (event) => change(event.target.value) };
  return el("label", null, title, el("select", attributes, options.map(option)));
}

const KINDS = {
  all: () => true,
  better: (value) => value > 0,
  worse: (value) => value < 0,
  equal: (value) => value === 0,
  uncounted: (value) => value === null,
};

// The ranker of the verdict.
function preselected() {
  const found = facts.verdict ? [facts.verdict.ranker, facts.verdict.against] : [];
  return found.find((model) => others.includes(model)) || others[0];
}

function queries() {
  const known = facts.queries;
  const compared = others.length > 0;
  const state = {
    measure: facts.measures[0].name,
    model: compared ? preselected() : names[0],
    kind: "all",
    order: compared ? "contrast" : "poorest",
    text: "",
    count: SHOWN_AT_FIRST,
  };
  const chart = el("div");
  const head = el("tr");
  const body = el("tbody");
  const summary = el("p", { class: "note", "aria-live": "polite" });
  const details = new Map(); // the queries that are open

  // How much better a query is than with the baseline; with a single ranker, its value.
  const change = (query) => (compared ? known.changes : known.values)[state.measure][state.model][query];
  const shownChange = (query) => (compared ? signed : number)(change(query));
  const better = () => facts.measures.find((measure) => measure.name === state.measure).higher_is_better;
  const orders = {
    contrast: (a, b) => Math.abs(change(b)) - Math.abs(change(a)),
    losses: (a, b) => change(a) - change(b),
    gains: (a, b) => change(b) - change(a),
    poorest: (a, b) => (better() ? 1 : -1) * (change(a) - change(b)),
    label: (a, b) => known.label[a].localeCompare(known.label[b], "en", { numeric: true }),
    size: (a, b) => known.rows[b] - known.rows[a],
  };

  function selected() {
    const wanted = state.text.toLowerCase();
    const found = known.label
      .map((_, query) => query)
      .filter(
        (query) => KINDS[state.kind](change(query)) && isNamed(known.label[query], wanted),
      );
    const missing = (query) => (change(query) === null ? 1 : 0);
    return found.sort((a, b) => missing(a) - missing(b) || orders[state.order](a, b) || a - b);
  }

  const isNamed = (label, wanted) => `${label} ${titleOf(label)}`.toLowerCase().includes(wanted);
  const opener = (query) => body.querySelector(`button[data-query="${query}"]`);

  const detailRow = (query) =>
    el("tr", { class: "detail" }, el("td", { colspan: 5 }, el("div", null, details.get(query))));

  function toggle(query) {
    const line = opener(query).closest("tr");
    if (details.delete(query)) {
      line.nextSibling.remove();
    } else {
      details.set(query, queryDetail(query));
      line.after(detailRow(query));
    }
    opener(query).setAttribute("aria-expanded", String(details.has(query)));
  }

  function openFromChart(query, place) {
    if (place >= state.count) {
      state.count = place + 1;
      draw();
    }
    if (!details.has(query)) toggle(query);
    opener(query).focus();
    opener(query).scrollIntoView({ block: "center" });
  }

  function openQuery(query) {
    if (!selected().includes(query)) Object.assign(state, { kind: "all", text: "" });
    openFromChart(query, selected().indexOf(query));
  }

  function row(query) {
    const models = compared ? [facts.baseline, state.model] : [state.model];
    const value = change(query);
    const isOpen = details.has(query);
    const attributes = {
      type: "button",
      class: "open",
      "data-query": query,
      "aria-expanded": String(isOpen),
    };
    const label = el("button", { ...attributes, onclick: () => toggle(query) }, titled(known.label[query]));
    const kind = value > 0 ? "up" : value < 0 ? "down" : null;
    const line = el(
      "tr",
      { class: "query" },
      el("th", { class: "text", scope: "row" }, label),
      el("td", null, String(known.rows[query])),
      models.map((model) => el("td", null, number(known.values[state.measure][model][query]))),
      compared ? el("td", { class: kind }, value === null ? "not counted" : signed(value)) : null,
    );
    return isOpen ? [line, detailRow(query)] : [line];
  }

  function drawChart(found) {
    const valued = found.filter((query) => change(query) !== null);
    const [left, height] = [52, 150];
    const step = (WIDTH - left) / Math.max(valued.length, 1);
    const gap = Math.min(step * 0.15, 2);
    const far = Math.max(...valued.map((query) => Math.abs(change(query))), 1e-300);
    const zero = compared ? height / 2 : height - 8;
    const scale = (zero - 8) / far;
    const marks = valued.map((query, k) => {
      const size = Math.max(Math.abs(change(query)) * scale, 0.5);
      const up = change(query) >= 0;
      const place = {
        x: left + k * step,
        y: up ? zero - size : zero,
        width: Math.max(step - gap, 0.4),
        height: size,
      };
      const kind = compared ? (up ? "up" : "down") : "mark";
      const title = svg("title", null, `${cut(titleOf(known.label[query]), 80)}: ${shownChange(query)}`);
      return svg(
        "rect",
        { class: `bar ${kind}`, ...place, onclick: () => openFromChart(query, found.indexOf(query)) },
        title,
      );
    });
    const values = valued.length ? (compared ? [far, 0, -far] : [far, 0]) : [];
    const axis = values.map((value) => {
      const y = zero - value * scale;
      const soft = { class: "soft", "text-anchor": "end" };
      return [
        svg("line", { class: value ? "grid" : "axis", x1: left, x2: WIDTH, y1: y, y2: y }),
        text(left - 6, y + 4, (compared ? signed : number)(value, 2), soft),
      ];
    });
    const what = compared
      ? `Change in ${state.measure} of each query against ${visible(facts.baseline)}: up is better for ${visible(state.model)}.`
      : `${state.measure} of each query.`;
    chart.replaceChildren(
      figure(`${what} Choose a bar to open its query.`, drawing(WIDTH, height, what, axis, ...marks)),
    );
  }

  function draw() {
    const found = selected();
    drawChart(found);
    const titles = [
      "query",
      "rows",
      ...(compared ? [facts.baseline, state.model, "change"] : [state.measure]),
    ];
    head.replaceChildren(...titles.map((title, k) => el("th", { class: k ? null : "text", scope: "col" }, name(title))));
    const shown = found.slice(0, state.count);
    body.replaceChildren(...shown.flatMap(row));
    const more = found.length - shown.length;
    const showMore = () => {
      state.count += SHOWN_MORE;
      draw();
      opener(found[shown.length]).focus();
    };
    summary.replaceChildren(
      `${shown.length} of ${counted(found.length, "query", "queries")}. `,
      more
        ? el(
            "button",
            { type: "button", class: "more", onclick: showMore },
            `Show ${Math.min(more, SHOWN_MORE)} more`,
          )
        : "",
    );
  }

  function set(key) {
    return (value) => {
      state[key] = value;
      draw();
    };
  }

  const same = (values) => values.map((value) => [value, value]);
  const kinds = [
    ["all", "all queries"],
    ["better", "better"],
    ["worse", "worse"],
    ["equal", "equal"],
  ];
  const orderNames = compared
    ? [
        ["contrast", "largest change"],
        ["losses", "losses first"],
        ["gains", "gains first"],
      ]
    : [["poorest", "poorest first"]];
  const find = { type: "search", "data-control": "find", placeholder: "name of a query" };
  const controls = [
    others.length > 1 ? choice("ranker", same(others), state.model, set("model")) : null,
    facts.measures.length > 1
      ? choice("measure", same(facts.measures.map((measure) => measure.name)), state.measure, set("measure"))
      : null,
    compared ? choice("show", [...kinds, ["uncounted", "not counted"]], state.kind, set("kind")) : null,
    choice(
      "order",
      [...orderNames, ["label", "by name"], ["size", "by number of rows"]],
      state.order,
      set("order"),
    ),
    el("label", null, "find", el("input", { ...find, oninput: (event) => set("text")(event.target.value) })),
  ];
  draw();
  document.addEventListener("open-query", (event) => openQuery(event.detail));
  return section(
    compared ? "Wins and losses" : "Queries",
    compared
      ? el(
          "p",
          null,
          "Against ",
          name(facts.baseline),
          ", query by query. Choose a query to see its ranked lists.",
        )
      : el("p", null, "Choose a query to see its ranked list."),
    el("div", { class: "controls" }, controls),
    chart,
    el("div", { class: "wide" }, el("table", { class: "queries" }, el("thead", null, head), body)),
    summary,
  );
}
