"""Fast, exact, explainable learning to rank.

Names are imported on first use, so ``import rankwise`` stays light. Type checkers and editors read the
imports below instead, which are never executed.
"""

from importlib import import_module as _import_module

TYPE_CHECKING = False  # as in typing, the import of which would take longer than all others here

if TYPE_CHECKING:
    from rankwise import clicks as clicks
    from rankwise import dask as dask
    from rankwise import metrics as metrics
    from rankwise import raters as raters
    from rankwise import trec as trec
    from rankwise.auditing.audit_data import audit as audit
    from rankwise.auditing.drift import drift as drift
    from rankwise.config import config_context as config_context
    from rankwise.config import get_config as get_config
    from rankwise.config import set_config as set_config
    from rankwise.errors import DataError as DataError
    from rankwise.errors import ParameterError as ParameterError
    from rankwise.errors import QueryWarning as QueryWarning
    from rankwise.errors import RankwiseError as RankwiseError
    from rankwise.export.formats import export_model as export_model
    from rankwise.model.models import load_model as load_model
    from rankwise.preferences.queries import qid_from_group_sizes as qid_from_group_sizes
    from rankwise.rankers.column_encoder import ColumnEncoder as ColumnEncoder
    from rankwise.rankers.kernel_rankrls import KernelRankRLS as KernelRankRLS
    from rankwise.rankers.kernel_rankrls_cv import KernelRankRLSCV as KernelRankRLSCV
    from rankwise.rankers.onnx_converters import register_onnx_converters as register_onnx_converters
    from rankwise.rankers.rankrls import RankRLS as RankRLS
    from rankwise.rankers.rankrls_cv import RankRLSCV as RankRLSCV
    from rankwise.rankers.rankrls_path import RankRLSPath as RankRLSPath
    from rankwise.rankers.ranksvm import RankSVM as RankSVM
    from rankwise.rankers.ranksvm_cv import RankSVMCV as RankSVMCV
    from rankwise.rankers.ranksvm_path import RankSVMPath as RankSVMPath
    from rankwise.rankers.scaler import QueryMinMaxScaler as QueryMinMaxScaler
    from rankwise.readers.feature_logs import load_feature_log as load_feature_log
    from rankwise.readers.judgment_files import load_judgments as load_judgments
    from rankwise.readers.judgment_files import save_judgments as save_judgments
    from rankwise.readers.letor import load_letor as load_letor
    from rankwise.readers.letor_to_store import convert_letor as convert_letor
    from rankwise.readers.letor_writer import save_letor as save_letor
    from rankwise.readers.movies import load_movies as load_movies
    from rankwise.readers.pair_files import load_pairs as load_pairs
    from rankwise.readers.pair_files import save_pairs as save_pairs
    from rankwise.readers.store import open_store as open_store
    from rankwise.readers.store import save_store as save_store
    from rankwise.readers.tables import load_table as load_table
    from rankwise.report.make_report import make_report as make_report
    from rankwise.ridge.moments.moments import Moments as Moments
    from rankwise.ridge.moments.sizes import QuerySizes as QuerySizes
    from rankwise.rows.ranking import RankingData as RankingData
    from rankwise.rows.scaling import scale_per_query as scale_per_query
    from rankwise.selection.learner_comparison import compare_learners as compare_learners
    from rankwise.selection.learning_curve import learning_curve as learning_curve
    from rankwise.selection.sampled_labels import fit_sampled as fit_sampled
    from rankwise.selection.scorer import rank_scorer as rank_scorer
    from rankwise.simulated_search import make_search_data as make_search_data

__version__ = "0.1.0"

__all__ = [
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
    "clicks",
    "compare_learners",
    "config_context",
    "convert_letor",
    "drift",
    "export_model",
    "fit_sampled",
    "get_config",
    "learning_curve",
    "load_feature_log",
    "load_judgments",
    "load_letor",
    "load_model",
    "load_movies",
    "load_pairs",
    "load_table",
    "make_report",
    "make_search_data",
    "metrics",
    "open_store",
    "qid_from_group_sizes",
    "rank_scorer",
    "register_onnx_converters",
    "save_judgments",
    "save_letor",
    "save_pairs",
    "save_store",
    "scale_per_query",
    "set_config",
    "trec",
]

# Public name -> module that defines it.
_HOME = {
    "audit": "rankwise.auditing.audit_data",
    "drift": "rankwise.auditing.drift",
    "ColumnEncoder": "rankwise.rankers.column_encoder",
    "compare_learners": "rankwise.selection.learner_comparison",
    "config_context": "rankwise.config",
    "convert_letor": "rankwise.readers.letor_to_store",
    "DataError": "rankwise.errors",
    "export_model": "rankwise.export.formats",
    "fit_sampled": "rankwise.selection.sampled_labels",
    "get_config": "rankwise.config",
    "KernelRankRLS": "rankwise.rankers.kernel_rankrls",
    "KernelRankRLSCV": "rankwise.rankers.kernel_rankrls_cv",
    "learning_curve": "rankwise.selection.learning_curve",
    "load_feature_log": "rankwise.readers.feature_logs",
    "load_judgments": "rankwise.readers.judgment_files",
    "load_letor": "rankwise.readers.letor",
    "load_model": "rankwise.model.models",
    "load_pairs": "rankwise.readers.pair_files",
    "load_movies": "rankwise.readers.movies",
    "load_table": "rankwise.readers.tables",
    "make_report": "rankwise.report.make_report",
    "make_search_data": "rankwise.simulated_search",
    "Moments": "rankwise.ridge.moments.moments",
    "open_store": "rankwise.readers.store",
    "ParameterError": "rankwise.errors",
    "qid_from_group_sizes": "rankwise.preferences.queries",
    "QueryMinMaxScaler": "rankwise.rankers.scaler",
    "QuerySizes": "rankwise.ridge.moments.sizes",
    "QueryWarning": "rankwise.errors",
    "rank_scorer": "rankwise.selection.scorer",
    "RankingData": "rankwise.rows.ranking",
    "RankRLS": "rankwise.rankers.rankrls",
    "RankRLSCV": "rankwise.rankers.rankrls_cv",
    "RankRLSPath": "rankwise.rankers.rankrls_path",
    "RankSVM": "rankwise.rankers.ranksvm",
    "RankSVMCV": "rankwise.rankers.ranksvm_cv",
    "RankSVMPath": "rankwise.rankers.ranksvm_path",
    "RankwiseError": "rankwise.errors",
    "register_onnx_converters": "rankwise.rankers.onnx_converters",
    "save_judgments": "rankwise.readers.judgment_files",
    "save_letor": "rankwise.readers.letor_writer",
    "save_pairs": "rankwise.readers.pair_files",
    "save_store": "rankwise.readers.store",
    "scale_per_query": "rankwise.rows.scaling",
    "set_config": "rankwise.config",
}

_SUBMODULES = ("clicks", "dask", "metrics", "raters", "trec")

# With dask, ``from rankwise import *`` would need an extra.
__all__ = sorted(("__version__", *_HOME, *(name for name in _SUBMODULES if name != "dask")))

# Names that used to be here -> where they are now.
_MOVED = dict.fromkeys(
    (
        "ClickLog",
        "click_likelihood",
        "grades_from_clicks",
        "make_click_log",
        "pairs_from_clicks",
        "rows_from_clicks",
    ),
    "rankwise.clicks",
) | dict.fromkeys(
    ("load_qrels", "load_run", "qrels_from_data", "run_from_scores", "save_qrels", "save_run"),
    "rankwise.trec",
)


if not TYPE_CHECKING:  # which would take any name for an object

    def __getattr__(name: str) -> object:
        home = _HOME.get(name) or _MOVED.get(name)
        if home is not None:
            return globals().setdefault(name, getattr(_import_module(home), name))
        if name in _SUBMODULES:
            return _import_module(f"rankwise.{name}")
        raise AttributeError(f"module 'rankwise' has no attribute {name!r}")

    del TYPE_CHECKING


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES})
