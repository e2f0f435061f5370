"""What a user does with nothing but the wheel: train, save, load, export, in Python and by commands."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import rankwise

RANKERS = [
    rankwise.RankRLS(),
    rankwise.RankRLSCV(),
    rankwise.KernelRankRLS(gamma=0.1, basis=20, random_state=0),
    rankwise.RankSVM(alpha=0.01),
    rankwise.RankSVMPath(gamma=0.1, graph="reduced"),
]
TOOLS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make", "git")


def rankwise_command(*arguments: str) -> str:
    command = [str(Path(sys.executable).with_name("rankwise")), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def main() -> None:
    assert Path(rankwise.__file__).is_relative_to(sys.prefix), "this is not the installed rankwise"
    assert not any(map(shutil.which, TOOLS)), "a user may have no compiler"
    train, test = rankwise.make_search_data(30, random_state=0).scale_per_query().split(0.7)
    for ranker in RANKERS:
        scores = ranker.fit(train).predict(test.X)
        ranker.save("model.safetensors")
        assert np.array_equal(rankwise.load_model("model.safetensors").predict(test.X), scores)

    rankwise.save_letor(train, "train.txt.gz")
    rankwise.save_letor(test, "test.txt")
    rankwise_command("train", "train.txt.gz", "model.safetensors", "--alpha", "0.1")
    rankwise_command("predict", "test.txt", "model.safetensors", "--out", "scores.txt")
    ours = rankwise.load_model("model.safetensors").predict(rankwise.load_letor("test.txt").X)
    np.testing.assert_allclose(np.loadtxt("scores.txt"), ours, rtol=1e-6)
    assert "ndcg@10" in rankwise_command("evaluate", "test.txt", "scores.txt", "--measures", "ndcg@10,map")
    names = ",".join(train.feature_names or ())
    rankwise_command("export", "model.safetensors", "model.sql", "--to", "sql", "--features", names)
    assert "title_bm25" in Path("model.sql").read_text(encoding="utf-8")
    rankwise_command("demo", "--out", "demo")
    print(f"rankwise {rankwise.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
