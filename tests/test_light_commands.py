"""Commands that read, score, measure, convert, export or describe import no scikit-learn and little SciPy."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import rankwise
from command_line import letor_lines
from warm import run_warm

SCRIPT = """
import sys
from rankwise.cli import main
code = main(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""

MODELS = {
    "linear": rankwise.RankRLS(),
    "chosen": rankwise.RankSVMCV(alphas=[0.1, 1.0]),
    "rbf": rankwise.KernelRankRLS(gamma=0.1, basis=20, random_state=0),
    "shifted": rankwise.KernelRankRLSCV(alphas=[1.0], kernel="linear"),
    "path": rankwise.RankSVMPath(gamma=0.1, graph="reduced"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Dense rows, rows of zeros mostly, and models of both, as files."""
    folder = tmp_path_factory.mktemp("light")
    data = rankwise.make_search_data(12, random_state=5).scale_per_query()
    (folder / "dense.txt").write_text("".join(letor_lines(data)), encoding="utf-8")
    rankwise.save_store(data, folder / "dense.store")
    few = sparse.csr_matrix(data.X * (np.random.default_rng(0).random(data.X.shape) < 0.2))
    stored = rankwise.RankingData.from_arrays(few, data.y, data.qid)
    rankwise.save_letor(stored, folder / "sparse.txt")
    rankwise.save_store(stored, folder / "sparse.store")
    for name, ranker in MODELS.items():
        ranker.fit(data.X, data.y, data.qid).save(folder / name)
    rankwise.KernelRankRLS(gamma=0.1).fit(few, data.y, data.qid).save(folder / "rbf-sparse")
    rankwise.export_model(MODELS["linear"], folder / "svmrank", "svmrank")
    rankwise.trec.save_run(rankwise.trec.run_from_scores(data, data.y), folder / "run")
    rankwise.trec.save_qrels(rankwise.trec.qrels_from_data(data), folder / "qrels")
    (folder / "scores").write_text("".join(f"{score!r}\n" for score in data.y.tolist()), encoding="utf-8")
    return folder


def imported(folder, *arguments):
    """What a command imported, and what it printed."""
    run = run_warm(SCRIPT, *arguments, cwd=folder, imported=("rankwise.cli",))
    assert run.returncode == 0, run.stderr
    return set(run.stderr.split()), run.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        *(["predict", "dense.txt", name] for name in MODELS),
        ["predict", "dense.store", "linear"],
        ["predict", "dense.txt", "linear", "--trec"],
        ["predict", "dense.txt", "svmrank"],
        ["evaluate", "dense.txt", "rbf", "--measures", "ndcg@10,map,err,auc,kendall_tau_b"],
        ["evaluate", "dense.txt", "scores", "--preset", "trec", "--per-query", "--json"],
        ["evaluate", "run", "--qrels", "qrels"],
        ["info"],
        ["info", "path"],
        ["info", "dense.txt"],
        ["info", "dense.store", "--verify"],
        ["convert", "dense.txt", "out.store"],
        ["convert", "dense.txt", "scaled.store", "--scale"],
        ["convert", "dense.store", "out.txt.gz"],
        ["export", "shifted", "shifted.vespa", "--to", "vespa", "--features", ",".join(map(str, range(22)))],
        ["export", "linear", "linear.svmrank", "--to", "svmrank"],
    ],
    ids=" ".join,
)
def test_dense_data_needs_no_scipy(folder, arguments):
    modules, _ = imported(folder, *arguments)
    assert not {"scipy", "sklearn"} & modules


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "sparse.txt", "linear"],
        ["predict", "sparse.store", "rbf-sparse"],
        ["evaluate", "sparse.store", "path"],
        ["info", "sparse.txt"],
        ["convert", "sparse.txt", "sparse-out.store", "--scale"],
    ],
    ids=" ".join,
)
def test_sparse_data_needs_only_sparse_matrices(folder, arguments):
    modules, _ = imported(folder, *arguments)
    assert "scipy.sparse" in modules
    assert not {"scipy.stats", "scipy.optimize", "sklearn"} & modules


def test_an_export_to_onnx_needs_no_scikit_learn(folder):
    pytest.importorskip("onnx")
    modules, _ = imported(folder, "export", "rbf", "rbf.onnx")
    assert not {"scipy", "sklearn"} & modules


def test_prediction_imports_numpy_and_what_reads_files_and_arguments(folder):
    modules, _ = imported(folder, "predict", "dense.txt", "linear")
    script = "import sys, typer, typer._adapters; print(*sys.modules)"
    bare = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    for_arguments = packages_of(bare.stdout.split())
    assert packages_of(modules) - for_arguments == {"numpy", "rankwise", "safetensors"}


def packages_of(modules):
    return {name.partition(".")[0] for name in modules} - sys.stdlib_module_names


@pytest.mark.parametrize("data", ["dense", "sparse"])
@pytest.mark.parametrize("name", [*MODELS, "rbf-sparse"])
def test_a_command_scores_as_the_estimator_does_bit_for_bit(folder, data, name):
    from rankwise.cli.reading import load_model

    X = rankwise.load_letor(folder / f"{data}.txt", n_features=22).X
    expected = rankwise.load_model(folder / name).predict(X)
    np.testing.assert_array_equal(load_model(folder / name).predict(X), expected)
    on_disk = rankwise.open_store(folder / f"{data}.store").X
    assert isinstance(on_disk, np.memmap) or isinstance(on_disk.data, np.memmap)
    np.testing.assert_array_equal(load_model(folder / name).predict(on_disk), expected)
