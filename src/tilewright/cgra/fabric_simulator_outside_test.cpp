// Kernels of other projects on the fabric simulator.
#include "tilewright/cgra/kernel/kernel_checks_testing.h"

namespace tilewright::cgra {
namespace {

TEST(FabricSimulator, LoopKernelsWithAHundredOverlappedIterations) {
  for (const char* fabric : {"mesh-4x4", "hycube-4x4"}) {
    for (const char* kernel : {"morpher/array_add", "morpher/bicg", "morpher/pedometer", "pillars/accum"}) {
      testing::expect_overlapped_execution(testing::outside_kernel_problem(kernel, fabric),
                                           {.shortest = false});
    }
  }
}

}  // namespace
}  // namespace tilewright::cgra
