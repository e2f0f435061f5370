// The data: what the rows are, what to check in them, and how the report was made.

const LISTED = 30;

function histogram(bins) {
  const whole = bins.edges.every(Number.isInteger);
  return bins.counts.map((count, k) => {
    const [low, high] = [bins.edges[k], bins.edges[k + 1]];
    const range = high - low === 1 ? String(low) : `${low}–${high - 1}`;
    return { count, name: whole ? range : brief(Number(low.toPrecision(2))) };
  });
}

function listed(title, items) {
  if (!items.length) return null;
  const more = items.length > LISTED ? `, and ${items.length - LISTED} more.` : ".";
  return el("p", null, `${title}: `, named(items.slice(0, LISTED)), more);
}

function data() {
  const found = facts.data;
  if (!found) return null;
  const { sizes, labels, features } = found;
  const grades = labels.values
    ? labels.values.map((value, k) => ({ name: brief(value), count: labels.counts[k] }))
    : histogram(labels.bins);
  const scaled = features && features.scaled_per_query ? ", scaled within each query" : "";
  const single = found.one_row ? ` (${found.one_row} with a single row)` : "";
  const range =
    sizes.smallest === sizes.largest
      ? `${sizes.smallest} per query`
      : `${sizes.smallest} to ${sizes.largest} per query, ${brief(sizes.median)} in the median`;
  return section(
    "Data",
    el(
      "p",
      null,
      `${counted(found.queries, "query", "queries")}, ${counted(found.rows, "row")} (${range})`,
      features ? `, ${counted(features.number, "feature")}${scaled}.` : ".",
    ),
    found.all_tied
      ? el(
          "p",
          null,
          `In ${counted(found.all_tied, "query", "queries")}${single}, all labels are equal: no order can be wrong there.`,
        )
      : null,
    el(
      "div",
      { class: "pairs" },
      sizes.smallest === sizes.largest
        ? null
        : figure("Queries by number of rows.", columns(histogram(sizes.bins), "Queries by number of rows")),
      figure("Rows by label.", columns(grades, "Rows by label")),
    ),
    features
      ? [
          listed("The same in all rows of every query, so they can only matter together with others", features.constant),
          listed(
            "Equal to another feature in every row",
            features.repeated.map((pair) => pair.join(" = ")),
          ),
        ]
      : null,
  );
}

function audit() {
  const found = facts.audit;
  if (!found) return null;
  const part = (kind, title, header, cells) => {
    const { number: all, findings } = found[kind];
    if (!all) return null;
    const more = all > findings.length ? note(`${findings.length} of ${all}.`) : null;
    return [el("h3", null, title), table(header, findings.map(cells), { texts: [0, 1, 3] }), more];
  };
  const docName = (doc, row) => name(doc ?? `row ${row}`);
  return section(
    "Judgments and features to check",
    part(
      "rows",
      "Rows to judge again",
      ["query", "document", "label", "judged", "probability of the label"],
      (row) => [
        name(row.query),
        docName(row.doc, row.row),
        brief(row.label),
        visible(row.judged),
        number(row.probability, 3),
      ],
    ),
    found.rows.number
      ? note(
          "Each query was scored by a RankRLS model of the other queries. These labels are the least probable by its " +
            "scores; they need not be wrong.",
        )
      : null,
    part(
      "duplicates",
      "Equal rows with different labels",
      ["query", "document", "label", "same as", "label"],
      (row) => [
        name(row.query),
        docName(row.doc, row.row),
        brief(row.label),
        docName(row.same_doc, row.same_row),
        brief(row.same_label),
      ],
    ),
    part(
      "revealing_features",
      "Features that give the label away",
      ["feature", "order", "pairs ordered"],
      (row) => [name(row.feature), visible(row.order), number(row.pairs_ordered, 3)],
    ),
  );
}

function origin() {
  const found = facts.origin;
  if (!found) return null;
  const checksum = (file) =>
    file.sha256 ? `${file.bytes.toLocaleString("en")} bytes, SHA-256 ${file.sha256}` : "not a file";
  const versions = Object.entries(found.versions).map((pair) => pair.join(" "));
  const rows = [
    ["command", found.command],
    ["written", `${found.written}, in ${found.seconds} s`],
    ["seed", found.random_state],
    ["versions", versions.join(", ")],
    ...found.files.map((file) => [file.name, checksum(file)]),
  ];
  const line = ([key, value]) =>
    el(
      "tr",
      null,
      el("th", { class: "text", scope: "row" }, name(key)),
      el("td", { class: "text long" }, visible(value)),
    );
  const known = rows.filter(([, value]) => !isMissing(value));
  return section("How it was made", el("table", { class: "origin" }, el("tbody", null, known.map(line))));
}
