"""Write model files of the current schema, with the scores that they give: ``python tests/golden/write.py``.

Files that exist are never written again: they stand for the versions of rankwise that wrote them.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

import rankwise
from rankwise.metrics import evaluate
from rankwise.tensor_file import SCHEMA

FOLDER = Path(__file__).parent
ALPHAS = [0.1, 1.0, 10.0]


def rows_of(recorded):
    """Rows as a user has them, from JSON: lists are rows of numbers, a dictionary holds columns."""
    return pd.DataFrame(recorded) if isinstance(recorded, dict) else np.array(recorded)


def problem():
    """Rows, columns with categories and missing values, labels and queries: always the same."""
    i = np.arange(24)
    X = np.column_stack([np.sin(i), np.cos(3 * i), (i * 7) % 5 / 5])
    columns = {
        "price": np.where(i % 7, X[:, 0], np.nan).tolist(),
        "stock": X[:, 1].tolist(),
        "colour": np.array(["red", "green", "blue"])[i % 3].tolist(),
    }
    return X.tolist(), columns, np.round(X @ [1.0, -0.5, 2.0]), i // 6


def models():
    """Every class, and what else a file can hold: an encoding of columns, moments, a curve, a card.

    Yields the name of the file, the model, rows, and what `save` is told.
    """
    rows, columns, y, qid = problem()
    X, frame = rows_of(rows), rows_of(columns)
    yield "RankRLS", rankwise.RankRLS(alpha=0.5).fit(X, y, qid), rows
    yield "RankRLS-cg", rankwise.RankRLS(solver="cg", max_iter=20).fit(X, y, qid, eval_set=(X, y, qid)), rows
    yield "RankRLS-updated", rankwise.RankRLS().partial_fit(X, y, qid), rows
    yield "RankRLS-columns", rankwise.RankRLS(columns="auto").fit(frame, y, qid), columns
    yield "RankRLSCV", rankwise.RankRLSCV(alphas=ALPHAS).fit(X, y, qid), rows
    updated = rankwise.RankRLS(solver="primal").fit(X, y, qid).forget(X[qid == 0], y[qid == 0], qid[qid == 0])
    found = evaluate(y, updated.predict(X), qid, ["pairwise_error", "kendall_tau_b"])
    yield "RankRLS-card", updated, rows, {"note": "An example.", "results": found, "data": "write.py"}
    yield "RankRLSPath", rankwise.RankRLSPath(alphas=ALPHAS, cv=2).fit(X, y, qid), rows
    yield "KernelRankRLS", rankwise.KernelRankRLS(gamma=0.5, basis=6, random_state=0).fit(X, y, qid), rows
    yield "KernelRankRLSCV", rankwise.KernelRankRLSCV(alphas=ALPHAS, gamma=0.5).fit(X, y, qid), rows
    yield "RankSVM", rankwise.RankSVM(alpha=0.01).fit(X, y, qid), rows
    yield "RankSVMCV", rankwise.RankSVMCV(alphas=ALPHAS).fit(X, y, qid), rows
    yield "RankSVMPath", rankwise.RankSVMPath(gamma=0.5, graph="reduced").fit(X, y, qid), rows


def main():
    folder = FOLDER / f"schema-{SCHEMA}"
    folder.mkdir(exist_ok=True)
    record = folder / "expected.json"
    expected = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for name, model, rows, *told in models():
        if name not in expected:
            model.save(folder / f"{name}.safetensors", **(told[0] if told else {}))
            few = rows[:8] if isinstance(rows, list) else {column: rows[column][:8] for column in rows}
            expected[name] = {"rows": few, "scores": model.predict(rows_of(few)).tolist()}
    lines = (f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in expected.items())
    record.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
