"""
Every alpha and every iteration
===============================

Conjugate gradient regularizes in two ways: by alpha and by early stopping. The systems of all alphas share
a Krylov space, so a single run gives the measure for every alpha and iteration, with the matrix products of
one alpha.
"""

import matplotlib.pyplot as plt
import numpy as np

import rankwise

train, held = rankwise.make_search_data(80, random_state=5).scale_per_query().split(0.5)
model = rankwise.RankRLSCV(alphas=2.0 ** np.arange(-10, 14), solver="cg", max_iter=60, tol=1e-4)
model.fit(train, eval_set=held)

figure, axis = plt.subplots(figsize=(9, 4.5), layout="constrained")
iterations = np.arange(1, model.surface_.shape[1] + 1)
shades = axis.pcolormesh(iterations, model.alphas_, model.surface_, shading="nearest", cmap="viridis_r")
axis.set(xlabel="iteration", ylabel="alpha", yscale="log", title="Pairs in the wrong order, held-out queries")
for name, marker in {"tikhonov": "o", "iteration": "s", "hybrid": "*"}.items():
    reading = model.readings_[name]
    axis.plot(reading["n_iter"], reading["alpha"], marker, ms=11, mfc="white", mec="black", label=name)
axis.legend(loc="lower right")
figure.colorbar(shades)
plt.show()

# %%
# At the bottom, all alphas converge to nearly the same model; at the top, a large alpha keeps the weights
# small. The three markers are the best of the converged models, the best iteration without regularization by
# alpha, and the best combination.
for name, reading in model.readings_.items():
    print(name, reading)
