#include "tilewright/overlay/lower/runtime.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tilewright/base/random.h"

namespace tilewright::overlay {
namespace {

std::vector<Instruction> decode_all(const OverlayHardware& hardware, const RuntimeOutput& output) {
  std::vector<Instruction> result;
  const size_t size = size_t(hardware.instruction_bytes());
  for (size_t at = 0; at < output.instructions.size(); at += size) {
    result.push_back(decode_instruction(hardware, std::span(output.instructions).subspan(at, size)));
  }
  return result;
}

MicroKernel gemm_kernel(uint32_t uops, uint32_t tag) {
  MicroKernel kernel;
  for (uint32_t i = 0; i < uops; ++i) kernel.uops.push_back({.dst = i % 7, .src = tag, .wgt = i % 1024});
  return kernel;
}

// Executes the LOAD UOPs of a program against its image and checks that each GEMM sees the micro-ops of the
// kernel that was pushed there: `tags` are the src fields in order of the pushes.
void expect_kernels(const OverlayHardware& hardware, const RuntimeOutput& output, uint64_t image_address,
                    const std::vector<std::pair<uint32_t, uint32_t>>& expected) {
  const uint32_t uop_bytes = uint32_t(hardware.uop_bytes());
  std::vector<MicroOp> scratchpad(size_t(hardware.uop_depth()));
  std::vector<MicroOp> executed;
  for (const Instruction& instruction : decode_all(hardware, output)) {
    if (const auto* load = std::get_if<MemoryInstruction>(&instruction)) {
      if (load->memory_type != MemoryType::kUop) continue;
      for (uint32_t i = 0; i < load->x_size; ++i) {
        const size_t at = (size_t(load->dram_base) + i) * uop_bytes - image_address;
        ASSERT_LE(at + uop_bytes, output.uops.size());
        scratchpad[load->sram_base + i] = decode_uop(hardware, std::span(output.uops).subspan(at, uop_bytes));
      }
    } else if (const auto* gemm = std::get_if<GemmInstruction>(&instruction)) {
      for (uint32_t u = gemm->loop.uop_begin; u < gemm->loop.uop_end; ++u) executed.push_back(scratchpad[u]);
    }
  }
  size_t at = 0;
  for (const auto& [tag, count] : expected) {
    for (uint32_t i = 0; i < count; ++i, ++at) {
      ASSERT_LT(at, executed.size());
      ASSERT_EQ(executed[at].src, tag) << "micro-op " << at;
      ASSERT_EQ(executed[at].wgt, i % 1024);
    }
  }
  EXPECT_EQ(at, executed.size());
}

TEST(Runtime, PopsAreDeferredAndPushesFold) {
  const OverlayHardware hardware;
  Runtime runtime(hardware);
  const KernelHandle kernel = runtime.record(gemm_kernel(1, 0));
  runtime.load_buffer_2d(MemoryType::kInput, 0, {.dram_element = 100, .x_size = 4, .x_stride = 4});
  runtime.dep_push(Stage::kLoad, Stage::kCompute);
  runtime.dep_pop(Stage::kLoad, Stage::kCompute);
  runtime.push(kernel);
  runtime.dep_push(Stage::kCompute, Stage::kStore);
  runtime.dep_pop(Stage::kCompute, Stage::kStore);
  runtime.store_buffer_2d(0, {.dram_element = 200, .x_size = 1, .x_stride = 1});
  const RuntimeOutput output = runtime.synchronize(0x1000);
  const std::vector<Instruction> program = decode_all(hardware, output);
  // LOAD INP, LOAD UOP (takes the pop), GEMM (takes the push), STORE; then the closing NOP and FINISH. The
  // closing pushes of load and store: load's bit is taken, so it needs a NOP; store's folds.
  ASSERT_EQ(program.size(), 7u);
  EXPECT_TRUE(std::get<MemoryInstruction>(program[0]).dependencies.push_next);
  EXPECT_TRUE(std::get<MemoryInstruction>(program[1]).dependencies.pop_prev);
  EXPECT_EQ(std::get<MemoryInstruction>(program[1]).dram_base, 0x400u);
  EXPECT_TRUE(std::get<GemmInstruction>(program[2]).dependencies.push_next);
  EXPECT_FALSE(std::get<GemmInstruction>(program[2]).dependencies.pop_prev);
  EXPECT_TRUE(std::get<MemoryInstruction>(program[3]).dependencies.pop_prev);
  EXPECT_TRUE(std::get<MemoryInstruction>(program[3]).dependencies.push_prev);
  EXPECT_EQ(output.statistics.nops, 2u);
  EXPECT_EQ(std::get<FinishInstruction>(program.back()).dependencies, Dependencies{});
}

TEST(Runtime, RepeatedPopsAndPushesBecomeNops) {
  const OverlayHardware hardware;
  Runtime runtime(hardware);
  for (int i = 0; i < 3; ++i) runtime.dep_push(Stage::kCompute, Stage::kLoad);
  for (int i = 0; i < 3; ++i) runtime.dep_pop(Stage::kCompute, Stage::kLoad);
  runtime.load_buffer_2d(MemoryType::kInput, 0, {.x_size = 1});
  int pushes = 0, pops = 0;
  for (const Instruction& instruction : decode_all(hardware, runtime.synchronize(0))) {
    const auto* memory = std::get_if<MemoryInstruction>(&instruction);
    if (memory == nullptr) continue;
    const bool load_queue = memory->memory_type == MemoryType::kInput;
    pops += load_queue && memory->dependencies.pop_next;
    pushes += memory->memory_type == MemoryType::kUop && memory->dependencies.push_prev;
  }
  EXPECT_EQ(pushes, 3);
  EXPECT_EQ(pops, 3);
}

TEST(Runtime, PrefetchBringsKernelsTogetherWhereTheyFit) {
  const OverlayHardware hardware;  // 8192 micro-ops
  Runtime runtime(hardware);
  const auto record = [&](uint32_t uops, uint32_t tag) { return runtime.record(gemm_kernel(uops, tag)); };
  const KernelHandle a = record(3000, 1);
  runtime.push(a);
  const KernelHandle b = record(3000, 2), c = record(3500, 3);
  runtime.prefetch(b);  // to the start of the ring: the first kernel has to go
  EXPECT_EQ(runtime.statistics().uop_loads, 2u);
  runtime.push(c);
  runtime.push(b);
  EXPECT_EQ(runtime.statistics().uop_loads, 2u);
  runtime.prefetch(b);  // is there
  const KernelHandle d = record(3000, 4), e = record(3000, 5), f = record(3000, 6);
  runtime.prefetch(d);  // too many
  EXPECT_EQ(runtime.statistics().uop_loads, 2u);
  for (const KernelHandle kernel : {d, e, f, a}) runtime.push(kernel);
  EXPECT_EQ(runtime.statistics().uop_loads, 6u);
  expect_kernels(hardware, runtime.synchronize(0x1000), 0x1000,
                 {{1, 3000}, {3, 3500}, {2, 3000}, {4, 3000}, {5, 3000}, {6, 3000}, {1, 3000}});
}

TEST(Runtime, KernelsStayCachedUntilEvicted) {
  const OverlayHardware hardware;  // 8192 micro-ops
  Runtime runtime(hardware);
  std::vector<std::pair<uint32_t, uint32_t>> expected;
  std::vector<KernelHandle> kernels;
  for (uint32_t k = 0; k < 9; ++k) kernels.push_back(runtime.record(gemm_kernel(1000, k)));
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (uint32_t k = 0; k < 8; ++k) {
      runtime.push(kernels[k]);
      expected.push_back({k, 1000});
    }
  }
  EXPECT_EQ(runtime.statistics().uop_loads, 8u);
  // The ninth overlaps the first; the defect this guards against dropped it from the image.
  runtime.push(kernels[8]);
  runtime.push(kernels[0]);
  expected.push_back({8, 1000});
  expected.push_back({0, 1000});
  EXPECT_EQ(runtime.statistics().uop_loads, 10u);
  EXPECT_EQ(runtime.statistics().uop_reloads, 1u);
  const RuntimeOutput output = runtime.synchronize(0x4000);
  EXPECT_EQ(output.uops.size(), 9000u * 4);
  expect_kernels(hardware, output, 0x4000, expected);
}

TEST(Runtime, LargeKernelsAreSplit) {
  OverlayHardware hardware;
  Runtime runtime(hardware);
  const KernelHandle kernel = runtime.record(gemm_kernel(20000, 3));
  runtime.push(kernel);
  EXPECT_EQ(runtime.statistics().uop_loads, 5u);
  expect_kernels(hardware, runtime.synchronize(0), 0, {{3, 20000}});

  MicroKernel chained;
  chained.is_alu = true;
  chained.opcode = AluOpcode::kAdd;
  chained.inner = {.extent = 2, .dst = 1, .src = 1};
  for (uint32_t i = 0; i < 5000; ++i) chained.uops.push_back({.dst = i % 2000, .src = (i + 1) % 2000});
  try {
    runtime.record(chained);
    FAIL() << "an order-dependent kernel was split";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    EXPECT_NE(std::string(error.what()).find("cannot be split"), std::string::npos);
  }
}

TEST(Runtime, RandomKernelSequencesAlwaysSeeTheirMicroOps) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    OverlayHardware hardware;
    hardware.uop_buffer_bytes = int64_t{1} << random.between(8, 11);
    if (random.chance(0.3)) {
      hardware.isa = IsaVersion::kWide;
      hardware.uop_buffer_bytes *= 2;
    }
    Runtime runtime(hardware);
    std::vector<KernelHandle> kernels;
    std::vector<std::pair<uint32_t, uint32_t>> sizes, expected;
    for (int step = 0; step < 300; ++step) {
      if (kernels.empty() || random.chance(0.1)) {
        const auto size = uint32_t(random.between(1, hardware.uop_depth() / (random.chance(0.2) ? 1 : 6)));
        sizes.push_back({uint32_t(kernels.size()), size});
        kernels.push_back(runtime.record(gemm_kernel(size, uint32_t(kernels.size()))));
      }
      const size_t which = size_t(random.between(0, int64_t(kernels.size()) - 1));
      runtime.push(kernels[which]);
      expected.push_back(sizes[which]);
    }
    EXPECT_GT(runtime.statistics().evictions, 0u);
    expect_kernels(hardware, runtime.synchronize(0x1000), 0x1000, expected);
  }
}

TEST(Runtime, NamesTheFieldThatIsTooSmall) {
  Runtime runtime{OverlayHardware{}};
  try {
    runtime.load_buffer_2d(MemoryType::kInput, 0, {.x_size = 70000});
    FAIL() << "a 17-bit x_size was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    EXPECT_NE(std::string(error.what()).find("x_size"), std::string::npos);
  }
}

TEST(Runtime, GrowsItsBuffersOnDemand) {
  const OverlayHardware hardware;
  Runtime runtime(hardware);
  for (uint32_t i = 0; i < 100000; ++i) runtime.load_buffer_2d(MemoryType::kInput, i % 2048, {.x_size = 1});
  EXPECT_EQ(decode_all(hardware, runtime.synchronize(0)).size(), 100003u);
  EXPECT_EQ(runtime.instruction_count(), 0u);
}

}  // namespace
}  // namespace tilewright::overlay
