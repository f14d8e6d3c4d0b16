// The image has 6x6 pixels of one block of channels; a tile is 3x3 outputs from 5x5 inputs, those outside the
// image being padding of its LOAD. The expected outputs come from plain loops over pixels and lanes.
#include "convolution.h"

#include <algorithm>

#include "tilewright/base/random.h"
#include "tilewright/overlay/lower/runtime.h"

namespace tilewright {
namespace {

using overlay::AluOpcode;
using overlay::KernelHandle;
using overlay::MemoryType;
using overlay::MicroKernel;
using overlay::Runtime;
using overlay::Stage;

constexpr int kSize = 6, kTile = 3, kWindow = 5, kTaps = 9, kShift = 2;
constexpr uint32_t kTilePixels = kTile * kTile;

int64_t lane(const std::vector<std::byte>& bytes, int64_t index, int bits) {
  const unsigned byte = unsigned(bytes[size_t(index * bits / 8)]);
  const int64_t value = byte >> (index * bits % 8) & ((1u << bits) - 1);
  return value >= int64_t{1} << (bits - 1) ? value - (int64_t{1} << bits) : value;
}

void put_lane(std::vector<std::byte>& bytes, int64_t index, int bits, int64_t value) {
  const unsigned field = unsigned(value) & ((1u << bits) - 1);
  bytes[size_t(index * bits / 8)] |= std::byte(field << (index * bits % 8));
}

std::vector<std::byte> random_bytes(int64_t count, Random& random) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  for (std::byte& byte : bytes) byte = std::byte(random.between(0, 255));
  return bytes;
}

struct Data {
  std::vector<std::byte> image, weights, residual;
};

std::vector<std::byte> convolve(const OverlayHardware& h, const Data& data) {
  const int64_t low = -(int64_t{1} << (h.output_bits - 1)), high = -low - 1;
  std::vector<std::byte> result(size_t(kSize * kSize * h.output_bytes()));
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) {
      for (int o = 0; o < h.block_out; ++o) {
        const int64_t pixel = y * kSize + x;
        int64_t sum = lane(data.residual, pixel * h.block_out + o, 8);
        for (int tap = 0; tap < kTaps; ++tap) {
          const int from_y = y + tap / 3 - 1, from_x = x + tap % 3 - 1;
          if (from_y < 0 || from_y >= kSize || from_x < 0 || from_x >= kSize) continue;
          for (int i = 0; i < h.block_in; ++i) {
            sum += lane(data.image, (from_y * kSize + from_x) * h.block_in + i, h.input_bits) *
                   lane(data.weights, (int64_t{tap} * h.block_out + o) * h.block_in + i, h.weight_bits);
          }
        }
        put_lane(result, pixel * h.block_out + o, h.output_bits, std::clamp(sum >> kShift, low, high));
      }
    }
  }
  return result;
}

// Places sections one after the other, each at a multiple of the largest element.
class Layout {
 public:
  explicit Layout(const OverlayHardware& h)
      : alignment_(
            std::max({h.weight_bytes(), h.input_bytes(), int64_t{h.block_out}, h.instruction_bytes()})) {}
  int64_t place(const std::vector<std::byte>& section) {
    memory.resize((memory.size() + size_t(alignment_) - 1) / size_t(alignment_) * size_t(alignment_));
    const int64_t address = int64_t(memory.size());
    memory.insert(memory.end(), section.begin(), section.end());
    return address;
  }
  std::vector<std::byte> memory;

 private:
  const int64_t alignment_;
};

MicroKernel multiply(uint32_t dst, uint32_t src) {
  MicroKernel kernel;
  kernel.outer = {kTile, kTile, kWindow, 0};
  kernel.inner = {kTile, 1, 1, 0};
  for (uint32_t tap = 0; tap < kTaps; ++tap) {
    kernel.uops.push_back({.dst = dst, .src = src + tap / 3 * kWindow + tap % 3, .wgt = tap});
  }
  return kernel;
}

MicroKernel clear(uint32_t dst) {
  MicroKernel kernel;
  kernel.reset = true;
  kernel.inner = {kTilePixels, 1, 0, 0};
  kernel.uops.push_back({.dst = dst});
  return kernel;
}

MicroKernel pass(AluOpcode opcode, uint32_t dst, uint32_t src, bool use_imm, int32_t imm) {
  MicroKernel kernel;
  kernel.is_alu = true;
  kernel.opcode = opcode;
  kernel.use_imm = use_imm;
  kernel.imm = imm;
  kernel.inner = {kTilePixels, 1, 1, 0};
  kernel.uops.push_back({.dst = dst, .src = src});
  return kernel;
}

struct Addresses {
  int64_t image, weights, residual, output;  // in elements
};

// One tile, in one of two halves of the scratchpads.
void emit_tile(Runtime& runtime, const OverlayHardware& h, const Addresses& at, int tile) {
  const uint32_t half = uint32_t(tile) % 2, input = half * kWindow * kWindow;
  const uint32_t sums = half * 2 * kTilePixels, residual = sums + kTilePixels;
  const int32_t low = -(1 << (h.output_bits - 1)), high = -low - 1;
  const bool bottom = tile / 2 == 1, right = tile % 2 == 1;
  const int64_t first = (bottom ? kTile : 0) * kSize + (right ? kTile : 0);
  // A tile at the border has four rows (columns) of its five in the image.
  overlay::Transfer2D window{at.image + first - (bottom ? kSize : 0) - (right ? 1 : 0), 4, 4, kSize};
  window.y_pad_before = !bottom, window.y_pad_after = bottom;
  window.x_pad_before = !right, window.x_pad_after = right;
  const auto patch = [&](int64_t base) { return overlay::Transfer2D{base + first, kTile, kTile, kSize}; };

  if (tile >= 2) runtime.dep_pop(Stage::kCompute, Stage::kLoad);
  if (tile == 0) runtime.load_buffer_2d(MemoryType::kWeight, 0, {at.weights, kTaps, 1, kTaps});
  runtime.load_buffer_2d(MemoryType::kInput, input, window);
  runtime.dep_push(Stage::kLoad, Stage::kCompute);

  if (tile >= 2) runtime.dep_pop(Stage::kStore, Stage::kCompute);
  runtime.load_buffer_2d(MemoryType::kAccumulator8, residual, patch(at.residual));
  runtime.push(runtime.record(clear(sums)));
  runtime.dep_pop(Stage::kLoad, Stage::kCompute);
  runtime.push(runtime.record(multiply(sums, input)));
  runtime.dep_push(Stage::kCompute, Stage::kLoad);
  for (const MicroKernel& kernel :
       {pass(AluOpcode::kAdd, sums, residual, false, 0), pass(AluOpcode::kShr, sums, sums, true, kShift),
        pass(AluOpcode::kMax, sums, sums, true, low), pass(AluOpcode::kMin, sums, sums, true, high)}) {
    runtime.push(runtime.record(kernel));
  }
  runtime.dep_push(Stage::kCompute, Stage::kStore);

  runtime.dep_pop(Stage::kCompute, Stage::kStore);
  runtime.store_buffer_2d(sums, patch(at.output));
  runtime.dep_push(Stage::kStore, Stage::kCompute);
}

}  // namespace

BoardProgram tiled_convolution(const OverlayHardware& h, uint64_t seed) {
  Random random(seed);
  Data data{random_bytes(kSize * kSize * h.input_bytes(), random),
            random_bytes(kTaps * h.weight_bytes(), random),
            random_bytes(int64_t{kSize} * kSize * h.block_out, random)};
  BoardProgram program;
  program.expected = convolve(h, data);
  Layout layout(h);
  Addresses at{};
  at.image = layout.place(data.image) / h.input_bytes();
  at.weights = layout.place(data.weights) / h.weight_bytes();
  at.residual = layout.place(data.residual) / h.block_out;
  program.output_address = uint64_t(layout.place(std::vector<std::byte>(program.expected.size())));
  at.output = int64_t(program.output_address) / h.output_bytes();

  Runtime runtime(h);
  for (int tile = 0; tile < 4; ++tile) emit_tile(runtime, h, at, tile);
  const uint64_t uop_address = uint64_t(layout.place({}));
  const overlay::RuntimeOutput output = runtime.synchronize(uop_address);
  layout.place(output.uops);
  const std::vector<std::byte> instructions(output.instructions.data(),
                                            output.instructions.data() + output.instructions.size());
  program.instruction_address = uint64_t(layout.place(instructions));
  program.instruction_count = instructions.size() / size_t(h.instruction_bytes());
  program.memory = std::move(layout.memory);
  return program;
}

}  // namespace tilewright
