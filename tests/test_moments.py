"""Moments of parts add up to those of the whole, whatever the parts, and give the model of a fit."""

import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import rankwise
from all_pairs import pair_laplacian
from rankwise import DataError, Moments, ParameterError, QuerySizes, RankRLS
from sixty_digits import exact, rounded
from stressed import KINDS, pair_weights, pairs_of, stressed

LOSSES = list(product(["keep", "drop"], ["example", "pair", "query"]))


def weights_of(y, weighted, seed=0):
    return np.random.default_rng(seed).uniform(1.0, 3.0, len(y)) if weighted else None


def in_parts(X, y, qid, weight, part, sizes=None, **options):
    """The moments of rows whose queries are cut across parts."""
    total = None
    for number in np.random.default_rng(1).permutation(np.unique(part)):
        rows = np.flatnonzero(part == number)
        own = None if weight is None else weight[rows]
        one = Moments.of(X[rows], y[rows], qid[rows], own, open_queries=True, sizes=sizes, **options)
        total = one if total is None else total + one
    return total.close()


def same(ours, theirs, tolerance=1e-12):
    scale = np.abs(theirs.A).max()
    np.testing.assert_allclose(ours.A, theirs.A, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(ours.b, theirs.b, rtol=0, atol=tolerance * np.sqrt(scale * theirs.yLy))
    np.testing.assert_allclose(ours.yLy, theirs.yLy, rtol=tolerance)
    assert (ours.n_rows, ours.n_queries, ours.n_pairs) == (theirs.n_rows, theirs.n_queries, theirs.n_pairs)
    assert set(ours.learned.contents) == set(theirs.learned.contents)


@pytest.mark.parametrize(("ties", "weighting"), LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_those_of_all_pairs(ties, weighting, weighted):
    X, y, qid = stressed("one-row and tied queries")
    weight = weights_of(y, weighted)
    made = Moments.of(X, y, qid, weight, ties=ties, weighting=weighting)
    L = pair_laplacian(y, qid, ties=ties, weighting=weighting, weight=weight)
    np.testing.assert_allclose(made.A, X.T @ L @ X, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(made.b, X.T @ L @ y, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(made.yLy, y @ L @ y, rtol=1e-12)
    together = [(i, j) for i in range(len(y)) for j in range(i) if qid[i] == qid[j]]
    assert made.n_pairs == sum(ties == "keep" or y[i] != y[j] for i, j in together)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("told", [False, True])
def test_queries_cut_across_parts_give_the_moments_of_the_whole(kind, told):
    X, y, qid = stressed(kind)
    part = np.random.default_rng(3).integers(0, 5, len(y))
    for (ties, weighting), weighted in product(LOSSES, [False, True]):
        weight = weights_of(y, weighted)
        whole = Moments.of(X, y, qid, weight, ties=ties, weighting=weighting)
        sizes = QuerySizes.of(y, qid, weight) if told else None
        ours = in_parts(X, y, qid, weight, part, sizes, ties=ties, weighting=weighting)
        assert (
            np.linalg.norm(ours.A - whole.A, 2) <= ours.quadratic.matrix_error + whole.quadratic.matrix_error
        )
        assert np.linalg.norm(ours.b - whole.b) <= ours.quadratic.right_error + whole.quadratic.right_error
        # A row is known to its last bit only, and 1e9 leaves seven digits of a difference.
        same(ours, whole, 1e-12 if kind != "offset 1e9" else 1e-11)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=24, max_size=24), st.sampled_from(LOSSES), st.booleans())
def test_any_split_gives_the_same_model(part, loss, told):
    X, y, qid = stressed("integers")
    ties, weighting = loss
    sizes = QuerySizes.of(y, qid) if told else None
    ours = in_parts(X, y, qid, None, np.array(part), sizes, ties=ties, weighting=weighting)
    fitted = RankRLS(0.1, ties=ties, weighting=weighting, solver="primal").fit(X, y, qid)
    np.testing.assert_allclose(RankRLS.from_moments(ours, 0.1).coef_, fitted.coef_, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    "kind", ["offset 1e6", "offset 1e9", "float32", "dominating query", "scales", "sparse"]
)
def test_the_bounds_on_rounding_errors_hold(kind):
    X, y, qid = stressed(kind)
    made = Moments.of(X, y, qid)
    rows, (i, j) = exact(X), pairs_of(y, qid)
    weighted = pair_weights(y, qid, "keep", "example")[:, None] * (rows[i] - rows[j])
    off = rounded(exact(made.A) - weighted.T @ (rows[i] - rows[j]))
    assert 0.0 < np.linalg.norm(off, 2) <= made.quadratic.matrix_error <= 1e-10 * np.linalg.norm(made.A, 2)
    off = rounded(exact(made.b) - weighted.T @ exact(y[i] - y[j]))
    assert np.linalg.norm(off) <= made.quadratic.right_error


@pytest.mark.parametrize("kind", ["plain", "sparse", "float32"])
def test_storage_does_not_matter(kind, tmp_path):
    X, y, qid = stressed(kind)
    data = rankwise.RankingData.from_arrays(X, y, qid)
    rankwise.save_store(data, tmp_path / "rows.store")
    expected = Moments.of(X, y, qid)
    for other in (X.toarray() if sparse.issparse(X) else sparse.csr_array(X), data.X.astype(np.float64)):
        same(Moments.of(other, y, qid), expected)
    same(Moments.of(rankwise.open_store(tmp_path / "rows.store")), expected, 0.0)
    order = np.random.default_rng(0).permutation(len(y))
    same(Moments.of(X[order], y[order], qid[order]), expected)


@pytest.mark.parametrize("kind", ["plain", "sparse"])
@pytest.mark.parametrize("options", [{}, {"ties": "drop", "weighting": "query"}])
def test_a_store_is_read_in_batches_of_whole_queries(kind, options, tmp_path, monkeypatch):
    X, y, qid = stressed(kind)
    order = np.argsort(qid, kind="stable")
    data = rankwise.RankingData.from_arrays(X[order], y[order], qid[order])
    rankwise.save_store(data, tmp_path / "rows.store")
    monkeypatch.setattr("rankwise.ridge.moments.forming.BATCH_BYTES", 8 * X.shape[1] * 11)
    weight, factor = weights_of(y, True), np.arange(1.0, 6.0)
    stored = rankwise.open_store(tmp_path / "rows.store")
    for more in ({}, {"sample_weight": weight, "query_weight": factor}):
        same(Moments.of(stored, **more, **options), Moments.of(data, **more, **options))


def test_a_store_must_hold_finite_numbers(tmp_path):
    X, y, qid = stressed("plain")
    rankwise.save_store(rankwise.RankingData.from_arrays(X, y, qid), tmp_path / "rows.store")
    values = np.lib.format.open_memmap(tmp_path / "rows.store" / "X.npy", mode="r+")
    values[3, 1] = np.nan
    values.flush()
    for more in ({}, {"open_queries": True}):
        with pytest.raises(DataError, match="NaN or infinity"):
            Moments.of(rankwise.open_store(tmp_path / "rows.store"), **more)


def test_a_frame_gives_its_names():
    pandas = pytest.importorskip("pandas")
    X, y, qid = stressed("plain")
    made = Moments.of(pandas.DataFrame(X, columns=list("abcd")), y, qid)
    assert made.feature_names == ("a", "b", "c", "d")
    assert RankRLS.from_moments(made).feature_names_in_.tolist() == list("abcd")


def test_a_part_may_hold_complete_and_open_queries():
    X, y, qid = stressed("plain")
    late = (qid == 2) & (np.arange(len(y)) > 12)
    first = Moments.of(X[~late], y[~late], qid[~late], open_queries=[2], weighting="pair")
    assert len(first.open_queries) == 1
    second = Moments.of(X[late], y[late], qid[late], open_queries=True, weighting="pair")
    same((first + second).close(), Moments.of(X, y, qid, weighting="pair"))


@pytest.mark.parametrize(("ties", "weighting"), LOSSES)
def test_sizes_may_be_told_for_some_queries_only(ties, weighting):
    X, y, qid = stressed("plain")
    options = {"ties": ties, "weighting": weighting}
    total, early = None, np.arange(len(y)) < 12
    for rows, told in product((early, ~early), (True, False)):
        some = rows & ((qid < 2) == told)
        sizes = QuerySizes.of(y, qid) if told else None
        part = Moments.of(X[some], y[some], qid[some], open_queries=True, sizes=sizes, **options)
        total = part if total is None else total + part
    same(total.close(leave_open=[3, 4]).close(), Moments.of(X, y, qid, **options))


def test_sizes_told_for_one_part_of_a_query_and_not_for_another_are_refused():
    X, y, qid = stressed("plain")
    told = Moments.of(X[:12], y[:12], qid[:12], sizes=QuerySizes.of(y, qid))
    with pytest.raises(DataError, match=r"The size of query \d was given for one part, but not for another"):
        told + Moments.of(X[12:], y[12:], qid[12:], open_queries=True)


@pytest.mark.parametrize("ties", ["keep", "drop"])
def test_merging_and_closing_make_no_calls_per_query(ties):
    def n_calls(n_queries):
        rng = np.random.default_rng(0)
        qid, y = np.tile(np.arange(n_queries), 6), np.repeat([0.0, 1.0, 2.0, 0.0, 1.0, 3.0], n_queries)
        X, half, sizes = rng.normal(size=(len(y), 3)), len(y) // 2, QuerySizes.of(y, qid)
        first, second = (
            Moments.of(X[rows], y[rows], qid[rows], ties=ties, sizes=sizes)
            for rows in (slice(half), slice(half, None))
        )
        calls = []
        sys.setprofile(lambda _frame, event, _arg: calls.append(event))
        try:
            (first + second).close()
        finally:
            sys.setprofile(None)
        return sum(event.endswith("call") for event in calls)

    assert n_calls(500) == n_calls(5)


def test_subtraction_undoes_addition():
    X, y, qid = stressed("plain")
    some = qid < 2
    whole, part = Moments.of(X, y, qid), Moments.of(X[some], y[some], qid[some])
    same(whole - part, Moments.of(X[~some], y[~some], qid[~some]))


def test_rounding_errors_of_all_that_was_added_or_subtracted_stay():
    X, y, qid = stressed("plain")
    some = qid < 2
    part, rest = (Moments.of(X[rows], y[rows], qid[rows]) for rows in (some, ~some))
    added = (part.quadratic.rounding + rest.quadratic.rounding).copy()
    whole = part + rest
    assert (whole.quadratic.rounding > added).all()
    assert ((whole - part).quadratic.rounding > added + part.quadratic.rounding).all()
    assert (0.5 * whole).quadratic.rounding == pytest.approx(0.5 * whole.quadratic.rounding, rel=0.1)


def test_a_factor_weights_the_queries():
    X, y, qid = stressed("plain")
    made = 0.25 * Moments.of(X, y, qid, ties="drop")
    model = RankRLS(ties="drop").fit(X, y, qid, query_weight=np.full(5, 0.25))
    np.testing.assert_allclose(RankRLS.from_moments(made).coef_, model.coef_, rtol=1e-12)


def test_a_factor_also_weights_open_queries():
    X, y, qid = stressed("plain")
    early = np.arange(len(y)) < 12
    for ties, weighting in LOSSES:
        options = {"ties": ties, "weighting": weighting, "open_queries": True}
        halves = [Moments.of(X[half], y[half], qid[half], **options) * 0.5 for half in (early, ~early)]
        expected = Moments.of(X, y, qid, ties=ties, weighting=weighting) * 0.5
        same((halves[0] + halves[1]).close(), expected)


def test_the_loss_of_weights_is_that_of_the_pairs():
    X, y, qid = stressed("plain")
    w = np.array([1.0, -1.0, 0.5, 2.0])
    L = pair_laplacian(y, qid)
    np.testing.assert_allclose(Moments.of(X, y, qid).loss(w), (X @ w - y) @ L @ (X @ w - y))


@pytest.mark.parametrize("told", [False, True])
def test_files_hold_moments_with_open_queries(told, tmp_path):
    X, y, qid = stressed("plain")
    early = np.arange(len(y)) < 12
    for ties, weighting in LOSSES:
        sizes = QuerySizes.of(y, qid) if told else None
        options = {"ties": ties, "weighting": weighting, "open_queries": True, "sizes": sizes}
        halves = [Moments.of(X[half], y[half], qid[half], **options) for half in (early, ~early)]
        halves[0].save(tmp_path / "half")
        loaded = Moments.load(tmp_path / "half")
        same((loaded + halves[1]).close(), (halves[0] + halves[1]).close(), 0.0)
        assert loaded.quadratic.matrix_error == halves[0].quadratic.matrix_error


def test_files_hold_the_sizes_of_levels_without_weight(tmp_path):
    X, y, qid = stressed("plain")
    weight = np.where(y == y.max(), 0.0, 1.0)
    early = np.arange(len(y)) < 12
    options = {"ties": "drop", "open_queries": True, "sizes": QuerySizes.of(y, qid, weight)}
    half, rest = (
        Moments.of(X[part], y[part], qid[part], weight[part], **options) for part in (early, ~early)
    )
    half.save(tmp_path / "half")
    same((Moments.load(tmp_path / "half") + rest).close(), (half + rest).close(), 0.0)


def moments(**options):
    X, y, qid = stressed("plain")
    return Moments.of(X, y, qid, **options)


@pytest.mark.parametrize(
    ("ours", "theirs", "message"),
    [
        ({}, {"ties": "drop"}, "Moments with ties='keep' and ties='drop' cannot be combined"),
        ({}, {"weighting": "pair"}, "weighting='example' and weighting='pair' cannot be combined"),
        ({}, {}, "5 of the queries are in both moments and would count twice"),
        (
            {},
            {"open_queries": True},
            r"Query \d, \d, \d, \.\.\. is already complete and accepts",
        ),
        (
            {"open_queries": True},
            {"open_queries": True, "query_weight": np.full(5, 2.0)},
            "has the weight 1 in one part and 2 in another",
        ),
    ],
)
def test_moments_that_do_not_belong_together_are_refused(ours, theirs, message):
    with pytest.raises(DataError, match=message):
        moments(**ours) + moments(**theirs)


def test_moments_of_other_features_are_refused():
    X, y, qid = stressed("plain")
    with pytest.raises(DataError, match="Moments of 4 and of 3 features cannot be combined"):
        moments() + Moments.of(X[:, :3], y, qid + 10)
    pandas = pytest.importorskip("pandas")
    a, b = (pandas.DataFrame(X, columns=list(names)) for names in ("abcd", "abdc"))
    with pytest.raises(DataError, match="the other has them in another order"):
        Moments.of(a, y, qid) + Moments.of(b, y, qid + 10)


def test_a_query_never_completed_is_noticed():
    X, y, qid = stressed("plain")
    sizes = QuerySizes.of(y, qid)
    rest = np.arange(len(y)) > 0
    part = Moments.of(X[rest], y[rest], qid[rest], sizes=sizes, weighting="pair")
    with pytest.raises(DataError, match=r"Query \d is not complete: its rows should weigh 5 in total"):
        part.close()
    with pytest.raises(DataError, match="is still open; add its remaining rows"):
        RankRLS.from_moments(part)
    with pytest.raises(DataError, match="The sizes do not include query 8"):
        Moments.of(X, y, qid + 7, sizes=sizes)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"open_queries": "all"}, ParameterError, "must be True, False or a collection of labels; got 'all'"),
        ({"open_queries": [77]}, DataError, "The data has no query 77 that could be open"),
        ({"sizes": {1: 2}}, ParameterError, "The 'sizes' parameter must be QuerySizes; got dict"),
        ({"query_weight": [1.0]}, DataError, r"query_weight must have shape \(5,\)"),
        ({"query_weight": {0: 1.0}}, DataError, "query_weight has no weight for query 1"),
        (
            {"query_weight": np.zeros(5)},
            DataError,
            "query_weight must be finite and above 0; query 0 has 0.0",
        ),
        ({"ties": "maybe"}, ParameterError, "The 'ties' parameter must be one of 'keep', 'drop'"),
    ],
)
def test_bad_options_are_named(options, error, message):
    with pytest.raises(error, match=message):
        moments(**options)


def test_weights_for_which_pairs_cannot_be_counted_name_the_query():
    X, y, qid = stressed("plain")
    weight = np.where(qid == 3, 0.1, 1.0)
    sizes = QuerySizes.of(y, qid, weight)
    for more in ({}, {"open_queries": True}, {"sizes": sizes}):
        with pytest.raises(DataError, match=r"those of query 3 sum to 0\.5"):
            Moments.of(X, y, qid, weight, weighting="query", **more).close()


def test_parts_of_a_ranking_without_a_label_are_refused():
    X, y, _ = stressed("plain")
    with pytest.raises(DataError, match="Rows without a qid form one complete ranking"):
        Moments.of(X, y, open_queries=True)
    with pytest.raises(ParameterError, match=r"Moments\.of needs y unless X is a RankingData"):
        Moments.of(X)
    for factor in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ParameterError, match="finite number above 0"):
            moments() * factor


@pytest.mark.parametrize("name", ["triangle", "right", "weights", "rounding", "contents"])
def test_a_file_that_was_tampered_with_is_refused(name, tmp_path):
    from safetensors import safe_open
    from safetensors.numpy import save_file

    moments().save(tmp_path / "moments")
    with safe_open(tmp_path / "moments", "numpy") as file:
        metadata = file.metadata()
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    tensors[f"moments.{name}"].reshape(-1)[0] += 1
    save_file(tensors, tmp_path / "moments", metadata)
    with pytest.raises(DataError, match="moments do not match their checksum"):
        Moments.load(tmp_path / "moments")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda A, b: (A - 1e3 * np.eye(len(A)), b), "a sum of squares is negative"),
        (lambda A, b: (A, 1e3 * b), "a product exceeds the squares"),
    ],
)
def test_numbers_that_no_rows_can_have_are_refused(change, message, tmp_path):
    from dataclasses import replace

    made = moments()
    A, b = change(made.A, made.b)
    forged = replace(made, quadratic=replace(made.quadratic, matrix=A, right=b))
    forged.save(tmp_path / "moments")
    with pytest.raises(DataError, match=message):
        Moments.load(tmp_path / "moments")


def test_other_files_are_not_moments(tmp_path):
    X, y, qid = stressed("plain")
    RankRLS().fit(X, y, qid).save(tmp_path / "model")
    with pytest.raises(DataError, match="its class is 'RankRLS', not 'Moments'"):
        Moments.load(tmp_path / "model")
