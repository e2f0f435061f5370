#include "kernels/laplacian.hpp"

#include <nanobind/stl/optional.h>

#include "bindings/arrays.hpp"

namespace rankwise {

void bind_laplacian(nb::module_& module) {
    module.def(
        "complete_laplacian",
        [](Indices offsets, std::optional<Doubles> row_weight, Doubles query_weight, Doubles v,
           Vector<double> out, int n_threads) {
            const QueryRows rows{offsets.data(), static_cast<std::int64_t>(offsets.shape(0)) - 1};
            const double* weights = data_or_null(row_weight);
            nb::gil_scoped_release release;
            complete_laplacian(rows, weights, query_weight.data(), v.data(), out.data(), n_threads);
        },
        nb::arg("offsets"), nb::arg("row_weight").none(), nb::arg("query_weight"), nb::arg("v"),
        nb::arg("out").noconvert(), nb::arg("n_threads"));
}

}  // namespace rankwise
