"""Engines as processes: what Maven downloads is started, and sent the requests that a user would send."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
BUILT = HERE.parent.parent / "build" / "engines"


def maven(engine, *goals):
    subprocess.run(
        ["mvn", "-q", "-B", "-Dstyle.color=never", "-f", HERE / "pom.xml", f"-Dengine={engine}", *goals],
        check=True,
    )


def java(engine, *arguments):
    """The command that runs a class of tests/engines/<engine>, compiled against what Maven downloads."""
    maven(engine, "compile", "dependency:build-classpath")
    downloaded = (BUILT / engine / "classpath").read_text(encoding="utf-8")
    classpath = f"{BUILT / engine / 'classes'}{os.pathsep}{downloaded}"
    return ["java", "-cp", classpath, *map(str, arguments)]


@contextmanager
def serving(engine, folder):
    """Start a server; yield a function that sends it requests."""
    command, log = java(engine, "Server", folder), folder / "log"
    with log.open("w", encoding="utf-8") as out:
        server = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=out, stderr=out)
    with server:
        address = address_in(log, server, r"serving (http\S+)")
        yield lambda method, path, body=None: request(method, f"{address}/{path}", body)
        server.communicate()  # standard input ends


def address_in(log, server, pattern):
    """Wait until a server says where it is; it may take minutes on a busy machine."""
    while server.poll() is None:
        said = re.search(pattern, log.read_text(encoding="utf-8"))
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


@contextmanager
def opensearch(java_home):
    """Start the minimal distribution of OpenSearch, one node on free ports; yield as `serving` does."""
    maven("opensearch", "dependency:unpack-dependencies")
    (home,) = (BUILT / "opensearch").glob("opensearch-*")
    # It refuses to run as root.
    user = "nobody" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as folder:
        conf, log = Path(folder) / "conf", Path(folder) / "log"
        conf.mkdir()
        shutil.copy(home / "config" / "log4j2.properties", conf)
        (conf / "opensearch.yml").write_text(NODE.format(folder=folder), encoding="utf-8")
        (conf / "jvm.options").write_text(JVM, encoding="utf-8")
        if user:
            shutil.chown(folder, user)
            shutil.chown(conf, user)
        places = {"OPENSEARCH_JAVA_HOME": str(java_home), "OPENSEARCH_PATH_CONF": str(conf)}
        with log.open("w", encoding="utf-8") as out:
            how = {"cwd": home, "env": os.environ | places, "stdin": subprocess.DEVNULL, "user": user}
            server = subprocess.Popen([home / "bin" / "opensearch"], stdout=out, stderr=out, **how)
        with server:
            try:
                where = address_in(log, server, r"HttpServerTransport.*publish_address \{(\S+)\}")
                yield lambda method, path, body=None: request(method, f"http://{where}/{path}", body)
            finally:
                server.terminate()


NODE = """\
discovery.type: single-node
http.port: 0
transport.port: 0
path.data: {folder}/data
path.logs: {folder}/logs
cluster.routing.allocation.disk.threshold_enabled: false
"""
# Its own options, without what only servers need.
JVM = """\
-Xms512m
-Xmx512m
-javaagent:agent/opensearch-agent.jar
"""
