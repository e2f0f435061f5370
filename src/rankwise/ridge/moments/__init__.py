"""The squared loss of a linear function as sums over queries, which can be added and subtracted."""
