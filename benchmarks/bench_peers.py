"""RankRLS, RankSVM and the path next to scikit-learn, SciPy, LightGBM and XGBoost.

A peer is what a user would take instead. Each comparison is the time to the same objective or to the same
measure, where a peer is given the cheapest setting that reaches it; writing out the differences that a peer
needs is part of its time. RLScore and TreeTron take part if they are named (--with-rlscore, --with-treetron).
"""

from benchmarks.peers import built, hinges, least_squares, trees
from benchmarks.peers.comparing import one_thread


def run() -> None:
    print("\nTimes are CPU seconds on one thread, the shortest of several alternating runs.")
    with one_thread():
        least_squares.run()
        hinges.run()
        trees.run()
        built.run()
