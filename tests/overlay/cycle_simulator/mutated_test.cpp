// Anything may stand in a program: the timed engine ends with a result or with an error that a user can read,
// and it finds an error where the functional simulator finds one.
#include <gtest/gtest.h>

#include "support/overlay/random_stream_testing.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::overlay {
namespace {

struct Outcome {
  bool failed = false;
  std::string text;
};

template <typename Run>
Outcome outcome_of(const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput) << error.what();
    return {true, error.what()};
  }
  return {};
}

TEST(CycleSimulatorMutated, FailsWhereTheFunctionalSimulatorFails) {
  const std::vector<OverlayHardware> overlays = varied_overlays();
  int failures = 0, same_text = 0;
  for (uint64_t seed = 1; seed <= 1500 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const OverlayHardware& hardware = overlays[seed % overlays.size()];
    RandomProgram program = random_stream(hardware, random, int(random.between(1, 12)));
    const int64_t bits = int64_t(program.count) * hardware.instruction_bytes() * 8;
    for (int64_t flips = random.between(1, 2); flips > 0; --flips) {
      const int64_t bit = random.between(0, bits - 1);
      program.dram[program.address + size_t(bit / 8)] ^= std::byte(1 << bit % 8);
    }
    std::vector<std::byte> timed = program.dram, untimed = program.dram;
    const Outcome a =
        outcome_of([&] { FunctionalSimulator(hardware).run(untimed, program.address, program.count); });
    const Outcome b = outcome_of([&] {
      CycleSimulator(hardware, find_memory_model("fixed:5")).run(timed, program.address, program.count);
    });
    EXPECT_EQ(a.failed, b.failed) << a.text << " and " << b.text;
    failures += a.failed;
    same_text += a.failed && a.text == b.text;
  }
  EXPECT_GT(failures, 300);
  // The others have several errors, and time decides which comes first.
  EXPECT_GT(same_text, failures * 9 / 10) << same_text << " of " << failures;
}

}  // namespace
}  // namespace tilewright::overlay
