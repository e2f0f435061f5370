"""Ranking measures with explicit conventions.

For a table of results, see `evaluate` and `compare`; for a single number, `ndcg`, `pairwise_error` and
others. To use a measure as a criterion for many score vectors of the same rows::

    from rankwise.metrics import get_measure

    measure = get_measure("ndcg@10", preset="letor")   # or "pairwise_error", "map", "p@5", ...
    prepared = measure.prepare(y, queries)             # Queries, or a qid array, or None
    prepared(scores)                                   # mean over queries, a float
    prepared.many(table)                               # the means of many vectors, one per row
    prepared.per_query(scores)                         # one value per query; NaN for excluded queries
    prepared.left_out                                  # which queries are excluded (set by the labels)
    measure.higher_is_better                           # and measure.is_better(new, old)

`y`, `sample_weight` and `scores` are in the caller's row order, as in `Problem`. A measure is a small
immutable value that specifies *what* is measured (`conventions.py`); `list_formulas.py` and
`pair_formulas.py` compute it, without a Python loop over queries.
"""

from rankwise.metrics.comparison import Comparison, PairedTest, compare
from rankwise.metrics.conventions import PRESETS, Conventions
from rankwise.metrics.evaluation import DEFAULT_MEASURES, Evaluation, evaluate
from rankwise.metrics.good_results import GoodResults, ThresholdQuality, find_good_results
from rankwise.metrics.judged_samples import SampledEvaluation, SampledMean, evaluate_sampled
from rankwise.metrics.kinds import KINDS
from rankwise.metrics.list_functions import (
    average_precision,
    err,
    mean_ndcg,
    ndcg,
    precision_at,
    recall_at,
    reciprocal_rank,
)
from rankwise.metrics.measure import Measure, PreparedMeasure
from rankwise.metrics.named_measures import get_measure
from rankwise.metrics.noninferiority import NonInferiority, non_inferiority
from rankwise.metrics.pair_functions import (
    auc,
    disagreement_error,
    kendall_tau_b,
    pairwise_error,
    preference_error,
)
from rankwise.metrics.runs import compare_runs, evaluate_run
from rankwise.metrics.significance import holm
from rankwise.metrics.threshold import best_threshold

__all__ = [
    "DEFAULT_MEASURES",
    "KINDS",
    "PRESETS",
    "Comparison",
    "Conventions",
    "Evaluation",
    "GoodResults",
    "Measure",
    "NonInferiority",
    "PairedTest",
    "PreparedMeasure",
    "SampledEvaluation",
    "SampledMean",
    "ThresholdQuality",
    "auc",
    "average_precision",
    "best_threshold",
    "compare",
    "compare_runs",
    "disagreement_error",
    "err",
    "evaluate",
    "evaluate_run",
    "evaluate_sampled",
    "find_good_results",
    "get_measure",
    "holm",
    "kendall_tau_b",
    "mean_ndcg",
    "ndcg",
    "non_inferiority",
    "pairwise_error",
    "precision_at",
    "preference_error",
    "recall_at",
    "reciprocal_rank",
]
