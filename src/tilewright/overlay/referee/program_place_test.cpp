#include "tilewright/overlay/execute/program_place.h"

#include <gtest/gtest.h>

#include "support/error_text_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/referee/checker.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::overlay {
namespace {

std::string refusal(const OverlayHardware& hardware, uint64_t memory_bytes, uint64_t address,
                    uint64_t count) {
  return refusal_text([&] {
    Diagnostics diagnostics;
    verify_place(hardware, memory_bytes, address, count, diagnostics);
    diagnostics.raise_if_any();
  });
}

TEST(ProgramPlace, IsInsideOfTheMemoryAlignedAndAddressed) {
  OverlayHardware hardware;
  hardware.dram_bytes = 65536;
  EXPECT_EQ(refusal(hardware, 65536, 65536 - 32, 2), "no error");
  EXPECT_EQ(refusal(hardware, 4096, 4096, 0), "no error");
  EXPECT_EQ(refusal(hardware, 65536, 65536 - 32, 3),
            "instructions (address): 3 instructions at byte 65504 do not fit in a memory of 65536 bytes; "
            "make the memory "
            "larger or move the program");
  EXPECT_EQ(
      refusal(hardware, 4096, 24, 2),
      "instructions (address): byte 24 is not aligned to the instructions of 16 bytes; move the program");
  EXPECT_EQ(refusal(hardware, 65537, 0, 2),
            "memory (memory_bytes): 65537 bytes are more than the 65536 that the hardware addresses; raise "
            "dram_bytes of "
            "the hardware");
  EXPECT_EQ(refusal(hardware, 65536, 0, uint64_t{1} << 32),
            "instructions (count): 4294967296 instructions are more than a run can take; split the program");
  EXPECT_NE(refusal(hardware, 4096, UINT64_MAX - 15, 2).find("do not fit"), std::string::npos);
  hardware.isa = IsaVersion::kWide;
  EXPECT_NE(refusal(hardware, 65536, 16, 1).find("not aligned to the instructions of 32 bytes"),
            std::string::npos);
}

TEST(ProgramPlaceClass, EveryEngineRefusesItInTheSameWords) {
  const int64_t cases = test_cases(200);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  int64_t refused = 0;
  for (int64_t i = 0; i < cases; ++i) {
    OverlayHardware hardware{.name = "small"};
    hardware.isa = random.chance(0.5) ? IsaVersion::kWide : IsaVersion::kVta;
    hardware.dram_bytes = int64_t{1} << 16;
    const uint64_t memory_bytes = uint64_t(65536 + (random.chance(0.3) ? random.between(-64, 64) : 0));
    const uint64_t size = uint64_t(hardware.instruction_bytes());
    uint64_t address = uint64_t(random.between(0, 64)) * size;
    if (random.chance(0.2)) address = memory_bytes - size - uint64_t(random.between(0, 64));
    if (random.chance(0.2)) address += uint64_t(random.between(0, 63));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ": byte " << address << " of "
                                    << memory_bytes);
    std::vector<std::byte> code, memory(memory_bytes);
    encode(hardware, Instruction(FinishInstruction{}), code);
    if (address + size <= memory_bytes)
      std::copy(code.begin(), code.end(), memory.begin() + int64_t(address));
    const std::string expected = refusal(hardware, memory_bytes, address, 1);
    refused += expected != "no error";
    EXPECT_EQ(refusal_text([&] { FunctionalSimulator(hardware).run(memory, address, 1); }), expected);
    EXPECT_EQ(refusal_text([&] { CycleSimulator(hardware, MemoryModel{}).run(memory, address, 1); }),
              expected);
    RawProgram raw;
    raw.hardware = hardware;
    raw.memory_bytes = memory_bytes;
    raw.load = {{"memory.bin", 0, memory}};
    raw.instruction_address = address;
    raw.instruction_count = 1;
    EXPECT_EQ(refusal_text([&] {
                Diagnostics diagnostics;
                check_program(raw, diagnostics);
                diagnostics.raise_if_any();
              }),
              expected);
  }
  EXPECT_GT(refused, cases / 5);
  EXPECT_LT(refused, cases * 4 / 5);
}

}  // namespace
}  // namespace tilewright::overlay
