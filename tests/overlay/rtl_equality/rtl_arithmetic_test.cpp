// The ends of the ALU's number ranges, which random data do not meet: every operation on every pair (and
// requantize on every quadruple) of a few extreme values, in the RTL and in the cycle simulator. ACC takes
// one value per element, alike in all lanes; each instruction works on a fresh destination, and stores expose
// it bit by bit.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "equality.h"
#include "parameter_sets.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::overlay {
namespace {

constexpr int32_t kValues[] = {INT32_MIN, INT32_MIN + 1, -33, -32, -31, -1, 0, 1, 31, 32, INT32_MAX};
constexpr int32_t kShifts[] = {0, 1, 31, 62, 63};

// A program on the first set (wide, ACC 32 bits, 128 elements), one instruction of one step at a time.
class Corners {
 public:
  explicit Corners(const OverlayHardware& hardware) : hardware_(hardware) {
    program_.memory.resize(1 << 20);
    MicroOp uop;
    uop.dst = 0, uop.src = 1;
    std::vector<std::byte> bytes;
    encode(hardware_, uop, bytes);
    std::copy(bytes.begin(), bytes.end(), program_.memory.begin());
    load(MemoryType::kUop, 0, 1);
  }

  // ACC[0 .. 3] = values; ACC[0] = op(ACC[0], ACC[1], ...); stored a byte at a time.
  void step(AluInstruction alu, const std::array<int32_t, 4>& values) {
    const int64_t lanes = int64_t{hardware_.batch} * hardware_.block_out;
    data_ += size_t(-int64_t(data_) & (4 * lanes - 1));
    load(MemoryType::kAccumulator, uint32_t(data_ / size_t(4 * lanes)), 4);
    for (const int32_t value : values) {
      for (int64_t lane = 0; lane < lanes; ++lane, data_ += 4) {
        std::memcpy(&program_.memory[data_], &value, 4);
      }
    }
    alu.loop.uop_end = 1;
    for (int byte = 0; byte < 4; ++byte) {
      if (byte > 0) {
        alu.opcode = AluOpcode::kShr;
        alu.use_imm = true;
        alu.imm = 8;
      }
      alu.dependencies = {.pop_next = byte > 0, .push_next = true};
      emit(alu);
      MemoryInstruction store;
      store.is_store = true;
      store.memory_type = MemoryType::kOutput;
      store.dependencies = {.pop_prev = true, .push_prev = true};
      store.y_size = store.x_size = store.x_stride = 1;
      store.dram_base = uint32_t((size_t{1} << 19) / size_t(hardware_.output_bytes())) + stores_++;
      emit(store);
    }
  }

  EqualityProgram finish() {
    emit(FinishInstruction{});
    program_.name = "corners";
    program_.address = program_.memory.size();
    program_.memory.insert(program_.memory.end(), code_.begin(), code_.end());
    return std::move(program_);
  }

 private:
  void load(MemoryType type, uint32_t from, uint32_t count) {
    MemoryInstruction i;
    i.memory_type = type;
    i.dram_base = from;
    i.y_size = 1;
    i.x_size = i.x_stride = count;
    // Not before the store in front has read what is overwritten.
    i.dependencies.pop_next = stores_ > 0;
    emit(i);
  }
  void emit(const Instruction& instruction) {
    encode(hardware_, instruction, code_);
    ++program_.count;
  }

  const OverlayHardware& hardware_;
  EqualityProgram program_;
  std::vector<std::byte> code_;
  size_t data_ = 4096;
  uint32_t stores_ = 0;
};

void expect_equal(const OverlayHardware& hardware, Corners& corners) {
  EqualityBench bench(hardware, equality_options(TILEWRIGHT_RTL_CACHE));
  EqualitySummary summary;
  bench.compare(corners.finish(), {MemoryModel{}}, summary);
  EXPECT_TRUE(summary.equal()) << summary.first_problems;
  EXPECT_EQ(summary.runs, 1);
}

class RtlArithmetic : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = synthesis::missing_tools({"verilator"});
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  const OverlayHardware hardware_ = parameter_sets()[0];
};

TEST_F(RtlArithmetic, EveryOperationOnExtremes) {
  Corners corners(hardware_);
  for (const AluOpcode op : {AluOpcode::kMin, AluOpcode::kMax, AluOpcode::kAdd, AluOpcode::kShr,
                             AluOpcode::kMul, AluOpcode::kMove, AluOpcode::kClip}) {
    for (const int32_t x : kValues) {
      for (const int32_t y : kValues) {
        AluInstruction alu;
        alu.opcode = op;
        alu.clip_low = y;
        alu.clip_high = 5;
        corners.step(alu, {x, y, 0, 0});
      }
    }
  }
  expect_equal(hardware_, corners);
}

TEST_F(RtlArithmetic, RequantizeOnExtremes) {
  Corners corners(hardware_);
  for (const int32_t x : {INT32_MIN, -1, 0, INT32_MAX}) {
    for (const int32_t multiplier : {INT32_MIN, -1, 1, INT32_MAX}) {
      for (const int32_t shift : kShifts) {
        for (const int32_t zero : {INT32_MIN, 0, INT32_MAX}) {
          AluInstruction alu;
          alu.opcode = AluOpcode::kRequantize;
          alu.imm = zero;
          alu.clip_low = INT32_MIN;
          alu.clip_high = INT32_MAX;
          corners.step(alu, {x, 0, multiplier, shift});
        }
      }
    }
  }
  expect_equal(hardware_, corners);
}

}  // namespace
}  // namespace tilewright::overlay
