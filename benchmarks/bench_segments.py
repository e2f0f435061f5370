"""Changes by segments of queries, by simulation: coverage of intervals, and which segments are named."""

from __future__ import annotations

import numpy as np

from benchmarks.bench_gate import KINDS, Draw
from benchmarks.tables import show
from benchmarks.timing import header, sized
from rankwise.preferences.queries import group_rows
from rankwise.report.segments import segment_facts
from rankwise.rows.column import column_of_objects

N_SEGMENTS = 12
LOSS = 0.05


def run() -> None:
    header(f"{N_SEGMENTS} segments of queries, by simulation")
    rows = []
    for kind, draw in KINDS.items():
        for size in (20, 50, 200):
            rows.append((kind, str(size), *(f"{rate:.1%}" for rate in _rates(draw, size))))
    columns = ["differences of queries", "queries per segment", "coverage of 95 % intervals"]
    columns += [f"{N_SEGMENTS} equal: any loses", f"{N_SEGMENTS} equal: any gains"]
    show("segment-rates", [*columns, f"one loses {LOSS}: named"], rows)


def _rates(draw: Draw, size: int) -> list[float]:
    """How often intervals hold the mean, equal segments lose or gain, and one that loses is named."""
    rng = np.random.default_rng(0)
    covered, loses, gains, found = [], [], [], []
    for _ in range(sized(2_000) // 8):
        changes = draw(rng, N_SEGMENTS * size)
        facts = _facts(changes)
        covered += [abs(fact["gain"]) <= fact["margin"] for fact in facts]
        verdicts = {fact["verdict"] for fact in facts}
        loses.append("loses" in verdicts)
        gains.append("gains" in verdicts)
        changes[:size] -= LOSS
        found.append(_facts(changes)[0]["verdict"] == "loses")
    return [float(np.mean(of)) for of in (covered, loses, gains, found)]


def _facts(gains: np.ndarray) -> list[dict]:
    queries = group_rows(np.arange(len(gains)), len(gains))
    segment = np.repeat(np.arange(N_SEGMENTS), len(gains) // N_SEGMENTS)
    per_query = {"values": {"ndcg": {"old": 0.0 * gains, "new": gains}}, "changes": {"ndcg": {"new": gains}}}
    return segment_facts(per_query, queries, {"segment": column_of_objects([f"s{k}" for k in segment])})
