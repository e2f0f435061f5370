#include <nanobind/stl/optional.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "kernels/left_out_blocks.hpp"
#include "kernels/left_out_pairs.hpp"
#include "kernels/left_out_systems.hpp"
#include "kernels/shifted_tridiagonal.hpp"

namespace rankwise {
namespace {

// A function that a Cython module exports: a capsule named after its signature, of which `signature` is a
// shorthand with "c" for char *, "i" for int * and "d" for double *.
template <class Function>
void load(const nb::dict& exported, const char* module, const char* name, const std::string& signature,
          Function& function) {
    std::string expected;
    for (const char argument : signature) {
        expected += expected.empty() ? "void (" : ", ";
        expected += argument == 'c' ? "char *" : argument == 'i' ? "int *" : std::string(module) + "_d *";
    }
    expected += ")";
    if (exported.contains(name)) {
        const nb::object capsule = exported[name];
        if (void* found = PyCapsule_GetPointer(capsule.ptr(), expected.c_str())) {
            function = reinterpret_cast<Function>(found);
            return;
        }
        PyErr_Clear();
    }
    throw std::runtime_error(std::string("SciPy's ") + name + " does not have the signature " + expected +
                             "; rankwise needs a SciPy whose LAPACK takes 32-bit integers.");
}

Lapack lapack_of(const nb::dict& lapack, const nb::dict& blas) {
    constexpr const char* in_lapack = "__pyx_t_5scipy_6linalg_13cython_lapack";
    constexpr const char* in_blas = "__pyx_t_5scipy_6linalg_11cython_blas";
    Lapack found{};
    load(lapack, in_lapack, "dpotrf", "cidii", found.potrf);
    load(lapack, in_lapack, "dpotrs", "ciididii", found.potrs);
    load(blas, in_blas, "dsyrk", "cciiddiddi", found.syrk);
    load(blas, in_blas, "dgemm", "cciiiddididdi", found.gemm);
    load(blas, in_blas, "dgemv", "ciiddididdi", found.gemv);
    return found;
}

Tridiagonal tridiagonal(const Doubles& diagonal, const Doubles& off_diagonal) {
    return {diagonal.data(), off_diagonal.data(), static_cast<std::int64_t>(diagonal.shape(0))};
}

// Tables of rows with the offsets of the folds.
class BoundRows {
  public:
    BoundRows(Table<const double> values, Indices offsets) : values_(values), offsets_(offsets) {}

    FoldRows plain() const { return {values_.data(), offsets_.data()}; }
    std::int64_t n_folds() const { return static_cast<std::int64_t>(offsets_.shape(0)) - 1; }

  private:
    Table<const double> values_;
    Indices offsets_;
};

Alphas alphas_of(const Doubles& alphas) {
    return {alphas.data(), static_cast<std::int64_t>(alphas.shape(0))};
}

void bind_shifted(nb::module_& module) {
    module.def(
        "solve_shifted",
        [](Doubles diagonal, Doubles off_diagonal, Doubles shifts, Table<double> values) {
            const Tridiagonal T = tridiagonal(diagonal, off_diagonal);
            const auto n_lanes = static_cast<std::int64_t>(shifts.shape(0));
            const nb::gil_scoped_release release;
            std::vector<double> inverse(values.size()), off(values.size());
            factorize_shifted(T, shifts.data(), n_lanes, inverse.data(), off.data());
            solve_forward(inverse.data(), off.data(), T.n, n_lanes, values.data());
            solve_backward(inverse.data(), off.data(), T.n, n_lanes, values.data());
        },
        nb::arg("diagonal"), nb::arg("off_diagonal"), nb::arg("shifts"), nb::arg("values").noconvert());
    module.def(
        "solve_half",
        [](Doubles diagonal, Doubles off_diagonal, double shift, Table<const double> columns,
           Table<double> out) {
            const Tridiagonal T = tridiagonal(diagonal, off_diagonal);
            const auto n_lanes = static_cast<std::int64_t>(columns.shape(1));
            const nb::gil_scoped_release release;
            std::vector<double> inverse(diagonal.size()), off(diagonal.size());
            factorize_shifted(T, &shift, 1, inverse.data(), off.data());
            solve_half(inverse.data(), off.data(), columns.data(), T.n, n_lanes, out.data());
        },
        nb::arg("diagonal"), nb::arg("off_diagonal"), nb::arg("shift"), nb::arg("columns"),
        nb::arg("out").noconvert());
}

}  // namespace

void bind_left_out(nb::module_& module) {
    nb::class_<Lapack>(module, "Lapack").def("__init__", [](Lapack* self, nb::dict lapack, nb::dict blas) {
        new (self) Lapack(lapack_of(lapack, blas));
    });
    bind_shifted(module);
    nb::class_<BoundRows>(module, "FoldRows")
        .def(nb::init<Table<const double>, Indices>(), nb::arg("values"), nb::arg("offsets"));
    module.def(
        "left_out_systems",
        [](const Lapack& lapack, Table<const double> matrix, Doubles right, const BoundRows& differences,
           Doubles target, const BoundRows& scored, Doubles alphas, double least_eigenvalue,
           double least_share, Table<double> scores, Vector<bool> resolved, int n_threads) {
            const RidgeEquations all{matrix.data(), right.data(), static_cast<std::int64_t>(right.shape(0))};
            const LeftOutRows folds{differences.plain(), target.data(), scored.plain(), scored.n_folds()};
            const nb::gil_scoped_release release;
            left_out_systems(lapack, all, folds, alphas_of(alphas), {least_eigenvalue, least_share},
                             scores.data(), resolved.data(), n_threads);
        },
        nb::arg("lapack"), nb::arg("matrix"), nb::arg("right"), nb::arg("differences"), nb::arg("target"),
        nb::arg("scored"), nb::arg("alphas"), nb::arg("least_eigenvalue"), nb::arg("least_share"),
        nb::arg("scores").noconvert(), nb::arg("resolved").noconvert(), nb::arg("n_threads"));
    module.def(
        "left_out_blocks",
        [](const Lapack& lapack, Doubles diagonal, Doubles off_diagonal, Doubles right,
           const BoundRows& differences, std::optional<Doubles> target, const BoundRows& scored,
           Doubles alphas, double tolerance, Table<double> scores, Vector<bool> resolved, int n_threads) {
            const LeftOutRows folds{differences.plain(), data_or_null(target), scored.plain(),
                                    scored.n_folds()};
            const nb::gil_scoped_release release;
            left_out_blocks(lapack, tridiagonal(diagonal, off_diagonal), right.data(), folds,
                            alphas_of(alphas), tolerance, scores.data(), resolved.data(), n_threads);
        },
        nb::arg("lapack"), nb::arg("diagonal"), nb::arg("off_diagonal"), nb::arg("right"),
        nb::arg("differences"), nb::arg("target").none(), nb::arg("scored"), nb::arg("alphas"),
        nb::arg("tolerance"), nb::arg("scores").noconvert(), nb::arg("resolved").noconvert(),
        nb::arg("n_threads"));
    module.def(
        "misordered_pairs",
        [](const Lapack& lapack, Table<const double> rows, double offset, double sign, Doubles weight,
           Doubles root, Doubles inverse, Doubles free, Doubles residual, Doubles label, Indices below,
           double level, double size, Vector<double> wrong, int n_threads) {
            const PairRidge ridge{rows.data(),
                                  weight.data(),
                                  root.data(),
                                  inverse.data(),
                                  free.data(),
                                  residual.data(),
                                  label.data(),
                                  below.data(),
                                  static_cast<std::int64_t>(rows.shape(1)),
                                  static_cast<std::int64_t>(rows.shape(0)),
                                  offset,
                                  sign,
                                  level,
                                  size};
            const nb::gil_scoped_release release;
            misordered_pairs(lapack, ridge, wrong.data(), n_threads);
        },
        nb::arg("lapack"), nb::arg("rows"), nb::arg("offset"), nb::arg("sign"), nb::arg("weight"),
        nb::arg("root"), nb::arg("inverse"), nb::arg("free"), nb::arg("residual"), nb::arg("label"),
        nb::arg("below"), nb::arg("level"), nb::arg("size"), nb::arg("wrong").noconvert(),
        nb::arg("n_threads"));
}

}  // namespace rankwise
