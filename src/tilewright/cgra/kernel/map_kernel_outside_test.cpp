// Kernels of other projects mapped at their least II.
#include "tilewright/cgra/kernel/kernel_checks_testing.h"

namespace tilewright::cgra {
namespace {

TEST(MapKernel, PublishedKernelsReachTheBoundWithTheShortestSchedule) {
  for (const char* name : {"morpher/array_add", "morpher/gemm_nt", "morpher/nw", "pillars/sum"}) {
    for (const char* fabric : {"mesh-4x4", "hycube-4x4"}) {
      testing::expect_bound_and_shortest_schedule(testing::outside_kernel_problem(name, fabric));
    }
  }
}

TEST(MapKernel, PublishedKernelsExecuteOverlappedIterations) {
  for (const char* name : {"morpher/2mm", "morpher/nw", "cgra_mapper/conv", "pillars/accum"}) {
    for (const char* fabric : {"mesh-4x4", "hycube-4x4", "torus-4x4"}) {
      testing::expect_overlapped_execution(testing::outside_kernel_problem(name, fabric));
    }
  }
}

TEST(MapKernel, PublishedKernelsNeedNoLargerIiOnLargerArrays) {
  for (const char* name : {"tram/fft", "cgra_mapper/conv"}) {
    int before = 1000;
    for (const char* fabric : {"mesh-4x4", "mesh-5x5", "mesh-6x6"}) {
      const MappingProblem problem = testing::outside_kernel_problem(name, fabric);
      KernelOptions options;
      options.shortest = false;
      const KernelResult result = map_kernel(problem, options);
      ASSERT_TRUE(result.mapping) << name << fabric;
      EXPECT_EQ(testing::violations(problem, *result.mapping), 0u);
      EXPECT_LE(result.mapping->ii, before) << name << fabric;
      before = result.mapping->ii;
    }
  }
}

}  // namespace
}  // namespace tilewright::cgra
