"""
How many judgments are enough?
==============================

Judgments are expensive. A learning curve shows whether more of them would help, by how much, and whether
a simpler or a more flexible ranker suits those that you have. Bands and bars are 95 % intervals.
"""

import matplotlib.pyplot as plt

import rankwise

data = rankwise.make_search_data(150, random_state=2).scale_per_query()
rankers = {
    "RankRLSCV": rankwise.RankRLSCV(measure="ndcg@10"),
    "KernelRankRLSCV, 100 basis rows": rankwise.KernelRankRLSCV(
        gamma=[0.1], basis=100, measure="ndcg@10", random_state=0
    ),
}
n_more = 300

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for place, (name, ranker) in enumerate(rankers.items()):
    curve = rankwise.learning_curve(data, ranker, n_draws=10)
    (line,) = left.semilogx(curve.sizes, curve.means, "o-", base=2, label=name)
    left.fill_between(curve.sizes, curve.means - curve.margins, curve.means + curve.margins, alpha=0.15)
    mean, margin = curve.predict(n_more)
    left.errorbar(n_more, mean, margin, fmt="s", color=line.get_color(), capsize=4)
    gain, margin = curve.gain(n_more)
    right.errorbar(gain, place, xerr=margin, fmt="s", color=line.get_color(), capsize=4)
    print(f"{name}:\n{curve}\n")
ticks = [*curve.sizes, n_more]
left.set(xlabel="training queries", ylabel="NDCG@10 on other queries", xticks=ticks, xticklabels=ticks)
left.legend()
right.axvline(0.0, color="0.6", linestyle="--")
right.set(yticks=range(len(rankers)), yticklabels=rankers, ylim=(-0.5, 1.5), xlabel="gain in NDCG@10")
right.set_title(f"{n_more} training queries instead of {data.n_queries}")
plt.show()
