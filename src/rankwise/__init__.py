"""Fast, exact, explainable learning to rank.

Names are imported on first use, so ``import rankwise`` stays light. Type checkers and editors read the
imports below instead, which are never executed.
"""

from importlib import import_module as _import_module

TYPE_CHECKING = False  # as in typing, the import of which would take longer than all others here

if TYPE_CHECKING:
    from rankwise import dask as dask
    from rankwise import metrics as metrics
    from rankwise.auditing.audit import audit as audit
    from rankwise.config import config_context as config_context
    from rankwise.config import get_config as get_config
    from rankwise.config import set_config as set_config
    from rankwise.data.click_likelihood import click_likelihood as click_likelihood
    from rankwise.data.clicks import ClickLog as ClickLog
    from rankwise.data.convert import convert_letor as convert_letor
    from rankwise.data.feature_logs import load_feature_log as load_feature_log
    from rankwise.data.from_clicks import grades_from_clicks as grades_from_clicks
    from rankwise.data.from_clicks import pairs_from_clicks as pairs_from_clicks
    from rankwise.data.from_clicks import rows_from_clicks as rows_from_clicks
    from rankwise.data.judgment_files import load_judgments as load_judgments
    from rankwise.data.judgment_files import save_judgments as save_judgments
    from rankwise.data.letor import load_letor as load_letor
    from rankwise.data.letor_writer import save_letor as save_letor
    from rankwise.data.pair_files import load_pairs as load_pairs
    from rankwise.data.pair_files import save_pairs as save_pairs
    from rankwise.data.ranking import RankingData as RankingData
    from rankwise.data.scaling import scale_per_query as scale_per_query
    from rankwise.data.simulated_clicks import make_click_log as make_click_log
    from rankwise.data.simulated_search import make_search_data as make_search_data
    from rankwise.data.store import open_store as open_store
    from rankwise.data.store import save_store as save_store
    from rankwise.data.tables import load_table as load_table
    from rankwise.data.trec import load_qrels as load_qrels
    from rankwise.data.trec import load_run as load_run
    from rankwise.data.trec import qrels_from_data as qrels_from_data
    from rankwise.data.trec import run_from_scores as run_from_scores
    from rankwise.data.trec import save_qrels as save_qrels
    from rankwise.data.trec import save_run as save_run
    from rankwise.errors import DataError as DataError
    from rankwise.errors import ParameterError as ParameterError
    from rankwise.errors import QueryWarning as QueryWarning
    from rankwise.errors import RankwiseError as RankwiseError
    from rankwise.estimators.column_encoder import ColumnEncoder as ColumnEncoder
    from rankwise.estimators.kernel_rankrls import KernelRankRLS as KernelRankRLS
    from rankwise.estimators.kernel_rankrls_cv import KernelRankRLSCV as KernelRankRLSCV
    from rankwise.estimators.onnx_converters import register_onnx_converters as register_onnx_converters
    from rankwise.estimators.rankrls import RankRLS as RankRLS
    from rankwise.estimators.rankrls_cv import RankRLSCV as RankRLSCV
    from rankwise.estimators.rankrls_path import RankRLSPath as RankRLSPath
    from rankwise.estimators.ranksvm import RankSVM as RankSVM
    from rankwise.estimators.ranksvm_cv import RankSVMCV as RankSVMCV
    from rankwise.estimators.ranksvm_path import RankSVMPath as RankSVMPath
    from rankwise.estimators.scaler import QueryMinMaxScaler as QueryMinMaxScaler
    from rankwise.export.formats import export_model as export_model
    from rankwise.moments.moments import Moments as Moments
    from rankwise.moments.sizes import QuerySizes as QuerySizes
    from rankwise.persist.models import load_model as load_model
    from rankwise.preferences.queries import qid_from_group_sizes as qid_from_group_sizes
    from rankwise.report.report import make_report as make_report
    from rankwise.selection.scorer import rank_scorer as rank_scorer

__version__ = "0.1.0"

__all__ = [
    "ClickLog",
    "ColumnEncoder",
    "DataError",
    "KernelRankRLS",
    "KernelRankRLSCV",
    "Moments",
    "ParameterError",
    "QueryMinMaxScaler",
    "QuerySizes",
    "QueryWarning",
    "RankRLS",
    "RankRLSCV",
    "RankRLSPath",
    "RankSVM",
    "RankSVMCV",
    "RankSVMPath",
    "RankingData",
    "RankwiseError",
    "__version__",
    "audit",
    "click_likelihood",
    "config_context",
    "convert_letor",
    "dask",
    "export_model",
    "get_config",
    "grades_from_clicks",
    "load_feature_log",
    "load_judgments",
    "load_letor",
    "load_model",
    "load_pairs",
    "load_qrels",
    "load_run",
    "load_table",
    "make_click_log",
    "make_report",
    "make_search_data",
    "metrics",
    "open_store",
    "pairs_from_clicks",
    "qid_from_group_sizes",
    "qrels_from_data",
    "rank_scorer",
    "register_onnx_converters",
    "rows_from_clicks",
    "run_from_scores",
    "save_judgments",
    "save_letor",
    "save_pairs",
    "save_qrels",
    "save_run",
    "save_store",
    "scale_per_query",
    "set_config",
]

# Public name -> module that defines it.
_HOME = {
    "audit": "rankwise.auditing.audit",
    "click_likelihood": "rankwise.data.click_likelihood",
    "ClickLog": "rankwise.data.clicks",
    "ColumnEncoder": "rankwise.estimators.column_encoder",
    "config_context": "rankwise.config",
    "convert_letor": "rankwise.data.convert",
    "DataError": "rankwise.errors",
    "export_model": "rankwise.export.formats",
    "get_config": "rankwise.config",
    "grades_from_clicks": "rankwise.data.from_clicks",
    "KernelRankRLS": "rankwise.estimators.kernel_rankrls",
    "KernelRankRLSCV": "rankwise.estimators.kernel_rankrls_cv",
    "load_feature_log": "rankwise.data.feature_logs",
    "load_judgments": "rankwise.data.judgment_files",
    "load_letor": "rankwise.data.letor",
    "load_model": "rankwise.persist.models",
    "load_pairs": "rankwise.data.pair_files",
    "load_qrels": "rankwise.data.trec",
    "load_run": "rankwise.data.trec",
    "load_table": "rankwise.data.tables",
    "make_click_log": "rankwise.data.simulated_clicks",
    "make_report": "rankwise.report.report",
    "make_search_data": "rankwise.data.simulated_search",
    "Moments": "rankwise.moments.moments",
    "open_store": "rankwise.data.store",
    "pairs_from_clicks": "rankwise.data.from_clicks",
    "ParameterError": "rankwise.errors",
    "qid_from_group_sizes": "rankwise.preferences.queries",
    "qrels_from_data": "rankwise.data.trec",
    "QueryMinMaxScaler": "rankwise.estimators.scaler",
    "QuerySizes": "rankwise.moments.sizes",
    "QueryWarning": "rankwise.errors",
    "rank_scorer": "rankwise.selection.scorer",
    "RankingData": "rankwise.data.ranking",
    "RankRLS": "rankwise.estimators.rankrls",
    "RankRLSCV": "rankwise.estimators.rankrls_cv",
    "RankRLSPath": "rankwise.estimators.rankrls_path",
    "RankSVM": "rankwise.estimators.ranksvm",
    "RankSVMCV": "rankwise.estimators.ranksvm_cv",
    "RankSVMPath": "rankwise.estimators.ranksvm_path",
    "RankwiseError": "rankwise.errors",
    "register_onnx_converters": "rankwise.estimators.onnx_converters",
    "rows_from_clicks": "rankwise.data.from_clicks",
    "run_from_scores": "rankwise.data.trec",
    "save_judgments": "rankwise.data.judgment_files",
    "save_letor": "rankwise.data.letor_writer",
    "save_pairs": "rankwise.data.pair_files",
    "save_qrels": "rankwise.data.trec",
    "save_run": "rankwise.data.trec",
    "save_store": "rankwise.data.store",
    "scale_per_query": "rankwise.data.scaling",
    "set_config": "rankwise.config",
}

_SUBMODULES = ("dask", "metrics")


if not TYPE_CHECKING:  # which would take any name for an object

    def __getattr__(name: str) -> object:
        if name in _HOME:
            return getattr(_import_module(_HOME[name]), name)
        if name in _SUBMODULES:
            return _import_module(f"rankwise.{name}")
        raise AttributeError(f"module 'rankwise' has no attribute {name!r}")

    del TYPE_CHECKING


def __dir__() -> list[str]:
    return __all__
