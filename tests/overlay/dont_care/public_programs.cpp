// The loop nests whose calls a compiler would make. Tiles of virtual thread t use the t-th share of every
// scratchpad; buffers are free at first, so that the first pops find tokens, and are given back at the end.
#include <algorithm>

#include "public_runtime.h"

namespace tilewright::overlay {
namespace {

constexpr int64_t kInputBytes = 1 << 15, kWeightBytes = 1 << 16, kBiasBytes = 1 << 14, kOutputBytes = 1 << 16;
constexpr int64_t kMostTiles = 6;

class NestGenerator {
 public:
  NestGenerator(const OverlayHardware& hardware, Random& random)
      : hardware_(hardware),
        random_(random),
        threads_(random.chance(0.6) ? 2 : 1),
        tiles_(threads_ * draw(1, kMostTiles / threads_)),
        runtime_(hardware, uint32_t((kOutputAt + kOutputBytes) / hardware.uop_bytes())) {}

  PublicProgram generate() {
    const int64_t kind = draw(0, 2);
    if (kind == 0) dense();
    if (kind == 1) convolution();
    if (kind == 2) elementwise();
    runtime_.synchronize();
    return lay_out();
  }

 private:
  static constexpr int64_t kInputAt = 0, kWeightAt = kInputAt + kInputBytes,
                           kBiasAt = kWeightAt + kWeightBytes, kOutputAt = kBiasAt + kBiasBytes;

  int64_t draw(int64_t low, int64_t high) { return random_.between(low, std::max(low, high)); }
  static uint32_t u32(int64_t value) { return uint32_t(value); }
  int64_t share(int64_t depth) const { return depth / threads_; }

  MemoryInstruction box(MemoryType type, int64_t sram, int64_t dram, int64_t rows, int64_t columns,
                        int64_t stride) const {
    MemoryInstruction i;
    i.memory_type = type;
    i.sram_base = u32(sram);
    i.dram_base = u32(dram);
    i.y_size = u32(rows);
    i.x_size = u32(columns);
    i.x_stride = u32(stride);
    return i;
  }

  void give(PublicStage from, PublicStage to) {
    for (int64_t t = 0; t < threads_; ++t) runtime_.dep_push(from, to);
  }
  void take(PublicStage from, PublicStage to) {
    for (int64_t t = 0; t < threads_; ++t) runtime_.dep_pop(from, to);
  }

  // `blocks` rows of `pixels` accumulators from `acc` on.
  void reset(int64_t acc, int64_t blocks, int64_t pixels) {
    PublicKernel kernel;
    kernel.reset = true;
    kernel.loops = {{u32(blocks), u32(pixels)}, {u32(pixels), 1}};
    kernel.uops = {{u32(acc)}};
    runtime_.push(kernel);
    ++resets_;
  }
  void immediate(AluOpcode opcode, int32_t imm, int64_t acc, int64_t count) {
    PublicKernel kernel;
    kernel.alu = kernel.use_imm = true;
    kernel.opcode = opcode;
    kernel.imm = imm;
    kernel.loops = {{u32(count), 1, 1}};
    kernel.uops = {{u32(acc), u32(acc)}};
    runtime_.push(kernel);
  }
  void requantize(int64_t acc, int64_t count) {
    immediate(AluOpcode::kShr, int32_t(draw(0, 12)), acc, count);
    if (random_.chance(0.5)) immediate(AluOpcode::kMax, 0, acc, count);
    const int32_t high = (1 << (hardware_.output_bits - 1)) - 1;
    immediate(AluOpcode::kMin, high, acc, count);
    immediate(AluOpcode::kMax, -high - 1, acc, count);
  }
  void store(int64_t acc, int64_t rows, int64_t columns, int64_t number) {
    const int64_t stride = columns + draw(0, 2), first = kOutputAt / hardware_.output_bytes();
    MemoryInstruction i =
        box(MemoryType::kOutput, acc, first + number * rows * stride, rows, columns, stride);
    i.is_store = true;
    runtime_.store(i);
  }

  // Runs `steps` reductions of every tile: load_step(thread, tile, step), multiply(thread, tile).
  template <typename Load, typename Multiply>
  void reduce(int64_t steps, int64_t group, const Load& load_step, const Multiply& multiply) {
    for (int64_t step = 0; step < steps; ++step) {
      for (int64_t t = 0; t < threads_; ++t) {
        runtime_.dep_pop(kComputeStage, kLoadStage);
        load_step(t, group + t, step);
        runtime_.dep_push(kLoadStage, kComputeStage);
      }
      for (int64_t t = 0; t < threads_; ++t) {
        runtime_.dep_pop(kLoadStage, kComputeStage);
        multiply(t);
        runtime_.dep_push(kComputeStage, kLoadStage);
      }
    }
  }
  // begin(thread) makes the accumulators, finish(thread, tile) the outputs, put(thread, tile) stores them.
  template <typename Begin, typename Reduce, typename Finish, typename Put>
  void tiles(bool loads, const Begin& begin, const Reduce& reduce_tiles, const Finish& finish,
             const Put& put) {
    if (loads) give(kComputeStage, kLoadStage);
    give(kStoreStage, kComputeStage);
    for (int64_t group = 0; group < tiles_; group += threads_) {
      for (int64_t t = 0; t < threads_; ++t) {
        runtime_.dep_pop(kStoreStage, kComputeStage);
        begin(t, group + t);
      }
      reduce_tiles(group);
      for (int64_t t = 0; t < threads_; ++t) {
        finish(t);
        runtime_.dep_push(kComputeStage, kStoreStage);
      }
      for (int64_t t = 0; t < threads_; ++t) {
        runtime_.dep_pop(kComputeStage, kStoreStage);
        put(t, group + t);
        runtime_.dep_push(kStoreStage, kComputeStage);
      }
    }
    if (loads) take(kComputeStage, kLoadStage);
    take(kStoreStage, kComputeStage);
  }

  // Pixels x blocks of outputs, `depth` blocks of inputs at a time; with or without a bias out of the memory.
  void dense() {
    const int64_t pixels = draw(1, std::min<int64_t>(8, share(hardware_.input_depth()) / 4));
    const int64_t blocks = draw(1, std::min<int64_t>(4, share(hardware_.weight_depth()) / 4));
    const int64_t depth = draw(1, 4), steps = draw(1, 3), all = depth * steps;
    const int64_t acc_share = share(hardware_.accumulator_depth()), size = pixels * blocks;
    const bool bias = random_.chance(0.5);
    const auto acc = [&](int64_t t) { return t * acc_share; };
    const auto inp = [&](int64_t t) { return t * share(hardware_.input_depth()); };
    const auto wgt = [&](int64_t t) { return t * share(hardware_.weight_depth()); };
    tiles(
        true, [&](int64_t t, int64_t) { reset(acc(t), blocks, pixels); },
        [&](int64_t group) {
          reduce(
              steps, group,
              [&](int64_t t, int64_t tile, int64_t step) {
                runtime_.load(box(MemoryType::kInput, inp(t),
                                  kInputAt / hardware_.input_bytes() + tile + step * depth, pixels, depth,
                                  all));
                runtime_.load(box(MemoryType::kWeight, wgt(t),
                                  kWeightAt / hardware_.weight_bytes() + step * depth, blocks, depth, all));
              },
              [&](int64_t t) {
                PublicKernel kernel;
                kernel.loops = {{u32(blocks), u32(pixels), 0, u32(depth)}, {u32(depth), 0, 1, 1}};
                for (int64_t p = 0; p < pixels; ++p) {
                  kernel.uops.push_back({u32(acc(t) + p), u32(inp(t) + p * depth), u32(wgt(t))});
                }
                runtime_.push(kernel);
              });
        },
        [&](int64_t t) {
          if (bias && 2 * size <= acc_share) add_bias(acc(t), blocks, pixels);
          requantize(acc(t), size);
        },
        [&](int64_t t, int64_t tile) { store(acc(t), blocks, pixels, tile); });
  }

  // One bias element for each row of `pixels` accumulators, loaded behind them.
  void add_bias(int64_t acc, int64_t blocks, int64_t pixels) {
    const int64_t from = acc + blocks * pixels;
    runtime_.load(
        box(MemoryType::kAccumulator, from, kBiasAt / hardware_.accumulator_bytes(), 1, blocks, blocks));
    PublicKernel kernel;
    kernel.alu = true;
    kernel.loops = {{u32(blocks), u32(pixels), 1}, {u32(pixels), 1, 0}};
    kernel.uops = {{u32(acc), u32(from)}};
    runtime_.push(kernel);
  }

  // 3x3, padded by one, `rows` rows of a square image at a time.
  void convolution() {
    const int64_t size = draw(2, 6), width = size + 2;
    const int64_t most =
        std::min(share(hardware_.input_depth()) / width - 2, share(hardware_.accumulator_depth()) / size);
    const int64_t rows = draw(1, std::min(size, most)), steps = draw(1, 3), pixels = rows * size;
    const auto acc = [&](int64_t t) { return t * share(hardware_.accumulator_depth()); };
    const auto inp = [&](int64_t t) { return t * share(hardware_.input_depth()); };
    const auto wgt = [&](int64_t t) { return t * share(hardware_.weight_depth()); };
    tiles(
        true, [&](int64_t t, int64_t) { reset(acc(t), rows, size); },
        [&](int64_t group) {
          reduce(
              steps, group,
              [&](int64_t t, int64_t tile, int64_t step) {
                const int64_t first = tile * rows % size, last = std::min(size, first + rows + 1);
                const int64_t above = first == 0 ? 1 : 0, from = first - 1 + above;
                MemoryInstruction i =
                    box(MemoryType::kInput, inp(t),
                        kInputAt / hardware_.input_bytes() + step * size * size + from * size, last - from,
                        size, size);
                i.y_pad_0 = u32(above);
                i.y_pad_1 = u32(rows + 2 - above - (last - from));
                i.x_pad_0 = i.x_pad_1 = 1;
                runtime_.load(i);
                runtime_.load(box(MemoryType::kWeight, wgt(t),
                                  kWeightAt / hardware_.weight_bytes() + step * 9, 1, 9, 9));
              },
              [&](int64_t t) {
                PublicKernel kernel;
                kernel.loops = {{3, 0, u32(width), 3}, {3, 0, 1, 1}};
                for (int64_t p = 0; p < pixels; ++p) {
                  kernel.uops.push_back(
                      {u32(acc(t) + p), u32(inp(t) + p / size * width + p % size), u32(wgt(t))});
                }
                runtime_.push(kernel);
              });
        },
        [&](int64_t t) { requantize(acc(t), pixels); },
        [&](int64_t t, int64_t tile) { store(acc(t), rows, size, tile); });
  }

  // Two operands out of the memory into ACC: sum, maximum or minimum, then an activation. The load stage is
  // idle.
  void elementwise() {
    const int64_t columns = draw(1, 8), room = kOutputBytes / hardware_.output_bytes() / kMostTiles;
    const int64_t rows =
        draw(1, std::min(share(hardware_.accumulator_depth()) / columns / 4, room / (columns + 2)));
    const int64_t size = rows * columns;
    constexpr AluOpcode kOpcodes[] = {AluOpcode::kAdd, AluOpcode::kMax, AluOpcode::kMin};
    const AluOpcode opcode = kOpcodes[draw(0, 2)];
    const auto acc = [&](int64_t t) { return t * share(hardware_.accumulator_depth()); };
    tiles(
        false,
        [&](int64_t t, int64_t tile) {
          const int64_t bytes = hardware_.accumulator_bytes(), stride = columns + draw(0, 1);
          for (int64_t operand = 0; operand < 2; ++operand) {
            runtime_.load(box(MemoryType::kAccumulator, acc(t) + operand * size,
                              (kInputAt + operand * kInputBytes) / bytes + tile, rows, columns, stride));
          }
          PublicKernel kernel;
          kernel.alu = true;
          kernel.opcode = opcode;
          kernel.loops = {{u32(size), 1, 1}};
          kernel.uops = {{u32(acc(t)), u32(acc(t) + size)}};
          runtime_.push(kernel);
        },
        [](int64_t) {}, [&](int64_t t) { requantize(acc(t), size); },
        [&](int64_t t, int64_t tile) { store(acc(t), rows, columns, tile); });
  }

  PublicProgram lay_out() {
    PublicProgram program;
    program.memory.resize(size_t(kOutputAt + kOutputBytes));
    for (std::byte& byte : program.memory) byte = std::byte(random_.next());
    std::vector<std::byte> uops, wild, code;
    for (const MicroOp& uop : runtime_.uops()) encode(hardware_, uop, uops);
    for (const MicroOp& uop : runtime_.uops_with_random_dont_cares(random_)) encode(hardware_, uop, wild);
    for (const Instruction& instruction : runtime_.instructions()) encode(hardware_, instruction, code);
    program.uop_address = program.memory.size();
    program.uop_bytes = uops.size();
    program.memory.insert(program.memory.end(), uops.begin(), uops.end());
    program.address = (program.memory.size() + 4095) / 4096 * 4096;
    program.memory.resize(program.address);
    program.memory.insert(program.memory.end(), code.begin(), code.end());
    program.memory.resize((program.memory.size() + 63) / 64 * 64);
    program.wild_memory = program.memory;
    std::copy(wild.begin(), wild.end(), program.wild_memory.begin() + int64_t(program.uop_address));
    program.count = runtime_.instructions().size();
    program.no_operations = runtime_.no_operations();
    program.resets = resets_;
    return program;
  }

  const OverlayHardware& hardware_;
  Random& random_;
  const int64_t threads_, tiles_;
  PublicRuntime runtime_;
  int64_t resets_ = 0;
};

}  // namespace

PublicProgram public_program(const OverlayHardware& hardware, Random& random) {
  return NestGenerator(hardware, random).generate();
}

}  // namespace tilewright::overlay
