// Array types passed between Python and the kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>

#include "kernels/pair_counts.hpp"

namespace rankwise {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Doubles = Vector<const double>;
using Indices = Vector<const std::int64_t>;

// A dense table in C order.
template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
using Tables = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Null when the caller passed None.
template <class T>
T* data_or_null(const std::optional<Vector<T>>& array) {
    return array ? array->data() : nullptr;
}

inline QueryRows query_rows(const Indices& offsets) {
    return {offsets.data(), static_cast<std::int64_t>(offsets.shape(0)) - 1};
}

// The three thirds of an array: discordant pairs, pairs with tied scores, pairs with tied scores and labels.
template <class Array>
auto three_counts(const Array& counts) -> PairCounts<typename Array::Scalar> {
    const std::size_t third = counts.size() / 3;
    return {counts.data(), counts.data() + third, counts.data() + 2 * third};
}

void bind_hinge(nb::module_& module);
void bind_measures(nb::module_& module);
void bind_centring(nb::module_& module);
void bind_columns(nb::module_& module);
void bind_distances(nb::module_& module);
void bind_left_out(nb::module_& module);
void bind_letor(nb::module_& module);
void bind_products(nb::module_& module);
void bind_shifts(nb::module_& module);
void bind_simplex_qp(nb::module_& module);
void bind_path(nb::module_& module);

}  // namespace rankwise
