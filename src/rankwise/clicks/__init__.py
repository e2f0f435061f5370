"""Click logs, and training data from them."""

from rankwise.clicks.interleaving import interleaving_test, team_draft
from rankwise.clicks.likelihood import click_likelihood
from rankwise.clicks.log import ClickLog
from rankwise.clicks.simulation import make_click_log, make_interleaved_log
from rankwise.clicks.training_data import grades_from_clicks, pairs_from_clicks, rows_from_clicks

__all__ = [
    "ClickLog",
    "click_likelihood",
    "grades_from_clicks",
    "interleaving_test",
    "make_click_log",
    "make_interleaved_log",
    "pairs_from_clicks",
    "rows_from_clicks",
    "team_draft",
]
