// The computed queues against the cycle simulation of whole designs: the pace they promise, and that half of
// a residual queue is too little, more of it of no use.
#include "tilewright/pipeline/simulate/fifo_sizing.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/simulate/cycle_simulator.h"

namespace tilewright::pipeline {
namespace {

// The layers of MLPerf Tiny's ResNet-8, for an image of `side` x `side`.
Network resnet8(int64_t side) {
  NetworkBuilder builder("resnet8", {side, side, 4});
  int tensor = builder.convolution(0, 16, 3);
  for (int64_t stage = 0; stage < 3; ++stage) {
    const int64_t width = int64_t{16} << stage, stride = stage == 0 ? 1 : 2;
    const int branch = stage == 0 ? tensor : builder.convolution(tensor, width, 1, stride);
    const int body = builder.convolution(tensor, width, 3, stride);
    tensor = builder.residual(builder.convolution(body, width, 3), branch);
  }
  return builder.finish(builder.dense(builder.average(tensor), 10));
}

Allocation stages(const Network& network, int64_t pi) {
  Allocation a;
  a.streaming = true;
  for (const Layer& layer : network.layers) {
    LayerAllocation own;
    own.layer = layer.name;
    own.stage.pi = std::gcd(network.tensors[size_t(layer.input)].shape.channels, pi);
    own.stage.po = works_in_lanes(layer.kind)
                       ? own.stage.pi
                       : std::gcd(network.tensors[size_t(layer.output)].shape.channels, 2 * pi);
    own.stage.pf = std::gcd(own.stage.po, int64_t{4});
    a.layers.push_back(own);
  }
  return a;
}

uint64_t cycles_of(const Network& network, const Allocation& allocation, int64_t images) {
  SimulationOptions options;
  options.images = images;
  return simulate(build(network, allocation), options).cycles;
}

// Whether a design with these queues stops, or takes longer than `cycles`.
bool suffers(const Network& network, const Allocation& allocation, int64_t images, uint64_t cycles) {
  try {
    return cycles_of(network, allocation, images) > cycles;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible) << error.what();
    return true;
  }
}

constexpr int64_t kFilled = 4, kImages = 10;  // until the first buffers are full; in all

bool slow_finish(const Network& network, const Allocation& allocation) {
  for (size_t l = 0; l < network.layers.size(); ++l) {
    const LayerGeometry g = layer_geometry(network, allocation, l);
    if (g.row_major && g.beats > g.pixel_words) return true;
  }
  return false;
}

// Checks one design; returns how many residual queues were halved.
int check_queues(const Network& network, const Allocation& allocation) {
  const int64_t interval = streaming_schedule(network, allocation).interval;
  const uint64_t first = cycles_of(network, allocation, kFilled),
                 all = cycles_of(network, allocation, kImages);
  // The last beats of an image may wait in a burst for those of the next: up to 64 beats.
  const double pace = double(all - first) / double(kImages - kFilled);
  const double tolerance = 0.001 * double(interval) + 64.0 / (kImages - kFilled);
  EXPECT_LE(pace, double(interval) + tolerance);
  // What a slow finish still holds hides some of the steps of a sliding window without windows.
  EXPECT_GE(pace, double(interval) * (slow_finish(network, allocation) ? 0.9 : 1) - tolerance);

  Allocation doubled = allocation;
  for (LayerAllocation& layer : doubled.layers) {
    layer.input_fifo *= 2;
    layer.residual_fifo *= 2;
  }
  EXPECT_GT(double(cycles_of(network, doubled, kImages)), 0.995 * double(all)) << "deeper queues help";

  int halved = 0;
  if (!allocation.tight_memory) return halved;  // windows may have room for what a queue would hold
  for (size_t l = 0; l < network.layers.size(); ++l) {
    // A map of a few pixels is inside the windows as a whole.
    const TensorShape& map = network.tensors[size_t(network.layers[l].output)].shape;
    if (!network.layers[l].add || map.rows * map.columns < 16) continue;
    Allocation less = allocation;
    less.layers[l].residual_fifo /= 2;
    EXPECT_TRUE(suffers(network, less, kImages, all)) << network.layers[l].name << ": half is enough";
    ++halved;
  }
  return halved;
}

// Windows of padding alone come first: a stage that gave them at once would begin the next image for the
// sliding window behind it, which then waited for the rest of that image.
TEST(FifoSizing, WindowsOfPaddingWaitForTheirImage) {
  for (const bool top : {false, true}) {
    NetworkBuilder builder("blank", {5, 5, 2});
    Network network = builder.finish(builder.convolution(builder.convolution(0, 4, 1), 3, 3));
    LayerWindow& window = network.layers[0].window;
    (top ? window.top : window.left) = 1;
    for (NetworkTensor& tensor : network.tensors) {
      if (&tensor != &network.tensors[0]) ++(top ? tensor.shape.rows : tensor.shape.columns);
    }
    Allocation allocation = stages(network, 4);
    allocation.layers[1].stage.feeder = Feeder::kRowMajor;
    size_fifos(network, allocation);
    for (const int64_t images : {1, 2, 5}) EXPECT_GT(cycles_of(network, allocation, images), 30u);
  }
}

TEST(FifoSizing, ResNet8KeepsItsPaceAndNeedsItsQueues) {
  const Network network = resnet8(32);
  for (const int64_t pi : {8, 16}) {
    Allocation allocation = stages(network, pi);
    allocation.tight_memory = true;
    size_fifos(network, allocation);
    EXPECT_EQ(check_queues(network, allocation), 3);
  }
}

TEST(FifoSizing, RandomDesignsKeepTheirPaceAndNeedTheirQueues) {
  int halved = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    Allocation allocation = random_stages(network, seed);
    allocation.tight_memory = seed % 3 != 0;
    size_fifos(network, allocation);
    if (streaming_schedule(network, allocation).interval > 10'000) continue;
    halved += check_queues(network, allocation);
  }
  EXPECT_GE(halved, 6);
}

// Of four words three give no window, and take a step each beside the window's own four cycles.
TEST(FifoSizing, StridedSlidingWindowsStepBetweenWindows) {
  NetworkBuilder builder("strided", {16, 16, 4});
  const Network network = builder.finish(builder.convolution(0, 32, 3, 2));
  Allocation allocation = stages(network, 4);
  allocation.layers[0].stage = {4, 8, 8, Multiplier::kDsp, Feeder::kRowMajor};
  size_fifos(network, allocation);
  EXPECT_EQ(streaming_schedule(network, allocation).interval, 64 * 4 + 192);
  check_queues(network, allocation);
}

TEST(FifoSizing, AllocatedStagesComeWithTheirQueues) {
  const Network network = resnet8(32);
  Budget budget;
  budget.resources.lut = 53'200;
  budget.resources.ff = 106'400;
  budget.resources.dsp = 220;
  budget.resources.bram = 280;
  AllocateOptions options;
  options.processors = false;
  options.nodes = 500;
  options.evaluations = 500;
  const Allocation allocation = allocate(network, budget, Objective::kLatency, options).allocation;
  Allocation sized = allocation;
  size_fifos(network, sized);
  EXPECT_EQ(sized, allocation);
  check_queues(network, allocation);
}

// Two 3x3 convolutions reach two rows and two pixels ahead; what comes on top is the pixels being written and
// the registers of the stages, little beside that on a map of 32 columns.
TEST(FifoSizing, ResidualQueueIsTheReachOfTheLongWay) {
  const Network network = resnet8(32);
  Allocation allocation = stages(network, 4);
  size_fifos(network, allocation);
  const LayerAllocation& joins = allocation.layers[2];
  const int64_t pixel_beats = 16 / allocation.layers[0].stage.pf;
  EXPECT_GE(joins.residual_fifo, 66 * pixel_beats);
  EXPECT_LE(joins.residual_fifo, 70 * pixel_beats);
  for (const LayerAllocation& layer : allocation.layers) EXPECT_EQ(layer.input_fifo, 0) << layer.layer;
}

TEST(FifoSizing, StagesOfAScheduleNeverBeginBeforeTheirWriters) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Network network = random_network(seed, false);
    const Allocation allocation = random_stages(network, seed);
    const StreamingSchedule schedule = streaming_schedule(network, allocation);
    ASSERT_EQ(schedule.stages.size(), network.layers.size());
    for (size_t l = 0; l < network.layers.size(); ++l) {
      const StageSchedule& own = schedule.stages[l];
      EXPECT_LE(double(own.service), own.period + 1e-6);
      for (size_t writer = 0; writer < l; ++writer) {
        if (network.layers[writer].output != network.layers[l].input) continue;
        EXPECT_GT(own.start + double(own.service), schedule.stages[writer].start) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::pipeline
