"""Judgments to check again, and features that give the label away, as `rankwise.audit` finds them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from rankwise.auditing.audit_data import audit
from rankwise.errors import GridWarning
from rankwise.report.lists import short, short_name
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table

# Findings of each kind, and multiplications that an audit may take before a report leaves it out.
MAX_FINDINGS, MAX_WORK = 10, 5e8
# Fewer queries with two different labels say nothing about each other.
MIN_QUERIES = 5


def audit_facts(judged: RankingData) -> dict[str, Any] | None:
    """The most suspicious rows, contradictory duplicates and revealing features, with their numbers.

    None without features, with too few queries, and for data on which an audit would take longer than the
    rest of the report.
    """
    work = judged.n_rows * float(judged.n_features) ** 2
    if work == 0.0 or work > MAX_WORK or isinstance(judged.X, Table):
        return None
    y, starts = judged.queries.grouped(judged.y), judged.queries.offsets[:-1]
    if (np.minimum.reduceat(y, starts) < np.maximum.reduceat(y, starts)).sum() < MIN_QUERIES:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)  # alpha is chosen only for the audit
        found = audit(judged, n_suspects=MAX_FINDINGS).to_dict()
    kept = {name: found[name] for name in ("rows", "duplicates", "revealing_features")}
    return {
        name: {"number": len(findings), "findings": [_shown(one) for one in findings[:MAX_FINDINGS]]}
        for name, findings in kept.items()
    }


def _shown(finding: dict[str, Any]) -> dict[str, Any]:
    return {
        key: short_name(value) if isinstance(value, str) else None if value is None else short(value)
        for key, value in finding.items()
    }
