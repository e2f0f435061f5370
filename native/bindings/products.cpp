#include "kernels/products.hpp"

#include <nanobind/stl/optional.h>

#include <utility>

#include "bindings/row_matrix.hpp"
#include "kernels/column_ranges.hpp"

namespace rankwise {
namespace {

template <class Value>
RowMatrix dense_rows(Table<const Value> values, std::optional<Indices> reference, bool mapped) {
    const DenseRows<Value> rows{values.data(), data_or_null(reference),
                                static_cast<std::int64_t>(values.shape(0)),
                                static_cast<std::int64_t>(values.shape(1)), mapped};
    return {rows, nb::make_tuple(nb::cast(values), nb::cast(reference))};
}

template <class Index, class Value>
RowMatrix sparse_rows(Indices offsets, Vector<const Index> columns, Vector<const Value> values,
                      std::int64_t n_columns, bool mapped) {
    const SparseRows<Index, Value> rows{offsets.data(), columns.data(),
                                        values.data(),  static_cast<std::int64_t>(offsets.shape(0)) - 1,
                                        n_columns,      mapped};
    return {rows, nb::make_tuple(nb::cast(offsets), nb::cast(columns), nb::cast(values))};
}

template <class Index, class Value>
void bind_sparse_rows(nb::module_& module) {
    module.def("sparse_rows", &sparse_rows<Index, Value>, nb::arg("offsets").noconvert(),
               nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("n_columns"),
               nb::arg("mapped"));
}

template <class T>
std::int64_t length(const std::optional<Vector<T>>& array) {
    return array ? static_cast<std::int64_t>(array->shape(0)) : 0;
}

}  // namespace

void bind_products(nb::module_& module) {
    nb::class_<RowMatrix>(module, "RowMatrix");
    module.def("dense_rows", &dense_rows<double>, nb::arg("values").noconvert(), nb::arg("reference").none(),
               nb::arg("mapped"));
    module.def("dense_rows", &dense_rows<float>, nb::arg("values").noconvert(), nb::arg("reference").none(),
               nb::arg("mapped"));
    module.def(
        "give_back_pages",
        [](nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu> array) {
            const auto* begin = static_cast<const char*>(array.data());
            give_back_pages(begin, begin + array.nbytes());
        },
        nb::arg("array"));
    bind_sparse_rows<std::int32_t, double>(module);
    bind_sparse_rows<std::int32_t, float>(module);
    bind_sparse_rows<std::int64_t, double>(module);
    bind_sparse_rows<std::int64_t, float>(module);

    module.def(
        "scores",
        [](const RowMatrix& X, Doubles weights, Vector<double> out, int n_threads) {
            const nb::gil_scoped_release release;
            scores(X.rows, weights.data(), out.data(), n_threads);
        },
        nb::arg("X"), nb::arg("weights"), nb::arg("out").noconvert(), nb::arg("n_threads"));
    module.def(
        "adjoint",
        [](const RowMatrix& X, Doubles u, Vector<double> out, int n_threads) {
            const nb::gil_scoped_release release;
            adjoint(X.rows, u.data(), out.data(), n_threads);
        },
        nb::arg("X"), nb::arg("u"), nb::arg("out").noconvert(), nb::arg("n_threads"));
    module.def(
        "column_ranges",
        [](const RowMatrix& X, Vector<double> offset, Vector<double> spread, int n_threads) {
            const nb::gil_scoped_release release;
            column_ranges(X.rows, offset.data(), spread.data(), n_threads);
        },
        nb::arg("X"), nb::arg("offset").noconvert(), nb::arg("spread").noconvert(), nb::arg("n_threads"));
    module.def(
        "query_normal_product",
        [](const RowMatrix& X, Indices offsets, std::optional<Indices> order,
           std::optional<Indices> level_offsets, Doubles row_weight, Doubles query_weight, Doubles weights,
           Vector<double> out, int n_threads) {
            const QueryPairs pairs{{offsets.data(), static_cast<std::int64_t>(offsets.shape(0)) - 1},
                                   data_or_null(order),
                                   data_or_null(level_offsets),
                                   length(level_offsets) - 1,
                                   row_weight.data(),
                                   query_weight.data()};
            const nb::gil_scoped_release release;
            query_normal_product(X.rows, pairs, weights.data(), out.data(), n_threads);
        },
        nb::arg("X"), nb::arg("offsets"), nb::arg("order").none(), nb::arg("level_offsets").none(),
        nb::arg("row_weight"), nb::arg("query_weight"), nb::arg("weights"), nb::arg("out").noconvert(),
        nb::arg("n_threads"));
    module.def(
        "row_normal_product",
        [](const RowMatrix& X, Doubles scale, Doubles shift, Doubles weights, Vector<double> out,
           int n_threads) {
            const nb::gil_scoped_release release;
            row_normal_product(X.rows, scale.data(), shift.data(), weights.data(), out.data(), n_threads);
        },
        nb::arg("X"), nb::arg("scale"), nb::arg("shift"), nb::arg("weights"), nb::arg("out").noconvert(),
        nb::arg("n_threads"));
}

}  // namespace rankwise
