// The bounds on kernels of other projects.
#include <gtest/gtest.h>

#include "tilewright/cgra/kernel/kernel_testing.h"
#include "tilewright/cgra/kernel/minimum_ii.h"

namespace tilewright::cgra {
namespace {

TEST(MinimumIi, EqualsWhatTheKernelFilesRecord) {
  for (const char* name :
       {"morpher/nw", "morpher/gemm_nt", "morpher/fix_fft", "cgra_mapper/fft", "tram/arf"}) {
    const KernelFile file = testing::outside_kernel(name);
    const MinimumIi bound = minimum_ii(testing::problem_of(file.graph, testing::preset("mesh-4x4")));
    EXPECT_EQ(bound.recurrence, file.recurrence_ii) << name;
    EXPECT_EQ(bound.resource, file.resource_ii_16_tiles) << name;
  }
}

}  // namespace
}  // namespace tilewright::cgra
