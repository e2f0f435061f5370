"""What notebooks show: figures as pictures, results as tables, and data by its first rows."""

from textwrap import dedent

import numpy as np
import pytest
from scipy import sparse

import rankwise
from rankwise.metrics import evaluate


@pytest.fixture(scope="module")
def films():
    return rankwise.load_movies().split(0.5)


def test_a_figure_shows_itself_without_pyplot(films):
    pytest.importorskip("matplotlib")
    model = rankwise.RankRLSCV([0.1, 1.0], columns="spline").fit(films[0])
    for figure in (model.plot_calibration(), model.plot_columns(films[1])):
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_an_explanation_is_a_table_of_contributions_with_the_values_of_columns(films):
    train, test = films
    plain = rankwise.RankRLS().fit(train).explain(test.X, 0, 1)
    assert plain._repr_html_().count("<th ") == 2
    assert str(plain).splitlines()[0] in plain._repr_html_()
    columns = rankwise.RankRLS(columns="auto").fit(train).explain(test.X, 0, 1)
    assert "row i" in columns._repr_html_()
    assert columns._repr_html_().count("<tr") == str(columns).count("\n") + 1


def test_data_is_shown_by_its_first_rows_whatever_holds_it(films, tmp_path):
    train = films[0]
    shown = train._repr_html_()
    assert str(train.docs[4]) in shown
    assert "title_match" in shown
    few = rankwise.RankingData.from_arrays(sparse.csr_matrix(np.eye(3, 20)), [0, 1, 2])
    assert "and 12 more columns" in few._repr_html_()
    frame = pytest.importorskip("pandas").DataFrame({"y": [1, 0], "brand": ["<b>", None], "q": ["a", "a"]})
    table = rankwise.RankingData.from_frame(frame, label="y", qid="q", as_table=True)
    assert "&lt;b&gt;" in table._repr_html_()
    rankwise.save_store(train, tmp_path / "a.store")
    stored = rankwise.open_store(tmp_path / "a.store")._repr_html_()
    assert "<table" not in stored  # which would read from the file


def test_encodings_and_paths_are_tables(films):
    encoding = rankwise.RankRLS(columns="auto").fit(films[0]).encoding_
    assert repr(encoding).startswith("Encoding(7 columns, ")
    assert encoding._repr_html_().count("<tr") == 8
    assert "votes" in str(encoding)
    path = rankwise.RankRLSPath(max_features=2).fit(films[0])
    assert path.path_table()._repr_html_().count("<tr") == 3
    assert isinstance(path.path_table(), list)
    assert str(path.path_table()).startswith("n_features")


def test_an_evaluation_counts_the_queries_of_its_means():
    y, qid = [1, 0, 0, 0, 1, 1], ["a", "a", "b", "b", "c", "c"]
    shown = repr(evaluate(y, [3.0, 1.0, 2.0, 1.0, 2.0, 1.0], qid, ["map"]))
    assert shown == "Evaluation(map 1.0000 on 2 of 3 queries)"
    shown = repr(evaluate(y, [3.0, 1.0, 2.0, 1.0, 2.0, 1.0], qid, ["map", "pairwise_error"]))
    assert shown.startswith("Evaluation(map 1.0000 on 2 of 3 queries, pairwise_error 0.0000 on 1 of 3")


def test_a_notebook_shows_how_far_a_long_fit_is_and_nothing_afterwards():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    fit = """
        import rankwise
        from rankwise import long_tasks
        long_tasks.PATIENCE_SECONDS, long_tasks.INTERVAL_SECONDS = 0.0, 0.01
        model = rankwise.RankSVM(tol=1e-6).fit(rankwise.make_search_data(2000, random_state=0))
    """
    cells = [
        nbformat.v4.new_code_cell(dedent(code)) for code in (fit, "model.explain([[0.0] * 22] * 2, 0, 1)")
    ]
    notebook, displayed = nbformat.v4.new_notebook(cells=cells), []
    client = nbclient.NotebookClient(notebook, kernel_name="python3")
    take = client.process_message

    def process_message(message, cell, number):
        displayed.append(message["content"].get("data", {}).get("text/html", ""))
        return take(message, cell, number)

    client.process_message = process_message
    client.execute()
    assert any(html.startswith("<progress></progress> Training RankSVM: iteration") for html in displayed)
    assert [output["data"] for output in cells[0].outputs] == [{"text/plain": ""}]
    assert "<table" in cells[1].outputs[0]["data"]["text/html"]
