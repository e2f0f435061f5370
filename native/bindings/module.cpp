#include "bindings/arrays.hpp"

NB_MODULE(_native, module) {
    // Objects that a traceback keeps alive at exit, as after Ctrl-C, are not leaks worth reporting to users.
    nanobind::set_leak_warnings(false);
    module.doc() = "Compiled kernels. Arguments must be valid: validation.py and its callers check them.";
    module.attr("compiler") = RANKWISE_COMPILER;
    rankwise::bind_hinge(module);
    rankwise::bind_measures(module);
    rankwise::bind_centring(module);
    rankwise::bind_columns(module);
    rankwise::bind_distances(module);
    rankwise::bind_left_out(module);
    rankwise::bind_letor(module);
    rankwise::bind_products(module);
    rankwise::bind_shifts(module);
    rankwise::bind_simplex_qp(module);
    rankwise::bind_path(module);
}
