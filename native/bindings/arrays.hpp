// Array types passed between Python and the kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/pair_counts.hpp"

namespace rankwise {

namespace nb = nanobind;

// A dense array in C order whose elements are aligned. Python's need not be: those in a message, in a file or
// in packed records start at any byte. Of such an array a kernel reads a copy; it cannot write to it.
template <class T, int n_dimensions>
struct Array : nb::ndarray<T, nb::ndim<n_dimensions>, nb::c_contig, nb::device::cpu> {
    using Unchecked = nb::ndarray<T, nb::ndim<n_dimensions>, nb::c_contig, nb::device::cpu>;

    Array() = default;
    explicit Array(const Unchecked& array) : Unchecked(array) {}

    static bool is_aligned(const Unchecked& array) {
        return reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) == 0;
    }
};

template <class T>
using Vector = Array<T, 1>;

using Doubles = Vector<const double>;
using Indices = Vector<const std::int64_t>;

template <class T>
using Table = Array<T, 2>;

template <class T>
using Tables = Array<T, 3>;

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

namespace nanobind::detail {

template <class T, int n_dimensions>
struct type_caster<rankwise::Array<T, n_dimensions>> {
    using Aligned = rankwise::Array<T, n_dimensions>;
    using Unchecked = typename Aligned::Unchecked;

    NB_TYPE_CASTER(Aligned, make_caster<Unchecked>::Name)

    template <class Flags>
    bool from_python(handle source, Flags flags, cleanup_list* cleanup) noexcept {
        make_caster<Unchecked> caster;
        if (!caster.from_python(source, flags, cleanup)) return false;
        if (!Aligned::is_aligned(caster.value)) {
            if (!std::is_const_v<T>) return false;
            const object copy = steal(PyObject_CallMethod(source.ptr(), "copy", nullptr));
            if (!copy.is_valid()) PyErr_Clear();
            if (!copy.is_valid() || !caster.from_python(copy, flags, cleanup)) return false;
        }
        value = Aligned(caster.value);
        return true;
    }

    static handle from_cpp(const Aligned& array, rv_policy policy, cleanup_list* cleanup) noexcept {
        return make_caster<Unchecked>::from_cpp(array, policy, cleanup);
    }
};

}  // namespace nanobind::detail
