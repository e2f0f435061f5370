"""
Hybrid search: weights that depend on the query
===============================================

A search has two scores for every document: how well its words match the query, and how similar the embeddings
of both are. Words are better for a number or a name, embeddings for a long question, so no fixed weights suit
both. Interactions of the scores with columns that describe the query learn when to trust which score. The
search is simulated; :doc:`/interactions` does the same with real films.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rankwise

N_QUERIES, N_ROWS = 400, 20
chance = np.random.default_rng(0)
query = np.repeat(np.arange(N_QUERIES), N_ROWS)


def of_queries(values):
    return np.asarray(values)[query]


length = of_queries(chance.integers(1, 9, N_QUERIES))
digits = of_queries(chance.random(N_QUERIES) < 0.25)
relevance = chance.normal(size=len(query))

# %%
# Both scores measure the same relevance with different noise: long queries make the word match less reliable
# and the embedding more reliable, and embeddings do not understand numbers. BM25 also has a different scale
# in every query.
words_off = 0.4 + 0.25 * length - 0.5 * digits
meaning_off = 2.2 - 0.2 * length + 1.5 * digits
matches = relevance + np.abs(words_off) * chance.normal(size=len(query))
scale = of_queries(chance.gamma(5.0, 2.0, N_QUERIES))
table = pd.DataFrame({"bm25": scale * np.exp(0.3 * matches)})
table["cosine"] = np.tanh(0.4 * (relevance + meaning_off * chance.normal(size=len(query))))
grade = np.digitize(relevance, [0.5, 1.0, 1.6])

# %%
# Two properties of a query are known in advance, and a third comes from its scores: how far the first result
# is ahead of the second.
signals = ["bm25", "cosine"]
for signal in signals:
    of_query = table.groupby(query)[signal]
    low, high = of_query.transform("min"), of_query.transform("max")
    table[signal] = (table[signal] - low) / (high - low)
second = table["bm25"].groupby(query).nlargest(2).groupby(level=0).min()
table["lead"] = 1.0 - of_queries(second)
table["query_length"], table["has_digits"] = length, digits
context = ["query_length", "has_digits", "lead"]

# %%
# Compare the usual fusions with models learned from 200 queries, on the other 200 queries.
train, test = query < 200, query >= 200
ranks = table[signals].groupby(query).rank(ascending=False)
scores = {
    "BM25": table["bm25"],
    "cosine": table["cosine"],
    "min-max fusion": table[signals].sum(axis=1),
    "reciprocal ranks": (1.0 / (60.0 + ranks)).sum(axis=1),
}
rows = {name: values[test].to_numpy() for name, values in scores.items()}


def learned(ranker, columns):
    return ranker.fit(table.loc[train, columns], grade[train], query[train])


fixed = learned(rankwise.RankRLSCV(columns="number", measure="ndcg@10"), signals)
rows["one set of weights"] = fixed.predict(table.loc[test, signals])
pairs = [(of_query, signal) for of_query in context for signal in signals]
ranker = rankwise.RankRLSCV(interactions=pairs, measure="ndcg@10")
by_query = learned(ranker, signals + context)
rows["weights by query"] = by_query.predict(table[test])

result = rankwise.metrics.compare(grade[test], rows, query[test], ["ndcg@10"])
print(result)

# %%
# The plot shows how much the score grows from the worst match to the best, for each length of the query.
lengths = np.arange(1, 9)
figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
for signal, color in zip(signals, ("C0", "C1"), strict=True):
    for has_digits, style in ((False, "-"), (True, "--")):
        probe = pd.DataFrame({"query_length": lengths, "has_digits": has_digits, "lead": 0.2})
        middle = probe.assign(bm25=0.5, cosine=0.5)
        low, high = (by_query.predict(middle.assign(**{signal: value})) for value in (0.0, 1.0))
        axis.plot(lengths, high - low, color + style, label=signal + (", digits" if has_digits else ""))
axis.set(xlabel="words in the query", ylabel="weight")
axis.legend()

# %%
# Here, knowing which signal to trust is worth nearly half as much as having two signals instead of one.
# Left-out queries show whether it also helps on your data.
figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
means = [one.means["ndcg@10"] for one in result.evaluations.values()]
margins = [one.margins["ndcg@10"] for one in result.evaluations.values()]
axis.errorbar(means, range(len(rows)), xerr=margins, fmt="o", capsize=4)
axis.set(yticks=range(len(rows)), yticklabels=rows, xlabel="NDCG@10, with 95 % intervals")
axis.invert_yaxis()
plt.show()
