#include "kernels/letor.hpp"

#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "bindings/arrays.hpp"
#include "kernels/letor_writer.hpp"

namespace rankwise {

namespace {

// A NumPy array that takes ownership of a grown array.
template <class T>
nb::object as_array(GrowingArray<T>& grown) {
    grown.shrink();
    auto* const kept = new GrowingArray<T>(std::move(grown));
    nb::capsule owner(kept, [](void* array) noexcept { delete static_cast<GrowingArray<T>*>(array); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(),
                                                           {static_cast<std::size_t>(kept->size())}, owner));
}

nb::object as_bytes(TextColumn& column) {
    if (column.empty()) return nb::none();
    const std::string text = column.release();
    return nb::bytes(text.data(), text.size());
}

template <class Value>
void bind_format_entries(nb::module_& module) {
    module.def(
        "format_entries",
        [](Indices indptr, Indices indices, Vector<const Value> values, std::int64_t first_index,
           int n_threads) {
            EntryText entries;
            {
                nb::gil_scoped_release release;
                const auto n_rows = static_cast<std::int64_t>(indptr.shape(0)) - 1;
                entries = format_entries(indptr.data(), n_rows, indices.data(), values.data(), first_index,
                                         n_threads);
            }
            return nb::make_tuple(nb::bytes(entries.text.data(), entries.text.size()),
                                  nb::cast(entries.ends));
        },
        nb::arg("indptr"), nb::arg("indices"), nb::arg("values").noconvert(), nb::arg("first_index"),
        nb::arg("n_threads"));
}

}  // namespace

void bind_letor(nb::module_& module) {
    bind_format_entries<double>(module);
    bind_format_entries<float>(module);
    nb::class_<LetorReader>(module, "LetorReader")
        .def(
            "__init__",
            [](LetorReader* self, std::int64_t min_index, std::int64_t max_index, bool single_precision) {
                // Doubles from halfway between the largest float and 2^128 onwards round to infinity.
                const double too_large = std::ldexp(1.0, 128) - std::ldexp(1.0, 103);
                const double max_value =
                    single_precision ? std::nextafter(too_large, 0.0) : std::numeric_limits<double>::max();
                new (self) LetorReader(LetorRules{min_index, max_index, max_value}, single_precision);
            },
            nb::arg("min_index"), nb::arg("max_index"), nb::arg("single_precision"))
        .def(
            "feed",
            [](LetorReader& self, Vector<const std::uint8_t> text, int n_threads) -> nb::object {
                std::optional<LineError> error;
                {
                    nb::gil_scoped_release release;
                    error = self.feed(reinterpret_cast<const char*>(text.data()),
                                      static_cast<std::int64_t>(text.shape(0)), n_threads);
                }
                if (!error) return nb::none();
                return nb::make_tuple(error->line, nb::str(error->message.data(), error->message.size()));
            },
            nb::arg("text"), nb::arg("n_threads"))
        .def("take",
             [](LetorReader& self) {
                 LetorRows rows = self.take();
                 const bool has_queries = rows.queries.size() > 0;
                 return nb::make_tuple(
                     as_array(rows.labels), has_queries ? as_array(rows.queries) : nb::none(),
                     as_array(rows.row_ends),
                     std::visit([](auto& indices) { return as_array(indices); }, rows.indices),
                     std::visit([](auto& values) { return as_array(values); }, rows.values),
                     as_bytes(rows.docs), as_bytes(rows.comments));
             })
        .def("query_labels",
             [](const LetorReader& self) {
                 nb::list labels;
                 for (const std::string& label : self.query_labels()) {
                     labels.append(nb::bytes(label.data(), label.size()));
                 }
                 return labels;
             })
        .def_prop_ro("n_lines", &LetorReader::n_lines)
        .def_prop_ro("n_rows", &LetorReader::n_rows)
        .def_prop_ro("lowest_index", &LetorReader::lowest_index)
        .def_prop_ro("highest_index", &LetorReader::highest_index);
}

}  // namespace rankwise
