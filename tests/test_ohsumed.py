"""Paper A's numbers on OHSUMED are reproduced (if the data set is available)."""

import numpy as np
from benchmarks.reproduce import ohsumed


def test_rankrls_reproduces_the_paper_on_ohsumed(shared_data, monkeypatch):
    monkeypatch.setattr(ohsumed, "METHODS", {"RankRLS": ohsumed.rank_rls})
    values = ohsumed.reproduce(shared_data / "ohsumed_letor2")["RankRLS"]
    off = np.abs(values - ohsumed.PAPER["RankRLS"])
    assert off[0] < 0.005
    assert off[1:].max() < 0.02
