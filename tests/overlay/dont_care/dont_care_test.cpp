// Without the RTL, which dont_care_rtl_test adds.
#include <gtest/gtest.h>

#include "engine_comparison.h"
#include "parameter_sets.h"
#include "public_runtime.h"
#include "support/overlay/random_program_testing.h"
#include "support/random_seed_testing.h"

namespace tilewright::overlay {
namespace {

TEST(DontCareFieldsClass, NoEngineLooksAtThem) {
  const int64_t cases = test_cases(150);
  const std::vector<OverlayHardware> sets = parameter_sets();
  ComparisonSummary summary;
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() + uint64_t(i);
    EngineComparison(sets[seed % sets.size()], {}).compare_dont_cares(seed, summary);
  }
  RecordProperty("cases", int(summary.programs));
  EXPECT_EQ(summary.differences, 0) << summary.first_problems;
  EXPECT_EQ(summary.refused, 0) << summary.first_problems;
}

std::vector<OverlayHardware> plain_overlays() {
  std::vector<OverlayHardware> plain = parameter_sets();
  std::erase_if(plain, [](const OverlayHardware& h) { return h.isa != IsaVersion::kVta; });
  plain.push_back(OverlayHardware{.name = "default"});
  return plain;
}

TEST(PublicRuntimeClass, EveryEngineTakesItsLoopNests) {
  const int64_t cases = test_cases(60);
  const std::vector<OverlayHardware> plain = plain_overlays();
  ComparisonSummary summary;
  int64_t no_operations = 0, resets = 0;
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() + uint64_t(i);
    const OverlayHardware& hardware = plain[seed % plain.size()];
    EngineComparison(hardware, {}).compare_public(seed, summary);
    Random random(seed);
    const PublicProgram program = public_program(hardware, random);
    no_operations += program.no_operations;
    resets += program.resets;
  }
  RecordProperty("cases", int(summary.programs));
  EXPECT_EQ(summary.differences, 0) << summary.first_problems;
  EXPECT_EQ(summary.refused, 0) << summary.first_problems;
  EXPECT_GE(no_operations, 3 * cases);
  EXPECT_GE(resets, cases);
}

// Its store queue's no-operation is a STORE of UOP that carries a token.
TEST(PublicRuntimeNests, EndWithTheStoreOfNothing) {
  const OverlayHardware hardware{.name = "default"};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const PublicProgram program = public_program(hardware, random);
    const std::span<const std::byte> memory(program.memory);
    int64_t found = 0;
    for (uint64_t i = 0; i < program.count; ++i) {
      const Instruction instruction =
          decode_instruction(hardware, memory.subspan(program.address + i * 16, 16));
      const auto* store = std::get_if<MemoryInstruction>(&instruction);
      if (store == nullptr || !store->is_store || store->x_size != 0) continue;
      EXPECT_EQ(store->memory_type, MemoryType::kUop);
      EXPECT_TRUE(store->dependencies.push_prev);
      ++found;
    }
    EXPECT_GE(found, 1) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tilewright::overlay
