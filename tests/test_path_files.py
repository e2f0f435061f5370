"""A model file keeps the whole path, and is rejected if it is damaged."""

from dataclasses import replace

import numpy as np
import pytest

import rankwise
from graded_queries import toy
from rankwise import RankSVMPath, RankwiseError


def test_a_saved_model_keeps_its_path(tmp_path):
    X, y, qid = toy()
    model = RankSVMPath(graph="reduced").fit(X, y, qid).select(X, y, qid)
    model.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.scores_, model.scores_)
    between = float(model.alphas_[-4:-2].mean())
    np.testing.assert_array_equal(loaded.predict(X, alpha=between), model.predict(X, alpha=between))
    np.testing.assert_array_equal(loaded.select(X, -y, qid).scores_, model.select(X, -y, qid).scores_)


def test_a_path_of_a_single_pair_survives(tmp_path):
    model = RankSVMPath(kernel="linear").fit([[0.0], [1.0]], [0.0, 1.0])
    model.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.alphas_, model.alphas_)
    np.testing.assert_array_equal(loaded.predict([[2.0]]), model.predict([[2.0]]))


def test_a_model_file_without_the_path_says_so(tmp_path):
    X, y, qid = toy()
    model = RankSVMPath(graph="reduced").fit(X, y, qid)
    model.model_ = replace(model.model_, outcome=replace(model.model_.outcome, path=None))
    model.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(RankwiseError, match="contains no path, only alpha = "):
        loaded.predict(X, alpha=0.1)


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("path.better", lambda rows: rows + 1000, "'path.better' must hold numbers from 0 to 39"),
        ("path.pairs", lambda pairs: pairs - 1, "'path.pairs' must hold numbers from 0 to"),
        ("path.offsets", lambda offsets: offsets[::-1].copy(), "must start at 0, never decrease and end at"),
        ("path.levels", lambda levels: levels[::-1].copy(), "'path.levels' must be non-empty and never"),
        ("path.weight", lambda weight: -weight, "'path.weight' must hold positive numbers"),
        (
            "path.levels",
            lambda levels: np.append(levels[:-1], 0.0),
            "'path.levels' must hold positive numbers",
        ),
        ("path.changes", lambda changes: changes[:-1].copy(), r"'path.pairs'|'path.changes' must have shape"),
    ],
)
def test_a_damaged_path_is_refused(tmp_path, name, damage, message):
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    X, y, qid = toy()
    RankSVMPath(graph="reduced").fit(X, y, qid).save(tmp_path / "model")
    tensors = load_file(tmp_path / "model")
    with safe_open(tmp_path / "model", framework="numpy") as file:
        metadata = file.metadata()
    tensors[name] = damage(tensors[name])
    save_file(tensors, tmp_path / "model", metadata=metadata)
    with pytest.raises(rankwise.errors.FileFormatError, match=message):
        rankwise.load_model(tmp_path / "model")
