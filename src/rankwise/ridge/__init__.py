"""RankRLS: the squared loss on differences, in closed form or by conjugate gradient."""
