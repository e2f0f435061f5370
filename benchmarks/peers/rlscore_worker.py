"""Leave-query-out by RLScore, in the interpreter that has it: ``python rlscore_worker.py DATA.npz REPEATS``.

Prints the shortest CPU time and the concordance at the best regularization value as JSON. It does not import
rankwise, because RLScore may live in an environment of its own.
"""

import json
import sys
import time

import numpy as np
from rlscore.learner import LeaveQueryOutRankRLS
from rlscore.measure import cindex


def main() -> None:
    data, repeats = np.load(sys.argv[1]), int(sys.argv[2])
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        # The measure has to be given: with the default, RLScore passes None on.
        model = LeaveQueryOutRankRLS(
            data["X"], data["y"], data["qid"].tolist(), regparams=data["alphas"].tolist(), measure=cindex
        )
        best = min(best, time.process_time() - start)
    print(json.dumps({"seconds": best, "concordance": float(np.max(model.cv_performances))}))


if __name__ == "__main__":
    main()
