"""Small mistakes at the edges: columns, outputs, words and representations."""

import numpy as np
import pytest

import rankwise
import rankwise.cli
from command_line import done, folder, refused
from rankwise import DataError, ParameterError, RankingData
from rankwise.metrics import compare, evaluate

__all__ = ["done", "folder", "refused"]  # fixtures


def frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(
        {"label": [1.0, 0.0, 2.0], "qid": [1, 1, 1], "url": ["a", "b", "c"], "bm25": [1.0, 2.0, 3.0]}
    )


def test_a_missing_flag_is_named_by_its_column_and_row():
    table = frame().drop(columns="url").assign(new=[True, None, False])
    with pytest.raises(DataError, match=r"^Column 'new' has a missing value in row 1 .*columns='auto'"):
        RankingData.from_frame(table, label="label", qid="qid")


def test_columns_can_be_excluded_in_place_of_naming_all_others(done, tmp_path):
    data = RankingData.from_frame(frame(), label="label", qid="qid", exclude=["url"])
    assert data.feature_names == ("bm25",)
    with pytest.raises(DataError, match=r"'url' cannot be a feature: .* leave it out with the 'exclude'"):
        RankingData.from_frame(frame(), label="label", qid="qid")
    with pytest.raises(DataError, match="no column 'ur'; did you mean 'url'"):
        RankingData.from_frame(frame(), label="label", qid="qid", exclude=["ur"])
    for exclude, features in (("url", None), (["url"], ["bm25"])):
        with pytest.raises(ParameterError, match="The 'exclude' parameter must be"):
            RankingData.from_frame(frame(), label="label", qid="qid", exclude=exclude, features=features)
    frame().to_csv(tmp_path / "rows.csv", index=False)
    printed = done("train", tmp_path / "rows.csv", tmp_path / "model", "--exclude", "url", "--alpha", "1")
    assert "1 features" in printed


def test_exclude_and_features_do_not_combine(refused, tmp_path):
    sentence = refused("train", "a.csv", tmp_path / "m", "--exclude", "a", "--features", "b", code=2)
    assert sentence == "--exclude and --features cannot be combined; name the columns of one kind.\n"


@pytest.mark.parametrize(
    "content, ours",
    [
        ("1.5\n2\n", True),
        ("q Q0 d 1 0.5 tag\n", True),
        ("", True),
        ("2 qid:1 1:3\n", False),
        ("a,b\n", False),
    ],
)
def test_predict_overwrites_scores_and_runs_only(folder, tmp_path, content, ours, capsys):
    out = tmp_path / "out.txt"
    out.write_text(content, encoding="utf-8")
    code = rankwise.cli.main(["predict", str(folder / "test.txt"), str(folder / "model"), "--out", str(out)])
    if ours:
        assert code == 0
        assert out.read_text(encoding="utf-8") != content
    else:
        assert code == 2
        assert "holds neither scores nor a run; refusing to overwrite it" in capsys.readouterr().err
        assert out.read_text(encoding="utf-8") == content


def test_the_command_line_speaks_of_options(refused, tmp_path):
    sentence = refused("train", "train.txt.gz", tmp_path / "model", "--alpha", "-1", code=2)
    assert sentence.startswith("The option --alpha must be")
    sentence = refused("train", "train.txt.gz", tmp_path / "model", "--set", "max_iter=0", code=2)
    assert sentence.startswith("The option --set max_iter must be")


def test_the_demo_says_why_its_counts_do_not_sum_to_all_queries(done, tmp_path):
    note = "1 query has no value of ndcg@10 and does not count: no relevant rows."
    assert note in done("demo", "--out", tmp_path / "demo", "--random-state", "1")
    assert note in (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")


def test_representations_fit_on_a_few_lines():
    data = rankwise.make_search_data(20, random_state=0)
    model = rankwise.RankRLSCV(alphas=np.geomspace(1e-3, 1e3, 31)).fit(data)
    scores = {"a": model.predict(data), "b": data.X[:, 0]}
    for shown in (
        model,
        model.explain(data, 0, 1),
        evaluate(data.y, scores["a"], data.qid),
        compare(data.y, scores, data.qid),
        data.queries,
        data,
    ):
        assert len(repr(shown)) < 200, repr(shown)
    assert repr(model).startswith("RankRLSCV(alphas=array([1.0000e-03, 1.5849e-03, ..., ")
