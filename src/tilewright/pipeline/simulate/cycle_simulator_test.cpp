// The cycle simulation of whole designs against their Verilog behind the same memory.
#include "tilewright/pipeline/simulate/cycle_simulator.h"

#include <gtest/gtest.h>

#include "support/pipeline/rtl_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/random.h"
#include "tilewright/pipeline/simulate/copy_design_testing.h"
#include "tilewright/pipeline/simulate/driver.h"

namespace tilewright::pipeline {
namespace {

std::vector<std::vector<int32_t>> random_images(const Design& design, int count) {
  Random random(3);
  std::vector<std::vector<int32_t>> images(size_t(count),
                                           std::vector<int32_t>(size_t(design.input.shape.elements())));
  for (auto& image : images) {
    for (int32_t& element : image) element = int32_t(random.between(-128, 127));
  }
  return images;
}

TEST(CycleSimulator, EqualsTheVerilogUnderEveryMemory) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  for (const bool streaming : {false, true}) {
    CopyShape shape;
    shape.image_bytes = 1000;
    shape.streaming = streaming;
    const Design design = copy_design(shape);
    const std::vector<std::vector<int32_t>> images = random_images(design, 3);
    MemoryModel efficient, slow, ddr;
    efficient.efficiency_percent = 90;
    slow.latency = 200;
    slow.beat_interval = 3;
    ddr.kind = MemoryModelKind::kDdr;
    for (const MemoryModel& memory : {MemoryModel{}, efficient, slow, ddr}) {
      RtlDesignPort port(design, {rtl_options(), memory});
      for (const uint64_t pause_seed : {0, 1, 2}) {
        port.restart(pause_seed);
        const uint64_t read = port.read_beats(), written = port.write_beats();
        const DesignRun rtl = run_design(design, port, images);
        const SimulationResult model = simulate(design, {memory, pause_seed, 3});
        EXPECT_EQ(model.cycles, rtl.cycles) << "pause seed " << pause_seed;
        EXPECT_EQ(model.read_beats, port.read_beats() - read);
        EXPECT_EQ(model.write_beats, port.write_beats() - written);
        EXPECT_EQ(rtl.outputs, images);
      }
    }
  }
}

TEST(CycleSimulator, CountsBeatsTasksAndQueues) {
  const Design design = copy_design({});
  const SimulationResult result = simulate(design, {});
  EXPECT_EQ(result.busy.at("input"), 32u);
  EXPECT_EQ(result.busy.at("queue"), 32u);
  EXPECT_EQ(result.read_beats, 32u);
  EXPECT_EQ(result.write_beats, 32u);
  ASSERT_EQ(result.task_end.size(), 2u);
  EXPECT_GE(result.task_end[0], 16u + 32);  // the memory's latency of 32 cycles, and a beat per cycle
  EXPECT_EQ(result.task_end[1], result.task_end[0] + 16);
  EXPECT_GT(result.cycles, result.task_end[1]);
  EXPECT_EQ(result.first_image_cycles, result.cycles);
  EXPECT_GE(result.fifo_level.at("queue"), 1);
  EXPECT_LE(result.fifo_level.at("queue"), 4);
}

TEST(CycleSimulator, LaterImagesComeAfterTheFirst) {
  SimulationOptions options;
  options.images = 4;
  const SimulationResult result = simulate(copy_design({}), options);
  EXPECT_LT(result.first_image_cycles * 3, result.cycles);
  EXPECT_GT(result.first_image_cycles * 6, result.cycles);
}

TEST(CycleSimulator, SaysWhoWaitsForWhat) {
  CopyShape shape;
  shape.held_back = 3;
  try {
    simulate(copy_design(shape), {});
    FAIL() << "done without all beats";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    const std::string text = error.what();
    EXPECT_NE(text.find("nothing has moved since cycle"), std::string::npos) << text;
    EXPECT_NE(text.find("'writer' waits for 'holder' of 'holder'"), std::string::npos) << text;
  }
}

TEST(CycleSimulator, StopsAtTheLimit) {
  SimulationOptions options;
  options.limit_cycles = 20;
  try {
    simulate(copy_design({}), options);
    FAIL() << "done within the limit";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("not done after 20 cycles"), std::string::npos);
  }
}

}  // namespace
}  // namespace tilewright::pipeline
