#include "kernels/distances.hpp"

#include "bindings/arrays.hpp"

namespace rankwise {

void bind_distances(nb::module_& module) {
    module.def(
        "negative_half_distances",
        [](Table<double> values, Doubles half_a, Doubles half_b) {
            nb::gil_scoped_release release;
            negative_half_distances(values.data(), half_a.data(), static_cast<std::int64_t>(half_a.shape(0)),
                                    half_b.data(), static_cast<std::int64_t>(half_b.shape(0)));
        },
        nb::arg("values").noconvert(), nb::arg("half_a"), nb::arg("half_b"));
}

}  // namespace rankwise
