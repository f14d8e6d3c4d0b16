// The kernels for any CPU.
#include <cstring>
#include <limits>

#include "tilewright/spatial/cost/fast_evaluator_plan.h"
// The kernel needs the headers above.
#include "tilewright/spatial/cost/fast_evaluator_blocks.h"
#include "tilewright/spatial/cost/fast_evaluator_kernel.h"

namespace tilewright {

FastFunctions portable_functions(int levels, int spatial_level) {
  return fast_functions<false>(levels, spatial_level);
}

}  // namespace tilewright
