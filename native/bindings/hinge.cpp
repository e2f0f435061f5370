#include "kernels/hinge.hpp"

#include <nanobind/stl/optional.h>

#include "bindings/arrays.hpp"

namespace rankwise {
namespace {

using Positions = Vector<std::int32_t>;

std::int64_t count_queries(const Indices& offsets) {
    return static_cast<std::int64_t>(offsets.shape(0)) - 1;
}

}  // namespace

void bind_hinge(nb::module_& module) {
    module.def(
        "order_scores",
        [](Indices offsets, Doubles scores, Positions row, Vector<double> score, int n_threads) {
            nb::gil_scoped_release release;
            order_scores(offsets.data(), count_queries(offsets), scores.data(), {row.data(), score.data()},
                         n_threads);
        },
        nb::arg("offsets"), nb::arg("scores"), nb::arg("row").noconvert(), nb::arg("score").noconvert(),
        nb::arg("n_threads"));
    module.def(
        "sum_active",
        [](Indices offsets, Positions lower, Positions upper, Positions row, Vector<double> score,
           std::optional<Doubles> values, Vector<double> above, Vector<double> below, int n_threads) {
            const LabelledQueries rows{offsets.data(), count_queries(offsets), lower.data(), upper.data()};
            const double* summed = data_or_null(values);
            nb::gil_scoped_release release;
            sum_active(rows, {row.data(), score.data()}, summed, above.data(), below.data(), n_threads);
        },
        nb::arg("offsets"), nb::arg("lower"), nb::arg("upper"), nb::arg("row"), nb::arg("score"),
        nb::arg("values").none(), nb::arg("above").noconvert(), nb::arg("below").noconvert(),
        nb::arg("n_threads"));
}

}  // namespace rankwise
