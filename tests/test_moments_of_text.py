"""Moments of text in one pass, however small the batches are."""

import numpy as np
import pytest
from scipy import sparse

import rankwise
from rankwise import Moments
from rankwise.errors import FileFormatError


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr("rankwise.readers.text.BLOCK_BYTES", 2048)
    monkeypatch.setattr("rankwise.readers.letor_batches.BATCH_BYTES", 1)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("ties", ["keep", "drop"])
@pytest.mark.parametrize("weighting", ["example", "pair", "query"])
def test_text_in_batches_gives_the_moments_of_the_whole(ties, weighting, tmp_path):
    data = rankwise.make_search_data(12, random_state=0)
    rankwise.save_letor(data, tmp_path / "rows.txt.gz")
    whole = Moments.of(rankwise.load_letor(tmp_path / "rows.txt.gz"), ties=ties, weighting=weighting)
    ours = Moments.of_text(tmp_path / "rows.txt.gz", ties=ties, weighting=weighting)
    np.testing.assert_allclose(ours.A, whole.A, rtol=0, atol=1e-13 * np.abs(whole.A).max())
    np.testing.assert_allclose(ours.b, whole.b, rtol=0, atol=1e-13 * np.abs(whole.b).max())
    assert (ours.n_rows, ours.n_queries, ours.n_pairs) == (whole.n_rows, whole.n_queries, whole.n_pairs)
    assert set(ours.learned.contents) == set(whole.learned.contents)
    assert not ours.open_queries


@pytest.mark.usefixtures("small_batches")
def test_batches_are_small_and_complete(tmp_path):
    from rankwise.readers.letor_batches import letor_batches

    data = rankwise.make_search_data(12, random_state=0)
    rankwise.save_letor(data, tmp_path / "rows.txt")
    batches = list(letor_batches(tmp_path / "rows.txt"))
    assert max(batch.n_rows for batch in batches) < 30
    np.testing.assert_array_equal(np.concatenate([batch.y for batch in batches]), data.y)
    assert [str(label) for batch in batches for label in batch.qid] == [str(label) for label in data.qid]


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1 1:1", "0 1:2"], "the rows have no qid; read them with load_letor instead"),
        (
            ["1 qid:a 1:1"] * 300 + ["1 qid:b 1:1"] * 300 + ["1 qid:a 1:1"] * 300,
            "are not contiguous; convert",
        ),
        (["1 qid:a 1:1"] * 300 + ["1 qid:a 2:1"] * 300, "the first rows have 1 features, numbered from 1"),
        (["1 qid:a 1:1"] * 300 + ["1 qid:a 0:1"] * 300, "set n_features and zero_based"),
        (["1 qid:a 1:1", "one qid:a 1:1"], "line 2"),
        ([], "the file contains no rows"),
    ],
)
def test_text_that_cannot_be_streamed_is_a_sentence(lines, message, text):
    path = text("".join(f"{line}\n" for line in lines))
    with pytest.raises(FileFormatError, match=message):
        Moments.of_text(path)


@pytest.mark.usefixtures("small_batches")
def test_features_may_be_told(text):
    path = text("1 qid:a 1:1\n" * 300 + "0 qid:a 3:1\n" * 300)
    made = Moments.of_text(path, n_features=4, zero_based=True)
    assert made.n_features == 4
    assert np.flatnonzero(made.b).tolist() == [1, 3]


def test_features_that_are_always_zero_change_no_bound_on_rounding():
    """Whatever is stored in sparse rows counts, not how wide they are."""
    data = rankwise.make_search_data(12, random_state=0)
    narrow = sparse.csr_array(data.X)
    wide = sparse.csr_array((narrow.data, narrow.indices, narrow.indptr), shape=(narrow.shape[0], 5_000))
    bounds = [Moments.of(X, data.y, data.qid).quadratic.matrix_error for X in (narrow, wide)]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-9)
