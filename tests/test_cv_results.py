"""The alternatives of the CV rankers in scikit-learn's form."""

import numpy as np
import pandas
import pytest
from sklearn.model_selection import GridSearchCV

import rankwise
from rankwise import KernelRankRLSCV, RankRLSCV, RankSVMCV

DATA = rankwise.make_search_data(15, random_state=2).scale_per_query()
RANKERS = [
    RankRLSCV([10.0, 0.1, 1.0], ties=["keep", "drop"], measure="ndcg@5"),
    RankSVMCV([0.1, 0.01], loss=["hinge", "squared_hinge"], cv=3),
    KernelRankRLSCV([1.0, 10.0], gamma=[0.1, 1.0], basis=20, random_state=0),
]


@pytest.fixture(params=RANKERS, ids=lambda ranker: type(ranker).__name__)
def ranker(request):
    return request.param.fit(DATA.X, DATA.y, DATA.qid)


def test_every_alternative_has_a_line_with_its_parameters_and_score(ranker):
    table = pandas.DataFrame(ranker.cv_results_)
    assert len(table) == ranker.scores_.size
    sign = 1.0 if ranker.measure == "ndcg@5" else -1.0
    for line in table.to_dict("records"):
        setting = {name: value for name, value in line["params"].items() if name != "alpha"}
        row, column = ranker.settings_.index(setting), ranker.alphas_.tolist().index(line["param_alpha"])
        assert line["mean_test_score"] == sign * ranker.scores_[row, column]
        assert {f"param_{name}": value for name, value in line["params"].items()} == {
            name: value for name, value in line.items() if name.startswith("param_")
        }


def test_the_choice_is_the_best_of_them(ranker):
    results, best = ranker.cv_results_, ranker.best_index_
    assert results["rank_test_score"][best] == 1
    assert results["params"][best] == {k: v for k, v in ranker.best_.items() if k != "score"}
    assert results["mean_test_score"][best] == results["mean_test_score"].max()


def test_a_saved_model_has_them_too(ranker, tmp_path):
    ranker.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    pandas.testing.assert_frame_equal(
        pandas.DataFrame(loaded.cv_results_), pandas.DataFrame(ranker.cv_results_)
    )


def test_the_columns_are_those_of_grid_search():
    y, X = DATA.y[:60], DATA.X[:60]
    theirs = GridSearchCV(rankwise.RankRLS(), {"alpha": [0.1, 1.0]}, cv=2).fit(X, y).cv_results_
    ours = RankRLSCV([0.1, 1.0], cv=2).fit(X, y).cv_results_
    for name in set(theirs) & set(ours):
        assert type(ours[name]) is type(theirs[name]), name
        assert np.shape(ours[name]) == np.shape(theirs[name])
    assert {"params", "param_alpha", "mean_test_score", "rank_test_score"} <= set(theirs) & set(ours)
    assert ours["rank_test_score"].dtype == theirs["rank_test_score"].dtype


def test_equal_scores_share_a_rank_and_what_was_not_tried_comes_last():
    from rankwise.metrics import get_measure
    from rankwise.selection.search import table_of_scores

    values = np.array([[0.3, np.nan, 0.3, 0.1]])
    table = table_of_scores([{}], np.arange(4.0), values, get_measure("pairwise_error"))
    assert table["rank_test_score"].tolist() == [2, 4, 2, 1]
    np.testing.assert_array_equal(table["mean_test_score"], -values[0])
