"""A store cut short while it is open is refused before a pass reads what is no longer there."""

import sys

import numpy as np
import pytest
from scipy import sparse

from rankwise import RankingData, save_store
from warm import run_warm

# A crash ends the process, so that neither the use that crashed nor those after it have a line.
SCRIPT = """
import sys
from pathlib import Path
import numpy as np, rankwise
from rankwise.errors import FileFormatError
from rankwise.operators.native_rows import NativeRows

USES = {
    "fit": lambda data, rows, model: rankwise.RankRLS(solver="cg").fit(data.X, data.y, data.qid),
    "closed": lambda data, rows, model: rankwise.RankRLS(solver="primal").fit(data.X, data.y, data.qid),
    "predict": lambda data, rows, model: model.predict(data.X),
    "scores": lambda data, rows, model: rows.scores(np.ones(data.n_features)),
    "adjoint": lambda data, rows, model: rows.adjoint(np.ones(data.n_rows)),
    "scale": lambda data, rows, model: data.scale_per_query(),
    "save": lambda data, rows, model: rankwise.save_store(data, "copy.store"),
}
model = rankwise.RankRLS().fit(np.eye(2, 20), [0, 1])
for use, call in USES.items():
    data = rankwise.open_store(f"{use}.store")
    rows = NativeRows(data.X)
    with Path(f"{use}.store", sys.argv[1]).open("r+b") as file:
        file.truncate(4096)
    try:
        call(data, rows, model)
    except FileFormatError as error:
        print(use, error, sep=" refused: ", flush=True)
"""
USES = ["fit", "closed", "predict", "scores", "adjoint", "scale", "save"]


@pytest.fixture(scope="module", params=["X.npy", "data.npy"], ids=["dense", "sparse"])
def cut(request, tmp_path_factory):
    """The name of a file, and what a process printed whose open stores lost the end of that file."""
    folder = tmp_path_factory.mktemp("cut")
    X = np.random.default_rng(0).normal(size=(4000, 20))
    X = X if request.param == "X.npy" else sparse.csr_matrix(X)
    data = RankingData.from_arrays(X, np.arange(4000) % 3, np.arange(4000) // 10)
    for use in USES:
        save_store(data, folder / f"{use}.store")
    run = run_warm(SCRIPT, request.param, cwd=folder)
    return request.param, run.stdout.splitlines()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse to cut mapped files")
@pytest.mark.parametrize("use", USES)
def test_a_file_cut_while_it_is_open_is_a_sentence_and_no_crash(cut, use):
    file, printed = cut
    (line,) = (line for line in printed if line.startswith(f"{use} refused: "))
    assert f"{file}: the file was truncated while in use" in line
