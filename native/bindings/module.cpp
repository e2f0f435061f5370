#include "bindings/arrays.hpp"

NB_MODULE(_native, module) {
    module.doc() =
        "Compiled kernels. Arguments are valid by contract: validation.py and its callers checked them.";
    module.attr("compiler") = RANKWISE_COMPILER;
    rankwise::bind_hinge(module);
    rankwise::bind_measures(module);
    rankwise::bind_centring(module);
    rankwise::bind_letor(module);
    rankwise::bind_products(module);
    rankwise::bind_shifts(module);
    rankwise::bind_simplex_qp(module);
    rankwise::bind_path(module);
}
