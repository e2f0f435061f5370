"""Values at the edge of what arrays, names and terminals can hold: a sentence, or the right answer."""

import os
import subprocess
import sys

import numpy as np
import pandas
import pytest

import rankwise
from command_line import done, folder, refused
from rankwise import DataError, ParameterError, RankingData, RankRLS, RankSVMPath, export_model, load_letor
from rankwise.cli import main
from rankwise.metrics import get_measure

__all__ = ["done", "folder", "refused"]  # fixtures

rng = np.random.default_rng(0)
X, Y, QID = rng.normal(size=(12, 3)), np.tile([0.0, 1.0, 2.0], 4), np.repeat([1, 2, 3], 4)
NAMES = ["bm25(title)", "freshness", "attribute(price)"]


@pytest.mark.parametrize("huge", [10**400, 10**5000, -(10**400)], ids=["400", "5000", "negative"])
def test_whole_numbers_beyond_doubles_are_refused_as_parameters_and_data(huge):
    with pytest.raises(ParameterError, match="'alpha' parameter must be a finite number of at least 0; got "):
        RankRLS(alpha=huge).fit(X, Y, QID)
    with pytest.raises(ParameterError, match="'alphas' parameter must be a sequence of numbers; got "):
        rankwise.RankRLSCV([huge]).fit(X, Y, QID)
    with pytest.raises(DataError, match=r"^X must hold numbers only; row 0, column 0"):
        RankRLS().fit([[huge], [2]], [0, 1])
    with pytest.raises(DataError, match=r"^y must hold"):
        RankRLS().fit(X, [huge, *Y[1:]], QID)
    with pytest.raises(DataError, match=r"^sample_weight must hold numbers"):
        RankRLS().fit(X, Y, QID, [huge] * 12)
    with pytest.raises(DataError, match=r"^magnitude must hold numbers"):
        RankRLS().fit_preferences(X, [[0, 1]], magnitude=[huge])


def test_counts_beyond_64_bits_are_refused():
    with pytest.raises(ParameterError, match="'max_events' parameter must be a whole number of at least 1"):
        RankSVMPath(max_events=10**20).fit(X, Y, QID)
    with (
        pytest.raises(ParameterError, match="'n_threads' parameter must be"),
        rankwise.config_context(n_threads=10**20),
    ):
        pass


@pytest.mark.parametrize("cutoff", ["99999999999999999999", "9" * 5000], ids=["20 digits", "5000 digits"])
def test_a_cutoff_beyond_all_lists_is_refused(cutoff):
    for kind in ("map", "ndcg", "err", "p"):
        with pytest.raises(
            ParameterError, match=r"^The cutoff of '\w+@9+.*' must be from 1 to 10\^18 - 1\.$"
        ):
            get_measure(f"{kind}@{cutoff}")
    assert get_measure(f"map@{10**18 - 1}")(Y, X[:, 0], QID) == get_measure("map")(Y, X[:, 0], QID)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_whole_numbers_of_tables_that_doubles_would_round_are_refused(library):
    pytest.importorskip(library)
    columns = {"label": [0, 1, 2], "id": [1, 2**53 + 1, 2**53], "big": [2**53, 2**60, 1]}
    table = pandas.DataFrame(columns)
    if library == "polars":
        table = pytest.importorskip("polars").DataFrame(columns)
    if library == "pyarrow":
        table = pytest.importorskip("pyarrow").table(columns)
    says = r"Column 'id' has 9007199254740993 in row 1, which float64 cannot represent exactly"
    with pytest.raises(DataError, match=says):
        RankingData.from_frame(table, label="label")
    assert RankingData.from_frame(table, label="label", features=["big"]).X.max() == 2.0**60


def test_labels_that_doubles_would_round_are_refused():
    with pytest.raises(
        DataError, match=r"^y has 9007199254740993 in row 1, which float64 cannot represent exactly"
    ):
        RankRLS().fit(X[:3], np.array([0, 2**53 + 1, 2**53]))


def masked(array, at):
    return np.ma.masked_array(array, mask=np.arange(np.size(array)).reshape(np.shape(array)) == at)


def test_masked_entries_are_refused_as_missing_wherever_they_enter():
    model = RankRLS().fit(X, Y, QID)
    for enter, name in (
        (lambda: RankRLS().fit(masked(X, 4), Y, QID), "X"),
        (lambda: RankRLS().fit(X, masked(Y, 4), QID), "y"),
        (lambda: RankRLS().fit(X, Y, masked(QID, 4)), "qid"),
        (lambda: RankRLS().fit(X, Y, QID, masked(np.ones(12), 4)), "sample_weight"),
        (lambda: RankRLS().fit_preferences(X, masked([[0, 1], [2, 3]], 1)), "pairs"),
        (lambda: model.predict(masked(X, 4)), "X"),
        (lambda: RankingData.from_arrays(masked(X, 4), Y, QID), "X"),
        (lambda: rankwise.scale_per_query(masked(X, 4), QID), "X"),
        (lambda: get_measure("map").prepare(Y, QID).many(masked(X.T, 4)), "scores"),
    ):
        with pytest.raises(DataError, match=rf"^{name} has a missing value"):
            enter()
    np.testing.assert_array_equal(RankRLS().fit(masked(X, -1), Y, QID).coef_, model.coef_)


def test_query_labels_that_differ_in_a_last_nul_stay_apart(text, tmp_path):
    data = load_letor(text(b"1 qid:a 1:1\n0 qid:a 1:2\n1 qid:a\0 1:3\n0 qid:a\0 1:4\n"))
    assert (data.n_queries, data.qid.tolist()) == (2, ["a", "a", "a\0", "a\0"])
    docs = RankingData.from_arrays(X[:2], [0, 1], docs=["d", "d\0"]).docs
    assert docs.tolist() == ["d", "d\0"]
    for qid, names in ((data.qid, None), (None, ["d", "d\0", "e", "f"])):
        kept = RankingData.from_arrays(data.X, data.y, qid, names)
        with pytest.raises(DataError, match="ends in a NUL character, which a store cannot keep"):
            rankwise.save_store(kept, tmp_path / "s.store")
    with pytest.raises(DataError, match="ends in a NUL character, which a store cannot keep"):
        rankwise.convert_letor(tmp_path / "rows.letor", tmp_path / "s.store")
    rows = text(b"1 1:1 #docid = d\n0 1:2 #docid = d\0\n", "docs.letor")
    with pytest.raises(DataError, match="ends in a NUL character, which a store cannot keep"):
        rankwise.convert_letor(rows, tmp_path / "s.store")


@pytest.mark.parametrize("field", ["qid", "docs"])
def test_labels_that_no_text_file_can_hold_are_refused(tmp_path, field):
    labels = {"qid": list("aab"), "docs": list("abc"), field: ["\ud800", "b", "c"]}
    data = RankingData.from_arrays(X[:3], [0, 1, 2], **labels)
    with pytest.raises(DataError, match=f"{field} is '.ud800' in row 0"):
        rankwise.save_letor(data, tmp_path / "rows.txt")


@pytest.mark.parametrize(
    "name",
    [
        "x }}} rank-profile evil { first-phase { expression { 1",
        "a) + (b",
        "a # comment",
        "two\nlines",
        "\ud800",
        "bell\a",
        "",
    ],
)
def test_names_that_vespa_would_read_as_something_else_are_refused(tmp_path, name):
    model = RankRLS().fit(X, Y, QID)
    with pytest.raises(ParameterError, match=r"cannot be the name of a feature in the format 'vespa'"):
        export_model(model, tmp_path / "p", "vespa", feature_names=[name, *NAMES[1:]])
    with pytest.raises(ParameterError, match=r"cannot be the name of a model in the format 'vespa'"):
        export_model(model, tmp_path / "p", "vespa", name=name, feature_names=NAMES)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("to", ["elasticsearch", "opensearch", "solr"])
def test_names_that_json_cannot_carry_are_refused(tmp_path, to):
    model = RankRLS().fit(X, Y, QID)
    for name in ("\ud800", "nul\0", ""):
        with pytest.raises(ParameterError, match=f"cannot be the name of a feature in the format '{to}'"):
            export_model(model, tmp_path / "m", to, feature_names=[name, *NAMES[1:]])
    export_model(model, tmp_path / "m", to, feature_names=['"quoted" } größe', *NAMES[1:]])


HALF = "a\ud800"  # half of a surrogate pair, as JSON and undecodable arguments bring it


def write_with_half_a_surrogate(to, path):
    """Write a file in which a name is half of a surrogate pair."""
    labels = [HALF, HALF, *"bcdefghijk"]
    data = RankingData.from_arrays(X, Y, [HALF] * 12, docs=[f"{HALF}{row}" for row in range(12)])
    texts = np.array([[label] for label in labels], dtype=object)
    if to == "judgments":
        rankwise.save_judgments(data, path)
    elif to == "pairs":
        rankwise.save_pairs([[0, 1]], path, data=data)
    else:
        model = RankRLS(columns={"x0": "category:20"}).fit(texts, Y)
        export_model(model, path, to, feature_names=["brand"])


@pytest.mark.parametrize("to", ["judgments", "pairs", "sql", "sqlite", "onnx"])
def test_half_a_surrogate_pair_that_a_file_cannot_hold_is_refused(to, tmp_path):
    with pytest.raises(DataError, match=r"file: UTF-8 cannot encode the end of the text .*\\ud800.\.$"):
        write_with_half_a_surrogate(to, tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_half_a_surrogate_pair_in_a_report_is_shown_as_an_escape(tmp_path):
    data = RankingData.from_arrays(X, Y, [HALF] * 12)
    report = rankwise.make_report({HALF: X[:, 0], "other": X[:, 1]}, data, title=HALF)
    report.save(tmp_path / "page.html")
    assert "<title>a\\ud800</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")


ESCAPE = "\x1b]0;owned\x07\x9b31m"


def test_terminal_escapes_in_names_are_shown_and_not_sent(done, refused, tmp_path):
    data = RankingData.from_arrays(X, Y, [f"q{ESCAPE}\ud800"] * 12, feature_names=["a", "b", f"c{ESCAPE}"])
    rankwise.save_store(data, tmp_path / "s.store")
    (tmp_path / "scores").write_text("".join(f"{n}\n" for n in range(12)), encoding="utf-8")
    frame = pandas.DataFrame(X, columns=["a", "b", f"c{ESCAPE}"])
    RankRLS().fit(frame, Y, QID).save(tmp_path / "model")
    for printed in (
        done("info", tmp_path / "s.store"),
        done("info", tmp_path / "s.store", "--json"),
        done("info", tmp_path / "model"),
        done("evaluate", tmp_path / "s.store", tmp_path / "scores", "--per-query"),
        done("evaluate", tmp_path / "s.store", tmp_path / "scores", "--per-query", "--json"),
        refused("train", tmp_path / os.fsdecode(f"missing{ESCAPE}".encode()), tmp_path / "m", code=1),
        refused("evaluate", tmp_path / "s.store", tmp_path / "scores", "--measures", ESCAPE, code=2),
    ):
        assert not {"\x1b", "\x07", "\x9b", "\ud800"} & set(printed)
    said = refused("predict", tmp_path / "s.store", tmp_path / "model", "--trec", code=1)
    assert "TREC files require names without spaces or control characters" in said


def test_names_that_are_not_utf8_are_read_and_shown(folder, tmp_path):
    odd = os.fsencode(tmp_path) + b"/r\xe9sum\xe9"
    for ending, content in (
        (b".txt", b"1 qid:1 1:0.5\n0 qid:1 1:0.25\n"),
        (b".csv", b"label,qid,a\n1,1,0.5\n0,1,0.25\n"),
    ):
        with open(odd + ending, "wb") as file:  # noqa: PTH123
            file.write(content)
        command = [sys.executable, "-m", "rankwise", "info", odd + ending]
        run = subprocess.run(command, capture_output=True)
        assert (run.returncode, run.stderr) == (0, b""), run.stderr
        assert b"r\\udce9sum" in run.stdout
    run = subprocess.run([sys.executable, "-m", "rankwise", "info", odd], capture_output=True)
    assert (run.returncode, run.stderr.count(b"\n")) == (1, 1)
    assert run.stderr.endswith(b"sum\\udce9: No such file or directory.\n")
    assert main(["info", str(tmp_path / "none")]) == 1
