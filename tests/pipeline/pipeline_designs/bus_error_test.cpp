// A memory that answers once with an error: the run says so, and the runs behind it are judged by themselves.
#include <gtest/gtest.h>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "support/pipeline/rtl_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/random.h"
#include "tilewright/pipeline/simulate/driver.h"
#include "tilewright/pipeline/simulate/fifo_sizing.h"

namespace tilewright::pipeline {
namespace {

TEST(BusErrorsClass, TheRunBehindAnErrorIsGoodAgain) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const Network network = random_network(1);
  Allocation stages = random_stages(network, 1);
  size_fifos(network, stages);
  const int64_t cases = test_cases(40);
  int64_t reported = 0;
  for (const Allocation& allocation : {stages, random_processors(network, 1)}) {
    const Design design = build(network, allocation);
    RtlPortOptions options;
    options.model = rtl_options();
    options.limit_cycles = 2'000'000;
    RtlDesignPort port(design, options);
    Random random(test_seed());
    for (int64_t i = 0; i < cases / 2; ++i) {
      SCOPED_TRACE("seed " + std::to_string(test_seed()) + " case " + std::to_string(i));
      std::vector<int32_t> image(size_t(network.tensors[size_t(network.input)].shape.elements()));
      for (int32_t& value : image) value = int32_t(random.between(-128, 127));
      const bool write = random.chance(0.5);
      const uint64_t last = uint64_t(write ? 0 : design.input.bytes / design.port_bytes - 1);
      port.fail_next_run({write, uint64_t(random.between(0, int64_t(last)))});
      try {
        run_design(design, port, {image, image});
        ADD_FAILURE() << "an error of the memory that nobody reports";
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "a memory port answered the design with an error");
        ++reported;
      }
      const DesignRun run = run_design(design, port, {image});
      EXPECT_EQ(run.outputs[0], evaluate(network, image)[size_t(network.output)]);
    }
  }
  RecordProperty("cases", int(reported));
  EXPECT_EQ(reported, cases / 2 * 2);
}

}  // namespace
}  // namespace tilewright::pipeline
