"""Judgments to check again: what an audit finds, compared with brute force and with falsified labels."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit

from command_line import done, folder, refused
from rankwise import (
    DataError,
    KernelRankRLSCV,
    ParameterError,
    RankingData,
    RankRLS,
    RankRLSCV,
    RankSVMCV,
    audit,
    make_search_data,
)
from rankwise.auditing.checks import fractions_ordered
from rankwise.auditing.suspects import MAX_LEVELS, contradicted_pairs, label_probabilities
from rankwise.cli import main
from rankwise.preferences.queries import group_rows
from rankwise.raters import Ratings
from stressed import KINDS, stressed

__all__ = ["done", "folder", "refused"]  # fixtures

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-8, 8)), min_size=1, max_size=24)


def columns(rows):
    query, y, score = np.array(rows).T
    return query, y.astype(float), score / 4.0


def tails_by_hand(log_odds, y, query):
    """For each row, the probabilities of a label at least as high, and of one at least as low."""
    at_least, at_most = np.ones((2, len(y)))
    for i in range(len(y)):
        own = query == query[i]

        def chance(above, own=own, i=i):
            """That row i is among the rows above a threshold, if as many are expected as there are."""
            excess = lambda c: expit(log_odds[own] + c).sum() - above[own].sum()  # noqa: E731
            return expit(log_odds[i] + brentq(excess, -60, 60)) if above[own].any() else 0.0

        at_least[i] = chance(y >= y[i]) if (y[own] < y[i]).any() else 1.0
        at_most[i] = 1.0 - chance(y > y[i])
    return at_least, at_most


@given(ROWS)
def test_the_probability_of_a_label_is_that_of_a_logistic_model_with_the_labels_of_the_query(rows):
    query, y, log_odds = columns(rows)
    at_least, at_most = tails_by_hand(log_odds, y, query)
    probability, too_high = label_probabilities(log_odds, y, group_rows(query, len(y)))
    np.testing.assert_allclose(probability, np.minimum(at_least, at_most), atol=1e-9)
    clear = np.abs(at_least - at_most) > 1e-9  # elsewhere, rounding decides
    assert (too_high == (at_least < at_most))[clear].all()


@given(ROWS, st.randoms(use_true_random=False))
def test_probabilities_depend_neither_on_the_order_of_rows_nor_on_an_offset_of_a_query(rows, random):
    query, y, log_odds = columns(rows)
    place = np.array(random.sample(range(len(y)), len(y)))
    offset = np.array([-3.0, 0.5, 7.0, 100.0])[query]
    one, _ = label_probabilities(log_odds, y, group_rows(query, len(y)))
    other, _ = label_probabilities(
        (log_odds + offset)[place], (y + offset)[place], group_rows(query[place], len(y))
    )
    np.testing.assert_allclose(other, one[place], atol=1e-9)


def test_real_valued_labels_are_put_into_bins():
    rng = np.random.default_rng(0)
    y = rng.normal(size=10 * MAX_LEVELS)
    probability, too_high = label_probabilities(3.0 * y, y, group_rows(None, len(y)))
    assert ((probability > 0.0) & (probability <= 1.0)).all()
    y[y.argmin()] = 10.0
    probability, too_high = label_probabilities(
        3.0 * np.where(y == 10.0, -3.0, y), y, group_rows(None, len(y))
    )
    assert probability.argmin() == y.argmax()
    assert too_high[y.argmax()]


@given(ROWS, st.integers(1, 6))
def test_the_pairs_are_the_worst_of_those_whose_rows_are_not_listed_yet(rows, n_pairs):
    query, y, score = columns(rows)
    n, used, expected = range(len(y)), set(), []
    while len(expected) < n_pairs:
        free = [
            score[i] - score[j]
            for i in n
            for j in n
            if query[i] == query[j] and y[i] > y[j] and score[i] < score[j] and not {i, j} & used
        ]
        if not free:
            break
        expected.append(min(free))
        found = contradicted_pairs(score, y, group_rows(query, len(y)), len(expected))
        i, j = found[-1]
        assert query[i] == query[j]
        assert y[i] > y[j]
        assert score[i] - score[j] == expected[-1]
        assert not {i, j} & used
        used |= {i, j}
    assert len(contradicted_pairs(score, y, group_rows(query, len(y)), n_pairs)) == len(expected)


@pytest.fixture(scope="module")
def data():
    return make_search_data(40, random_state=0).scale_per_query()


def falsified(data, n_rows, seed=0):
    rng = np.random.default_rng(seed)
    false = rng.choice(data.n_rows, n_rows, replace=False)
    y = data.y.copy()
    y[false] = np.where(y[false] >= 2, 0.0, 4.0)
    return y, set(false.tolist())


@pytest.mark.parametrize(
    "ranker",
    [None, KernelRankRLSCV([0.1, 1.0], gamma=0.1), RankSVMCV([1e-3, 1e-2])],
    ids=["default", "kernel", "svm"],
)
def test_falsified_labels_are_named_first(data, ranker):
    y, false = falsified(data, 30)
    found = audit(data.X, y, data.qid, ranker=ranker)
    named = [suspect.row for suspect in found.rows]
    assert len(set(named)) == len(named) == 20
    assert len(false & set(named)) >= 12  # one or two at random
    assert len([pair for pair in found.pairs if false & {pair.better_row, pair.worse_row}]) >= 12
    assert (np.diff([suspect.probability for suspect in found.rows]) >= 0).all()
    assert (np.diff([pair.probability for pair in found.pairs]) >= 0).all()


def test_findings_name_rows_by_the_labels_of_the_data(data):
    y, _ = falsified(data, 30)
    model = RankRLSCV().fit(data.X, y, data.qid)
    scores = model.left_out_scores_
    judged = RankingData.from_arrays(data.X, y, data.qid, data.docs)
    found = audit(judged, n_suspects=5)
    assert len(found.rows) == len(found.pairs) == 5
    for suspect in found.rows:
        row = suspect.row
        assert (suspect.query, suspect.doc) == (data.qid[row], data.docs[row])
        assert (suspect.label, suspect.score) == (y[row], scores[row])
        assert suspect.judged == ("too high" if y[row] >= 2 else "too low")
    for pair in found.pairs:
        better, worse = pair.better_row, pair.worse_row
        assert pair.query == data.qid[better] == data.qid[worse]
        assert (pair.better_doc, pair.worse_doc) == (data.docs[better], data.docs[worse])
        assert (pair.better_label, pair.worse_label) == (y[better], y[worse])
        assert (pair.better_score, pair.worse_score) == (scores[better], scores[worse])
        assert pair.probability == pytest.approx(
            float(model.calibration_.probability(scores[better] - scores[worse]))
        )


def test_what_needs_no_model_is_found_as_well(data):
    X, y, qid = data.X.copy(), data.y.copy(), data.qid.copy()
    rows = np.flatnonzero(qid == qid[0])
    X[rows[3]], y[rows[1]], y[rows[3]] = X[rows[1]], 0.0, 3.0
    X[:, 2] = data.queries.query_of_row()  # differs between queries only
    y[qid == qid[-1]] = 1.0
    X[:, 4] = -y + 1e-3 * np.random.default_rng(0).normal(size=len(y))
    X[rows[3], 4] = X[rows[1], 4]
    names = [f"f{k}" for k in range(X.shape[1])]
    found = audit(RankingData.from_arrays(X, y, qid, feature_names=names))
    (duplicate,) = found.duplicates
    assert (duplicate.query, duplicate.row, duplicate.label) == (qid[0], rows[3], 3.0)
    assert (duplicate.same_row, duplicate.same_label) == (rows[1], 0.0)
    (empty,) = [query for query in found.empty_queries if query.query == qid[-1]]
    assert (empty.rows, empty.label) == ((qid == qid[-1]).sum(), 1.0)
    tied = sum(len(set(y[qid == query])) == 1 for query in np.unique(qid))
    assert len(found.empty_queries) == tied
    assert "f2" in found.constant_features
    (revealing,) = found.revealing_features
    assert (revealing.feature, revealing.order) == ("f4", "lower is better")
    assert 0.99 < revealing.pairs_ordered < 1.0


@given(st.integers(0, 1000), st.sampled_from([0.5, 0.6, 0.8, 0.99, 1.0]))
def test_features_of_sparse_data_give_away_what_those_of_dense_data_do(seed, at_least):
    rng = np.random.default_rng(seed)
    query, y = rng.integers(0, 3, 20), rng.integers(0, 3, 20).astype(float)
    X = rng.integers(-2, 3, (20, 6)) * (rng.random((20, 6)) < rng.random(6)).astype(float)
    X[:, 0] = y
    X[:, 1] = y == 2
    if not any(len(set(y[query == q])) > 1 for q in query):
        return
    dense, csr = (
        fractions_ordered(RankingData.from_arrays(form, y, query), at_least)
        for form in (X, sparse.csr_matrix(X))
    )
    assert dense == csr
    n = range(20)
    pairs = [(i, j) for i in n for j in n if query[i] == query[j] and y[i] > y[j]]
    for feature in range(6):
        share = np.mean([np.heaviside(X[i, feature] - X[j, feature], 0.5) for i, j in pairs])
        if max(share, 1 - share) > at_least + 1e-9:
            assert dense[feature] == pytest.approx(share if share >= 0.5 else share - 1)
        elif max(share, 1 - share) < at_least - 1e-9:
            assert feature not in dense


def test_one_ranking_is_compared_within_folds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X @ [1.0, 1.0, 0.0] + 0.3 * rng.normal(size=200), [-1, 1]).astype(float)
    wrong = int((X @ [1.0, 1.0, 0.0]).argmin())
    y[wrong] = 2.0
    found = audit(X, y)
    assert found.rows[0].row == wrong
    assert found.rows[0].query is None
    assert found.pairs[0].better_row == wrong
    assert found.calibration.source == "5 folds of rows"


def test_the_ranker_is_not_changed(data):
    ranker = RankRLSCV([1.0])
    audit(data, ranker=ranker)
    assert not hasattr(ranker, "coef_")


def test_scores_without_differences_contradict_nothing():
    X, y, qid = np.ones((15, 2)), np.tile([0.0, 0.0, 1.0, 0.0, 0.0], 3), np.repeat(np.arange(3), 5)
    found = audit(X, y, qid)
    assert found.calibration is None
    assert (found.rows, found.pairs) == ((), ())
    assert len(found.duplicates) == 3
    assert len(found.constant_features) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_stressed_data_can_be_audited_in_any_order(kind):
    X, y, qid = stressed(kind)
    order = np.random.default_rng(0).permutation(len(y))
    one, other = audit(X, y, qid), audit(X[order], y[order], qid[order])
    assert one.rows
    assert all(0.0 < suspect.probability < 0.5 for suspect in (*one.rows, *one.pairs))
    same = [(suspect.row, suspect.judged, round(suspect.probability, 6)) for suspect in one.rows]
    assert sorted((order[s.row], s.judged, round(s.probability, 6)) for s in other.rows) == sorted(same)
    assert {s.query for s in one.empty_queries} == {s.query for s in other.empty_queries}
    assert one.constant_features == other.constant_features
    if kind == "one-row and tied queries":
        assert {s.query for s in one.empty_queries} == {1, 10, 11, 12}
    if kind == "constant columns":
        assert one.constant_features == ("x1", "x2")
    if kind == "repeated rows":
        assert one.duplicates


def test_columns_of_any_kind_are_audited_as_the_features_they_become(data, done, tmp_path):
    y, false = falsified(data, 30)
    frame = pd.DataFrame(data.X[:, :3], columns=["bm25", "clicks", "rating"]).assign(shop="a", grade=y)
    frame.loc[::7, "bm25"] = np.nan
    frame.loc[1::2, "shop"] = "b"
    ranker = RankRLSCV(columns="auto")
    found = audit(frame, y, data.qid, ranker=ranker)
    assert [feature.feature for feature in found.revealing_features] == ["log(grade)"]
    scores = RankRLSCV(columns="auto").fit(frame, y, data.qid).left_out_scores_
    assert [suspect.score for suspect in found.rows] == scores[
        [suspect.row for suspect in found.rows]
    ].tolist()
    judged = RankingData.from_frame(
        frame.assign(label=y, qid=data.qid), label="label", qid="qid", as_table=True
    )
    assert audit(judged).to_dict() == audit(judged, ranker=ranker).to_dict()
    assert ranker.columns == "auto"
    frame.assign(label=y, qid=data.qid).to_csv(tmp_path / "rows.csv", index=False)
    shown = done("audit", tmp_path / "rows.csv", "--columns", "auto", "--exclude", "grade", "--json")
    assert {suspect["row"] for suspect in json.loads(shown)["rows"]} & false


def test_an_audit_reads_as_tables(data):
    found = audit(data, n_suspects=3)
    assert str(found).startswith("Rows to judge again\nquery")
    assert found._repr_html_().count("<table>") == len(found.tables())
    assert f"rows: {data.n_rows:,}" in repr(found)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["rows"][0]["row"] == found.rows[0].row
    assert plain["calibration"]["source"] == "leave-query-out"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": None}, "audit needs the labels y"),
        ({"n_suspects": 0}, "'n_suspects'"),
        ({"reveals": 1.5}, "'reveals'"),
        ({"ranker": RankRLS()}, "'ranker' parameter must be a ranker that leaves out queries"),
        ({"ranker": RankRLSCV}, "'ranker' parameter must be a ranker that leaves out queries"),
        ({"y": [1.0] * 8}, "nothing to learn"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_a_sentence(arguments, message):
    X = np.arange(16.0).reshape(8, 2)
    given_ = {"y": np.tile([0.0, 1.0], 4), "qid": np.repeat([0, 1], 4)} | arguments
    with pytest.raises((DataError, ParameterError), match=message):
        audit(X, given_.pop("y"), given_.pop("qid"), **given_)


def test_the_command_lists_and_writes_what_it_finds(done, folder, tmp_path):
    found = json.loads(done("audit", "train.txt.gz", "--scale", "--count", "7", "--json"))
    assert len(found["rows"]) == 7
    shown = done("audit", "train.txt.gz", "--scale", "--count", "7", "--csv", tmp_path / "rows.csv")
    assert "Rows to judge again" in shown
    assert shown.endswith(f"Written to {tmp_path / 'rows.csv'}\n")
    header, *lines = (tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()
    assert header == "qid,doc,label,row,score,judged,probability"
    assert len(lines) == 7
    assert lines[0].startswith(f"{found['rows'][0]['query']},{found['rows'][0]['doc']},")


def test_the_command_refuses_labels_without_pairs(refused, capsys, tmp_path):
    path = tmp_path / "tied.txt"
    path.write_text("".join(f"1 qid:{k // 3} 1:{k}\n" for k in range(9)), encoding="utf-8")
    assert main(["audit", str(path)]) == 1
    assert "There is nothing to learn" in capsys.readouterr().out
    assert "--learner" in refused("audit", path, "--learner", "trees", code=2)
    assert "--reveals" in refused("audit", path, "--reveals", "7", code=2)


def rated(seed=0, wrong=0.1):
    """Rows with three raters each, and which of their judgments are wrong."""
    rng = np.random.default_rng(seed)
    data = make_search_data(60, random_state=seed).scale_per_query()
    data = replace(data, docs=np.arange(data.n_rows))
    grades = np.clip(
        np.round(data.y[:, None] + [0.4, 0.0, -0.4] + rng.normal(size=(data.n_rows, 3)) * 0.4), 0, 4
    )
    is_wrong = rng.random(grades.shape) < wrong
    grades = np.where(is_wrong, (grades + rng.integers(1, 5, grades.shape)) % 5, grades)
    row, rater = (index.ravel() for index in np.indices(grades.shape))
    names = np.array(["ann", "bob", "cy"])[rater]
    return data, Ratings.from_arrays(data.qid[row], data.docs[row], grades.ravel(), names), is_wrong


def test_disagreement_and_features_together_find_more_wrong_judgments_than_either_alone():
    data, ratings, is_wrong = rated()
    found = audit(data, ratings=ratings, n_suspects=100)
    named = [(one.doc, "abc".index(one.rater[0])) for one in found.judgments]
    hits = np.mean([is_wrong[doc, rater] for doc, rater in named])
    spread = np.argsort(-ratings.grade.reshape(-1, 3).std(axis=1), kind="stable")[:100]
    by_spread = is_wrong[spread].any(axis=1).mean()
    plain = audit(replace(data, y=np.round(ratings.grade.reshape(-1, 3).mean(axis=1))), n_suspects=100)
    by_scores = is_wrong[[row.row for row in plain.rows]].any(axis=1).mean()
    assert hits >= by_spread
    assert hits > by_scores + 0.1
    assert hits > 0.9
    one = found.to_dict()["judgments"][0]
    assert one["query"] in data.queries.labels
    assert "Judgments to check again" in str(found)


def test_a_file_with_raters_is_audited_judgment_by_judgment(done, refused, tmp_path):
    data, ratings, _ = rated()
    judged = tmp_path / "judged.csv"
    lines = [
        f"{ratings.qid[d]},{ratings.docs[d]},{g:g},{ratings.raters[r]}"
        for d, g, r in zip(ratings.document, ratings.grade, ratings.rater, strict=True)
    ]
    judged.write_text("\n".join(["qid,doc,label,rater", *lines]) + "\n", encoding="utf-8")
    table = pd.DataFrame(data.X, columns=[f"f{k}" for k in range(data.n_features)])
    table.assign(qid=data.qid, doc=data.docs).to_csv(tmp_path / "features.csv", index=False)
    arguments = ["audit", tmp_path / "features.csv", "--doc", "doc", "--judgments", judged]
    found = json.loads(done(*arguments, "--json"))
    assert len(found["judgments"]) == 20
    judged.write_text("qid,doc,label,rater\n1,nowhere,1,ann\n1,nowhere,2,bob\n", encoding="utf-8")
    assert "(the first: query '1', document 'nowhere')" in refused(*arguments, code=1)
