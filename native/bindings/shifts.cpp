#include "kernels/shifts.hpp"

#include "bindings/arrays.hpp"

namespace rankwise {

void bind_shifts(nb::module_& module) {
    module.def(
        "shifted_update",
        [](Indices active, Doubles step, Doubles zeta, Doubles beta, Doubles residual,
           Table<double> solutions, Table<double> directions, int n_threads) {
            const ShiftedStep by{step.data(), zeta.data(), beta.data()};
            const nb::gil_scoped_release release;
            shifted_update(active.data(), static_cast<std::int64_t>(active.shape(0)),
                           static_cast<std::int64_t>(residual.shape(0)), by, residual.data(),
                           solutions.data(), directions.data(), n_threads);
        },
        nb::arg("active"), nb::arg("step"), nb::arg("zeta"), nb::arg("beta"), nb::arg("residual"),
        nb::arg("solutions").noconvert(), nb::arg("directions").noconvert(), nb::arg("n_threads"));
}

}  // namespace rankwise
