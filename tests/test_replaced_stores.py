"""A store is complete at every moment, and files that are not part of one are never touched."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from rankwise import RankingData, open_store, save_store
from rankwise.errors import DataError
from rankwise.readers import store as store_module


def generation(k):
    """A store in which every number says which one it is."""
    return RankingData.from_arrays(np.full((40, 3), float(k)), np.full(40, float(k)), np.arange(40) // 10)


def number_of(place):
    data = open_store(place, verify=True)
    numbers = {*np.unique(data.X), *np.unique(data.y)}
    assert len(numbers) == 1, "a mixture of two stores"
    return int(numbers.pop())


def names(folder):
    return sorted(path.name for path in folder.iterdir())


KILLS = """
import os, signal, sys
from pathlib import Path
from rankwise import save_store
sys.path.insert(0, sys.argv[1])
from test_replaced_stores import generation, number_of

place, left = Path("data.store"), set()
save_store(generation(0), place)
for n_events in range(10_000):
    child = os.fork()
    if child == 0:
        events = iter(range(n_events))

        def kill(event, arguments):
            step = event != "os.kill" and event.startswith(("os.", "open", "shutil.", "ctypes."))
            if step and next(events, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(kill)
        save_store(generation(n_events + 1), place)
        os._exit(0)
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    left.add(number_of(place) == n_events + 1)
    assert place.is_dir() and len(list(Path.cwd().iterdir())) <= 2, "what earlier runs left is still there"
    if not killed:
        break
print(n_events, left, *os.listdir())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs an exchange of two folders")
def test_a_writer_killed_at_any_step_leaves_a_whole_store_and_the_next_tidies_up(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLS, os.path.dirname(__file__)],  # noqa: PTH120
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    n_kills, left = done.stdout.split(maxsplit=1)
    assert int(n_kills) > 20
    assert left == "{False, True} data.store\n"


@pytest.mark.parametrize("kind", ["open_array", "check_shapes", "verify_checksums", "check_structure"])
@pytest.mark.parametrize("moment", range(3))
def test_a_reader_gets_the_old_store_or_the_new_one(tmp_path, monkeypatch, kind, moment):
    """The store is replaced before one of the steps of opening it."""
    place, calls = tmp_path / "data.store", []
    save_store(generation(1), place)
    step = getattr(store_module, kind)

    def replacing(*args, **options):
        calls.append(kind)
        if len(calls) == moment + 1:
            save_store(generation(2), place)
        return step(*args, **options)

    monkeypatch.setattr(store_module, kind, replacing)
    assert number_of(place) == (2 if len(calls) > moment else 1)


def test_a_reader_of_a_store_that_vanishes_is_told_so(tmp_path, monkeypatch):
    place = tmp_path / "data.store"
    save_store(generation(1), place)
    monkeypatch.setattr(store_module, "check_shapes", lambda *_: place.rename(tmp_path / "elsewhere"))
    with pytest.raises(FileNotFoundError, match=r"data\.store"):
        open_store(place)


@pytest.mark.parametrize(
    "manifest",
    ["{}", "[]", "not json", '{"name": "my app", "icons": []}', '{"format": "rankwise store"}', "\x00"],
)
def test_a_folder_with_a_manifest_of_something_else_is_left_alone(tmp_path, manifest):
    place = tmp_path / "app"
    place.mkdir()
    (place / "manifest.json").write_text(manifest, encoding="utf-8")
    (place / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(DataError, match=r"app is not a rankwise store; refusing to overwrite it"):
        save_store(generation(1), place)
    assert (place / "manifest.json").read_text(encoding="utf-8") == manifest
    assert (place / "thesis.tex").read_text(encoding="utf-8") == "years of work"
    assert names(tmp_path) == ["app"]


@pytest.mark.parametrize("extra", ["notes.txt", "raw/rows.letor", ".hidden"])
def test_a_store_with_a_file_of_the_user_is_left_alone(tmp_path, extra):
    place = tmp_path / "data.store"
    save_store(generation(1), place)
    (place / extra).parent.mkdir(exist_ok=True)
    (place / extra).write_text("mine", encoding="utf-8")
    name = extra.split("/")[0].replace(".", r"\.")
    with pytest.raises(DataError, match=f"contains '{name}', which is not part of the store"):
        save_store(generation(2), place)
    assert (place / extra).read_text(encoding="utf-8") == "mine"
    assert open_store(place).y[0] == 1


def test_a_manifest_cannot_claim_a_folder_of_the_user(tmp_path):
    place = tmp_path / "data.store"
    save_store(generation(1), place)
    (place / "y.npy").unlink()
    (place / "y.npy").mkdir()
    (place / "y.npy" / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(DataError, match="refusing to overwrite it"):
        save_store(generation(2), place)
    assert (place / "y.npy" / "thesis.tex").read_text(encoding="utf-8") == "years of work"


def test_a_file_that_the_user_adds_while_a_store_is_written_is_not_lost(tmp_path, monkeypatch):
    place = tmp_path / "data.store"
    save_store(generation(1), place)
    write = store_module.write_manifest

    def adding(folder, manifest):
        (place / "notes.txt").write_text("mine", encoding="utf-8")
        write(folder, manifest)

    monkeypatch.setattr(store_module, "write_manifest", adding)
    with pytest.raises(DataError, match=r"notes\.txt"):
        save_store(generation(2), place)
    assert (place / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert names(tmp_path) == ["data.store"]


def test_a_damaged_store_may_be_replaced(tmp_path):
    place = tmp_path / "data.store"
    save_store(generation(1), place)
    os.truncate(place / "X.npy", 10)
    (place / "y.npy").unlink()
    save_store(generation(2), place)
    assert number_of(place) == 2
    manifest = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
    assert len(manifest["arrays"]) == len(names(place)) - 1
