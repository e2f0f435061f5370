"""Files and folders are replaced completely or not at all."""

import errno
import stat
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
        beside.write_text("new")
        assert not place.exists()
    assert place.read_text() == "new"
    assert names(tmp_path) == ["model.txt.gz"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file_and_nothing_beside_it(tmp_path, error):
    place = tmp_path / "model"
    place.write_text("old")
    with pytest.raises(error), replacing_file(place) as beside:
        beside.write_text("half")
        raise error
    assert place.read_text() == "old"
    assert names(tmp_path) == ["model"]


def test_a_replaced_file_keeps_its_mode_and_a_link_keeps_pointing(tmp_path):
    place, link = tmp_path / "model", tmp_path / "link"
    place.write_text("old")
    place.chmod(0o640)
    link.symlink_to(place)
    with replacing_file(link) as beside:
        beside.write_text("new")
    assert link.is_symlink()
    assert place.read_text() == "new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced():
    with replacing_file("/dev/null") as beside:
        beside.write_text("anything")
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
    with pytest.raises(FileNotFoundError) as caught, replacing_folder(full, marker="m") as beside:
        (beside / "no" / "such").write_text("x")
    assert caught.value.filename == str(full / "no" / "such")


def test_a_folder_replaces_an_older_one_whole(tmp_path):
    place = tmp_path / "data.store"
    for generation in ("one", "two"):
        with replacing_folder(place, marker="manifest.json") as beside:
            (beside / "manifest.json").write_text("{}")
            (beside / "deep").mkdir()
            (beside / "deep" / generation).write_text(generation)
    assert names(place) == ["deep", "manifest.json"]
    assert names(place / "deep") == ["two"]
    assert names(tmp_path) == ["data.store"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_folder(tmp_path, error):
    place = tmp_path / "data.store"
    with replacing_folder(place, marker="m") as beside:
        (beside / "m").write_text("old")
    with pytest.raises(error), replacing_folder(place, marker="m") as beside:
        (beside / "m").write_text("half")
        raise error
    assert (place / "m").read_text() == "old"
    assert names(tmp_path) == ["data.store"]


def test_a_failed_move_puts_the_old_folder_back(tmp_path):
    place = tmp_path / "data.store"
    with replacing_folder(place, marker="m") as beside:
        (beside / "m").write_text("old")
    with pytest.raises(OSError), replacing_folder(place, marker="m") as beside:
        (beside / "m").write_text("new")
        beside.rename(tmp_path / "stolen")
    assert (place / "m").read_text() == "old"


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    reason = r"is not empty and contains no manifest\.json; refusing to overwrite it"
    with pytest.raises(DataError, match=reason), replacing_folder(tmp_path, marker="manifest.json"):
        pass
    assert names(tmp_path) == ["thesis.tex"]
