"""What must hold for any bytes in place of a file: one function per kind of file.

Every function writes the bytes to a file and reads it. Either the reader refuses with a sentence, or the
result is valid: it can be used, and reading it again after writing gives the same. A violated claim raises
something other than a `RankwiseError`. Most functions take the first byte as a choice of options.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import numpy as np

import rankwise
from fuzz.packing import unpack
from rankwise._native import LetorReader
from rankwise.cli.data_files import ReadOptions, read_data
from rankwise.cli.inputs import load_model as load_any_model
from rankwise.cli.inputs import read_scores
from rankwise.data import text
from rankwise.data.ranking import RankingData
from rankwise.data.tables import read_click_log, read_judgments
from rankwise.errors import RankwiseError
from rankwise.export.svmrank import load_svmrank, save_svmrank
from rankwise.metrics import evaluate_run
from rankwise.moments import file as moments_file
from rankwise.persist import checkpoint

Result = TypeVar("Result")
Target = Callable[[bytes, Path], None]

# Files may claim more features than a round trip in text is worth waiting for.
FEW_FEATURES = 1000
FINGERPRINT = "0" * 64


class Choice:
    """Options encoded in the first byte of an input."""

    def __init__(self, content: bytes) -> None:
        self._number = content[0] if content else 0

    def of(self, *options: Any) -> Any:
        self._number, chosen = divmod(self._number, len(options))
        return options[chosen]


def attempt(use: Callable[..., Result], *args: Any, **options: Any) -> Result | None:
    """What a function returns, or None if it refuses in one sentence of bearable length."""
    try:
        return use(*args, **options)
    except RankwiseError as error:
        sentence = str(error)
        assert sentence.isprintable(), f"not one line: {sentence!r}"
        assert len(sentence) < 1000, f"{len(sentence)} characters: {sentence[:1000]!r}"
        return None


def lines(content: bytes, folder: Path) -> None:
    """LETOR text in memory: the native parser alone, without files, many times as often as with them."""
    choice = Choice(content)
    rules = {"min_index": choice.of(0, 1), "max_index": choice.of(2**63 - 2, 9)}
    rules["single_precision"] = choice.of(False, True)
    rows = [row + b"\n" for row in content[1:].split(b"\n")]
    at_once, one_by_one = LetorReader(**rules), LetorReader(**rules)
    error = at_once.feed(_exactly(b"".join(rows)), 1)
    errors = (one_by_one.feed(_exactly(row), 1) for row in rows)
    assert error == next((error for error in errors if error is not None), None)
    if error is None:
        for found, expected in zip(one_by_one.take(), at_once.take(), strict=True):
            assert_equal(found, expected)
        assert one_by_one.query_labels() == at_once.query_labels()
        assert one_by_one.n_lines == at_once.n_lines


def _exactly(text: bytes) -> np.ndarray:
    """Text in a block of memory of its own, whose end AddressSanitizer sees."""
    return np.frombuffer(text, dtype=np.uint8).copy()


def letor(content: bytes, folder: Path) -> None:
    """LETOR text, plain and compressed, read in one block and in many, and converted to a store."""
    choice = Choice(content)
    path = folder / f"rows{choice.of('', '', '', '.gz', '.bz2', '.xz')}"
    path.write_bytes(content[1:])
    how = {
        "dtype": choice.of("float64", "float32"),
        "zero_based": choice.of("auto", True, False),
        "n_features": choice.of(None, 9),
        "n_threads": 2,
    }
    data = _in_blocks(1 << 12, rankwise.load_letor, path, **how)
    pieces = _in_blocks(16, rankwise.load_letor, path, **how)
    assert (data is None) == (pieces is None), "whether text is valid depends on the size of blocks"
    if choice.of(False, False, False, True):
        store = folder / "rows.store"
        attempt(rankwise.convert_letor, path, store, **how)
        if store.exists():
            assert data is not None, "converted, but not loaded"
            assert_same(rankwise.open_store(store, verify=True), data, comments=False)
            shutil.rmtree(store)
    if data is not None and pieces is not None:
        assert_same(pieces, data)
        again, zero_based = folder / "again", how["zero_based"] is True
        # Bytes that are not UTF-8 are read as longer text, which may be too long for a query label.
        again.unlink(missing_ok=True)
        attempt(rankwise.save_letor, data, again, zero_based=zero_based)
        how |= {"zero_based": zero_based, "n_features": data.n_features or None}
        if again.exists():
            assert_same(rankwise.load_letor(again, **how), data)


def _in_blocks(size: int, load: Callable[..., Any], path: Path, **how: Any) -> Any:
    with mock.patch.object(text, "BLOCK_BYTES", size):
        return attempt(load, path, **how)


def pairs(content: bytes, folder: Path) -> None:
    """Files of preferences between rows or named documents."""
    choice = Choice(content)
    path = folder / f"pairs{choice.of('', '', '', '.gz', '.bz2', '.xz')}"
    path.write_bytes(content[1:])
    rows = RankingData.from_arrays(
        np.eye(4), y=[0, 0, 0, 0], qid=["a", "a", "b", "b"], docs=["d1", "d2", "d1", "d3"]
    )
    found = attempt(rankwise.load_pairs, path, **choice.of({}, {"n_rows": 4}, {"data": rows}))
    if found is not None:
        again = folder / "again"
        rankwise.save_pairs(found, again)
        back = rankwise.load_pairs(again)
        assert_equal(back.pairs, found.pairs)
        assert_equal(back.weight, found.weight)


def judgments(content: bytes, folder: Path) -> None:
    """Files of judgments of named documents."""
    choice = Choice(content)
    path = folder / f"judgments{choice.of('', '', '', '.gz', '.bz2', '.xz')}"
    path.write_bytes(content[1:])
    rows = RankingData.from_arrays(
        np.eye(4), y=[0, 0, 0, 0], qid=["a", "a", "b", "b"], docs=["d1", "d2", "d1", "d3"]
    )
    found = attempt(rankwise.load_judgments, path, data=rows)
    if found is not None and (found.weight is None or found.weight.any()):
        again = folder / "again"
        rankwise.save_judgments(found.data, again, found.weight)
        back = rankwise.load_judgments(again, rows)
        assert_same(back.data, found.data)
        assert_equal(back.weight, found.weight)


def tables(content: bytes, folder: Path) -> None:
    """CSV and Parquet files, which pyarrow parses."""
    choice = Choice(content)
    ending = choice.of(".csv", ".tsv", ".parquet", ".csv", ".parquet", ".csv.gz", ".csv.zst", ".csv.lz4")
    path = folder / f"rows{ending}"
    path.write_bytes(content[1:])
    columns = {"label": "label", "qid": choice.of("qid", None), "doc": choice.of(None, "doc")}
    attempt(read_judgments, path, **columns)
    names = {"query": "qid", "doc": "doc", "position": "a", "clicked": "b", "session": "label"}
    attempt(read_click_log, path, propensity=1.0, **names)
    data = attempt(rankwise.load_table, path, features=choice.of(None, ["a", "b"]), **columns)
    if data is not None:
        _round_trip(data, folder / "again.store")


def stores(content: bytes, folder: Path) -> None:
    """Stores, and what uses their arrays without reading all of them first."""
    choice = Choice(content)
    store = folder / "rows.store"
    shutil.rmtree(store, ignore_errors=True)
    store.mkdir()
    for name, part in unpack(content[1:]).items():
        (store / name).write_bytes(part)
    verify = choice.of(False, True)
    data = attempt(rankwise.open_store, store, verify=verify)
    if data is None:
        return
    for use in (
        lambda: rankwise.RankSVM(max_iter=2).fit(data.X, data.y, data.qid),
        lambda: rankwise.RankRLS(solver="cg", max_iter=2).fit(data.X, data.y, data.qid),
        lambda: data.scale_per_query(),
        lambda: data.select(rows=[0]),
        lambda: data.split(0.5),
        lambda: rankwise.save_letor(data, folder / "rows.txt"),
        lambda: repr(data),
    ):
        attempt(use)
    _round_trip(data, folder / "again.store")


def models(content: bytes, folder: Path) -> None:
    """Model files: what loads can predict, and is saved as it was loaded."""
    path = folder / "model"
    path.write_bytes(content)
    model = attempt(rankwise.load_model, path)
    if model is None:
        return
    if model.n_features_in_ <= FEW_FEATURES:
        attempt(model.predict, np.full((2, model.n_features_in_), 0.5))
    repr(model)
    first, second = folder / "first", folder / "second"
    model.save(first)
    rankwise.load_model(first).save(second)
    assert first.read_bytes() == second.read_bytes(), "a loaded model is saved in other bytes"


def moments(content: bytes, folder: Path) -> None:
    """Files of moments: what loads can be completed, combined and solved, and is saved as it was loaded."""
    path, again = folder / "moments", folder / "again"
    path.write_bytes(content)
    # The checksum would keep changed numbers from being read.
    with mock.patch.object(moments_file, "_checksum", return_value=FINGERPRINT):
        loaded = attempt(rankwise.Moments.load, path)
        if loaded is None:
            return
        repr(loaded)
        loaded.save(again)
        saved = again.read_bytes()
        rankwise.Moments.load(again).save(again)
        assert again.read_bytes() == saved, "loaded moments are saved in other bytes"
    attempt(lambda: loaded + loaded)
    complete = attempt(loaded.close)
    if complete is not None:
        attempt(rankwise.RankRLS.from_moments, complete)


def checkpoints(content: bytes, folder: Path) -> None:
    """Checkpoints of a run, which goes on from whatever it accepts."""
    (folder / checkpoint.FILE).write_bytes(content)
    # The fingerprint of a run differs between machines, and would keep inputs from being read.
    with mock.patch.object(checkpoint, "_fingerprint", return_value=FINGERPRINT):
        attempt(fit_with_checkpoint, folder)


def fit_with_checkpoint(folder: Path) -> None:
    """The run to which the checkpoints of the corpus belong."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(24, 4)), rng.normal(size=24), np.arange(24) // 6
    ranker = rankwise.RankRLS(
        solver="cg",
        max_iter=5,
        early_stopping=True,
        random_state=0,
        checkpoint=str(folder),
        checkpoint_seconds=0.0,
    )
    assert ranker.fit(X, y, qid).coef_.shape == (4,)


def svmrank(content: bytes, folder: Path) -> None:
    """Models in the text format of SVMrank."""
    path, again = folder / "model", folder / "again"
    path.write_bytes(content)
    model = attempt(load_any_model, path)
    coef = attempt(load_svmrank, path)
    if coef is not None and 0 < len(coef) <= FEW_FEATURES:
        attempt(model.predict, np.full((2, len(coef)), 0.5))
        save_svmrank(coef, again, n_rows=1)
        assert_equal(load_svmrank(again), coef)


def scores(content: bytes, folder: Path) -> None:
    """Files of scores, and of query sizes beside text."""
    choice = Choice(content)
    path, rows = folder / "scores", folder / "sized"
    path.write_bytes(content[1:])
    attempt(read_scores, path, choice.of(1, 2, 3))
    rows.write_text("1 1:1\n0 1:2\n2 1:3\n")
    Path(f"{rows}.query").write_bytes(content[1:])
    attempt(read_data, rows, ReadOptions())


def trec(content: bytes, folder: Path) -> None:
    """TREC runs and qrels: what is read is written, and can be measured."""
    choice = Choice(content)
    path, again = folder / f"trec{choice.of('', '', '.gz')}", folder / "again"
    path.write_bytes(content[1:])
    again.unlink(missing_ok=True)
    run = attempt(rankwise.load_run, path)
    if run is not None:
        attempt(rankwise.save_run, run, again)
        assert not again.exists() or rankwise.load_run(again) == run
        attempt(evaluate_run, run, {"1": {"d1": 1}}, complete=True)
    qrels = attempt(rankwise.load_qrels, path)
    if qrels is not None:
        again.unlink(missing_ok=True)
        attempt(rankwise.save_qrels, qrels, again)
        assert not again.exists() or rankwise.load_qrels(again) == qrels
        attempt(evaluate_run, {"1": {"d1": 1.0}}, qrels, ["ndcg", "map", "err"], complete=True)


def logs(content: bytes, folder: Path) -> None:
    """Feature logs of search engines, joined to judgments."""
    choice = Choice(content)
    path = folder / f"log.json{choice.of('', '', '.gz')}"
    path.write_bytes(content[1:])
    judgments = {"1": {"d1": 1, "d2": 0}, "2": {"d1": 2}}
    unjudged, doc = choice.of("leave-out", "zero"), choice.of(None, "sku")
    data = attempt(rankwise.load_feature_log, path, judgments, unjudged=unjudged, doc=doc)
    if data is not None and data.n_features <= FEW_FEATURES:
        _round_trip(data, folder / "again.store")


TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (
        lines,
        letor,
        pairs,
        judgments,
        tables,
        stores,
        models,
        moments,
        checkpoints,
        svmrank,
        scores,
        trec,
        logs,
    )
}


def _leave_unflushed(handle: int) -> None:
    """Instead of `os.fsync`: files need not survive the run."""


def run(name: str, content: bytes, folder: Path) -> None:
    """Try one input; warnings, as of numbers that overflow, are not findings."""
    with warnings.catch_warnings(), mock.patch("os.fsync", new=_leave_unflushed):
        warnings.simplefilter("ignore")
        TARGETS[name](content, folder)


def _round_trip(data: RankingData, store: Path) -> None:
    """Save data as a store, unless a store cannot hold its labels, and compare."""
    shutil.rmtree(store, ignore_errors=True)
    attempt(rankwise.save_store, data, store)
    if store.exists():
        assert_same(rankwise.open_store(store), data, comments=False)


def assert_same(found: RankingData, expected: RankingData, *, comments: bool = True) -> None:
    """Two data sets agree in every bit."""
    names = ["y", "qid", "docs", "feature_names"] + (["comments"] if comments else [])
    for name in names:
        assert_equal(getattr(found, name), getattr(expected, name))
    assert_equal(found.queries.offsets, expected.queries.offsets)
    assert found.X.shape == expected.X.shape
    assert isinstance(found.X, np.ndarray) == isinstance(expected.X, np.ndarray)
    if isinstance(expected.X, np.ndarray):
        assert_equal(found.X, expected.X)
    elif expected.X.has_canonical_format:  # writing sorts and adds up entries
        for part in ("data", "indices", "indptr"):
            assert_equal(getattr(found.X, part), getattr(expected.X, part))


def assert_equal(found: Any, expected: Any) -> None:
    """Two arrays, or tuples of names, agree in every bit; None only equals itself."""
    assert _comparable(found) == _comparable(expected), f"{found!r} instead of {expected!r}"


def _comparable(values: Any) -> Any:
    if not isinstance(values, np.ndarray):
        return values
    return values.shape, values.tolist() if values.dtype.kind in "OU" else values.tobytes()
