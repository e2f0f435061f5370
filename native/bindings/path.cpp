#include <nanobind/stl/pair.h>

#include "bindings/arrays.hpp"
#include "kernels/path_events.hpp"
#include "kernels/path_factor.hpp"

namespace rankwise {
namespace {

using Square = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstSquare = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows32 = Vector<const std::int32_t>;
using Sides = Vector<const std::int8_t>;

UpperFactor factor_of(Square& storage, std::int64_t size) {
    return {storage.data(), static_cast<std::int64_t>(storage.shape(1)), size};
}

Pairs pairs_of(const Rows32& better, const Rows32& worse, const Sides& side, const Indices& watched) {
    return {better.data(), worse.data(), side.data(), watched.data(),
            static_cast<std::int64_t>(watched.shape(0))};
}

void bind_factor(nb::module_& module) {
    module.def(
        "factor_solve_transposed",
        [](Square storage, std::int64_t size, Vector<double> x) {
            nb::gil_scoped_release release;
            solve_transposed(factor_of(storage, size), x.data());
        },
        nb::arg("storage").noconvert(), nb::arg("size"), nb::arg("x").noconvert());
    module.def(
        "factor_solve_upper",
        [](Square storage, std::int64_t size, Vector<double> x) {
            nb::gil_scoped_release release;
            solve_upper(factor_of(storage, size), x.data());
        },
        nb::arg("storage").noconvert(), nb::arg("size"), nb::arg("x").noconvert());
    module.def(
        "factor_remove_column",
        [](Square storage, std::int64_t size, std::int64_t index) {
            nb::gil_scoped_release release;
            remove_column(factor_of(storage, size), index);
        },
        nb::arg("storage").noconvert(), nb::arg("size"), nb::arg("index"));
}

}  // namespace

void bind_path(nb::module_& module) {
    bind_factor(module);
    module.def(
        "near_margin",
        [](Rows32 better, Rows32 worse, Sides side, Indices watched, Doubles g, double level,
           double tolerance, Vector<std::int64_t> near) {
            nb::gil_scoped_release release;
            double violation = 0.0;
            const std::int64_t found = near_margin(pairs_of(better, worse, side, watched), g.data(), level,
                                                   tolerance, near.data(), &violation);
            return std::pair(found, violation);
        },
        nb::arg("better"), nb::arg("worse"), nb::arg("side"), nb::arg("watched"), nb::arg("g"),
        nb::arg("level"), nb::arg("tolerance"), nb::arg("near").noconvert());
    module.def(
        "longest_step",
        [](Rows32 better, Rows32 worse, Sides side, Indices watched, Doubles g, Doubles direction,
           double level, double tolerance, double longest, int n_threads) {
            nb::gil_scoped_release release;
            return longest_step(pairs_of(better, worse, side, watched), g.data(), direction.data(), level,
                                tolerance, longest, n_threads);
        },
        nb::arg("better"), nb::arg("worse"), nb::arg("side"), nb::arg("watched"), nb::arg("g"),
        nb::arg("direction"), nb::arg("level"), nb::arg("tolerance"), nb::arg("longest"),
        nb::arg("n_threads"));
    module.def(
        "combine_rows",
        [](ConstSquare matrix, Indices rows, Doubles weight, Vector<double> out, int n_threads) {
            nb::gil_scoped_release release;
            combine_rows(matrix.data(), static_cast<std::int64_t>(matrix.shape(1)), rows.data(),
                         weight.data(), static_cast<std::int64_t>(rows.shape(0)), out.data(), n_threads);
        },
        nb::arg("matrix"), nb::arg("rows"), nb::arg("weight"), nb::arg("out").noconvert(),
        nb::arg("n_threads"));
}

}  // namespace rankwise
