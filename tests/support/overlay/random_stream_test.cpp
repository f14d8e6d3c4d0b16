// Streams have no hazards and exercise what they promise.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "support/overlay/random_stream_testing.h"
#include "tilewright/overlay/execute/functional_simulator.h"
#include "tilewright/overlay/isa/isa_layout.h"

namespace tilewright::overlay {
namespace {

TEST(RandomStream, TheCheckerAcceptsThem) {
  Random random(11);
  for (const OverlayHardware& hardware : varied_overlays()) {
    for (int i = 0; i < 20; ++i) {
      const RandomProgram program = random_stream(hardware, random, 60);
      Diagnostics diagnostics;
      check_program(hardware, random_stream_image(hardware, program), diagnostics);
      ASSERT_TRUE(diagnostics.ok()) << to_string(diagnostics.errors().front());
    }
  }
}

TEST(RandomStream, UsesTheWholeInstructionSet) {
  const OverlayHardware hardware = varied_overlays()[2];
  const IsaLayout layout(hardware);
  Random random(3);
  std::set<int> loads, operations;
  int padded = 0, stores = 0, gemms = 0, waits = 0;
  for (int i = 0; i < 10; ++i) {
    RandomProgram program = random_stream(hardware, random, 60);
    for (uint64_t k = 0; k < program.count; ++k) {
      uint64_t words[IsaLayout::kMaxWords] = {};
      std::memcpy(words, program.dram.data() + program.address + k * 32, 32);
      const Instruction instruction = layout.decode(words);
      if (const auto* memory = std::get_if<MemoryInstruction>(&instruction)) {
        if (!memory->is_store) loads.insert(int(memory->memory_type));
        stores += memory->is_store;
        padded += memory->y_pad_0 > 0 && memory->x_pad_1 > 0;
        waits += memory->is_store && memory->dependencies.pop_prev;
      }
      if (const auto* alu = std::get_if<AluInstruction>(&instruction)) operations.insert(int(alu->opcode));
      gemms += std::holds_alternative<GemmInstruction>(instruction);
    }
    FunctionalSimulator simulator(hardware);
    EXPECT_EQ(simulator.run(program.dram, program.address, program.count).instructions, program.count);
  }
  EXPECT_EQ(loads, (std::set<int>{0, 1, 2, 3, 5}));
  EXPECT_EQ(operations.size(), 8u);
  EXPECT_GT(padded, 10);
  EXPECT_GT(stores, 50);
  EXPECT_GT(gemms, 50);
  EXPECT_GT(waits, 20);
}

}  // namespace
}  // namespace tilewright::overlay
