"""A checkpoint is read only if it is what the current run would have written."""

import dataclasses
import io
import warnings
import zipfile

import numpy as np
import pytest

from rankwise import RankRLS
from rankwise.errors import FileFormatError
from rankwise.ridge.checkpoint import FILE
from rankwise.ridge.shifted_cg import ShiftedCGState

NAMES = [field.name for field in dataclasses.fields(ShiftedCGState)]


@pytest.fixture
def refit(tmp_path):
    """Fit a few iterations with a checkpoint, which is there already when the test begins."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(200, 40)), rng.normal(size=200), np.arange(200) // 10
    ranker = RankRLS(
        alpha=0.01,
        solver="cg",
        max_iter=5,
        early_stopping=True,
        random_state=0,
        checkpoint=str(tmp_path),
        checkpoint_seconds=0.0,
    )

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ranker.fit(X, y, qid)

    fit()
    return fit


def saved(folder):
    with np.load(folder / FILE) as file:
        return dict(file)


def refused(refit, match):
    with pytest.raises(FileFormatError, match=match) as caught:
        refit()
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array.ravel()[:-1],
        lambda array: np.append(array.ravel(), array.ravel()),
        lambda array: np.stack([array, array]),
        lambda array: np.empty(0),
        lambda array: array.astype(np.float32) if array.dtype.kind == "f" else array.astype("U3"),
        lambda array: array.astype(np.complex128) if array.dtype.kind != "U" else array.astype("S64"),
        lambda array: (
            array.astype(array.dtype.newbyteorder(">")) if array.itemsize > 1 else array.astype(int)
        ),
    ],
    ids=["short", "long", "deep", "empty", "narrow", "other", "swapped"],
)
def test_an_array_of_another_shape_or_type_is_refused(refit, tmp_path, change):
    arrays = saved(tmp_path)
    for name in (*NAMES, "fingerprint"):
        np.savez(tmp_path / FILE, **{**arrays, name: change(arrays[name])})
        refused(refit, f"not a rankwise checkpoint .'{name}' should have")


def test_a_missing_array_is_refused(refit, tmp_path):
    arrays = saved(tmp_path)
    for name in (*NAMES, "fingerprint"):
        np.savez(tmp_path / FILE, **{other: arrays[other] for other in arrays if other != name})
        refused(refit, f"it has no '{name}'")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(refit, tmp_path, value):
    arrays = saved(tmp_path)
    for name in NAMES:
        if arrays[name].dtype.kind == "f" and name not in ("surface", "best_value"):
            changed = arrays[name].copy()
            changed.flat[-1] = value
            np.savez(tmp_path / FILE, **{**arrays, name: changed})
            refused(refit, f"'{name}' is not finite")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("iteration", 0, "not between 1 and 5"),
        ("iteration", 6, "not between 1 and 5"),
        ("iteration", -(2**63), "not between 1 and 5"),
        ("n_iter", 6, "'n_iter' is not between 0 and 5"),
        ("n_iter", -1, "'n_iter' is not between 0 and 5"),
        ("best_iter", 2**62, "'best_iter' is not between 0 and 5"),
        ("step", 0.0, "not positive"),
        ("residual_square", 0.0, "not positive"),
    ],
)
def test_counts_and_scalars_that_no_run_leaves_are_refused(refit, tmp_path, name, value, reason):
    arrays = saved(tmp_path)
    arrays[name][...] = value
    np.savez(tmp_path / FILE, **arrays)
    refused(refit, reason)


def test_a_run_without_a_best_iteration_yet_is_taken_up(refit, tmp_path):
    arrays = saved(tmp_path)
    arrays["best_iter"][...] = 0
    np.savez(tmp_path / FILE, **arrays)
    refit()


def test_truth_values_that_are_neither_are_refused(refit, tmp_path):
    arrays = saved(tmp_path)
    arrays["active"] = np.full(arrays["active"].shape, 7, dtype=np.uint8).view(bool)
    np.savez(tmp_path / FILE, **arrays)
    refused(refit, "'active' contains values other than true and false")


def test_a_compressed_file_is_not_unpacked(refit, tmp_path):
    np.savez_compressed(tmp_path / FILE, **saved(tmp_path))
    refused(refit, "'fingerprint' is compressed or encrypted")


def test_a_header_that_asks_for_all_memory_is_refused_unread(refit, tmp_path):
    header = io.BytesIO()
    fields = {"descr": "<f8", "fortran_order": False, "shape": (1 << 60,)}
    np.lib.format.write_array_header_1_0(header, fields)
    arrays = saved(tmp_path)
    del arrays["solutions"]
    np.savez(tmp_path / FILE, **arrays)
    with zipfile.ZipFile(tmp_path / FILE, "a") as archive:
        archive.writestr("solutions.npy", header.getvalue())
    refused(refit, "'solutions' should have the shape")


def test_an_entry_that_lies_beyond_the_end_is_refused(refit, tmp_path):
    content = bytearray((tmp_path / FILE).read_bytes())
    directory = content.index(b"PK\x01\x02")
    for offset in (len(content) - 10, len(content) + 10, 2**32 - 2):
        content[directory + 42 : directory + 46] = offset.to_bytes(4, "little")
        (tmp_path / FILE).write_bytes(content)
        refused(refit, "not a rankwise checkpoint")


def test_a_file_cut_or_changed_anywhere_is_refused_or_gives_the_same_model(refit, tmp_path):
    expected, whole = refit().coef_.tobytes(), (tmp_path / FILE).read_bytes()
    rng = np.random.default_rng(0)
    n_refused = 0
    for place in rng.integers(0, len(whole), 60):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << int(rng.integers(8))
        for content in (whole[:place], bytes(flipped)):
            (tmp_path / FILE).write_bytes(content)
            try:
                assert refit().coef_.tobytes() == expected
            except FileFormatError:
                n_refused += 1
    assert n_refused >= 60
