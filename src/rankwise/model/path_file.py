"""Storage of a regularization path in a model file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.model.fields import check_within
from rankwise.path.graphs import PreferenceGraph
from rankwise.path.path_solutions import PathSolutions
from rankwise.tensor_file import Content, RefusedError
from rankwise.types import Floats


@dataclass(frozen=True)
class PathField:
    """The solutions along a path, stored as tensors and a number; a file may omit them."""

    name: str
    optional: bool = True

    def pack(self, attribute: PathSolutions, content: Content) -> None:
        graph = attribute.graph
        better, worse = graph.ends
        content.tensors |= {
            "path.better": better,
            "path.worse": worse,
            "path.weight": graph.weight,
            "path.levels": attribute.levels,
            "path.offsets": attribute.offsets,
            "path.pairs": attribute.pairs,
            "path.changes": attribute.changes,
        }
        content.values["path.least"] = attribute.least

    def is_in(self, content: Content) -> bool:
        return "path.levels" in content.tensors

    def unpack(self, content: Content) -> PathSolutions:
        """Reject anything that could lead the kernels out of bounds, since they check nothing themselves."""
        graph = PreferenceGraph(
            better=content.take_tensor("path.better", "i", "path-pairs").astype(np.int64),
            worse=content.take_tensor("path.worse", "i", "path-pairs").astype(np.int64),
            weight=_positive("path.weight", content.take_tensor("path.weight", "f", "path-pairs")),
            n_rows=content.sizes["basis"],
        )
        check_within("path.better", graph.better, graph.n_rows)
        check_within("path.worse", graph.worse, graph.n_rows)
        levels = _positive("path.levels", content.take_tensor("path.levels", "f", "breakpoints"))
        offsets = content.take_tensor("path.offsets", "i", "breakpoints").astype(np.int64)
        pairs = content.take_tensor("path.pairs", "i", "path-changes")
        changes = content.take_tensor("path.changes", "f", "path-changes").astype(np.float64)
        check_within("path.pairs", pairs, graph.n_pairs)
        if len(levels) == 0 or (np.diff(levels) > 0).any():
            raise RefusedError("the tensor 'path.levels' must be non-empty and never increase")
        if offsets[0] != 0 or offsets[-1] != len(changes) or (np.diff(offsets) < 0).any():
            raise RefusedError(
                "the tensor 'path.offsets' must start at 0, never decrease and end at the number of changes"
            )
        least = content.values.pop("path.least", None)
        if not isinstance(least, float) or not 0.0 <= least <= levels[-1]:
            raise RefusedError("the value 'path.least' must be a level, at most the last of 'path.levels'")
        return PathSolutions(graph, levels, least, offsets, pairs.astype(np.int32), changes)


def _positive(name: str, values: Floats) -> Floats:
    if not (values > 0.0).all():
        raise RefusedError(f"the tensor '{name}' must hold positive numbers")
    return values.astype(np.float64)
