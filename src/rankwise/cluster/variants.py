"""What rankers call, and what it is for rows in parts: the whole interface between a cluster and the core.

A ranker reads a `Problem`, or pairs of the rows of a matrix, and calls the functions on the left; `cluster/`
offers those on the right for a `PartedProblem`, `PartedPairs` and `PartedRows`. Whatever they return has the
methods of its counterpart, so nothing after them knows where the rows are.
"""

from __future__ import annotations

from rankwise.cluster.leave_out import no_split_of_rows, parted_criterion
from rankwise.cluster.parted_hinge import parted_pair_hinge, parted_query_hinge
from rankwise.cluster.parted_pairs import PartedPairs, no_criterion_on_pairs, no_split_of_pairs
from rankwise.cluster.parted_squared import parted_losses, parted_moments, parted_pair_loss, parted_space
from rankwise.cluster.problem import PartedProblem, PartedRows
from rankwise.ridge.moments.forming import moments_of
from rankwise.ridge.spaces import linear_space
from rankwise.ridge.squared import loss_on_pairs, losses_on_scores
from rankwise.selection.criteria import criterion_on_pairs, criterion_on_rows
from rankwise.selection.eval_sets import split_pairs, split_rows
from rankwise.svm.hinge import query_hinge
from rankwise.svm.pair_hinge import pair_hinge

# Losses and spaces of parts fit each other but not those of rows here, hence the types.
losses_on_scores.register(PartedProblem, parted_losses)  # type: ignore[arg-type]
loss_on_pairs.register(PartedPairs, parted_pair_loss)  # type: ignore[arg-type]
linear_space.register(PartedRows, parted_space)  # type: ignore[arg-type]
moments_of.register(PartedProblem, parted_moments)

query_hinge.register(PartedProblem, parted_query_hinge)
pair_hinge.register(PartedPairs, parted_pair_hinge)

criterion_on_rows.register(PartedProblem, parted_criterion)
criterion_on_pairs.register(PartedRows, no_criterion_on_pairs)
split_rows.register(PartedProblem, no_split_of_rows)
split_pairs.register(PartedRows, no_split_of_pairs)
