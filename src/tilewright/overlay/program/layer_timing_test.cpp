#include "tilewright/overlay/program/layer_timing.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tilewright::overlay {
namespace {

// A run told by hand: instructions in program order, tokens between them.
class Story {
 public:
  explicit Story(std::vector<uint64_t> instructions_of_layers) {
    for (const uint64_t count : instructions_of_layers) {
      LayerReport report;
      report.name = "layer " + std::to_string(program_.layers.size());
      report.instructions = count;
      program_.layers.push_back(report);
      program_.instruction_count += count;
    }
    program_.instruction_count += 1;  // FINISH
    timer_ = std::make_unique<LayerTimer>(program_);
  }

  uint32_t load(uint64_t visible, uint64_t start, uint64_t done, MemoryType type = MemoryType::kInput) {
    MemoryInstruction instruction;
    instruction.memory_type = type;
    instruction.y_size = 2, instruction.x_size = 3;
    const bool parameters = type == MemoryType::kUop || type == MemoryType::kAccumulator;
    return tell(parameters ? OverlayModule::kCompute : OverlayModule::kLoad, visible, start, done,
                instruction);
  }
  uint32_t gemm(uint64_t visible, uint64_t start, uint64_t done) {
    GemmInstruction instruction;
    instruction.loop.uop_end = 4, instruction.loop.iter_out = 5;
    return tell(OverlayModule::kCompute, visible, start, done, instruction);
  }
  uint32_t alu(uint64_t visible, uint64_t start, uint64_t done) {
    AluInstruction instruction;
    instruction.loop.uop_end = 3;
    return tell(OverlayModule::kCompute, visible, start, done, instruction);
  }
  uint32_t store(uint64_t visible, uint64_t start, uint64_t done) {
    MemoryInstruction instruction;
    instruction.is_store = true;
    instruction.memory_type = MemoryType::kOutput;
    instruction.y_size = 1, instruction.x_size = 7;
    return tell(OverlayModule::kStore, visible, start, done, instruction);
  }
  void token(uint32_t pusher, uint32_t popper) {
    timer_->token(TokenChannel::kLoadToCompute, pusher, 0, popper, 0);
  }
  std::vector<LayerTiming> layers(uint64_t cycles) const { return timer_->layers(cycles); }
  const OverlayHardware& hardware() const { return program_.hardware; }

 private:
  uint32_t tell(OverlayModule module, uint64_t visible, uint64_t start, uint64_t done,
                const Instruction& instruction) {
    timer_->instruction({module, next_, visible, start, done, instruction});
    return next_++;
  }
  OverlayProgram program_;
  std::unique_ptr<LayerTimer> timer_;
  uint32_t next_ = 0;
};

uint64_t caused(const LayerTiming& layer, CycleCause cause) { return layer.caused[size_t(cause)]; }

uint64_t sum(const LayerTiming& layer) {
  return std::accumulate(layer.caused.begin(), layer.caused.end(), uint64_t{0});
}

TEST(LayerTiming, OneTileTakesItsPartsInTurn) {
  Story story({4});
  const uint32_t load = story.load(3, 3, 12), gemm = story.gemm(4, 13, 42), alu = story.alu(43, 43, 49);
  const uint32_t store = story.store(5, 50, 59);
  story.token(load, gemm);
  story.token(alu, store);
  const LayerTiming layer = story.layers(62)[0];
  EXPECT_EQ(layer.cycles(), 62u);
  EXPECT_EQ(caused(layer, CycleCause::kFetch), 3u);  // until the load is there
  EXPECT_EQ(caused(layer, CycleCause::kLoad), 10u);
  EXPECT_EQ(caused(layer, CycleCause::kGemm), 30u);
  EXPECT_EQ(caused(layer, CycleCause::kAlu), 7u);
  EXPECT_EQ(caused(layer, CycleCause::kStore), 12u);  // and the end of the run after it
  EXPECT_EQ(sum(layer), 62u);
  EXPECT_EQ(layer.bound(), CycleCause::kGemm);
  EXPECT_EQ(layer.gemm_busy, 30u);
  EXPECT_EQ(layer.load_busy, 10u);
  EXPECT_EQ(layer.gemm_uops, 20u);
  EXPECT_EQ(layer.alu_uops, 3u);
  EXPECT_EQ(layer.traffic.input_bytes, uint64_t(6 * story.hardware().input_bytes()));
  EXPECT_EQ(layer.traffic.output_bytes, uint64_t(7 * story.hardware().output_bytes()));
  EXPECT_EQ(layer.traffic.instruction_bytes, uint64_t(4 * story.hardware().instruction_bytes()));
}

// One buffer: the second load may start only when the first GEMM has read the buffer.
TEST(LayerTiming, ALoadThatWaitsForItsBufferIsATokenWait) {
  Story story({4});
  const uint32_t load1 = story.load(0, 0, 19), gemm1 = story.gemm(0, 20, 49);
  const uint32_t load2 = story.load(1, 50, 69), gemm2 = story.gemm(50, 70, 99);
  story.token(load1, gemm1);
  story.token(gemm1, load2);
  story.token(load2, gemm2);
  const LayerTiming layer = story.layers(100)[0];
  EXPECT_EQ(caused(layer, CycleCause::kLoad), 20u);   // the first one has nothing to hide behind
  EXPECT_EQ(caused(layer, CycleCause::kToken), 20u);  // the second one could have run beside the first GEMM
  EXPECT_EQ(caused(layer, CycleCause::kGemm), 60u);
  EXPECT_EQ(sum(layer), 100u);
}

// Enough buffers, but memory never rests: every load has its token before the one before it is done.
TEST(LayerTiming, LoadsWithoutAGapAreSlowMemory) {
  Story story({8});
  uint32_t load[4], gemm[4];
  for (uint32_t i = 0; i < 4; ++i) {
    const uint64_t done = 39 + 40 * i;
    load[i] = story.load(i, i == 0 ? 0 : i == 1 ? 1 : done - 40 - 20, done);
    gemm[i] = story.gemm(done - 25, done + 1, done + 10);
    story.token(load[i], gemm[i]);
    if (i >= 2) story.token(gemm[i - 2], load[i]);
  }
  const LayerTiming layer = story.layers(170)[0];
  EXPECT_EQ(caused(layer, CycleCause::kLoad), 160u);
  EXPECT_EQ(caused(layer, CycleCause::kGemm), 10u);
  EXPECT_EQ(caused(layer, CycleCause::kToken), 0u);
  EXPECT_EQ(layer.load_busy, 160u);
  EXPECT_EQ(layer.bound(), CycleCause::kLoad);
}

TEST(LayerTiming, AnEmptyQueueIsFetch) {
  Story story({3});
  story.gemm(2, 2, 11);
  story.load(12, 12, 31, MemoryType::kUop);
  story.gemm(72, 72, 81);  // 40 cycles after the load was done
  const LayerTiming layer = story.layers(82)[0];
  EXPECT_EQ(caused(layer, CycleCause::kFetch), 42u);
  EXPECT_EQ(caused(layer, CycleCause::kParameters), 20u);
  EXPECT_EQ(caused(layer, CycleCause::kGemm), 20u);
  EXPECT_EQ(layer.bound(), CycleCause::kFetch);
}

// A GEMM beside an ALU instruction: the longer one of the two is the one that takes time.
TEST(LayerTiming, OfTwoThatRunAtOnceTheLongerOneCounts) {
  Story story({6});
  story.gemm(0, 0, 9);
  story.alu(10, 10, 29);
  story.gemm(11, 11, 50);  // beside it, and longer
  story.alu(51, 51, 90);
  story.gemm(52, 52, 61);  // beside it, and shorter
  story.gemm(91, 91, 99);
  const LayerTiming layer = story.layers(100)[0];
  EXPECT_EQ(caused(layer, CycleCause::kGemm), 10u + 40u + 9u);
  EXPECT_EQ(caused(layer, CycleCause::kAlu), 1u + 40u);  // one until the GEMM may start
  EXPECT_EQ(sum(layer), 100u);
  EXPECT_EQ(layer.gemm_busy, 10u + 40u + 10u + 9u);
  EXPECT_EQ(layer.alu_busy, 1u + 30u);
}

TEST(LayerTiming, LayersAddUpToTheRun) {
  Story story({3, 3});
  const uint32_t load1 = story.load(0, 0, 9), gemm1 = story.gemm(0, 10, 19), store1 = story.store(0, 20, 29);
  const uint32_t load2 = story.load(1, 32, 41), gemm2 = story.gemm(20, 42, 61),
                 store2 = story.store(30, 62, 71);
  story.token(load1, gemm1);
  story.token(gemm1, store1);
  story.token(gemm1, load2);  // of the layer before: no buffer would have helped
  story.token(load2, gemm2);
  story.token(gemm2, store2);
  const std::vector<LayerTiming> layers = story.layers(75);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].begin, 0u);
  EXPECT_EQ(layers[0].end, 30u);
  EXPECT_EQ(layers[1].begin, 30u);
  EXPECT_EQ(layers[1].end, 75u);
  for (const LayerTiming& layer : layers) EXPECT_EQ(sum(layer), layer.cycles());
  EXPECT_EQ(caused(layers[1], CycleCause::kLoad), 10u);
  EXPECT_EQ(caused(layers[1], CycleCause::kGemm), 20u + 2u);  // and the hand-over between the layers
  EXPECT_EQ(caused(layers[1], CycleCause::kStore), 13u);
}

}  // namespace
}  // namespace tilewright::overlay
