"""Files and folders are replaced completely or not at all."""

import errno
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from rankwise.errors import DataError
from rankwise.files import replacing_file, replacing_folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_the_block_ends_and_not_before(tmp_path):
    place = tmp_path / "model.txt.gz"
    with replacing_file(place) as beside:
        assert beside.parent == tmp_path
        assert beside.name.endswith("model.txt.gz")
        beside.write_text("new", encoding="utf-8")
        assert not place.exists()
    assert place.read_text(encoding="utf-8") == "new"
    assert names(tmp_path) == ["model.txt.gz"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file_and_nothing_beside_it(tmp_path, error):
    place = tmp_path / "model"
    place.write_text("old", encoding="utf-8")
    with pytest.raises(error), replacing_file(place) as beside:
        beside.write_text("half", encoding="utf-8")
        raise error
    assert place.read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["model"]


def test_a_replaced_file_keeps_its_mode_and_a_link_keeps_pointing(tmp_path):
    place, link = tmp_path / "model", tmp_path / "link"
    place.write_text("old", encoding="utf-8")
    place.chmod(0o640)
    link.symlink_to(place)
    with replacing_file(link) as beside:
        beside.write_text("new", encoding="utf-8")
    assert link.is_symlink()
    assert place.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced():
    with replacing_file("/dev/null") as beside:
        beside.write_text("anything", encoding="utf-8")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_errors_name_the_path_the_user_gave(tmp_path):
    place = tmp_path / "missing" / "model"
    with pytest.raises(FileNotFoundError) as caught, replacing_file(place):
        pass
    assert caught.value.filename == str(place)
    with pytest.raises(IsADirectoryError), replacing_file(tmp_path):
        pass
    full = tmp_path / "full"
    with pytest.raises(OSError) as caught, replacing_file(full):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == str(full)
    with pytest.raises(FileNotFoundError) as caught, replacing_folder(full, check=print) as beside:
        (beside / "no" / "such").write_text("x", encoding="utf-8")
    assert caught.value.filename == str(full / "no" / "such")


def anything(folder):
    """The check of folders that lets all of them be replaced."""


@pytest.fixture(params=[True, False], ids=["exchange", "rename"])
def system(request, monkeypatch):
    """With and without an exchange of folders; both on Linux, whose file systems mostly have it."""
    if not request.param:
        monkeypatch.setattr("rankwise.files._exchange", lambda one, other: False)


@pytest.mark.usefixtures("system")
def test_a_folder_replaces_an_older_one_whole(tmp_path):
    place = tmp_path / "data.store"
    for generation in ("one", "two"):
        with replacing_folder(place, check=anything) as beside:
            (beside / "manifest.json").write_text("{}", encoding="utf-8")
            (beside / "deep").mkdir()
            (beside / "deep" / generation).write_text(generation, encoding="utf-8")
    assert names(place) == ["deep", "manifest.json"]
    assert names(place / "deep") == ["two"]
    assert names(tmp_path) == ["data.store"]


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_folder(tmp_path, error):
    place = tmp_path / "data.store"
    with replacing_folder(place, check=anything) as beside:
        (beside / "m").write_text("old", encoding="utf-8")
    with pytest.raises(error), replacing_folder(place, check=anything) as beside:
        (beside / "m").write_text("half", encoding="utf-8")
        raise error
    assert (place / "m").read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["data.store"]


@pytest.mark.usefixtures("system")
def test_a_failed_move_puts_the_old_folder_back(tmp_path):
    place = tmp_path / "data.store"
    with replacing_folder(place, check=anything) as beside:
        (beside / "m").write_text("old", encoding="utf-8")
    with pytest.raises(OSError), replacing_folder(place, check=anything) as beside:
        (beside / "m").write_text("new", encoding="utf-8")
        beside.rename(tmp_path / "stolen")
    assert (place / "m").read_text(encoding="utf-8") == "old"
    assert names(tmp_path) == ["data.store", "stolen"]


def test_where_folders_cannot_be_exchanged_a_kill_leaves_both_in_sight(tmp_path):
    script = (
        "import os, signal, sys; from pathlib import Path; from rankwise import files\n"
        "files._exchange = lambda one, other: False\n"
        "def kill(event, arguments):\n"
        "    if event == 'os.rename' and str(arguments[1]).endswith('data.store'):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "if Path('data.store').exists(): sys.addaudithook(kill)\n"
        "with files.replacing_folder('data.store', check=print) as folder:\n"
        "    (folder / 'm').write_text(sys.argv[1])\n"
    )
    for content in ("old", "new"):
        subprocess.run([sys.executable, "-c", script, content], cwd=tmp_path, stdout=subprocess.DEVNULL)
    (tmp_path / "other").mkdir()
    with replacing_folder(tmp_path / "other", check=anything) as folder:
        (folder / "m").write_text("another", encoding="utf-8")
    replaced = [name for name in names(tmp_path) if name.startswith("data.store.replaced-")]
    assert names(tmp_path) == [*replaced, "other"]
    assert (tmp_path / replaced[0] / "m").read_text(encoding="utf-8") == "old"


def test_a_folder_that_the_check_refuses_is_left_alone(tmp_path):
    def refuse(folder):
        raise DataError(f"{folder} is not mine.")

    (tmp_path / "place").mkdir()
    with replacing_folder(tmp_path / "place", check=refuse) as beside:  # empty: nothing to lose
        (beside / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(DataError, match="is not mine"), replacing_folder(tmp_path / "place", check=refuse):
        raise AssertionError("it was not checked before the work")
    assert names(tmp_path / "place") == ["thesis.tex"]


KILLED = """
import os, signal, sys, time
from rankwise.files import replacing_file, replacing_folder
with replacing_file("model") as file, replacing_folder("store", check=print) as folder:
    (folder / "y.npy").write_text("half")
    file.write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_run_left_is_removed_by_the_next_write_and_not_before(tmp_path):
    theirs = [".rankwise", ".rankwise-notes", ".0123abcd-mine", "rankwise-0123abcd-x"]
    for name in theirs:
        (tmp_path / name).write_text("mine", encoding="utf-8")
    writer = subprocess.Popen([sys.executable, "-c", KILLED], cwd=tmp_path, stdout=subprocess.PIPE)
    try:
        writer.stdout.readline()
        at_work = set(names(tmp_path)) - set(theirs)
        assert len(at_work) == 2
        with replacing_file(tmp_path / "other") as beside:
            beside.write_text("whole", encoding="utf-8")
        assert set(names(tmp_path)) == {*theirs, *at_work, "other"}
    finally:
        writer.kill()
        writer.communicate()
    with replacing_file(tmp_path / "other") as beside:
        beside.write_text("whole", encoding="utf-8")
    assert set(names(tmp_path)) == {*theirs, "other"}


def test_a_folder_that_another_process_creates_at_the_last_moment_is_replaced(tmp_path, monkeypatch):
    rename = Path.rename

    def late(beside, place):
        """Another process has just moved its folder to the place."""
        monkeypatch.setattr(Path, "rename", rename)
        place.mkdir()
        (place / "theirs").write_text("theirs", encoding="utf-8")
        return rename(beside, place)

    monkeypatch.setattr(Path, "rename", late)
    with replacing_folder(tmp_path / "d", check=lambda folder: None) as folder:
        (folder / "ours").write_text("ours", encoding="utf-8")
    assert names(tmp_path / "d") == ["ours"]
    assert names(tmp_path) == ["d"]


def test_many_writers_in_one_folder_do_not_tidy_up_each_other(tmp_path):
    script = (
        "import sys; from rankwise.files import replacing_file, replacing_folder\n"
        "for k in range(100):\n"
        "    with replacing_file(sys.argv[1]) as beside: beside.write_text(str(k))\n"
        "    with replacing_folder(sys.argv[1] + '.d', check=lambda folder: None) as folder:\n"
        "        (folder / 'k').write_text(str(k))\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, f"file-{k % 2}"], cwd=tmp_path) for k in range(3)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert names(tmp_path) == ["file-0", "file-0.d", "file-1", "file-1.d"]
