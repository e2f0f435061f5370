// A feature matrix that Python passes to the kernels.
#pragma once

#include "bindings/arrays.hpp"
#include "kernels/rows.hpp"

namespace rankwise {

// Keeps the arrays alive as long as their rows may be read.
struct RowMatrix {
    Rows rows;
    nb::object arrays;
};

}  // namespace rankwise
