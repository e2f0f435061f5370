#include "kernels/distances.hpp"

#include "bindings/arrays.hpp"

namespace rankwise {

void bind_distances(nb::module_& module) {
    module.def(
        "move_rows",
        [](Table<const double> rows, Doubles centre, double scale, Table<double> moved,
           Vector<double> half_squares) {
            nb::gil_scoped_release release;
            move_rows(rows.data(), static_cast<std::int64_t>(rows.shape(0)),
                      static_cast<std::int64_t>(rows.shape(1)), centre.data(), scale, moved.data(),
                      half_squares.data());
        },
        nb::arg("rows"), nb::arg("centre"), nb::arg("scale"), nb::arg("moved").noconvert(),
        nb::arg("half_squares").noconvert());
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
