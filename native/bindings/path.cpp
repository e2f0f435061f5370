#include <algorithm>

#include "bindings/arrays.hpp"
#include "kernels/path_counts.hpp"
#include "kernels/path_walk.hpp"

namespace rankwise {
namespace {

using Rows32 = Vector<const std::int32_t>;

// A walk and the arrays it refers to.
struct BoundWalk {
    BoundWalk(Table<const double> kernel, Rows32 better, Rows32 worse, Doubles weight, int n_threads)
        : kernel(kernel),
          better(better),
          worse(worse),
          weight(weight),
          walk({kernel.data(), static_cast<std::int64_t>(kernel.shape(0))},
               {better.data(), worse.data(), weight.data(), static_cast<std::int64_t>(weight.shape(0))},
               n_threads) {}

    Table<const double> kernel;
    Rows32 better;
    Rows32 worse;
    Doubles weight;
    PathWalk walk;
};

int follow(BoundWalk& bound, double floor, double tolerance, std::int64_t max_events, std::int64_t n_events) {
    nb::gil_scoped_release release;
    return static_cast<int>(bound.walk.follow({floor, tolerance, max_events}, n_events));
}

// A path, the kernel values of other rows, and the arrays that hold both.
struct BoundScores {
    BoundScores(Rows32 pairs, Doubles changes, Indices offsets, Rows32 better, Rows32 worse, Doubles weight,
                Table<const double> kernel)
        : pairs(pairs),
          changes(changes),
          offsets(offsets),
          better(better),
          worse(worse),
          weight(weight),
          kernel(kernel),
          path{{pairs.data(), changes.data(), offsets.data()},
               {better.data(), worse.data(), weight.data(), static_cast<std::int64_t>(weight.shape(0))},
               {kernel.data(), static_cast<std::int64_t>(kernel.shape(0)),
                static_cast<std::int64_t>(kernel.shape(1))}} {}

    Rows32 pairs;
    Doubles changes;
    Indices offsets;
    Rows32 better;
    Rows32 worse;
    Doubles weight;
    Table<const double> kernel;
    ScoredPath path;
};

template <class T>
void copy_front(const std::vector<T>& from, Vector<T>& to) {
    std::copy_n(from.begin(), to.shape(0), to.data());
}

}  // namespace

void bind_path(nb::module_& module) {
    nb::class_<BoundWalk>(module, "PathWalk")
        .def(nb::init<Table<const double>, Rows32, Rows32, Doubles, int>(), nb::arg("kernel"),
             nb::arg("better"), nb::arg("worse"), nb::arg("weight"), nb::arg("n_threads"))
        .def("follow", &follow, nb::arg("floor"), nb::arg("tolerance"), nb::arg("max_events"),
             nb::arg("n_events"))
        .def_prop_ro("level", [](const BoundWalk& bound) { return bound.walk.level(); })
        .def_prop_ro("violation", [](const BoundWalk& bound) { return bound.walk.violation(); })
        .def_prop_ro("remaining", [](const BoundWalk& bound) { return bound.walk.remaining(); })
        .def_prop_ro("active_size", [](const BoundWalk& bound) { return bound.walk.active_size(); })
        .def_prop_ro("n_breakpoints", [](const BoundWalk& bound) { return bound.walk.log().levels.size(); })
        .def("breakpoints",
             [](const BoundWalk& bound, Vector<double> levels, Vector<double> violations,
                Vector<std::int64_t> offsets) {
                 copy_front(bound.walk.log().levels, levels);
                 copy_front(bound.walk.log().violations, violations);
                 copy_front(bound.walk.log().offsets, offsets);
             })
        .def("changes", [](const BoundWalk& bound, Vector<std::int64_t> active_sizes,
                           Vector<std::int32_t> pairs, Vector<double> changes) {
            copy_front(bound.walk.log().active_sizes, active_sizes);
            copy_front(bound.walk.log().pairs, pairs);
            copy_front(bound.walk.log().changes, changes);
        });
    nb::class_<BoundScores>(module, "PathScores")
        .def(nb::init<Rows32, Doubles, Indices, Rows32, Rows32, Doubles, Table<const double>>(),
             nb::arg("pairs"), nb::arg("changes"), nb::arg("offsets"), nb::arg("better"), nb::arg("worse"),
             nb::arg("weight"), nb::arg("kernel"))
        .def(
            "follow",
            [](const BoundScores& bound, std::int64_t first, Table<double> scores, int n_threads) {
                const auto n_steps = static_cast<std::int64_t>(scores.shape(0)) - 1;
                nb::gil_scoped_release release;
                scores_along_path(bound.path, first, n_steps, scores.data(), n_threads);
            },
            nb::arg("first"), nb::arg("scores").noconvert(), nb::arg("n_threads"))
        .def(
            "count_pairs",
            [](const BoundScores& bound, std::int64_t first, Indices queries, Indices level, Indices column,
               Doubles rounding, Indices twin, Tables<std::int64_t> counts, Vector<bool> doubtful,
               int n_threads) {
                const LabelledRows rows{query_rows(queries), level.data(), column.data()};
                const Doubts doubts{rounding.data(), twin.data(), doubtful.data()};
                const auto n = static_cast<std::int64_t>(counts.shape(1));
                nb::gil_scoped_release release;
                count_pairs_along_path(bound.path, first, n, rows, doubts, three_counts(counts), n_threads);
            },
            nb::arg("first"), nb::arg("queries"), nb::arg("level"), nb::arg("column"), nb::arg("rounding"),
            nb::arg("twin"), nb::arg("counts").noconvert(), nb::arg("doubtful").noconvert(),
            nb::arg("n_threads"));
}

}  // namespace rankwise
