"""A store cut short while it is open is refused before a pass reads what is no longer there."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from rankwise import RankingData, save_store

USE = """
import sys
from pathlib import Path
import numpy as np, rankwise
from rankwise.errors import FileFormatError
from rankwise.operators.rows import NativeRows

folder, cut, use = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
data = rankwise.open_store(folder)
model = rankwise.RankRLS().fit(np.eye(2, data.n_features), [0, 1])
rows = NativeRows(data.X)
with (folder / cut).open("r+b") as file:
    file.truncate(4096)
uses = {
    "fit": lambda: rankwise.RankRLS(solver="cg").fit(data.X, data.y, data.qid),
    "closed": lambda: rankwise.RankRLS(solver="primal").fit(data.X, data.y, data.qid),
    "predict": lambda: model.predict(data.X),
    "scores": lambda: rows.scores(np.ones(data.n_features)),
    "adjoint": lambda: rows.adjoint(np.ones(data.n_rows)),
    "scale": lambda: data.scale_per_query(),
    "save": lambda: rankwise.save_store(data, folder.parent / "copy.store"),
}
try:
    uses[use]()
except FileFormatError as error:
    print(error)
"""


@pytest.fixture(params=["dense", "sparse"])
def store(request, tmp_path):
    X = np.random.default_rng(0).normal(size=(4000, 20))
    data = RankingData.from_arrays(
        X if request.param == "dense" else sparse.csr_matrix(X), np.arange(4000) % 3, np.arange(4000) // 10
    )
    save_store(data, tmp_path / "s.store")
    return tmp_path / "s.store", "X.npy" if request.param == "dense" else "data.npy"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse to cut mapped files")
@pytest.mark.parametrize("use", ["fit", "closed", "predict", "scores", "adjoint", "scale", "save"])
def test_a_file_cut_while_it_is_open_is_a_sentence_and_no_crash(store, use):
    folder, cut = store
    run = subprocess.run([sys.executable, "-c", USE, folder, cut, use], capture_output=True, text=True)
    assert run.returncode == 0, run
    assert f"{cut}: the file was truncated while in use" in run.stdout
    assert run.stdout.count(os.linesep) == 1
