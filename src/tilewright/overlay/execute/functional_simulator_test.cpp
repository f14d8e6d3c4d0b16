#include "tilewright/overlay/execute/functional_simulator.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/overlay/random_program_testing.h"
#include "support/overlay/reference_interpreter_testing.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/overlay/execute/kernel_set.h"
#include "tilewright/overlay/isa/assembler.h"
#include "tilewright/overlay/isa/isa.h"

namespace tilewright::overlay {
namespace {

bool same_counters(const RunCounters& a, const RunCounters& b) {
  return a.instructions == b.instructions && a.uop_load_bytes == b.uop_load_bytes &&
         a.input_load_bytes == b.input_load_bytes && a.weight_load_bytes == b.weight_load_bytes &&
         a.accumulator_load_bytes == b.accumulator_load_bytes &&
         a.output_store_bytes == b.output_store_bytes && a.gemm_uops == b.gemm_uops &&
         a.gemm_reset_uops == b.gemm_reset_uops && a.alu_uops == b.alu_uops && a.alu_lanes == b.alu_lanes;
}

std::vector<SimulatorKernel> available_kernels() {
  std::vector<SimulatorKernel> kernels{SimulatorKernel::kScalar};
  if (avx2_kernels() != nullptr) kernels.push_back(SimulatorKernel::kAvx2);
  if (avx512_vnni_kernels() != nullptr) kernels.push_back(SimulatorKernel::kAvx512Vnni);
  return kernels;
}

TEST(FunctionalSimulator, EveryKernelEqualsTheInterpreterOnRandomPrograms) {
  const uint64_t seed = 1;
  Random random(seed);
  const std::vector<OverlayHardware> overlays = varied_overlays();
  uint64_t gemm_uops = 0, alu_uops = 0;
  for (int trial = 0; trial < 120; ++trial) {
    const OverlayHardware& hardware = overlays[size_t(trial) % overlays.size()];
    const RandomProgram program = random_program(hardware, random, 40);
    std::vector<std::byte> expected = program.dram;
    ReferenceInterpreter interpreter(hardware);
    const RunCounters counters = interpreter.run(expected, program.address, program.count);
    gemm_uops += counters.gemm_uops;
    alu_uops += counters.alu_uops;
    for (const SimulatorKernel kernel : available_kernels()) {
      std::vector<std::byte> dram = program.dram;
      FunctionalSimulator simulator(hardware, kernel);
      const RunCounters got = simulator.run(dram, program.address, program.count);
      const auto difference = std::mismatch(dram.begin(), dram.end(), expected.begin());
      ASSERT_TRUE(dram == expected) << "seed " << seed << " trial " << trial << " overlay "
                                    << trial % overlays.size() << " kernel " << int(kernel)
                                    << " first difference at byte " << difference.first - dram.begin()
                                    << " of " << dram.size();
      ASSERT_TRUE(same_counters(got, counters)) << "seed " << seed << " trial " << trial;
    }
  }
  EXPECT_GT(gemm_uops, 50000u);
  EXPECT_GT(alu_uops, 50000u);
}

// Micro-op iterations of all instructions that decode.
uint64_t work_of(const OverlayHardware& hardware, const RandomProgram& program) {
  const size_t size = size_t(hardware.instruction_bytes());
  uint64_t work = 0;
  for (uint64_t i = 0; i < program.count; ++i) {
    const std::span<const std::byte> bytes =
        std::span(program.dram).subspan(program.address + i * size, size);
    try {
      const Instruction instruction = decode_instruction(hardware, bytes);
      const LoopNest* loop = nullptr;
      if (const auto* gemm = std::get_if<GemmInstruction>(&instruction)) loop = &gemm->loop;
      if (const auto* alu = std::get_if<AluInstruction>(&instruction)) loop = &alu->loop;
      if (loop != nullptr && loop->uop_begin < loop->uop_end) {
        work += uint64_t{loop->iter_out} * loop->iter_in * (loop->uop_end - loop->uop_begin);
      }
    } catch (const Error&) {
    }
  }
  return work;
}

// Damaged programs: the simulator and the interpreter agree on what is an error, and on every byte where it
// is none.
TEST(FunctionalSimulator, MutatedProgramsEndInTheSameBytesOrInAnError) {
  const uint64_t seed = 17;
  Random random(seed);
  const std::vector<OverlayHardware> overlays = varied_overlays();
  int rejected = 0, ran = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const OverlayHardware& hardware = overlays[size_t(trial) % overlays.size()];
    RandomProgram program = random_program(hardware, random, 12);
    for (int64_t edit = random.between(1, 3); edit > 0; --edit) {
      const int64_t at = random.between(int64_t(program.address), int64_t(program.dram.size()) - 1);
      program.dram[size_t(at)] ^= std::byte(1 << random.between(0, 7));
    }
    if (work_of(hardware, program) > 300000) continue;
    std::vector<std::byte> expected = program.dram;
    bool valid = true;
    try {
      ReferenceInterpreter(hardware).run(expected, program.address, program.count);
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kInvalidInput) << error.what();
      valid = false;
    }
    for (const SimulatorKernel kernel : available_kernels()) {
      std::vector<std::byte> dram = program.dram;
      try {
        FunctionalSimulator(hardware, kernel).run(dram, program.address, program.count);
        ASSERT_TRUE(valid) << "seed " << seed << " trial " << trial;
        ASSERT_TRUE(dram == expected) << "seed " << seed << " trial " << trial << " kernel " << int(kernel);
        ++ran;
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::kInvalidInput) << error.what();
        const bool overwrites =
            std::string(error.what()).find("overlap the running program") != std::string::npos;
        ASSERT_TRUE(!valid || overwrites) << error.what() << "\nseed " << seed << " trial " << trial;
        ++rejected;
      }
    }
  }
  EXPECT_GT(ran, 50);
  EXPECT_GT(rejected, 50);
}

// A program under construction at byte 4096 of a small memory.
struct Program {
  OverlayHardware hardware;
  std::vector<std::byte> dram = std::vector<std::byte>(1 << 16);
  uint64_t count = 0;

  void add(const Instruction& instruction) {
    std::vector<std::byte> bytes;
    encode(hardware, instruction, bytes);
    std::copy(bytes.begin(), bytes.end(), dram.begin() + 4096 + ptrdiff_t(count++ * bytes.size()));
  }
  void finish() { add(FinishInstruction{}); }
  std::string error_of_run() {
    FunctionalSimulator simulator(hardware);
    try {
      simulator.run(dram, 4096, count);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
      return error.what();
    }
    return "no error";
  }
};

MemoryInstruction load_of(MemoryType type, uint32_t sram, uint32_t dram, uint32_t y, uint32_t x) {
  MemoryInstruction i;
  i.memory_type = type;
  i.sram_base = sram;
  i.dram_base = dram;
  i.y_size = y;
  i.x_size = i.x_stride = x;
  return i;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(FunctionalSimulator, DeadlockNamesQueueChannelAndInstruction) {
  Program program;
  MemoryInstruction load = load_of(MemoryType::kInput, 0, 0, 1, 1);
  program.add(load);
  load.dependencies.pop_next = true;
  program.add(load);
  GemmInstruction gemm;
  gemm.loop.uop_end = 1;
  gemm.dependencies.pop_prev = true;
  program.add(gemm);
  MemoryInstruction store = load_of(MemoryType::kOutput, 0, 0, 1, 1);
  store.is_store = true;
  store.dependencies.pop_prev = true;
  program.add(store);
  program.finish();
  const std::string error = program.error_of_run();
  expect_contains(error, "instruction 1 (load queue): deadlock: it waits for a token on compute->load");
  expect_contains(error, "instruction 2 (compute queue): deadlock: it waits for a token on load->compute");
  expect_contains(error, "instruction 3 (store queue): deadlock: it waits for a token on compute->store");
}

TEST(FunctionalSimulator, ProgramShapeIsChecked) {
  Program program;
  expect_contains(program.error_of_run(), "the program of 0 instructions has no FINISH");
  program.add(load_of(MemoryType::kInput, 0, 0, 1, 1));
  expect_contains(program.error_of_run(), "the program of 1 instructions has no FINISH");
  program.finish();
  EXPECT_EQ(program.error_of_run(), "no error");
  program.finish();
  expect_contains(program.error_of_run(), "instruction 1 (FINISH): 1 instructions follow it");
  program.count = 5000;
  expect_contains(program.error_of_run(), "do not fit in a memory of 65536 bytes");
}

TEST(FunctionalSimulator, UnknownCodesAreNamed) {
  Program program;
  program.dram[4096] = std::byte{5};
  program.count = 1;
  program.finish();
  expect_contains(program.error_of_run(), "instruction 0: opcode 5 is unknown");
  program.dram[4096] = std::byte{0x80};
  program.dram[4097] = std::byte{0x03};
  program.dram[4096 + 10] = std::byte{1};
  expect_contains(program.error_of_run(), "instruction 0 (LOAD): memory_type 7 is unknown");
  program.dram[4096] = std::byte{4};
  program.dram[4097] = program.dram[4096 + 10] = std::byte{0};
  program.dram[4096 + 13] = std::byte{0x50};
  expect_contains(program.error_of_run(), "instruction 0 (ALU): alu_opcode 5 is unknown");
  Program wide;
  wide.hardware.isa = IsaVersion::kWide;
  wide.count = 1;
  expect_contains(wide.error_of_run(), "instruction version 0 is unknown");
}

TEST(FunctionalSimulator, AccessesOutOfRangeAreNamed) {
  const auto error_of = [](const Instruction& instruction, uint32_t uop_dst = 0) {
    Program program;
    encode(program.hardware, MicroOp{uop_dst, 2047, 1023}, program.dram);
    std::rotate(program.dram.begin(), program.dram.end() - 4, program.dram.end());
    program.dram.resize(1 << 16);
    program.add(load_of(MemoryType::kUop, 0, 0, 1, 1));
    program.add(instruction);
    program.finish();
    return program.error_of_run();
  };
  expect_contains(
      error_of(load_of(MemoryType::kInput, 2040, 0, 3, 3)),
      "instruction 1 (LOAD): sram_base 2040: inp index reaches 2048 of a scratchpad of 2048 elements");
  expect_contains(error_of(load_of(MemoryType::kWeight, 1000, 0, 5, 5)), "wgt index reaches 1024");
  expect_contains(error_of(load_of(MemoryType::kUop, 8190, 0, 1, 3)), "uop index reaches 8192");
  expect_contains(
      error_of(load_of(MemoryType::kAccumulator, 0, 1020, 1, 5)),
      "instruction 1 (LOAD): dram_base 1020, 1 rows of 5 elements, stride 5 end at byte 65600 of a memory");
  expect_contains(error_of(load_of(MemoryType::kOutput, 0, 0, 1, 1)), "memory_type out cannot be loaded");
  MemoryInstruction store = load_of(MemoryType::kOutput, 2047, 0, 2, 1);
  store.is_store = true;
  expect_contains(error_of(store), "instruction 1 (STORE): sram_base 2047: out index reaches 2048");
  store.sram_base = 0;
  store.dram_base = 255;
  expect_contains(error_of(store), "overlap the running program at 4096");
  store.memory_type = MemoryType::kInput;
  expect_contains(error_of(store), "memory_type inp cannot be stored");
  // Where nothing is moved the other fields mean nothing: the public runtime's no-operation is a STORE of
  // UOP.
  for (int type = 0; type < 8; ++type) {
    MemoryInstruction nothing = load_of(MemoryType(type), 65535, 0xFFFFFFFF, 65535, 0);
    EXPECT_EQ(error_of(nothing), "no error") << type;
    nothing.is_store = true;
    EXPECT_EQ(error_of(nothing), "no error") << type;
  }
  GemmInstruction gemm;
  gemm.loop.uop_end = 1;
  EXPECT_EQ(error_of(gemm), "no error");
  gemm.loop.iter_in = 3;
  gemm.loop.dst_factor_in = 1024;
  expect_contains(error_of(gemm), "instruction 1 (GEMM): dst index reaches 2048 of a scratchpad of 2048");
  gemm.loop.dst_factor_in = 0;
  gemm.loop.src_factor_in = 1;
  expect_contains(error_of(gemm), "src index reaches 2049");
  gemm.loop.src_factor_in = 0;
  gemm.loop.wgt_factor_in = 1;
  expect_contains(error_of(gemm), "wgt index reaches 1025");
  gemm.loop.uop_end = 8193;
  expect_contains(error_of(gemm), "uop_end: uop index reaches 8192");
  AluInstruction alu;
  alu.loop.uop_end = 1;
  alu.opcode = AluOpcode::kAdd;
  EXPECT_EQ(error_of(alu), "no error");
  alu.loop.iter_out = 2;
  alu.loop.src_factor_out = 1;
  expect_contains(error_of(alu), "instruction 1 (ALU): src index reaches 2048");
  alu.use_imm = true;
  EXPECT_EQ(error_of(alu), "no error");
  expect_contains(error_of(alu, 2047).substr(0, 8), "no error");
  alu.loop.dst_factor_out = 1;
  expect_contains(error_of(alu, 2047), "instruction 1 (ALU): dst index reaches 2048");
  alu.loop.uop_end = 9000;
  expect_contains(error_of(alu), "uop_end: uop index reaches 8999");
}

// Rows may lie on both sides of the program.
TEST(FunctionalSimulatorClass, StoresAreRefusedWhereARowMeetsTheProgram) {
  const int64_t cases = test_cases(400);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  int64_t around = 0;
  for (int64_t n = 0; n < cases; ++n) {
    Program program;
    MemoryInstruction store = load_of(MemoryType::kOutput, 0, 0, 1, 1);
    store.is_store = true;
    store.dram_base = uint32_t(random.between(245, 260));
    store.y_size = uint32_t(random.between(1, 4));
    store.x_size = uint32_t(random.between(1, 4));
    store.x_stride = uint32_t(random.between(0, 9));
    program.add(store);
    program.finish();  // elements 256 and 257 of OUT
    bool meets = false;
    for (uint32_t y = 0; y < store.y_size; ++y) {
      for (uint32_t x = 0; x < store.x_size; ++x) {
        const uint32_t element = store.dram_base + y * store.x_stride + x;
        meets = meets || element == 256 || element == 257;
      }
    }
    const std::string error = program.error_of_run();
    if (meets) {
      expect_contains(error, "overlap the running program at 4096");
    } else {
      EXPECT_EQ(error, "no error") << n;
      around += store.dram_base < 256 && store.dram_base + (store.y_size - 1) * store.x_stride > 257;
    }
  }
  EXPECT_GT(around, cases / 50);
}

TEST(FunctionalSimulator, EmptyLoopsAndZeroSizedLoadsOnlyMoveTokens) {
  Program program;
  MemoryInstruction nop = load_of(MemoryType::kInput, 4000, 0, 0, 0);
  nop.x_pad_0 = 15;
  nop.dependencies.push_next = true;
  program.add(nop);
  program.add(load_of(MemoryType::kWeight, 4000, 0, 0, 3));  // no rows: reaches no element
  GemmInstruction gemm;
  gemm.loop.uop_begin = gemm.loop.uop_end = 9;
  gemm.dependencies.pop_prev = true;
  program.add(gemm);
  program.finish();
  EXPECT_EQ(program.error_of_run(), "no error");
}

// What a GEMM of `flags` makes of one input element and of one padded with bit 1, times eight weight rows.
template <class Engine>
std::vector<int> one_bit_sums(const std::string& flags) {
  OverlayHardware hardware;
  hardware.isa = IsaVersion::kWide;
  hardware.block_in = hardware.block_out = 8;
  hardware.input_bits = hardware.weight_bits = 1;
  const AssembledProgram code =
      assemble(hardware,
               ".uops\ndst=0 overwrite\n.instructions\n"
               "load.uop dram=8 rows=1 columns=1 stride=1\n"
               "load.inp dram=80 rows=1 columns=1 stride=1 pad=0,0,0,1 pad_value=1\n"
               "load.wgt dram=11 rows=1 columns=1 stride=1 push_next\n"
               "gemm uops=0..1 loop=1,2 dst=0,1 src=0,1 pop_prev push_next " +
                   flags +
                   "\nstore.out rows=1 columns=2 stride=2 pop_prev push_prev\n"
                   "load.uop pop_next\nfinish\n");
  std::vector<std::byte> dram(4096);
  std::copy(code.uops.begin(), code.uops.end(), dram.begin() + 64);
  dram[80] = std::byte{0xF0};
  const uint8_t rows[] = {0xFF, 0x00, 0x0F, 0xF1, 0xAA, 0xAA, 0xAA, 0xAA};
  std::memcpy(&dram[88], rows, sizeof rows);
  std::copy(code.instructions.begin(), code.instructions.end(), dram.begin() + 1024);
  Engine(hardware).run(dram, 1024, code.instructions.size() / 32);
  std::vector<int> sums;
  for (size_t i = 0; i < 16; ++i) sums.push_back(int8_t(dram[i]));
  return sums;
}

TEST(FunctionalSimulator, OneBitLanesAreBipolarOrZeroAndOne) {
  const std::vector<int> with_bits{4, -4, -4, 4, 0, 0, 0, 0, 8, -8, 0, 2, 0, 0, 0, 0};
  const std::vector<int> with_signs{0, 0, -8, 6, 0, 0, 0, 0, 8, -8, 0, 2, 0, 0, 0, 0};
  EXPECT_EQ(one_bit_sums<ReferenceInterpreter>(""), with_bits);
  EXPECT_EQ(one_bit_sums<FunctionalSimulator>(""), with_bits);
  EXPECT_EQ(one_bit_sums<ReferenceInterpreter>("bipolar"), with_signs);
  EXPECT_EQ(one_bit_sums<FunctionalSimulator>("bipolar"), with_signs);
}

TEST(FunctionalSimulator, UnsupportedWidthsAreRejected) {
  OverlayHardware hardware;
  hardware.input_bits = 16;
  EXPECT_THROW(FunctionalSimulator{hardware}, Error);
  hardware = OverlayHardware{};
  hardware.accumulator_bits = 64;
  EXPECT_THROW(FunctionalSimulator{hardware}, Error);
}

}  // namespace
}  // namespace tilewright::overlay
