#include "kernels/simplex_qp.hpp"

#include "bindings/arrays.hpp"

namespace rankwise {

void bind_simplex_qp(nb::module_& module) {
    module.def(
        "minimize_on_simplex",
        [](Table<const double> H, Doubles b, Vector<double> x) {
            const QuadraticProgram program{H.data(), b.data(), static_cast<std::int64_t>(b.shape(0))};
            const nb::gil_scoped_release release;
            minimize_on_simplex(program, x.data());
        },
        nb::arg("H"), nb::arg("b"), nb::arg("x").noconvert());
}

}  // namespace rankwise
