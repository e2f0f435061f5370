"""Write the valid files from which fuzzing starts: ``python -m fuzz.seeds``."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from scipy import sparse

import rankwise
from fuzz.corpus import CORPUS
from fuzz.model_targets import FINGERPRINT, fit_with_checkpoint
from fuzz.mutators import archived
from fuzz.packing import pack
from fuzz.targets import TARGETS
from rankwise.export.svmrank import save_svmrank
from rankwise.ridge import checkpoint
from rankwise.ridge.moments import file as moments_file

rng = np.random.default_rng(0)
X, Y, QID = rng.normal(size=(8, 3)).round(2), np.tile([0.0, 1.0], 4), np.repeat([1, 2], 4)
DATA = rankwise.RankingData.from_arrays(X, Y, QID, docs=list("abcdefgh"), feature_names=["a", "b", "c"])
TABLE = pd.DataFrame(
    {
        "number": X[:, 0],
        "word": list("xyzxxyzy"),
        "flag": np.arange(8) % 3 == 0,
        "day": pd.date_range("2024-01-01", periods=8),
    }
)

LETOR = {
    "plain": b"2 qid:10 1:0.03 2:0.6 #docid = d7 inc = 1\n0 qid:10 2:0.1 # d3\n1.5 qid:11 1:1e-3 3:-7\n",
    "odd": b"\xef\xbb\xbf# a comment\r\n\r\n-1e5 1:.5 5:12345678901234567890\r\n+0.25 0:1 #\n3 7:1e-320",
    "words": b"1 qid:red 1:0.1 4:17\n0 qid:blue 2:3 4:0.30000000000000004\n2 qid:red 9:1 #x\n",
    "full": b"1 qid:1 1:1 2:2\n0 qid:1 1:3 2:4\n",
    "huge": b"1 qid:1 999999999999:0.5\n0 qid:1 1:0.25\n",
}
PAIRS = {
    "tabs": b"0\t1\t2.0\n2\t1\t0.5\n3\t3\t1e-3\n",
    "commas": b"preferred,other\n0, 1\n2 , 1\n",
    "spaces": b"\xef\xbb\xbf0 1\r\n\r\n2 3\r\n",
    "named": b'qid,preferred,other,weight\na,d1,d2,1\nb,"d3",d1,0.5\n',
}
JUDGMENTS = {
    "weighted": b"qid,doc,label,weight\na,d1,2,0.5\nb,d3,0,1e-3\n",
    "plain": b"\xef\xbb\xbflabel\tdoc\tqid\r\n1.5\td2\ta\r\n\r\n-1\td1\tb\r\n",
    "quoted": b'"qid","doc","label"\n"a",d1,1\n',
}
TABLES = {
    "labels": b"label,qid,doc,a,b\n1,x,d1,0.5,1\n0,x,d2,1.5,2\n2,y,d1,-1,3\n",
    "numbers": b"qid,label,doc,a,b\n007,1,1,1,true\n8,0,2,2,false\n8,0,3,4,\n",
    "clicks": b"label,qid,doc,a,b\n1,x,d1,1,1\n1,x,d2,2,0\n2,x,d2,1,0\n",
    "quoted": b'label,qid,doc,a,b\r\n1,"x, y","d ""1""",1e5,2\r\n0,"",d,2,3\r\n',
}


def lines() -> Iterator[tuple[str, bytes]]:
    for name, content in LETOR.items():
        yield name, b"\0" + content


def letor() -> Iterator[tuple[str, bytes]]:
    for name, content in LETOR.items():
        yield name, b"\0" + content
    yield "options", bytes([6 + 12]) + LETOR["plain"]
    yield "converted", bytes([216]) + LETOR["plain"]
    for place, pressed in enumerate(
        (gzip.compress(LETOR["plain"], mtime=0), bz2.compress(LETOR["plain"]), lzma.compress(LETOR["plain"])),
        start=3,
    ):
        yield f"compressed-{place}", bytes([place]) + pressed


def pairs() -> Iterator[tuple[str, bytes]]:
    for name, content in PAIRS.items():
        yield name, b"\x0c" + content
        yield f"{name}-unbounded", b"\0" + content
    yield "compressed", b"\x03" + gzip.compress(PAIRS["tabs"], mtime=0)


def judgments() -> Iterator[tuple[str, bytes]]:
    for name, content in JUDGMENTS.items():
        yield name, b"\0" + content
    yield "compressed", b"\x03" + gzip.compress(JUDGMENTS["weighted"], mtime=0)


def journals() -> Iterator[tuple[str, bytes]]:
    said: list[dict[str, object]] = [
        {"kind": "grade", "query": "a", "docs": ["d1"], "grade": 2.0, "reason": "random"},
        {"kind": "above", "query": "a", "docs": ["d2", "d1"], "reason": "teaches"},
        {"kind": "skip", "query": "b", "docs": ["d3"]},
        {"kind": "undo", "undone": 2},
        {"kind": "undo", "undone": 4},
    ]
    common = {"time": "2026-11-18T20:00:00.000Z", "rater": "ann"}
    entries = [json.dumps({"number": k, **common, **one}) for k, one in enumerate(said, start=1)]
    whole = "".join(f"{entry}\n" for entry in entries).encode()
    yield "whole", whole
    yield "torn", whole[:-20]
    yield "other", b"qid,doc,label\n"


def tables() -> Iterator[tuple[str, bytes]]:
    import pyarrow as pa
    from pyarrow import csv, parquet

    for name, content in TABLES.items():
        yield name, b"\x30" + content
        yield f"{name}-tabs", b"\x11" + content.replace(b",", b"\t")
    yield "compressed", b"\x35" + gzip.compress(TABLES["labels"], mtime=0)
    for name, compression in (("plain", "none"), ("snappy", "snappy")):
        file = BytesIO()
        table = csv.read_csv(BytesIO(TABLES["labels"]))
        parquet.write_table(table, file, compression=compression)
        yield f"parquet-{name}", b"\x32" + file.getvalue()
    file = BytesIO()
    odd = {
        "label": [1, None],
        "a": pa.array([1, 2], pa.decimal128(5, 2)),
        "b": [[1], [2]],
        "qid": [b"x", b"y"],
    }
    parquet.write_table(pa.table(odd), file)
    yield "parquet-odd", b"\x02" + file.getvalue()


def stores() -> Iterator[tuple[str, bytes]]:
    apart = DATA.select(rng.permutation(8))
    for name, data in {
        "dense": DATA,
        "sparse": replace(DATA, X=sparse.csr_matrix(X)),
        "apart": replace(apart, X=apart.X.astype(np.float32)),
        "bare": rankwise.RankingData.from_arrays(X, Y),
    }.items():
        with tempfile.TemporaryDirectory() as place:
            rankwise.save_store(data, Path(place) / "store")
            paths = sorted((Path(place) / "store").iterdir())
            yield name, b"\1" + pack({path.name: path.read_bytes() for path in paths})


def models() -> Iterator[tuple[str, bytes]]:
    frame_names = {"feature_names_in_": np.array(["a", "b", "c"], dtype=object)}
    for ranker in (
        rankwise.RankRLS(),
        rankwise.RankRLS(solver="cg"),
        rankwise.RankRLSCV(),
        rankwise.KernelRankRLS(kernel="rbf"),
        rankwise.KernelRankRLSCV(),
        rankwise.RankSVM(),
        rankwise.RankSVMCV(cv=2),
        rankwise.RankSVMPath(),
    ):
        ranker.fit(X, Y, QID)
        yield f"{type(ranker).__name__}-{getattr(ranker, 'solver_', 'only')}", _saved(ranker)
    named = rankwise.RankRLS().fit(X, Y, QID)
    vars(named).update(frame_names)
    yield "named", _saved(named)
    yield "sparse", _saved(rankwise.KernelRankRLS(kernel="polynomial").fit(sparse.csr_matrix(X), Y, QID))
    yield "precomputed", _saved(rankwise.KernelRankRLS(kernel="precomputed").fit(X @ X.T, Y, QID))
    yield "signed", _saved(rankwise.RankRLS(monotonic_cst=[1, 0, -1]).fit(X, Y, QID))
    yield "few-features", _saved(rankwise.RankRLSPath(max_features=2).fit(X, Y, np.repeat(range(4), 2)))
    yield "columns", _saved(rankwise.RankRLS(columns="auto").fit(TABLE, Y, QID))
    splines = rankwise.RankRLSCV(columns={"number": "spline:3", "day": "date:spline"})
    yield "splines", _saved(splines.fit(TABLE, Y, QID))


def moments() -> Iterator[tuple[str, bytes]]:
    sizes = rankwise.QuerySizes.of(Y, QID)
    with mock.patch.object(moments_file, "_checksum", return_value=FINGERPRINT):
        yield "complete", _saved(rankwise.Moments.of(X, Y, QID))
        yield "open", _saved(rankwise.Moments.of(X, Y, QID, open_queries=True))
        yield "carried", _saved(rankwise.Moments.of(X, Y, QID, ties="drop", open_queries=True))
        yield "told", _saved(rankwise.Moments.of(X, Y, QID, ties="drop", weighting="query", sizes=sizes))


def _saved(model: rankwise.RankRLS | rankwise.Moments) -> bytes:
    with tempfile.TemporaryDirectory() as place:
        model.save(Path(place) / "model")
        return (Path(place) / "model").read_bytes()


def checkpoints() -> Iterator[tuple[str, bytes]]:
    with tempfile.TemporaryDirectory() as place:
        with mock.patch.object(checkpoint, "_fingerprint", return_value=FINGERPRINT):
            fit_with_checkpoint(Path(place))
        with np.load(Path(place) / checkpoint.FILE) as saved:
            arrays = dict(saved)
    yield "ended", _archive(arrays)
    arrays["iteration"] = np.array(1)
    for name in ("n_iter", "best_iter"):
        arrays[name] = np.minimum(arrays[name], 1)
    yield "begun", _archive(arrays)


def _archive(arrays: dict[str, np.ndarray]) -> bytes:
    files = {}
    for name, array in arrays.items():
        file = BytesIO()
        np.save(file, array)
        files[f"{name}.npy"] = file.getvalue()
    return archived(files)


def svmrank() -> Iterator[tuple[str, bytes]]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "model"
        save_svmrank(np.array([0.5, 0.0, -2.0]), path, n_rows=5)
        written = path.read_bytes()
    yield "written", written
    yield "vectors", written.replace(b"2 # number of", b"3 # number of") + b"-0.25 qid:3 1:1 3:2e-3 # x\n"


def scores() -> Iterator[tuple[str, bytes]]:
    yield "numbers", b"\x020.5\n-1e-3\n17\n"
    yield "sizes", b"\x022\n1\n"


def trec() -> Iterator[tuple[str, bytes]]:
    run = b"1 Q0 d1 1 0.5 t\n1 Q0 d2 2 -1e-3 t\n2 Q0 d1 1 7 t\n"
    yield "run", b"\0" + run
    yield "qrels", b"\0\xef\xbb\xbf1 0 d1 2\r\n\r\n1 0 d2 -1\r\n2\t0\td3\t0"
    yield "compressed", b"\x02" + gzip.compress(run, mtime=0)


def logs() -> Iterator[tuple[str, bytes]]:
    entries = [{"name": "a", "value": 9.5}, {"name": "b"}]
    hits = [
        {"_id": f"d{n}", "fields": {"_ltrlog": [{"log": entries}]}, "_source": {"sku": n}} for n in (1, 2)
    ]
    elastic = {"took": 2, "qid": "1", "hits": {"total": {"value": 2}, "hits": hits}}
    docs = [{"id": "d1", "[features]": "a=1.5,b=2.0"}, {"id": "d2", "[features]": "b=1"}]
    solr = {"responseHeader": {"params": {"qid": "1"}}, "response": {"numFound": 2, "docs": docs}}
    lines = [json.dumps(one).encode() for one in (elastic, solr | {"qid": 2})]
    yield "elasticsearch", b"\0" + lines[0]
    yield "solr", b"\0" + json.dumps(solr, indent=1).encode()
    yield "lines", b"\x03" + b"\n".join(lines) + b"\n"
    yield "several", b"\0" + json.dumps({"responses": [elastic, elastic | {"qid": 2}]}).encode()


def settings() -> Iterator[tuple[str, bytes]]:
    yield "columns", b'{"a": "spline:4", "b": "category:2", "*": "auto"}'
    yield "numbers", b'{"a": 1, "b": 2.5}'
    yield "signs", b'{"b": -1}'
    boosted = {"match": {"title": {"query": "{{q}}", "boost": "$boost"}}}
    yield "clauses", json.dumps({"a": boosted, "b": {"dis_max": {"queries": [boosted]}}}).encode()


def main() -> None:
    """Replace the seeds of every target; other inputs of the corpus stay."""
    warnings.simplefilter("ignore")
    for target in TARGETS:
        write = globals()[target]  # the function of the same name in this module
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in write():
            (folder / f"seed-{name}").write_bytes(content)


if __name__ == "__main__":
    main()
