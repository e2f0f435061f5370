"""
A search engine in one file
===========================

SQLite has full-text search, and a linear model is a simple SQL expression. This example indexes the
docstrings of Python's standard library, learns how much matches in the name, the signature and the text
should count, and ranks in plain SQL.
"""

import importlib
import inspect
import random
import re
import sqlite3
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import rankwise

MODULES = """
argparse array base64 bisect calendar codecs collections colorsys configparser contextlib copy csv
dataclasses datetime decimal difflib enum fileinput fnmatch fractions functools getpass gettext glob
gzip hashlib heapq hmac html inspect io ipaddress itertools json keyword linecache locale logging
lzma mimetypes numbers operator os os.path pathlib pickle pkgutil platform plistlib pprint queue
random re sched secrets select shelve shlex shutil signal socket statistics string struct subprocess
sysconfig tarfile tempfile textwrap threading timeit traceback types unicodedata urllib.parse
uuid warnings weakref zipfile zlib
"""


def documents():
    """Every public function and class: name, signature, the first sentence of its docstring, and the rest."""
    seen = set()
    for module in map(importlib.import_module, MODULES.split()):
        for name, thing in inspect.getmembers(module):
            text = inspect.getdoc(thing) if inspect.isroutine(thing) or inspect.isclass(thing) else None
            if text and not name.startswith("_") and id(thing) not in seen:
                seen.add(id(thing))
                summary, _, rest = text.partition("\n\n")
                try:
                    signature = " ".join(inspect.signature(thing).parameters)
                except ValueError:  # some built-in functions do not tell
                    signature = ""
                yield module.__name__, name, signature, summary, rest


def spaced(name):
    """The words of a name, so that a query for ``zip`` finds ``ZipFile``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_.]", " ", name)


found = list(documents())
database = sqlite3.connect(":memory:")
database.execute("CREATE VIRTUAL TABLE docs USING fts5(path UNINDEXED, module, name, signature, rest)")
for module, name, signature, _, rest in found:
    row = (f"{module}.{name}", spaced(module), spaced(name), signature, rest)
    database.execute("INSERT INTO docs VALUES (?, ?, ?, ?, ?)", row)
print(len(found), "names")

# %%
# Full-text search finds the candidates and gives signals: how well the words of the query match each
# column.
CANDIDATES = """
SELECT path, -bm25(docs) AS any_match, -bm25(docs, 0, 1, 0, 0, 0) AS module_match,
       -bm25(docs, 0, 0, 1, 0, 0) AS name_match, -bm25(docs, 0, 0, 0, 1, 0) AS signature_match,
       -bm25(docs, 0, 0, 0, 0, 1) AS text_match, length(rest) / 1000.0 AS text_length,
       length(name) / 10.0 AS name_length
FROM docs WHERE docs MATCH ? ORDER BY bm25(docs) LIMIT 50
"""

# %%
# Judgments come from the docstrings themselves. A query consists of three words of a docstring's first
# sentence, which is *not* in the index. The described object is relevant (grade 2), and the rest of its
# module is related (grade 1).
chance = random.Random(0)
tables = []
for module, name, _, summary, _ in chance.sample(found, 900):
    words = sorted(set(re.findall(r"[a-z]{4,}", summary.lower())))
    if len(words) >= 3:
        query = " OR ".join(chance.sample(words, 3))
        table = pd.read_sql(CANDIDATES, database, params=[query]).assign(query=query)
        table["grade"] = table.path.str.startswith(f"{module}.") + 1 * (table.path == f"{module}.{name}")
        tables.append(table)
judged = pd.concat(table for table in tables if len(table))
data = rankwise.RankingData.from_frame(judged, label="grade", qid="query", doc="path")
train, test = data.split(0.5)
model = rankwise.RankRLS().fit(train)

# %%
# The model is exported as an SQL expression, so a single statement searches and ranks.
script = Path(tempfile.mkdtemp()) / "score.sql"
rankwise.export_model(model, script, "sqlite")
SCORE = script.read_text(encoding="utf-8")
SEARCH = f"SELECT path, {SCORE} AS score FROM ({CANDIDATES}) ORDER BY score DESC LIMIT 5"
for query in ("compress OR file", "days OR month", "random OR sample"):
    print(f"{query}:", ", ".join(path for path, _ in database.execute(SEARCH, [query])))

# %%
# Is it better than SQLite's own order? On test queries:
candidates = {"SQLite": test.X[:, test.feature_names.index("any_match")], "learned": model.predict(test.X)}
result = rankwise.metrics.compare(test.y, candidates, test.qid, ["ndcg@10"])
print(result)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), width_ratios=(3, 2), layout="constrained")
left.barh(data.feature_names, model.coef_ * train.X.std(axis=0))
left.invert_yaxis()
left.set(xlabel="weight × standard deviation", title="What counts")
for place, evaluation in enumerate(result.evaluations.values()):
    right.errorbar(place, evaluation.means["ndcg@10"], evaluation.margins["ndcg@10"], fmt="o", capsize=4)
right.set(xticks=range(2), xticklabels=candidates, xlim=(-0.5, 1.5), ylabel="NDCG@10, with 95 % intervals")
plt.show()

# %%
# Only slightly: SQLite's own order is good for such queries, and learned weights can hardly improve on it.
# However, the weights show which signals are worth keeping, and a signal that SQLite does not have, such as
# clicks, would just be another column.
