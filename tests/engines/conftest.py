"""Engines from their published artifacts: `make engines` downloads them, which takes Java and Maven.

The harness in Java only starts an engine. Requests are those that a user would send.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # the helpers of the other tests
BUILT = HERE.parent.parent / "build" / "engines"


def java(engine, *arguments):
    """The command that runs a class of tests/engines/<engine>, compiled against what Maven downloads."""
    maven = ["mvn", "-q", "-B", "-f", HERE / "pom.xml", f"-Dengine={engine}"]
    subprocess.run([*maven, "compile", "dependency:build-classpath"], check=True)
    downloaded = (BUILT / engine / "classpath").read_text(encoding="utf-8")
    classpath = f"{BUILT / engine / 'classes'}{os.pathsep}{downloaded}"
    return ["java", "-cp", classpath, *map(str, arguments)]


def serving(engine, folder):
    """Start a server; yield a function that sends it requests."""
    command, log = java(engine, "Server", folder), folder / "log"
    with log.open("w", encoding="utf-8") as out:
        server = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=out, stderr=out)
    with server:
        address = address_in(log, server)
        yield lambda method, path, body=None: request(method, f"{address}/{path}", body)
        server.communicate()  # standard input ends


def address_in(log, server):
    """Wait until a server says where it is; it may take minutes on a busy machine."""
    while server.poll() is None:
        said = re.search(r"serving (http\S+)", log.read_text(encoding="utf-8"))
        if said:
            return said[1]
        time.sleep(0.2)
    raise AssertionError(log.read_text(encoding="utf-8"))


def request(method, url, body):
    """Send JSON, or lines of JSON, and return the answer."""
    data = body if body is None or isinstance(body, str) else json.dumps(body)
    headers = {"Content-Type": "application/json"}
    asked = urllib.request.Request(url, data and data.encode(), headers, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=300) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        raise AssertionError(refusal.read().decode()) from None


@pytest.fixture(scope="session")
def solr(tmp_path_factory):
    folder = tmp_path_factory.mktemp("solr")
    shutil.copytree(HERE / "solr" / "home", folder, dirs_exist_ok=True)
    yield from serving("solr", folder)


@pytest.fixture(scope="session")
def opensearch(tmp_path_factory):
    yield from serving("opensearch", tmp_path_factory.mktemp("opensearch"))


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
    command = java("vespa", "Evaluator")

    def scores(expressions, documents):
        given = json.dumps({"expressions": expressions, "documents": documents})
        ran = subprocess.run(command, input=given, encoding="utf-8", capture_output=True)
        assert ran.returncode == 0, ran.stderr
        return np.array(ran.stdout.split(), dtype=float).reshape(len(expressions), len(documents))

    return scores
