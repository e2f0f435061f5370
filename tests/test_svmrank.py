"""SVMrank's C and its model files."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

import rankwise
from rankwise.cli import main
from rankwise.errors import DataError, FileFormatError
from rankwise.export.svmrank import alpha_from_c, load_svmrank, save_svmrank
from rankwise.preferences.queries import group_rows

SAMPLE = """SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d
1 # kernel parameter -g
1 # kernel parameter -s
1 # kernel parameter -r
empty# kernel parameter -u
4 # highest feature index
88 # number of training documents
3 # number of support vectors plus 1
0.5 # threshold b, each following line is a SV (starting with alpha*y)
1 1:1.5 2:-3 #
-0.5 qid:7 2:2 4:1e-3 # a comment
"""


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.round(X @ [1.0, -0.5, 0.2] + rng.normal(size=40))
    return X, y, rng.integers(0, 5, 40)


def differences(X, y, qid):
    i, j = np.nonzero((y[:, None] > y) & (qid[:, None] == qid))
    return X[i] - X[j]


@pytest.mark.parametrize("c", [0.1, 5.0])
def test_c_gives_the_minimizer_of_svmranks_objective(c):
    X, y, qid = data()
    D = differences(X, y, qid)
    # Half the pairs are reversed, since a classifier needs two classes.
    signs = np.where(np.arange(len(D)) % 2, 1.0, -1.0)
    peer = LinearSVC(C=c / len(set(qid)), loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6)
    peer.fit(D * signs[:, None], signs)

    def objective(w):
        return 0.5 * w @ w + c / len(set(qid)) * np.maximum(0.0, 1.0 - D @ w).sum()

    alpha = alpha_from_c(c, y, group_rows(qid, len(y)))
    ours = rankwise.RankSVM(alpha, weighting="pair", tol=1e-6).fit(X, y, qid).coef_
    assert objective(ours) == pytest.approx(objective(peer.coef_[0]), rel=1e-4)


def test_c_needs_a_pair():
    with pytest.raises(DataError, match="nothing to learn"):
        alpha_from_c(1.0, np.ones(4), group_rows([1, 1, 2, 2], 4))


def test_weights_survive_a_file_and_zeros_are_left_out(tmp_path):
    coef = np.array([0.1, 0.0, -1e-300, 3.0, 0.0])
    save_svmrank(coef, tmp_path / "model.dat", n_rows=7)
    np.testing.assert_array_equal(load_svmrank(tmp_path / "model.dat"), coef)
    assert (tmp_path / "model.dat").read_text(encoding="utf-8").splitlines()[
        -1
    ] == "1 1:0.1 3:-1e-300 4:3.0 #"


def test_several_support_vectors_are_summed(tmp_path):
    (tmp_path / "model.dat").write_text(SAMPLE, encoding="utf-8")
    np.testing.assert_allclose(load_svmrank(tmp_path / "model.dat"), [1.5, -4.0, 0.0, -0.5e-3])


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("SVM-light Version", "A story", "is not an SVMrank model"),
        ("0 # kernel type", "2 # kernel type", "line 2: only linear models"),
        ("4 # highest", "x # highest", "line 8: expected a whole number from 0 to 67,108,864, found 'x'"),
        ("4 # highest", "3 # highest", "line 13: expected a support vector"),
        ("2:-3", "2:minus", "line 12: expected a support vector"),
        ("2:-3", "2:nan", "line 12: expected a support vector"),
        ("3 # number of", "9 # number of", "truncated: it has 2 of 8"),
        (SAMPLE[120:], "", "truncated"),
    ],
)
def test_what_is_no_linear_model_is_refused(tmp_path, old, new, says):
    path = tmp_path / "model.dat"
    path.write_text(SAMPLE.replace(old, new), encoding="utf-8")
    with pytest.raises(FileFormatError, match=says):
        load_svmrank(path)


def test_the_command_line_trains_and_predicts_like_svmrank(tmp_path, capsys):
    X, y, qid = data()
    order = np.argsort(qid, kind="stable")
    lines = [
        f"{y[i]:g} qid:{qid[i]} " + " ".join(f"{k + 1}:{v!r}" for k, v in enumerate(X[i].tolist()))
        for i in order
    ]
    train, model = tmp_path / "train.dat", tmp_path / "model.dat"
    train.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["svm_rank_learn", "-c", "5", str(train), str(model)]) == 0
    alpha = alpha_from_c(5.0, y, group_rows(qid, len(y)))
    assert f"alpha {alpha:.6g}" in capsys.readouterr().out
    assert main(["predict", str(train), str(model)]) == 0
    scores = [float(line) for line in capsys.readouterr().out.split()]
    np.testing.assert_allclose(scores, X[order] @ load_svmrank(model), rtol=1e-12)
    assert main(["evaluate", str(train), str(model), "--json"]) == 0
    assert main(["info", str(model)]) == 0
    assert "SVMrank" in capsys.readouterr().out


def test_c_must_be_positive(tmp_path, capsys):
    assert main(["svm_rank_learn", "-c", "0", str(tmp_path / "train.dat"), str(tmp_path / "model.dat")]) == 2
    assert "-c must be above 0; got 0." in capsys.readouterr().err
