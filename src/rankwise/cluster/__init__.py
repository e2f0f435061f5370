"""Judged rows in parts that other processes hold: the same losses and families, with other operators.

Functions of the upper layers that depend on where rows are (`losses_on_scores`, `loss_on_pairs`,
`query_hinge`, `pair_hinge`, `hinge_design`, `linear_space`, `quadratic_of`, `precise_spectrum`,
`spectrum_without_null_space`, `moments_of`, `criterion_on_rows` and others) are open: those for parts are
registered here.
"""

from rankwise.cluster import hinge as hinge
from rankwise.cluster import leave_out as leave_out
from rankwise.cluster import squared as squared
