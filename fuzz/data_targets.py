"""Targets for files of data: text, tables, stores, preferences, judgments, scores, runs and feature logs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import rankwise
from fuzz.claims import FEW_FEATURES, Choice, assert_equal, assert_same, attempt, round_trip
from fuzz.packing import unpack
from rankwise._native import LetorReader
from rankwise.cli.data_files import ReadOptions, read_data
from rankwise.cli.reading import read_scores
from rankwise.clicks.log_files import read_click_log
from rankwise.judging.in_effect import Judgments
from rankwise.judging.journal import Journal, read_journal
from rankwise.judging.saving import TABLES, write_table
from rankwise.metrics import evaluate_run
from rankwise.readers import text
from rankwise.readers.tables import read_judgments
from rankwise.rows.ranking import RankingData

# Rows that files of pairs and judgments name.
NAMED_ROWS = RankingData.from_arrays(
    np.eye(4), y=[0, 0, 0, 0], qid=["a", "a", "b", "b"], docs=["d1", "d2", "d1", "d3"]
)


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
    found = attempt(rankwise.load_pairs, path, **choice.of({}, {"n_rows": 4}, {"data": NAMED_ROWS}))
    if found is not None:
        again = folder / "again"
        rankwise.save_pairs(found, again)
        back = rankwise.load_pairs(again)
        assert_equal(back.pairs, found.pairs)
        assert_equal(back.weight, found.weight)


def journals(content: bytes, folder: Path) -> None:
    """Journals of live judging: what is refused is left as it was, what is read goes on where it ended."""
    path = folder / "journal"
    path.write_bytes(content)
    journal = attempt(Journal.resume, path)
    if journal is None:
        assert path.read_bytes() == content, "a file that was refused was changed"
        return
    with journal:
        assert content.startswith(path.read_bytes())
        again = folder / "again"
        again.write_bytes(b"".join(entry.line() for entry in journal.entries))
        assert read_journal(again) == read_journal(path) == journal.entries
        if attempt(Judgments, journal.entries) is not None:
            for name in TABLES:
                attempt(write_table, name, folder / name, journal.entries)


def judgments(content: bytes, folder: Path) -> None:
    """Files of judgments of named documents."""
    choice = Choice(content)
    path = folder / f"judgments{choice.of('', '', '', '.gz', '.bz2', '.xz')}"
    path.write_bytes(content[1:])
    found = attempt(rankwise.load_judgments, path, data=NAMED_ROWS)
    if found is not None:
        again = folder / "again"
        rankwise.save_judgments(found, again)
        back = rankwise.load_judgments(again, NAMED_ROWS)
        assert_same(back, found)


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
        round_trip(data, folder / "again.store")


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
    round_trip(data, folder / "again.store")


def scores(content: bytes, folder: Path) -> None:
    """Files of scores, and of query sizes beside text."""
    choice = Choice(content)
    path, rows = folder / "scores", folder / "sized"
    path.write_bytes(content[1:])
    attempt(read_scores, path, choice.of(1, 2, 3))
    rows.write_text("1 1:1\n0 1:2\n2 1:3\n", encoding="utf-8")
    Path(f"{rows}.query").write_bytes(content[1:])
    attempt(read_data, rows, ReadOptions())


def trec(content: bytes, folder: Path) -> None:
    """TREC runs and qrels: what is read is written, and can be measured."""
    choice = Choice(content)
    path, again = folder / f"trec{choice.of('', '', '.gz')}", folder / "again"
    path.write_bytes(content[1:])
    again.unlink(missing_ok=True)
    run = attempt(rankwise.trec.load_run, path)
    if run is not None:
        attempt(rankwise.trec.save_run, run, again)
        assert not again.exists() or rankwise.trec.load_run(again) == run
        attempt(evaluate_run, run, {"1": {"d1": 1}}, complete=True)
    qrels = attempt(rankwise.trec.load_qrels, path)
    if qrels is not None:
        again.unlink(missing_ok=True)
        attempt(rankwise.trec.save_qrels, qrels, again)
        assert not again.exists() or rankwise.trec.load_qrels(again) == qrels
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
        round_trip(data, folder / "again.store")
