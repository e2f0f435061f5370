"""Sums of functions of columns as ONNX graphs, with one input per column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

import numpy as np

from rankwise.errors import ParameterError
from rankwise.export.onnx_graph import ML_DOMAIN, OUTPUT, Graph
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.interactions import Interaction
from rankwise.scoring.shapes import (
    Flag,
    Line,
    LogLine,
    Lookup,
    NumberShape,
    OfAge,
    PiecewiseLinear,
    Relative,
    Shape,
    by_category,
)
from rankwise.types import Reading


def add_columns(graph: Graph, function: AdditiveFunction) -> tuple[int, ...]:
    """Add an input of shape (rows, 1) for each column; return the shape of a row's scores.

    A date is the number of seconds since 1970 in UTC. NaN, and the empty text unless it is a category, are
    missing values.
    """
    if any(term.column == OUTPUT for term in function.terms):
        raise ParameterError(
            f"'{OUTPUT}' is the name of the graph's output; rename that column (--features)."
        )
    if any(not term.column for term in function.terms):
        raise ParameterError("An input of a graph must have a name; rename the column '' (--features).")
    inputs = {term.column: _input(graph, term) for term in function.terms}
    values = [_value(graph, term.shape, inputs[term.column]) for term in function.terms]
    values += [_interaction(graph, one, inputs) for one in function.interactions]
    total = graph.add("Sum", values)
    graph.add("Squeeze", [total, graph.axis(1)], OUTPUT)
    return ()


def _input(graph: Graph, term: Term) -> str:
    # Dates in double precision, whatever that of the graph, because seconds since 1970 have many digits.
    types = {Reading.TEXT: np.object_, Reading.DATE: np.float64}
    return graph.input(term.column, 1, types.get(term.shape.reading))


def _value(graph: Graph, shape: Shape, column: str) -> str:
    assert not isinstance(shape, Relative)  # refused before
    match shape:
        case Lookup():
            return _lookup(graph, shape, column)
        case Flag(true, false, missing):
            is_false = graph.add("Equal", [column, graph.constant(0.0)])
            value = graph.add("Where", [is_false, graph.constant(false), graph.constant(true)])
            return _unless_missing(graph, column, value, missing)
        case OfAge(reference, of_age):
            at = np.datetime64(reference, "us").astype(np.int64) / 1e6
            past = graph.add("Sub", [graph.constant(at, np.float64), column])
            days = graph.add("Div", [past, graph.constant(86400.0, np.float64)])
            return _of_number(graph, of_age, graph.add("CastLike", [days, graph.constant(0.0)]))
        case _:
            return _of_number(graph, shape, column)


def _interaction(graph: Graph, interaction: Interaction, inputs: Mapping[str, str]) -> str:
    """``first @ table @ second`` of each row, with the shares of the points of the two axes."""
    shapes, sizes = interaction.positions(), np.shape(interaction.values)
    first, second = (
        _shares(graph, _value(graph, shape, inputs[column]), size)
        for shape, column, size in zip(shapes, interaction.columns, sizes, strict=True)
    )
    along_second = graph.add("MatMul", [first, graph.constant(interaction.values)])
    return graph.add("ReduceSum", [graph.add("Mul", [along_second, second]), graph.axis(1)], keepdims=1)


def _shares(graph: Graph, position: str, n_points: int) -> str:
    """How near a position is to each of the points 0, 1, ...: 1 if it is there, 0 from the next point on."""
    away = graph.add("Abs", [graph.add("Sub", [position, graph.constant(np.arange(n_points))])])
    return graph.add("Relu", [graph.add("Sub", [graph.constant(1.0), away])])


def _of_number(graph: Graph, shape: NumberShape, number: str) -> str:
    match shape:
        case PiecewiseLinear():
            value = _pieces(graph, shape, number)
        case LogLine(at, value_at, slope):
            size = graph.add("Add", [graph.add("Abs", [number]), graph.constant(1.0)])
            logs = graph.add("Mul", [graph.add("Sign", [number]), graph.add("Log", [size])])
            value = _line(graph, logs, *map(graph.constant, (at, value_at, slope)))
        case Line(at, value_at, slope):
            value = _line(graph, number, *map(graph.constant, (at, value_at, slope)))
        case _:
            assert_never(shape)
    return _unless_missing(graph, number, value, shape.missing)


def _line(graph: Graph, number: str, at: str, value: str, slope: str) -> str:
    rise = graph.add("Mul", [graph.add("Sub", [number, at]), slope])
    return graph.add("Add", [rise, value])


def _pieces(graph: Graph, shape: PiecewiseLinear, number: str) -> str:
    """The line of the piece that a number is in: the number of inner knots that it has reached."""
    reached = graph.add("GreaterOrEqual", [number, graph.constant(shape.knots[1:-1])])
    ones = graph.add("Where", [reached, graph.constant(1, np.int64), graph.constant(0, np.int64)])
    piece = graph.add("ReduceSum", [ones, graph.axis(1)], keepdims=1)
    n_pieces = len(shape.slopes)
    of_pieces = (shape.knots[:n_pieces], shape.values[:n_pieces], shape.slopes)
    return _line(graph, number, *(graph.add("Gather", [graph.constant(each), piece]) for each in of_pieces))


def _lookup(graph: Graph, shape: Lookup, text: str) -> str:
    known = {"": shape.missing} | by_category(shape.categories, shape.values)
    place = graph.add(
        "LabelEncoder",
        [text],
        domain=ML_DOMAIN,
        keys_strings=list(known),
        values_int64s=list(range(len(known))),
        default_int64=len(known),
    )
    return graph.add("Gather", [graph.constant([*known.values(), shape.other]), place])


def _unless_missing(graph: Graph, number: str, value: str, missing: float) -> str:
    return graph.add("Where", [graph.add("IsNaN", [number]), graph.constant(missing), value])
