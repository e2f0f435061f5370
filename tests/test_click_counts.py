"""Feedback without sessions: counts of impressions and clicks, and several signals."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rankwise import DataError, ParameterError, make_click_log, make_search_data
from rankwise.clicks import (
    ClickLog,
    click_likelihood,
    grades_from_clicks,
    pairs_from_clicks,
    rows_from_clicks,
)

NAMES = {"query": "q", "doc": "d", "position": "p"}


def shown_by(log, data):
    """A log as a table with a row per result shown."""
    columns = {"s": log.session, "q": data.qid[log.row], "d": data.docs[log.row], "p": log.position}
    return pd.DataFrame({**columns, "c": log.clicked.astype(int)})


def summed(table, *signals, by=("q", "d", "p")):
    """Counts per query, document and position."""
    groups = table.assign(n=1).groupby(list(by))
    return groups[["n", *signals]].sum().reset_index().sample(frac=1.0, random_state=0)


@pytest.fixture(scope="module")
def simulated():
    data, log = make_search_data(40, random_state=2, clicks=True)
    rng = np.random.default_rng(0)
    return data, shown_by(log, data).assign(bought=lambda t: t.c * (rng.random(len(t)) < 0.2))


def same_rows(found, expected):
    np.testing.assert_array_equal(found.docs, expected.docs)
    np.testing.assert_allclose(found.y, expected.y, rtol=1e-5)
    np.testing.assert_allclose(found.sample_weight, expected.sample_weight, rtol=1e-5)


@pytest.mark.parametrize("signals", ["c", {"c": 1, "bought": 10}], ids=["clicks", "signals"])
@pytest.mark.parametrize("form", ["counts", "days", "no sessions"])
def test_sums_over_sessions_teach_what_the_sessions_teach(simulated, signals, form):
    data, table = simulated
    log = ClickLog.from_frame(table, **NAMES, clicked=signals, session="s").match(data)
    more = {"impressions": "n"}
    if form == "counts":
        other = summed(table, "c", "bought")
    elif form == "days":  # of which a query and document have several rows, some without any impression
        other = summed(table.assign(day=table.s % 7), "c", "bought", by=("q", "d", "p", "day"))
        other = pd.concat([other[:20].assign(n=0, c=0, bought=0, p=1), other])
    else:
        other, more = table.drop(columns="s"), {}
    counts = ClickLog.from_frame(other, **NAMES, clicked=signals, **more).match(data)
    same_rows(rows_from_clicks(counts, data), rows_from_clicks(log, data))
    found, expected = (rows_from_clicks(one.with_propensity(1.0), data) for one in (counts, log))
    same_rows(found, expected)
    np.testing.assert_array_equal(
        grades_from_clicks(counts.with_propensity(1.0), data).y,
        grades_from_clicks(log.with_propensity(1.0), data).y,
    )


def test_labels_are_weights_of_signals_over_expected_ones_row_by_row(simulated):
    data, table = simulated
    weights = {"c": 1.0, "bought": 10.0}
    log = ClickLog.from_frame(table, **NAMES, clicked=weights, session="s").match(data)
    found = rows_from_clicks(log, data, prior_clicks=2.0)
    value, square, exposure = np.zeros((3, data.n_rows))
    for row, look, clicked, bought in zip(log.row, log.propensity, table.c, table.bought, strict=True):
        value[row] += clicked + 10 * bought
        square[row] += clicked + 100 * bought
        exposure[row] += look
    shown = exposure > 0
    mean, second = value.sum() / exposure.sum(), square.sum() / exposure.sum()
    np.testing.assert_allclose(found.y, value[shown] / (exposure[shown] * mean))
    # So many equal actions would vary as much around their expected number as these do, relative to it.
    actions = (exposure[shown] * mean) ** 2 / (exposure[shown] * second)
    np.testing.assert_allclose(found.sample_weight, actions / (actions + 2.0))


def test_only_the_ratio_of_weights_of_signals_counts_and_their_order_does_not(simulated):
    data, table = simulated
    expected, *others = (
        rows_from_clicks(ClickLog.from_frame(table, **NAMES, clicked=w, session="s").match(data), data)
        for w in ({"c": 1, "bought": 10}, {"bought": 20, "c": 2}, {"c": 0.1, "bought": 1})
    )
    for found in others:
        same_rows(found, expected)


def test_one_signal_is_clicks_whatever_its_weight(simulated):
    data, table = simulated
    found, expected = (
        rows_from_clicks(ClickLog.from_frame(table, **NAMES, clicked=c, session="s").match(data), data)
        for c in ({"c": 7.0}, "c")
    )
    np.testing.assert_array_equal(found.y, expected.y)
    np.testing.assert_array_equal(found.sample_weight, expected.sample_weight)


@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("form", ["counts", "no sessions"])
def test_held_out_impressions_show_position_bias_exactly_if_there_is_one(bias, form):
    data = make_search_data(60, random_state=4)
    log = make_click_log(data, data.X[:, 0], n_sessions=1500, position_bias=bias, random_state=1)
    table = shown_by(log, data)
    if form == "counts":
        counts = ClickLog.from_frame(summed(table, "c"), **NAMES, clicked="c", impressions="n")
    else:
        counts = ClickLog.from_frame(table, **NAMES, clicked="c")
    found, of_sessions = click_likelihood(counts), click_likelihood(log)
    assert found.has_bias == (bias > 0)
    assert found.n_results == len(table)
    assert found.n_sessions == len(np.unique(table.q))
    # Both are means over all impressions, split into other folds.
    assert found.gain == pytest.approx(of_sessions.gain, abs=0.003)
    assert found.with_bias == pytest.approx(of_sessions.with_bias, abs=0.01)


def test_what_was_clicked_more_often_than_it_was_shown_was_shown_as_often(simulated):
    _, table = simulated
    counts = summed(table, "c").reset_index(drop=True)
    counts.loc[0, ["n", "c"]] = [2, 3]
    with pytest.warns(UserWarning, match=r"Column 'c' counts more than the impressions in 1 of"):
        found = ClickLog.from_frame(counts, **NAMES, clicked="c", impressions="n")
    counts.loc[0, "n"] = 3
    expected = ClickLog.from_frame(counts, **NAMES, clicked="c", impressions="n")
    np.testing.assert_array_equal(found.shown, expected.shown)


def test_without_positions_labels_are_clicks_over_impressions(simulated):
    data, table = simulated
    counts = summed(table, "c", by=("q", "d"))
    log = ClickLog.from_frame(counts, query="q", doc="d", clicked="c", impressions="n").match(data)
    found = rows_from_clicks(log, data)
    sums = counts.set_index(["q", "d"])
    rate = [sums.c[name] / sums.n[name] for name in zip(found.qid, found.docs, strict=True)]
    np.testing.assert_allclose(found.y, np.array(rate) * counts.n.sum() / counts.c.sum())


def test_arrays_may_be_counts():
    log = ClickLog.from_arrays([1, 1, 1], [0, 1, 0], [1, 1, 2], [3, 1, 1], shown=[9, 9, 4])
    assert repr(log) == "ClickLog(counts of 1 queries, 22 results shown, 5 clicks)"
    for clicked, shown in (([10, 1, 1], [9, 9, 4]), ([0, 1, 1], [0, 9, 4])):
        with pytest.raises(DataError, match="shown must be at least 1 and at least clicked"):
            ClickLog.from_arrays([1, 1, 1], [0, 1, 0], [1, 1, 2], clicked, shown=shown)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda t: t.assign(n=t.n - 1, c=t.n), "more than the .* impressions of column 'n'; are they mixed"),
        (lambda t: t.assign(c=-t.c), "Column 'c' must be at least 0; entry"),
        (lambda t: t.assign(n=t.n + 0.5), "Column 'n' must contain integers"),
        (lambda t: t.assign(c=0), "Column 'c' has no clicks"),
        (lambda t: t.assign(c=t.n), "Column 'c' has only clicks"),
        (lambda t: t.assign(p=t.p + 0.5), "'p' holds averages of positions, which do not say where users"),
    ],
)
def test_counts_that_cannot_be_right_are_refused(simulated, change, message):
    table = change(summed(simulated[1], "c"))
    with pytest.raises(DataError, match=message):
        ClickLog.from_frame(table, **NAMES, clicked="c", impressions="n")


def test_what_needs_sessions_says_so(simulated):
    data, table = simulated
    log = ClickLog.from_frame(table, **NAMES, clicked="c").match(data)
    with pytest.raises(DataError, match="Pairs need results that were shown together"):
        pairs_from_clicks(log)
    with pytest.raises(ParameterError, match="either sessions or counts of impressions, not both"):
        ClickLog.from_frame(table.assign(n=1), **NAMES, clicked="c", session="s", impressions="n")
    with pytest.raises(DataError, match="Counts need a column of impressions"):
        ClickLog.from_frame(table.assign(c=table.c * 2), **NAMES, clicked="c")
    for clicked in ({}, 3, {"c": 0}):
        with pytest.raises(ParameterError, match="clicked"):
            ClickLog.from_frame(table, **NAMES, clicked=clicked)


def test_pairs_weigh_what_was_bought_more(simulated):
    data, table = simulated
    names = {**NAMES, "session": "s", "propensity": 1.0}
    signals = ClickLog.from_frame(table, **names, clicked={"c": 1, "bought": 10}).match(data)
    pairs = pairs_from_clicks(signals)
    expected: dict[tuple[int, int], float] = {}
    for entry, row in enumerate(signals.row.tolist()):
        value = table.c[entry] + 10 * table.bought[entry]
        if value:
            others = signals.row[(signals.session == signals.session[entry]) & (signals.row != row)]
            for other in others.tolist():
                expected[row, other] = expected.get((row, other), 0.0) + value
    assert dict(zip(map(tuple, pairs.pairs.tolist()), pairs.weight.tolist(), strict=True)) == expected
    plain = replace(signals, value=None, square=None)
    assert pairs_from_clicks(plain).weight.sum() < pairs.weight.sum()
