"""Error messages for invalid LETOR/SVMlight text."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import load_letor
from rankwise.config import config_context
from rankwise.errors import FileFormatError, ParameterError


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nan qid:1 1:1", r"the label is 'nan'; expected a finite number"),
        ("1 qid:1 1:inf", r"the value of feature 1 is 'inf'; expected a finite number"),
        ("1 qid:1 2:1e999", r"the value of feature 2 is '1e999'; expected a finite number\."),
        ("one qid:1 1:1", r"the label is 'one'"),
        ("1 qid:1 1:x", r"the value of feature 1 is 'x'"),
        ("1 qid:1 1:", r"the value of feature 1 is ''"),
        ("1 qid:1 1:2x", r"the value of feature 1 is '2x'"),
        ("1 qid:1 title:2", r"expected index:value, got 'title:2'"),
        ("1 qid:1 7", r"expected index:value, got '7'"),
        ("1 qid:1 1:1 1:2", r"feature index 1 appears twice"),
        ("1 qid:1 2:1 1:2", r"feature index 1 comes after 2; indices must ascend"),
        ("1 qid:1 -1:2", r"feature index '-1:2' is negative"),
        ("1 qid:1 9223372036854775808:2", r"does not fit in 63 bits"),
        ("1 qid:1 99999999999999999999999:2", r"does not fit in 63 bits"),
        ("1 qid: 1:2", r"qid: is not followed by a query label"),
        ("1 1:2", r"the row has no qid, but earlier rows do"),
        ("1 qid:1 qid:2 1:2", r"repeated or misplaced 'qid:2'"),
        ("\x00\x01\x7fELF", r"the label is '\\x00\\x01\\x7fELF'"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_bad_line_is_refused_with_file_and_line(text, line, message, ending):
    path = text(f"0 qid:1 1:1{ending}{line}{ending}1 qid:1 1:3{ending}")
    with pytest.raises(FileFormatError, match=message) as caught:
        load_letor(path)
    assert caught.value.line == 2
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("content", ["", "\n", "\r\n\r\n", "# only\n# comments\n", "\ufeff", "  \t"])
def test_a_file_without_rows_is_refused(text, content):
    with pytest.raises(FileFormatError, match="the file contains no rows"):
        load_letor(text(content))


@pytest.mark.parametrize("cut", ["1 qid:1 1:0.5 2:", "1 qid:1 1:0.5 2", "1 qid:", "1 qid:1 1:0.5 2:3e"])
def test_a_last_line_that_was_cut_is_refused_with_a_hint(text, cut):
    with pytest.raises(FileFormatError, match=r"line 2: .* is the file truncated\?"):
        load_letor(text(f"0 qid:1 1:1\n{cut}"))


@pytest.mark.parametrize(
    ("extension", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
def test_damaged_compressed_files_are_refused(text, extension, compress):
    whole = compress(b"1 qid:1 1:2\n" * 1000)
    for damaged in (whole[:-9], b"1 qid:1 1:2\n", whole[:20] + b"????" + whole[24:]):
        with pytest.raises(FileFormatError, match="the compressed data is corrupt or truncated"):
            load_letor(text(damaged, name="rows" + extension))


def test_a_line_of_100_megabytes_is_read_or_refused_like_any_other(text, monkeypatch):
    path = text(b"0 7:1\n1 " + b" ".join(b"%d:1.%01000d" % (i, 0) for i in range(1, 100_001)) + b"\n")
    assert path.stat().st_size > 100_000_000
    data = load_letor(path, dense=False)
    assert data.X.shape == (2, 100_000)
    assert data.X.nnz == data.X.sum() == 100_001
    with path.open("r+b") as file:
        file.seek(-2, 2)
        file.write(b"x")
    with pytest.raises(FileFormatError, match=r"line 2: the value of feature 100000 is '1\.0{38}\.\.\.'"):
        load_letor(path)
    path.write_bytes(b"0 7:1\n" + b"z" * 100_000_000)
    with pytest.raises(FileFormatError, match=r"line 2: the label is 'z{40}\.\.\.'"):
        load_letor(path)
    monkeypatch.setattr("rankwise.readers.text.MAX_LINE_BYTES", 1 << 23)
    with pytest.raises(FileFormatError, match=r"line 2: the line is longer than"):
        load_letor(path)


def test_the_first_bad_line_is_reported_whatever_the_threads(text):
    lines = [f"{i} qid:{i // 9} 1:{i} 5:0.5" for i in range(40_000)]
    lines[23_456] = "1 qid:1 1:?"
    lines[34_567] = "1 1:1"
    path = text("\n".join(lines))
    for n_threads in (1, 2, 5):
        with (
            pytest.raises(FileFormatError, match="line 23457: the value of feature 1 is '\\?'"),
            config_context(n_threads=n_threads),
        ):
            load_letor(path)
    lines[12_345:] = ["1 1:1"] * len(lines[12_345:])
    with pytest.raises(FileFormatError, match="line 12346: the row has no qid, but earlier rows do"):
        load_letor(text("\n".join(lines)))


def test_a_qid_that_comes_late_is_refused(text):
    with pytest.raises(FileFormatError, match="line 40001: the row has a qid, but earlier rows do not"):
        load_letor(text("1 1:1\n" * 40_000 + "1 qid:1 1:1\n"))


@settings(max_examples=200, deadline=None)
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.text(alphabet="01 qid:#.-e\n\t", max_size=200).map(str.encode),
        st.tuples(st.integers(0, 60), st.binary(min_size=1, max_size=3)).map(
            lambda change: (
                b"1 qid:7 1:0.5 3:-2e1 # d 9\n0 qid:8 2:1\n+2 qid:7 4:3 #docid = x\n"[: change[0]]
                + change[1]
                + b"1 qid:7 1:0.5 3:-2e1 # d 9\n0 qid:8 2:1\n"[change[0] // 2 :]
            )
        ),
    )
)
def test_no_bytes_can_do_worse_than_an_error_with_a_line(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "garbage"
    path.write_bytes(content)
    try:
        values, line = load_letor(path, dense=False).X.data, None
    except FileFormatError as error:
        values, line = np.empty(0), error.line
    assert np.isfinite(values).all()
    assert line is None or 1 <= line <= content.count(b"\n") + 1


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("1 0:5", {"zero_based": False}, "line 1: feature index 0 is too small; indices start at 1"),
        ("1 4:5", {"n_features": 3}, "line 1: feature index 4 is too large; the largest allowed is 3"),
        ("1 3:5", {"n_features": 3, "zero_based": True}, "line 1: feature index 3 is too large"),
        ("1 0:5 3:5", {"n_features": 3}, "features are numbered from 0 to 3, but n_features is 3"),
        ("1 1:1e39", {"dtype": "float32"}, "'1e39'; expected a finite number that fits in float32"),
    ],
)
def test_what_the_caller_rules_out_is_refused(text, content, options, message):
    with pytest.raises(FileFormatError, match=message):
        load_letor(text(content), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"zero_based": "yes"},
        {"dense": 1},
        {"dtype": "int8"},
        {"dtype": "?"},
        {"n_features": 0},
    ],
)
def test_bad_parameters_are_named(text, options):
    with pytest.raises(ParameterError, match=f"'{next(iter(options))}' parameter must be"):
        load_letor(text("1 1:1"), **options)
