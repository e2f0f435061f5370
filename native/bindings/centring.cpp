#include "kernels/centring.hpp"

#include <nanobind/stl/optional.h>

#include "bindings/arrays.hpp"

namespace rankwise {
namespace {

template <class T>
void bind_centred_rows(nb::module_& module) {
    module.def(
        "centred_rows",
        [](Table<const T> values, Indices row, Indices offsets, Doubles weight, Doubles scale,
           std::optional<Doubles> mean, Table<double> out, int n_threads) {
            const GatheredRows<T> rows{values.data(), static_cast<std::int64_t>(values.shape(1)), row.data(),
                                       offsets.data(), static_cast<std::int64_t>(offsets.shape(0)) - 1};
            const double* given_mean = data_or_null(mean);
            nb::gil_scoped_release release;
            centred_rows(rows, weight.data(), scale.data(), given_mean, out.data(), n_threads);
        },
        nb::arg("values").noconvert(), nb::arg("row"), nb::arg("offsets"), nb::arg("weight"),
        nb::arg("scale"), nb::arg("mean").none(), nb::arg("out").noconvert(), nb::arg("n_threads"));
}

}  // namespace

void bind_centring(nb::module_& module) {
    bind_centred_rows<double>(module);
    bind_centred_rows<float>(module);
}

}  // namespace rankwise
