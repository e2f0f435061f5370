#include <nanobind/stl/optional.h>

#include "bindings/arrays.hpp"
#include "kernels/average_precision.hpp"
#include "kernels/cascade.hpp"
#include "kernels/nearby_counts.hpp"
#include "kernels/pair_counts.hpp"
#include "kernels/ranking.hpp"

namespace rankwise {
void bind_measures(nb::module_& module) {
    module.def(
        "rank_rows",
        [](Indices offsets, Doubles scores, Vector<std::int64_t> row, Vector<std::int64_t> first,
           Vector<std::int64_t> end, int n_threads) {
            const QueryRows rows = query_rows(offsets);
            nb::gil_scoped_release release;
            rank_rows(rows, scores.data(), {row.data(), first.data(), end.data()}, n_threads);
        },
        nb::arg("offsets"), nb::arg("scores"), nb::arg("row").noconvert(), nb::arg("first").noconvert(),
        nb::arg("end").noconvert(), nb::arg("n_threads"));
    module.def(
        "order_by_label",
        [](Indices offsets, Doubles labels, Vector<std::int64_t> row, Vector<std::int64_t> level,
           Vector<double> n_pairs, int n_threads) {
            const QueryRows rows = query_rows(offsets);
            nb::gil_scoped_release release;
            order_by_label(rows, labels.data(), {row.data(), level.data(), n_pairs.data()}, n_threads);
        },
        nb::arg("offsets"), nb::arg("labels"), nb::arg("row").noconvert(), nb::arg("level").noconvert(),
        nb::arg("n_pairs").noconvert(), nb::arg("n_threads"));
    module.def(
        "average_precision",
        [](Indices offsets, Indices first, Indices end, Doubles relevant, std::int64_t cutoff,
           std::optional<Doubles> harmonic, Vector<double> values, int n_threads) {
            const QueryRows rows = query_rows(offsets);
            const double* sums = data_or_null(harmonic);
            nb::gil_scoped_release release;
            average_precision(rows, first.data(), end.data(), relevant.data(), cutoff, sums, values.data(),
                              n_threads);
        },
        nb::arg("offsets"), nb::arg("first"), nb::arg("end"), nb::arg("relevant"), nb::arg("cutoff"),
        nb::arg("harmonic").none(), nb::arg("values").noconvert(), nb::arg("n_threads"));
    module.def(
        "cascade",
        [](Indices offsets, Indices first, Indices end, Doubles stop, std::int64_t cutoff,
           Vector<double> values, int n_threads) {
            const QueryRows rows = query_rows(offsets);
            nb::gil_scoped_release release;
            cascade(rows, first.data(), end.data(), stop.data(), cutoff, values.data(), n_threads);
        },
        nb::arg("offsets"), nb::arg("first"), nb::arg("end"), nb::arg("stop"), nb::arg("cutoff"),
        nb::arg("values").noconvert(), nb::arg("n_threads"));
    module.def(
        "count_pairs",
        [](Indices offsets, Indices level, Doubles scores, Table<std::int64_t> counts, int n_threads) {
            const QueryRows rows = query_rows(offsets);
            nb::gil_scoped_release release;
            count_pairs(rows, level.data(), scores.data(), three_counts(counts), n_threads);
        },
        nb::arg("offsets"), nb::arg("level"), nb::arg("scores"), nb::arg("counts").noconvert(),
        nb::arg("n_threads"));
    module.def(
        "count_weighted_pairs",
        [](Indices offsets, Indices level, Doubles scores, Doubles row_weight, Table<double> counts,
           int n_threads) {
            const QueryRows rows = query_rows(offsets);
            nb::gil_scoped_release release;
            count_weighted_pairs(rows, level.data(), scores.data(), row_weight.data(), three_counts(counts),
                                 n_threads);
        },
        nb::arg("offsets"), nb::arg("level"), nb::arg("scores"), nb::arg("row_weight"),
        nb::arg("counts").noconvert(), nb::arg("n_threads"));
    module.def(
        "count_nearby_pairs",
        [](Indices offsets, Indices level, Indices column, Table<const double> scores,
           Tables<std::int64_t> counts, int n_threads) {
            const LabelledRows rows{query_rows(offsets), level.data(), column.data()};
            nb::gil_scoped_release release;
            count_nearby_pairs(rows, scores.data(), static_cast<std::int64_t>(scores.shape(0)),
                               three_counts(counts), n_threads);
        },
        nb::arg("offsets"), nb::arg("level"), nb::arg("column"), nb::arg("scores"),
        nb::arg("counts").noconvert(), nb::arg("n_threads"));
}

}  // namespace rankwise
