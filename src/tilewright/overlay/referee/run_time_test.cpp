// Instructions of up to 2^41 steps: with a time limit they run in pieces, give the same results, and end in
// time.
#include "tilewright/overlay/execute/run_time.h"

#include <gtest/gtest.h>

#include <ctime>

#include "support/overlay/random_program_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/overlay/referee/checker.h"
#include "tilewright/overlay/time/cycle_simulator.h"

namespace tilewright::overlay {
namespace {

constexpr double kNever = 1e9;  // seconds

OverlayHardware random_hardware(Random& random) {
  OverlayHardware hardware{.name = "default"};
  if (random.chance(0.5)) hardware.isa = IsaVersion::kWide;
  return hardware;
}

// Micro-ops at byte 0, random data, then: LOAD UOP, LOAD ACC, LOAD INP and WGT, one GEMM or ALU instruction,
// stores of all of ACC, FINISH.
struct OneInstruction {
  OneInstruction(const OverlayHardware& h, Random& random, bool endless) : hardware(h) {
    const uint32_t uops = uint32_t(endless ? hardware.uop_depth() : random.between(60, 400));
    memory.resize(1 << 20);
    for (std::byte& byte : memory) byte = std::byte(random.next());
    std::vector<std::byte> bytes;
    const auto index = [&](int64_t depth) { return uint32_t(random.between(0, depth / 2 - 1)); };
    const bool overwrites = hardware.isa == IsaVersion::kWide && random.chance(0.4);
    for (uint32_t u = 0; u < uops; ++u) {
      encode(hardware,
             MicroOp{index(hardware.accumulator_depth()), index(hardware.input_depth()),
                     index(hardware.weight_depth()), overwrites && random.chance(0.1)},
             bytes);
    }
    std::copy(bytes.begin(), bytes.end(), memory.begin());
    load(MemoryType::kUop, 0, uops);
    load(MemoryType::kAccumulator, 1024, hardware.accumulator_depth() / 2);
    load(MemoryType::kInput, 8192, hardware.input_depth()).push_next = true;
    load(MemoryType::kWeight, 512, hardware.weight_depth()).push_next = true;
    take_token();
    take_token();
    add_compute(random, uops, endless);
    MemoryInstruction store;
    store.is_store = true;
    store.memory_type = MemoryType::kOutput;
    store.dram_base = uint32_t((memory.size() - (1 << 17)) / size_t(hardware.output_bytes()));
    store.y_size = 1;
    store.x_size = store.x_stride = uint32_t(hardware.accumulator_depth());
    store.dependencies.pop_prev = store.dependencies.push_prev = true;
    code.push_back(store);
    MemoryInstruction nothing;
    nothing.memory_type = MemoryType::kUop;
    nothing.dependencies.pop_next = true;
    code.push_back(nothing);
    code.push_back(FinishInstruction{});
    bytes.clear();
    for (const Instruction& instruction : code) encode(hardware, instruction, bytes);
    address = memory.size();
    memory.insert(memory.end(), bytes.begin(), bytes.end());
  }

  Dependencies& load(MemoryType type, uint32_t dram, int64_t count) {
    MemoryInstruction i;
    i.memory_type = type;
    i.dram_base = dram;
    i.y_size = 1;
    i.x_size = i.x_stride = uint32_t(count);
    code.push_back(i);
    return std::get<MemoryInstruction>(code.back()).dependencies;
  }
  void take_token() {
    MemoryInstruction nothing;
    nothing.memory_type = MemoryType::kUop;
    nothing.dependencies.pop_prev = true;
    code.push_back(nothing);
  }

  void add_compute(Random& random, uint32_t uops, bool endless) {
    LoopNest loop;
    loop.uop_end = uops;
    const int64_t most = hardware.isa == IsaVersion::kWide ? 65535 : 16383;
    const auto factor = [&](int64_t depth) {
      return endless ? 0u : uint32_t(random.between(0, depth / 2 / int64_t{loop.iter_out + loop.iter_in}));
    };
    loop.iter_out = uint32_t(endless ? most : random.between(1, 300));
    loop.iter_in = uint32_t(endless ? most : random.between(1, 12000 / loop.iter_out));
    loop.dst_factor_out = factor(hardware.accumulator_depth());
    loop.dst_factor_in = factor(hardware.accumulator_depth());
    loop.src_factor_out = factor(hardware.input_depth() - 8);
    loop.src_factor_in = factor(hardware.input_depth() - 8);
    if (random.chance(0.6)) {
      GemmInstruction gemm;
      loop.wgt_factor_out = factor(hardware.weight_depth());
      loop.wgt_factor_in = factor(hardware.weight_depth());
      gemm.loop = loop;
      gemm.reset = random.chance(0.15);
      gemm.dependencies.push_next = true;
      code.push_back(gemm);
      return;
    }
    AluInstruction alu;
    alu.loop = loop;
    alu.opcode = AluOpcode(random.between(0, hardware.isa == IsaVersion::kWide ? 7 : 4));
    alu.use_imm = random.chance(0.3);
    alu.imm = int32_t(random.between(-20, 20));
    if (hardware.isa == IsaVersion::kWide) alu.clip_low = -1000, alu.clip_high = 1000;
    alu.dependencies.push_next = true;
    code.push_back(alu);
  }

  const OverlayHardware hardware;
  std::vector<std::byte> memory;
  std::vector<Instruction> code;
  uint64_t address = 0;
};

TEST(RunPiecesClass, GiveTheResultsOfTheWhole) {
  const int64_t cases = test_cases(8);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() + uint64_t(i);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const OneInstruction program(random_hardware(random), random, false);
    std::vector<std::byte> whole = program.memory, pieces = program.memory, timed = program.memory;
    Deadline never(kNever);
    FunctionalSimulator(program.hardware).run(whole, program.address, program.code.size());
    FunctionalSimulator(program.hardware).run(pieces, program.address, program.code.size(), &never);
    EXPECT_TRUE(pieces == whole);
    CycleOptions options;
    options.deadline = &never;
    CycleSimulator(program.hardware, MemoryModel{}).run(timed, program.address, program.code.size(), options);
    EXPECT_TRUE(timed == whole);
  }
}

template <typename Run>
void expect_end_in_time(const char* engine, const Run& run) {
  constexpr double kLimit = 0.02, kGrace = 1;
  Deadline deadline(kLimit);
  const std::clock_t start = std::clock();  // of this process: others may hold it up
  Diagnostics diagnostics;
  try {
    run(deadline, diagnostics);
    diagnostics.raise_if_any();
    ADD_FAILURE() << engine << " came to an end";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible) << engine << ": " << error.what();
    EXPECT_EQ(std::string(error.what()), "the program has not ended within 0.02 s; allow more time (--time)")
        << engine;
  }
  EXPECT_LT(double(std::clock() - start) / CLOCKS_PER_SEC, kLimit + kGrace) << engine;
}

TEST(RunTimeClass, EveryEngineEndsInTime) {
  const int64_t cases = test_cases(12);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test_seed() + uint64_t(i);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    OneInstruction program(random_hardware(random), random, true);
    const uint64_t count = program.code.size();
    expect_end_in_time("functional", [&](Deadline& deadline, Diagnostics&) {
      FunctionalSimulator(program.hardware).run(program.memory, program.address, count, &deadline);
    });
    expect_end_in_time("cycle", [&](Deadline& deadline, Diagnostics&) {
      CycleOptions options;
      options.deadline = &deadline;
      CycleSimulator(program.hardware, MemoryModel{}).run(program.memory, program.address, count, options);
    });
  }
}

// The checker does not follow the steps of such an instruction, but there may be many that it follows.
TEST(RunTime, TheCheckerEndsInTime) {
  const OverlayHardware hardware;
  std::vector<std::byte> code, uops;
  for (int u = 0; u < 1024; ++u) encode(hardware, MicroOp{}, uops);
  MemoryInstruction load;
  load.memory_type = MemoryType::kUop;
  load.y_size = 1;
  load.x_size = load.x_stride = 1024;
  encode(hardware, Instruction(load), code);
  AluInstruction alu;
  alu.loop.uop_end = 1024;
  alu.loop.iter_out = alu.loop.iter_in = 128;
  for (int i = 0; i < 1000; ++i) encode(hardware, Instruction(alu), code);
  encode(hardware, Instruction(FinishInstruction{}), code);
  expect_end_in_time("checker", [&](Deadline& deadline, Diagnostics& diagnostics) {
    check_program(hardware, {code, uops, 0, 1 << 20}, diagnostics, &deadline);
    std::vector<Diagnostic> ends;
    for (const Diagnostic& d : diagnostics.errors()) {
      if (d.kind == ErrorKind::kInfeasible) ends.push_back(d);
    }
    diagnostics = {};
    for (const Diagnostic& d : ends) diagnostics.add(d);
  });
}

}  // namespace
}  // namespace tilewright::overlay
