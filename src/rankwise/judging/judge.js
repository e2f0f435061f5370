// The page of live judging: keys become judgments, and what the server answers is shown. It decides nothing.
"use strict";

const $ = (id) => document.getElementById(id);
const MOVES = new Set(["ArrowDown", "ArrowUp", "j", "k"]);
const ARROWS = { up: "▲", down: "▼" };
const REASONS = { random: "drawn at random", teaches: "teaches most", chosen: "chosen" };
const UNANSWERED = "The session does not answer, so nothing more is accepted; start it again to go on.";
const WAIT = 250, WATCH = 4000;

let about = null; // what stays the same: grades, fields, queries
let view = null; // the query as the server sent it last
let cursor = null; // the document that keys grade
let pairs = false, blind = false;
let state = null;
let work = Promise.resolve(); // requests, one after the other
let watching = 0;

async function ask(name, body) {
  let answer;
  try {
    answer = await fetch(name, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Error(UNANSWERED);
  }
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.full ? found.error + " Nothing more is accepted until there is room." : found.error);
  return found;
}

// Requests wait for each other, so that every key acts on what the one before it has led to.
function queue(act, done = () => complain(null)) {
  work = work.then(act).then(done, (error) => complain(error.message));
  return work;
}

// Only an act of the rater takes a complaint away, or an answer the complaint that there is none.
function answered() {
  if ($("problem").textContent === UNANSWERED) complain(null);
}

function complain(message) {
  $("problem").hidden = message === null;
  $("problem").textContent = message === null ? "" : visible(message);
}

function settings(more) {
  return { query: view && view.query, pairs, blind, ...more };
}

function take(found) {
  if (found.query !== undefined) view = found;
  else view = { ...view, ...found };
  const asked = view.task && !pairs ? view.task.docs[0] : null;
  if (asked) cursor = asked;
  else if (!(view.docs || []).some((one) => one.doc === cursor)) cursor = null;
  else if (!view.task) cursor = null;
  draw();
  watch(WAIT);
}

const next = (more) => queue(async () => take(await ask("next", settings(more))));

function judge(said, started) {
  return queue(async () => {
    const body = said();
    if (!body) return;
    take(await ask("judge", settings({ ...body, query: view.query })));
    // From the key to the new order, for those who ask how long that takes.
    requestAnimationFrame(() => performance.measure("judged", { start: started, end: performance.now() }));
  });
}

const grade = (value, event, doc) =>
  judge(() => {
    const judged = doc || cursor;
    if (!about.grades.includes(value)) throw new Error(`The grades are ${about.grades.join(" ")}.`);
    return judged ? { kind: "grade", docs: [judged], grade: value } : null;
  }, event.timeStamp);

const skip = (event) =>
  judge(() => {
    const docs = pairs ? view.task && view.task.docs : cursor && [cursor];
    return docs ? { kind: "skip", docs } : null;
  }, event.timeStamp);

const compare = (kind, swapped, event) =>
  judge(() => {
    if (!view.task || view.task.docs.length !== 2) return null;
    return { kind, docs: swapped ? [...view.task.docs].reverse() : view.task.docs };
  }, event.timeStamp);

const undo = (entry) =>
  queue(async () => {
    take(await ask("undo", settings({ entry })));
  });

function move(by) {
  if (pairs || !view || !view.docs) return;
  const at = view.docs.findIndex((one) => one.doc === cursor);
  const to = Math.max(0, Math.min(view.docs.length - 1, at < 0 ? 0 : at + by));
  cursor = view.docs[to].doc;
  draw();
}

const toggle = (what) =>
  queue(async () => {
    const chosen = { pairs, blind, [what]: !(what === "pairs" ? pairs : blind) };
    const found = await ask("next", settings(chosen));
    ({ pairs, blind } = chosen);
    for (const one of ["pairs", "blind"]) $(one).setAttribute("aria-pressed", chosen[one]);
    take(found);
  });

// The quality comes later, and other tabs judge as well.
function watch(after) {
  clearTimeout(watching);
  watching = setTimeout(() => {
    queue(async () => {
      state = await ask("state", {});
      if (view && view.version !== state.version) take(await ask("next", settings({})));
      drawState();
    }, answered).then(() => watch(state && state.measured === state.version ? WATCH : WAIT));
  }, after);
}

function draw() {
  document.body.dataset.version = view.version;
  $("query").value = view.query === undefined ? "" : view.query;
  const done = view.done || view.query === undefined;
  $("work").replaceChildren(
    ...(done ? [el("p", {}, "Everything is judged.")] : [context(), pairs ? cards() : list()]),
  );
  const counts = view.counts || {};
  $("said").replaceChildren(
    `${counts.grades || 0} grades, ${counts.pairs || 0} pairs, ${counts.random || 0} of them drawn at random. `,
    hint(),
  );
  drawWhy();
  const current = document.querySelector('[aria-current="true"]');
  if (current) current.scrollIntoView({ block: "nearest" });
}

function hint() {
  if (!view.task) return view.done ? "u undoes the last judgment." : "Press n for the next query.";
  if (pairs) return "← left is better, → right is better, = equally good, s skip.";
  return `Keys ${about.grades.join(" ")} grade, ↑ ↓ move, s skip.`;
}

function context() {
  const entries = Object.entries(view.context || {});
  return el("p", { class: "context" }, entries.map(([field, value], k) => [k ? " · " : "", field, ": ", visible(value)]));
}

// The first column is the title, if there is one; the others are text below it.
function contents(one) {
  const [title, ...others] = Object.entries(one.shown);
  const head = title === undefined ? one.doc : title[1];
  const rest = others.map(([field, value]) => `${field}: ${value}`).join(" · ");
  return [
    el("div", { class: "title", title: visible(one.doc) }, visible(head)),
    rest ? el("div", { class: "text" }, visible(rest)) : null,
  ];
}

function list() {
  const asked = view.task && view.task.docs[0];
  const left = view.n_docs - view.docs.length;
  return el("div", {}, el("ol", { class: "docs" }, view.docs.map((one) =>
    el("li", { "aria-current": one.doc === cursor ? "true" : null, onclick: () => { cursor = one.doc; draw(); } },
      el("div", { class: "rank" }, blind ? "" : String(one.rank), moved(one)),
      el("div", {}, contents(one), one.doc === asked ? el("div", { class: "asked" }, REASONS[view.task.reason]) : null,
        one.skipped ? el("div", { class: "asked" }, "skipped") : null),
      el("div", { class: "grades", role: "group", "aria-label": "Grade" }, about.grades.map((value) =>
        el("button", {
          "aria-pressed": one.grade === value ? "true" : "false", tabindex: "-1",
          onclick: (event) => { event.stopPropagation(); grade(value, event, one.doc); },
        }, String(value))), mean(one))))),
    left ? note(`${counted(left, "more document is", "more documents are")} not shown.`) : null);
}

// The mean of several raters may lie between grades.
function mean(one) {
  return one.grade === null || about.grades.includes(one.grade) ? null : el("span", {}, number(one.grade, 2));
}

function moved(one) {
  if (!one.moved) return null;
  const way = one.moved > 0 ? "up" : "down";
  return el("span", { class: `moved ${way}` }, ARROWS[way] + Math.abs(one.moved));
}

function cards() {
  if (!view.task) return el("p", {}, "No pair of this query comes next.");
  const docs = view.task.docs.map((doc) => view.docs.find((one) => one.doc === doc));
  return el("div", {},
    el("div", { class: "cards" }, docs.map((one, k) =>
      el("button", { class: "card", onclick: (event) => compare("above", k === 1, event) },
        el("kbd", {}, k ? "→" : "←"), contents(one)))),
    el("div", { class: "between" },
      el("button", { onclick: (event) => compare("same", false, event) }, el("kbd", {}, "="), " Equally good"),
      el("button", { onclick: (event) => skip(event) }, el("kbd", {}, "s"), " Skip"),
      el("span", { class: "asked" }, REASONS[view.task.reason])),
    blind ? null : list_of_order());
}

function list_of_order() {
  return el("ol", { class: "docs" }, view.docs.slice(0, 20).map((one) =>
    el("li", {}, el("div", { class: "rank" }, String(one.rank), moved(one)), el("div", {}, contents(one)))));
}

function drawWhy() {
  const why = view.why || [];
  const rows = why.map((one) =>
    el("tr", {}, el("td", { title: visible(one.column) }, visible(one.column)),
      el("td", {}, signed(one.before, 3)), el("td", {}, signed(one.after, 3))));
  const head = el("tr", {}, ["Column", "before", "now"].map((text) => el("th", { scope: "col" }, text)));
  $("why").replaceChildren(
    el("h2", {}, "What changed"),
    rows.length
      ? el("table", {}, el("thead", {}, head), el("tbody", {}, rows))
      : note(blind ? "Hidden while judging blind." : "How far each column moves these documents apart, once it changes."),
  );
}

function drawState() {
  const found = state.quality;
  const percent = (value) => number(100 * value, 1) + " %";
  $("quality").replaceChildren(
    el("h2", {}, "Quality"),
    found === null
      ? note(about.reserved ? "Not known until documents of a query drawn at random differ." : "Needs at least four queries.")
      : el("p", {}, `${percent(found.mean)} of pairs in the right order`,
          found.margin === null ? "" : ` ± ${percent(found.margin)}`,
          `, on ${counted(found.n_queries, "left-out query", "left-out queries")} drawn at random`,
          found.margin === null ? ", too few to say how sure that is." : "."),
  );
  $("past").replaceChildren(
    el("h2", {}, "Past judgments"),
    el("ul", { class: "entries" }, state.entries.map(past),
      state.more ? el("li", {}, el("button", { onclick: more }, "Earlier ones")) : null),
  );
}

function past(one) {
  const what = { grade: `${one.docs[0]}: ${one.grade}`, above: one.docs.join(" > "), same: one.docs.join(" = "),
    skip: `${one.docs.join(", ")}: skipped`, undo: `undone: ${one.undone}` }[one.kind];
  const title = `${one.number}, ${one.rater}, ${one.time}, ${one.query === null ? "" : one.query}`;
  return el("li", { class: one.kind !== "undo" && !one.counts ? "undone" : "" },
    el("span", { title: visible(title) }, `${one.number} `, visible(what)),
    one.counts ? el("button", { onclick: () => undo(one.number) }, "undo") : null);
}

function more() {
  const before = state.entries.at(-1).number;
  queue(async () => {
    const earlier = await ask("state", { before });
    state = { ...state, entries: [...state.entries, ...earlier.entries], more: earlier.more };
    drawState();
  });
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === $("query") || !view) return;
  const key = event.key;
  if (event.repeat && !MOVES.has(key)) return; // a key that is held down says one thing
  const acts = {
    ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
    ArrowLeft: () => pairs && compare("above", false, event), ArrowRight: () => pairs && compare("above", true, event),
    "=": () => pairs && compare("same", false, event), s: () => skip(event), u: () => undo(null),
    n: () => next({ other: true }), p: () => toggle("pairs"), b: () => toggle("blind"),
    "/": () => $("query").select(),
  };
  if (/^[0-9]$/.test(key) && !pairs) grade(Number(key), event);
  else if (Object.hasOwn(acts, key)) acts[key]();
  else return;
  event.preventDefault();
}

document.addEventListener("keydown", pressed);
$("next").addEventListener("click", () => next({ other: true }));
$("pairs").addEventListener("click", () => toggle("pairs"));
$("blind").addEventListener("click", () => toggle("blind"));
$("undo").addEventListener("click", () => undo(null));
$("query").addEventListener("keydown", (event) => {
  if (event.key === "Escape") event.target.value = view.query;
  if (event.key === "Escape" || event.key === "Enter") event.target.blur();
});
$("query").addEventListener("change", (event) => {
  const query = event.target.value;
  event.target.blur();
  event.target.value = view && view.query !== undefined ? view.query : "";
  if (query !== event.target.value) next({ query });
});

queue(async () => {
  about = await ask("about", {});
  document.title = `Judging as ${visible(about.rater)}`;
  $("queries").replaceChildren(...about.queries.slice(0, 2000).map((one) => el("option", { value: one })));
  take(await ask("next", settings({})));
});
