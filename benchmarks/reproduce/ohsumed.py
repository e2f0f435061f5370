"""Tables 1 to 3 of paper A: RankRLS and plain RLS on OHSUMED (LETOR 2.0).

``python -m benchmarks.reproduce.ohsumed --data DIR``, with DIR holding ohsumed_letor2/Fold1 ... Fold5.

There are five folds, and every feature is scaled to [0, 1] within each query. Alpha, from 2⁻¹⁵ ... 2¹⁵, and
whether tied pairs count are chosen by MAP on the validation fold; the result is evaluated on the test fold.
RLS is scikit-learn's Ridge on the labels.

Two choices were made after seeing the paper's tables. Relevant means a label of at least 1; the text says
label 2, but that gives a MAP of 0.319. Pairs have weight 1/h in a query of h rows (``weighting="example"``),
which comes closest to the tables; equation (7) reads as weight 1 each, and that column is printed as well.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge

from benchmarks.reproduce._data import check_folder
from rankwise import RankRLSCV, RankSVMCV, load_letor, scale_per_query
from rankwise.metrics import get_measure

ALPHAS = 2.0 ** np.arange(-15, 16)
SVM_ALPHAS = 10.0 ** np.arange(-6, 0.5, 0.5)
MAP = get_measure("map", preset="letor")
MEASURES = ["map", *(f"ndcg@{k}" for k in range(1, 11)), *(f"p@{k}" for k in range(1, 11))]
PAPER = {
    "RankRLS": [
        0.447,
        *(0.549, 0.492, 0.477, 0.465, 0.453, 0.450, 0.451, 0.447, 0.447, 0.443),
        *(0.644, 0.614, 0.586, 0.570, 0.557, 0.546, 0.534, 0.524, 0.516, 0.505),
    ],
    "RLS": [
        0.450,
        *(0.527, 0.499, 0.491, 0.474, 0.461, 0.454, 0.459, 0.460, 0.458, 0.452),
        *(0.635, 0.615, 0.602, 0.580, 0.560, 0.541, 0.545, 0.539, 0.525, 0.510),
    ],
}


def read(folder: Path, part: str):
    path = next(path for path in sorted(folder.iterdir()) if path.name.startswith(part))
    data = load_letor(path)
    return scale_per_query(data.X, data.qid), data.y, data.qid


def choose(train, cv, ties, eval_set=None, weighting="example"):
    model = RankRLSCV(ALPHAS, cv=cv, ties=ties, weighting=weighting, measure=MAP)
    model.fit(*train, eval_set=eval_set)
    return model, model.best_


def rank_rls(train, validation):
    return choose(train, None, ("keep", "drop"), validation)


def with_pair_weights(train, validation):
    return choose(train, None, ("keep", "drop"), validation, weighting="pair")


def with_ties_kept(train, validation):
    return choose(train, None, "keep", validation)


def by_leave_query_out(train, validation):
    """The same choice on the training folds alone, without the validation fold."""
    return choose(train, "leave-query-out", ("keep", "drop"))


def rank_svm(train, validation):
    """RankSVM with the same protocol."""
    model = RankSVMCV(SVM_ALPHAS, measure=MAP, weighting="query").fit(*train, eval_set=validation)
    return model, model.best_


def rls(train, validation):
    X, y, _ = train
    V, v, vid = validation
    prepared = MAP.prepare(v, vid)
    models = [Ridge(alpha).fit(X, y) for alpha in ALPHAS]
    best = max(range(len(ALPHAS)), key=lambda k: prepared(models[k].predict(V)))
    return models[best], {"alpha": ALPHAS[best]}


METHODS = {
    "RankRLS": rank_rls,
    "pairs": with_pair_weights,
    "ties kept": with_ties_kept,
    "by LQO": by_leave_query_out,
    "RankSVM": rank_svm,
    "RLS": rls,
}


def reproduce(data: Path) -> dict[str, np.ndarray]:
    """Means over the five test folds: for each method, one value per measure."""
    values = {name: np.zeros(len(MEASURES)) for name in METHODS}
    for fold in range(1, 6):
        folder = data / f"Fold{fold}"
        train, validation, test = (read(folder, part) for part in ("train", "valid", "test"))
        for name, method in METHODS.items():
            start = time.perf_counter()
            model, chosen = method(train, validation)
            seconds = time.perf_counter() - start
            scores = model.predict(test[0])
            values[name] += [get_measure(m, preset="letor")(test[1], scores, test[2]) / 5 for m in MEASURES]
            chosen = {
                key: value if key == "ties" else float(value)
                for key, value in chosen.items()
                if key in ("alpha", "ties")
            }
            print(f"fold {fold}  {name:10} {chosen}  {seconds:.2f} s")
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of real data sets")
    folder = parser.parse_args().data
    parts = [f"ohsumed_letor2/Fold{k}/{part}*" for k in range(1, 6) for part in ("train", "valid", "test")]
    check_folder(parser, folder, parts)
    values = reproduce(folder / "ohsumed_letor2")
    print(f"\n{'':8} {'paper':>9} " + " ".join(f"{name:>9}" for name in METHODS) + f" {'paper':>9}")
    for k, measure in enumerate(MEASURES):
        row = [PAPER["RankRLS"][k], *(values[name][k] for name in METHODS), PAPER["RLS"][k]]
        print(f"{measure:8} " + " ".join(f"{value:9.3f}" for value in row))
    for name in METHODS:
        off = np.abs(values[name] - PAPER["RLS" if name == "RLS" else "RankRLS"])
        ndcg, precision = off[1:11].max(), off[11:].max()
        print(f"{name}: MAP off by {off[0]:.4f}, NDCG by at most {ndcg:.4f}, P by {precision:.4f}")


if __name__ == "__main__":
    main()
