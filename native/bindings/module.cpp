#include "bindings/arrays.hpp"

NB_MODULE(_native, module) {
    // What a traceback still holds at exit, as after Ctrl-C, is no leak that a user should read about.
    nanobind::set_leak_warnings(false);
    module.doc() =
        "Compiled kernels. Arguments are valid by contract: validation.py and its callers checked them.";
    module.attr("compiler") = RANKWISE_COMPILER;
    rankwise::bind_hinge(module);
    rankwise::bind_measures(module);
    rankwise::bind_centring(module);
    rankwise::bind_distances(module);
    rankwise::bind_letor(module);
    rankwise::bind_products(module);
    rankwise::bind_shifts(module);
    rankwise::bind_simplex_qp(module);
    rankwise::bind_path(module);
}
