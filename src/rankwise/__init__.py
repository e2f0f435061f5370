"""Fast, exact, explainable learning to rank.

Names are imported on first use, so ``import rankwise`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> module that defines it.
_HOME = {
    "ClickLog": "rankwise.data.clicks",
    "DataError": "rankwise.errors",
    "ParameterError": "rankwise.errors",
    "QueryMinMaxScaler": "rankwise.estimators.scaler",
    "RankwiseError": "rankwise.errors",
    "RankSVMPath": "rankwise.estimators.ranksvm_path",
    "Moments": "rankwise.moments.moments",
    "QuerySizes": "rankwise.moments.sizes",
    "RankRLS": "rankwise.estimators.rankrls",
    "RankSVM": "rankwise.estimators.ranksvm",
    "RankSVMCV": "rankwise.estimators.ranksvm_cv",
    "KernelRankRLS": "rankwise.estimators.kernel_rankrls",
    "KernelRankRLSCV": "rankwise.estimators.kernel_rankrls_cv",
    "RankRLSCV": "rankwise.estimators.rankrls_cv",
    "rank_scorer": "rankwise.selection.scorer",
    "RankingData": "rankwise.data.ranking",
    "config_context": "rankwise.config",
    "convert_letor": "rankwise.data.convert",
    "export_model": "rankwise.export.formats",
    "get_config": "rankwise.config",
    "load_letor": "rankwise.data.letor",
    "open_store": "rankwise.data.store",
    "save_letor": "rankwise.data.letor_writer",
    "save_store": "rankwise.data.store",
    "load_model": "rankwise.persist.models",
    "load_pairs": "rankwise.data.pair_files",
    "make_click_log": "rankwise.data.clicks",
    "make_search_data": "rankwise.data.simulated_search",
    "pairs_from_clicks": "rankwise.data.clicks",
    "qid_from_group_sizes": "rankwise.preferences.queries",
    "load_table": "rankwise.data.tables",
    "save_pairs": "rankwise.data.pair_files",
    "set_config": "rankwise.config",
    "scale_per_query": "rankwise.data.scaling",
}

_SUBMODULES = ("metrics",)

__all__ = ["__version__", *_HOME, *_SUBMODULES]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _SUBMODULES:
        return import_module(f"rankwise.{name}")
    raise AttributeError(f"module 'rankwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
