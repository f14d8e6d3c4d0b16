// The mapper on random large layers, with sizes that are prime or full of factors, in a small part of the
// time that a proof would take: it ends in time, and what it returns is a mapping of the mapspace.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/limits_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/random.h"
#include "tilewright/hardware/array_hardware.h"
#include "tilewright/nest/workload.h"
#include "tilewright/spatial/mapper/mapper.h"
#include "tilewright/spatial/mapper/mapper_pareto.h"
#include "tilewright/spatial/network/layer_front.h"

namespace tilewright {
namespace {

// Seconds beyond the limit. Counting a mapspace of four million factors takes one, more beside other
// programs.
constexpr double kSlack = 4.0;

int64_t some_size(Random& random, int64_t most) {
  constexpr int64_t kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 29, 53, 59, 97, 113, 127, 223, 251, 509, 1021, 2039};
  constexpr int64_t kRound[] = {1,   2,   4,   8,   12,  24,  56,  64,   96,
                                112, 120, 224, 240, 256, 512, 720, 1024, 2048};
  const size_t at = size_t(random.between(0, std::ssize(kPrimes) - 1));
  return std::min(most, random.chance(0.5) ? kPrimes[at] : kRound[at]);
}

Workload large_workload(Random& random) {
  if (random.chance(0.3))
    return matmul_workload("m", some_size(random, 2048), some_size(random, 2048), some_size(random, 2048));
  ConvShape shape;
  shape.batch = random.chance(0.3) ? some_size(random, 16) : 1;
  shape.output_channels = some_size(random, 1024);
  shape.input_channels = some_size(random, 1024);
  for (WindowAxis* axis : {&shape.height, &shape.width}) {
    axis->kernel = random.chance(0.3) ? 1 : some_size(random, 11);
    axis->stride = random.between(1, 3);
    axis->output = some_size(random, 224);
    axis->input = (axis->output - 1) * axis->stride + axis->kernel;
  }
  if (random.chance(0.15)) {  // a long signal and a long filter: tables of tiles by positions
    shape.height = {};
    shape.width.kernel = int64_t{1} << random.between(4, 7);
    shape.width.output = int64_t{1} << random.between(10, 16);
    shape.width.input = (shape.width.output - 1) * shape.width.stride + shape.width.kernel;
  }
  return conv2d_workload("c", shape);
}

TEST(MapLimitsClass, EverySearchEndsInTime) {
  Random random(test_seed());
  const int64_t cases = test_cases(24);
  const std::string arrays[] = {"eyeriss-256", "eyeriss-1024", "simba-like",
                                "tpu-like",    "diannao-like", "eyeriss-chip"};
  int found = 0;
  for (int64_t i = 0; i < cases; ++i) {
    Mapspace mapspace;
    mapspace.workload = large_workload(random);
    mapspace.hardware = find_array_hardware(arrays[random.between(0, std::ssize(arrays) - 1)],
                                            std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
    mapspace.imperfect = random.chance(0.5);
    MapperOptions options;
    options.objective = MapObjective(random.between(0, 2));
    if (random.chance(0.3)) options.rules = kTimeloopRules;
    const bool front = random.chance(0.15);
    std::string what = fmt::format("seed {}, case {}: {}{}", test_seed(), i, mapspace.hardware.name,
                                   mapspace.imperfect ? ", imperfect" : "");
    for (const Dimension& dimension : mapspace.workload.dimensions)
      what += fmt::format(" {}={}", dimension.name, dimension.size);
    const double limit_s = 0.001 * double(random.between(1, 80)), start = thread_cpu_seconds();
    const Deadline deadline(limit_s);
    options.deadline = &deadline;
    try {
      if (front) {
        layer_front(mapspace, options);
      } else {
        const MapResult result = find_mapping(mapspace, options);
        found += result.found() ? 1 : 0;
        if (result.found()) {
          EXPECT_TRUE(contains(mapspace, result.mapping)) << what;
          EXPECT_LE(result.lower_bound, result.value * (1 + 1e-9)) << what;
        }
      }
    } catch (const Error& error) {  // the most imperfect factors that are listed
      EXPECT_EQ(error.kind(), ErrorKind::kUnsupported) << what << ": " << error.what();
      EXPECT_TRUE(mapspace.imperfect) << what;
    }
    EXPECT_LE(thread_cpu_seconds() - start, limit_s + kSlack) << what;
  }
  EXPECT_GT(found, cases / 20);
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright
