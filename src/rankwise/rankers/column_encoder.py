"""What the columns of a table become, as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from rankwise.columns.choosing_codes import fit_encoding
from rankwise.columns.encoding import Encoding
from rankwise.columns.inputs import Inputs
from rankwise.rows.table import table_of
from rankwise.types import AnyArray, Matrix
from rankwise.validation import check_fitted


class ColumnEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn the columns of a table, with missing values, categories and dates, into numeric features.

    Rankers with the parameter `columns` encode tables themselves; linear models are then saved, explained and
    exported in terms of the columns. Use this transformer in other pipelines, or to see the features.

    Each column is encoded as one of these:

    ==============  =====================================================================================
    "number"        The number, standardized.
    "log"           ``log(1 + x)``, standardized, for counts and prices; ``−log(1 − x)`` for negative x.
    "spline"        A piecewise linear function, linear beyond the smallest and largest number seen;
                    "spline:20" has 20 knots instead of 10.
    "category"      One feature for each of the 100 most frequent categories, and one for all others;
                    "category:1000" for each of 1,000. A category that occurs once is one of the others.
    "flag"          1 for true, 0 for false.
    "date"          The age in days before the latest date, as a number; "date:log" and "date:spline" for
                    its logarithm and for a spline.
    "share"         The number divided by the largest absolute value of its query; 0 if all are 0.
    "rank"          The rank in the query, from 1 for the smallest; equal numbers get their mean rank.
    "distance"      The number minus the mean of its query. All three are standardized; "rank:log",
                    "rank:spline" and so on take their logarithm or a spline. Only rankers accept these
                    codes, because they know the queries.
    "auto"          Depends on the values: "log" for non-negative numbers that are very skewed, and otherwise
                    "number", "category", "flag" or "date".
    "drop"          Nothing.
    ==============  =====================================================================================

    A missing number counts as the median; if `fit` saw any, another feature marks them. Missing text is a
    category of its own if `fit` saw any. Otherwise it counts as one of the other categories, and so does a
    category that `fit` has not seen; if there are no others, it has no features, which amounts to the average
    of the known categories. Infinite numbers are rejected. Encoding takes O(m) per feature, choosing the
    codes O(m log m) per column.

    Parameters
    ----------
    columns : str or dict, default="auto"
        The code of each column, by name. Columns without an entry are not used, unless there is an entry
        ``"*"``, which sets the code of their numbers: "auto", "number", "log" or "spline". A string means
        ``{"*": string}``.

    Attributes
    ----------
    encoding_ : Encoding
        The codes of the columns: numbers and names only.
    n_features_in_ : int
        The number of columns that X must have.
    feature_names_in_ : array of str
        Their names, if X has any. They may be in any order, and other columns are ignored.

    See Also
    --------
    RankRLSCV : Rankers with `columns` encode tables themselves.
    QueryMinMaxScaler : Scaling within each query.

    Examples
    --------
    >>> import pandas
    >>> from rankwise import ColumnEncoder
    >>> table = pandas.DataFrame({"price": [5.0, None, 40.0], "brand": ["acme", "acme", None]})
    >>> encoder = ColumnEncoder({"price": "log", "brand": "category"}).fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['log(price)', 'price: missing', 'brand=acme', 'brand: missing']
    >>> encoder.transform(table).round(2)
    array([[-1.  ,  0.  ,  1.  ,  0.  ],
           [ 0.42,  1.  ,  1.  ,  0.  ],
           [ 1.  ,  0.  ,  0.  ,  1.  ]])
    """

    _encodes_columns = True  # how `export_model` recognizes it

    encoding_: Encoding

    def __init__(self, columns: Any = "auto") -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the code of each column from its values; y is ignored."""
        encoding = fit_encoding(table_of(X), self.columns)
        Inputs(type(self).__name__, encoding.features, encoding).record_on(self)
        return self

    def transform(self, X: Any) -> Matrix:
        """Return the features of the rows; a CSR matrix if at most a quarter of them can be other than 0."""
        check_fitted(self)
        return self.encoding_.encode(table_of(X))

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the features; `input_features` is ignored, because columns have their own."""
        check_fitted(self)
        return np.array(self.encoding_.feature_names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "encoding_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags
