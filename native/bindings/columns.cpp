#include "kernels/columns.hpp"

#include "bindings/row_matrix.hpp"

namespace rankwise {
namespace {

template <class Index>
void bind_column_numbers(nb::module_& module) {
    module.def(
        "renumber_columns",
        [](Vector<const Index> columns, Vector<const std::int32_t> number, Vector<std::int32_t> out,
           int n_threads) {
            const nb::gil_scoped_release release;
            renumber_columns(columns.data(), static_cast<std::int64_t>(columns.shape(0)), number.data(),
                             out.data(), n_threads);
        },
        nb::arg("columns").noconvert(), nb::arg("number").noconvert(), nb::arg("out").noconvert(),
        nb::arg("n_threads"));
}

}  // namespace

void bind_columns(nb::module_& module) {
    module.def(
        "column_moments",
        [](const RowMatrix& X, Doubles weight, std::int64_t step, Table<double> moments) {
            const nb::gil_scoped_release release;
            column_moments(X.rows, weight.data(), step, reinterpret_cast<ColumnMoments*>(moments.data()));
        },
        nb::arg("X"), nb::arg("weight"), nb::arg("step"), nb::arg("moments").noconvert());
    bind_column_numbers<std::int32_t>(module);
    bind_column_numbers<std::int64_t>(module);
}

}  // namespace rankwise
