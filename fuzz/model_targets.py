"""Targets for files of models, moments, checkpoints and settings."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

import rankwise
from fuzz.claims import FEW_FEATURES, assert_equal, attempt
from rankwise.cli.learners import parse_by_feature, parse_columns
from rankwise.cli.reading import load_model as load_any_model
from rankwise.export.formats import export_model
from rankwise.export.svmrank import load_svmrank, save_svmrank
from rankwise.features import Features
from rankwise.model.card_page import card_page
from rankwise.model.model import Model
from rankwise.ridge import checkpoint
from rankwise.ridge.moments import file as moments_file
from rankwise.scoring.functions import LinearFunction
from rankwise.validation.by_feature import check_costs, check_signs

FINGERPRINT = "0" * 64
# What files of settings name.
TABLE = pd.DataFrame({"a": [1.0, 2.0, 4.0, 8.0], "b": ["x", "y", "x", "z"]})
LINEAR = Model("RankRLS", LinearFunction(np.array([0.5, 2.0])), Features(("a", "b"), count=2))


def models(content: bytes, folder: Path) -> None:
    """Model files: what loads can predict, and is saved as it was loaded."""
    path = folder / "model"
    path.write_bytes(content)
    model = attempt(rankwise.load_model, path)
    if model is None:
        return
    if model.n_features_in_ <= FEW_FEATURES:
        rows = np.full((2, model.n_features_in_), 0.5)
        encoding = getattr(model, "encoding_", None)
        attempt(model.predict, rows if encoding is None else pd.DataFrame(rows, columns=encoding.columns))
    repr(model)
    card = card_page(model.model_, "model")
    assert "<script" not in card.html("") + card.markdown(), "a card holds HTML of others"
    first, second = folder / "first", folder / "second"
    model.save(first)
    rankwise.load_model(first).save(second)
    assert first.read_bytes() == second.read_bytes(), "a loaded model is saved in other bytes"


def moments(content: bytes, folder: Path) -> None:
    """Files of moments: what loads can be completed, combined and solved, and is saved as it was loaded."""
    path, again = folder / "moments", folder / "again"
    path.write_bytes(content)
    # The checksum would keep changed numbers from being read.
    with mock.patch.object(moments_file, "_checksum", return_value=FINGERPRINT):
        loaded = attempt(rankwise.Moments.load, path)
        if loaded is None:
            return
        repr(loaded)
        loaded.save(again)
        saved = again.read_bytes()
        rankwise.Moments.load(again).save(again)
        assert again.read_bytes() == saved, "loaded moments are saved in other bytes"
    attempt(lambda: loaded + loaded)
    complete = attempt(loaded.close)
    if complete is not None:
        attempt(rankwise.RankRLS.from_moments, complete)


def checkpoints(content: bytes, folder: Path) -> None:
    """Checkpoints of a run, which goes on from whatever it accepts."""
    (folder / checkpoint.FILE).write_bytes(content)
    # The fingerprint of a run differs between machines, and would keep inputs from being read.
    with mock.patch.object(checkpoint, "_fingerprint", return_value=FINGERPRINT):
        attempt(fit_with_checkpoint, folder)


def fit_with_checkpoint(folder: Path) -> None:
    """The run to which the checkpoints of the corpus belong."""
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(24, 4)), rng.normal(size=24), np.arange(24) // 6
    ranker = rankwise.RankRLS(
        solver="cg",
        max_iter=5,
        early_stopping=True,
        random_state=0,
        checkpoint=str(folder),
        checkpoint_seconds=0.0,
    )
    assert ranker.fit(X, y, qid).coef_.shape == (4,)


def svmrank(content: bytes, folder: Path) -> None:
    """Models in the text format of SVMrank."""
    path, again = folder / "model", folder / "again"
    path.write_bytes(content)
    model = attempt(load_any_model, path)
    coef = attempt(load_svmrank, path)
    if coef is not None and 0 < len(coef) <= FEW_FEATURES:
        attempt(model.predict, np.full((2, len(coef)), 0.5))
        save_svmrank(coef, again, n_rows=1)
        assert_equal(load_svmrank(again), coef)


def settings(content: bytes, folder: Path) -> None:
    """JSON files by name: what columns become, signs and costs of features, clauses of queries."""
    path = folder / "settings.json"
    path.write_bytes(content)
    columns = attempt(parse_columns, str(path))
    if columns is not None:
        attempt(rankwise.ColumnEncoder(columns).fit, TABLE)
    numbers = attempt(parse_by_feature, "--feature-costs", str(path))
    if numbers is not None:
        attempt(check_signs, numbers, list(TABLE))
        attempt(check_costs, numbers, list(TABLE))
    attempt(export_model, LINEAR, folder / "query", "elasticsearch-query", clauses=path)
