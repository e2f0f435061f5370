"""
Context in a shop
=================

On a phone, people look at the price; at a desk, they read ratings. Brands matter for shoes. The device and
the category of a query are the same for all of its products, so they do not change their order by themselves,
but they change how much other columns matter. A search for interactions finds these columns.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rankwise
from rankwise.errors import ContextWarning

N_QUERIES, N_ROWS = 500, 20
chance = np.random.default_rng(0)
query = np.repeat(np.arange(N_QUERIES), N_ROWS)
m = len(query)
shop = pd.DataFrame(
    {
        "price": np.exp(chance.normal(3.0, 0.7, m)).round(2),
        "rating": chance.uniform(1.0, 5.0, m).round(1),
        "sold": chance.geometric(0.02, m),
        "brand": chance.choice(["acme", "best", "none"], m),
        "mobile": (chance.random(N_QUERIES) < 0.5)[query],
        "category": chance.choice(["shoes", "books", "toys"], N_QUERIES)[query],
    }
)
phone = shop["mobile"].to_numpy()
known = (shop["brand"] == "best") & (shop["category"] == "shoes")
liking = -np.log(shop["price"]) * np.where(phone, 1.6, 0.4) + shop["rating"] * np.where(phone, 0.2, 0.7)
liking += 0.3 * np.log(shop["sold"]) + 1.5 * known + 0.5 * chance.normal(size=m)
grade = np.digitize(liking, np.quantile(liking, [0.5, 0.75, 0.9]))
train, test = query < 300, query >= 300

# %%
# Without interactions, such context columns have no effect, and a warning names them. Pairs of columns are
# evaluated on queries that they were not fitted to, so there is no number of pairs to tune.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ContextWarning)
    alone = rankwise.RankRLSCV(columns="spline", measure="ndcg@10")
    alone.fit(shop[train], grade[train], query[train])
together = rankwise.RankRLSCV(interactions="auto", measure="ndcg@10")
together.fit(shop[train], grade[train], query[train])
print("constant within queries:", ", ".join(alone.context_columns_))
search = together.encoding_.search
print(f"{search.tried} pairs tried; found:")
for found in search.found:
    print(f"  {' × '.join(found.columns)}: {found.z:.1f} standard errors above 0")

# %%
# Quality on test queries:
scores = {"columns alone": alone.predict(shop[test]), "with interactions": together.predict(shop[test])}
result = rankwise.metrics.compare(grade[test], scores, query[test], ["ndcg@10"])
print(result)

# %%
# The model is still a sum of functions: one for each column, and a table for each pair, which holds only the
# joint effect of the two columns. (``plot_columns`` draws all of them.)
tables = together.encoding_.function(together.coef_).interactions
figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
for axis, table in zip(axes, tables, strict=False):
    first, second = (side.points[:-1] for side in table.axes)  # the last is for missing values
    values = np.array(table.values)[: len(first), : len(second)]
    image = axis.imshow(values, cmap="RdBu", vmin=-1.0, vmax=1.0, aspect="auto")
    axis.set_yticks(range(len(first)), first)
    axis.set_xticks(range(len(second)), second)
    axis.set(ylabel=table.columns[0], xlabel=table.columns[1])
figure.colorbar(image, label="added to the score")

# %%
# The same product on a phone and at a desk:
pair = shop[test].iloc[[0, 1]].assign(category="shoes")
for device in (True, False):
    print(f"mobile: {device}")
    print(together.explain(pair.assign(mobile=device), 0, 1))
plt.show()
