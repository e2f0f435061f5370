"""The versions of the engines and libraries that tests just used, as rows of a table of the documentation.

``python -m tests.used_versions engines`` (or ``clients``) writes them into docs/versions.md; `make` does so
after the tests have passed.
"""

import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks import tables

POM = Path(__file__).parent / "engines" / "pom.xml"
CLIENTS = {
    "PyTerrier": ("pyterrier", "pipelines with Terrier: training, ranking, experiments"),
    "LightGBM": ("lightgbm", "the same arguments of `fit`; side by side in PyTerrier"),
    "XGBoost": ("xgboost-cpu", "the same"),
    "shap": ("shap", "`LinearExplainer`: explanations add up to the scores"),
    "ir_measures": ("ir-measures", "measures by their names there, with the same values"),
    "MLflow": ("mlflow-skinny", "a model as `pyfunc`: logged, registered, loaded"),
    "Optuna": ("optuna", "a study"),
}


def engines() -> dict[str, tuple[str, str]]:
    """The version of each engine, as Maven is told, and what is tested there."""
    found = dict(re.findall(r"<(\w+)\.version>(.*)</\1\.version>", POM.read_text(encoding="utf-8")))
    return {
        "Solr": (found["solr"], "the learning-to-rank module and functions: orders and scores"),
        "Vespa": (found["vespa"], "its evaluator of ranking expressions: scores"),
        "OpenSearch": (found["opensearch"], "scripts in searches and rescores: orders and scores"),
    }


def rows(kind: str) -> list[tuple[str, str, str]]:
    """What was used, its version, and for what."""
    if kind == "engines":
        known = [(name, *entry) for name, entry in engines().items()]
        if shutil.which("psql") is not None:
            told = subprocess.run(["psql", "--version"], check=True, capture_output=True, encoding="utf-8")
            known.append(("PostgreSQL", told.stdout.split()[2], "expressions: scores"))
        return known
    return [(name, version(package), what) for name, (package, what) in CLIENTS.items()]


if __name__ == "__main__":
    for row in rows(sys.argv[1]):
        tables.row("clients", *row)
    tables.write(f"make {sys.argv[1]}")
