"""The four data sets of paper E (the regularization path), with standardized features."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Source:
    """The location of a data set, and the sizes of the paper's training, validation and test parts."""

    file: str
    label: int
    header: bool
    sizes: tuple[int, int, int]
    columns: range | None = None


SOURCES = {
    "Mixtures": Source("mixture.txt", -1, True, (100, 50, 50)),
    "Auto": Source("auto_mpg.csv", 0, True, (196, 98, 98), columns=range(8)),
    "Diabetes": Source("pima-indians-diabetes.csv", -1, False, (384, 192, 192)),
    "Cancer": Source("breast_cancer.csv", -1, True, (285, 142, 142)),
}


def load(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    source = SOURCES[name]
    path = folder / "path" / source.file
    table = np.genfromtxt(path, delimiter=",", skip_header=int(source.header), usecols=source.columns)
    X, y = np.delete(table, source.label, axis=1), table[:, source.label]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def with_duplicates(X: np.ndarray, y: np.ndarray, every: int = 10) -> tuple[np.ndarray, np.ndarray]:
    return np.vstack([X, X[::every]]), np.concatenate([y, y[::every]])


def kernel_of(name: str) -> Callable[[np.ndarray], np.ndarray]:
    from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

    return {"linear": linear_kernel, "rbf": lambda X: rbf_kernel(X, gamma=1 / X.shape[1])}[name]
