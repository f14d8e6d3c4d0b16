// functional_speed: how fast the functional simulator executes whole instruction streams on one core.
//
// Workload: the ten convolutions C2 to C11 of ResNet-18 at batch 1 on the default overlay, as streams of the
// JIT runtime with two virtual threads (tiles of `rows` output rows x full width x `out_blocks` channel
// blocks, `in_blocks` input blocks per step): loads with padding, GEMM, shift, bias, clip and stores
// included. Every output is compared with a plain convolution. Then a stream of one-element LOAD +
// one-micro-op GEMM pairs, and the time to build it. Times are process CPU time, the best of several runs.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cpu_time.h"
#include "support/overlay/reference_interpreter_testing.h"
#include "tilewright/overlay/execute/functional_simulator.h"
#include "tilewright/overlay/execute/kernel_set.h"
#include "tilewright/overlay/lower/runtime.h"

namespace {

using namespace tilewright;
using namespace tilewright::overlay;

struct Layer {
  const char* name;
  int size, in, out, kernel, stride, pad, rows, out_blocks, in_blocks;
  int output_size() const { return (size + 2 * pad - kernel) / stride + 1; }
  int64_t macs() const { return int64_t{1} * output_size() * output_size() * in * out * kernel * kernel; }
};

constexpr Layer kLayers[] = {
    {"C2", 56, 64, 64, 3, 1, 1, 4, 4, 1},     {"C3", 56, 64, 128, 3, 2, 1, 7, 4, 1},
    {"C4", 56, 64, 128, 1, 2, 0, 2, 8, 1},    {"C5", 28, 128, 128, 3, 1, 1, 7, 4, 2},
    {"C6", 28, 128, 256, 3, 2, 1, 7, 8, 2},   {"C7", 28, 128, 256, 1, 2, 0, 7, 8, 2},
    {"C8", 14, 256, 256, 3, 1, 1, 14, 4, 2},  {"C9", 14, 256, 512, 3, 2, 1, 7, 8, 4},
    {"C10", 14, 256, 512, 1, 2, 0, 7, 16, 4}, {"C11", 7, 512, 512, 3, 1, 1, 7, 8, 4}};

// A memory with data and program, ready to run.
struct Image {
  std::vector<std::byte> dram;
  uint64_t address = 0, count = 0;
  int64_t output_at = 0, output_bytes = 0;
  std::vector<std::byte> expected;
};

constexpr int kBlock = 16;

// Blocked data in plain order: activations [C/16][H][W][16], weights [O/16][I/16][K][K][16][16].
struct Data {
  std::vector<int8_t> input, weight;
  std::vector<int32_t> bias;
};

Data random_data(const Layer& layer) {
  Data data;
  uint32_t state = 12345;
  const auto byte = [&state] {
    state = state * 1664525u + 1013904223u;
    return int8_t(state >> 24);
  };
  data.input.resize(size_t(layer.in) * layer.size * layer.size);
  data.weight.resize(size_t(layer.out) * layer.in * layer.kernel * layer.kernel);
  data.bias.resize(size_t(layer.out));
  for (int8_t& v : data.input) v = byte();
  for (int8_t& v : data.weight) v = byte();
  for (int32_t& v : data.bias) v = byte() * 8;
  return data;
}

std::vector<std::byte> plain_convolution(const Layer& l, const Data& data) {
  const int n = l.output_size(), in_blocks = l.in / kBlock;
  std::vector<std::byte> output(size_t(l.out) * n * n);
  for (int o = 0; o < l.out; ++o) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) {
        int32_t sum = 0;
        for (int ky = 0; ky < l.kernel; ++ky) {
          for (int kx = 0; kx < l.kernel; ++kx) {
            const int iy = y * l.stride + ky - l.pad, ix = x * l.stride + kx - l.pad;
            if (iy < 0 || iy >= l.size || ix < 0 || ix >= l.size) continue;
            for (int b = 0; b < in_blocks; ++b) {
              const int8_t* input = &data.input[((size_t(b) * l.size + iy) * l.size + ix) * kBlock];
              const size_t block = ((size_t(o / kBlock) * in_blocks + b) * l.kernel + ky) * l.kernel + kx;
              const int8_t* weight = &data.weight[(block * kBlock + o % kBlock) * kBlock];
              for (int k = 0; k < kBlock; ++k) sum += input[k] * weight[k];
            }
          }
        }
        const int32_t value = std::clamp((sum >> 8) + data.bias[size_t(o)], 0, 127);
        output[((size_t(o / kBlock) * n + y) * n + x) * kBlock + o % kBlock] = std::byte(value);
      }
    }
  }
  return output;
}

// The stream of one layer for two virtual threads, each with half of every scratchpad.
class LayerStream {
 public:
  LayerStream(const Layer& layer, const OverlayHardware& hardware, Runtime& runtime)
      : layer_(layer),
        runtime_(runtime),
        n_(layer.output_size()),
        half_input_(uint32_t(hardware.input_depth() / 2)),
        half_weight_(uint32_t(hardware.weight_depth() / 2)),
        half_acc_(uint32_t(hardware.accumulator_depth() / 2)),
        padded_((n_ - 1) * layer.stride + layer.kernel),
        tile_rows_((layer.rows - 1) * layer.stride + layer.kernel),
        bias_at_(uint32_t(layer.out_blocks * layer.rows * n_)) {}

  void emit(int64_t input_at, int64_t weight_at, int64_t bias_at, int64_t output_at) {
    input_at_ = input_at / kBlock, weight_at_ = weight_at / 256, bias_dram_ = bias_at / 64,
    output_at_ = output_at / kBlock;
    for (uint32_t t = 0; t < 2; ++t) record(t);
    for (int t = 0; t < 2; ++t) {
      runtime_.dep_push(Stage::kCompute, Stage::kLoad);
      runtime_.dep_push(Stage::kStore, Stage::kCompute);
    }
    const int row_tiles = n_ / layer_.rows, channel_tiles = layer_.out / kBlock / layer_.out_blocks;
    for (int tile = 0; tile < row_tiles * channel_tiles; tile += 2) {
      for (uint32_t t = 0; t < 2; ++t) {
        runtime_.dep_pop(Stage::kStore, Stage::kCompute);
        runtime_.push(reset_[t]);
      }
      for (int step = 0; step < layer_.in / kBlock; step += layer_.in_blocks) {
        for (uint32_t t = 0; t < 2; ++t)
          reduce(t, (tile + int(t)) % row_tiles, (tile + int(t)) / row_tiles, step);
      }
      for (uint32_t t = 0; t < 2; ++t) finish(t, (tile + int(t)) % row_tiles, (tile + int(t)) / row_tiles);
    }
    for (int t = 0; t < 2; ++t) {
      runtime_.dep_pop(Stage::kCompute, Stage::kLoad);
      runtime_.dep_pop(Stage::kStore, Stage::kCompute);
    }
  }

 private:
  MicroKernel nest(bool alu) const {
    MicroKernel kernel;
    kernel.is_alu = alu;
    kernel.outer = {uint32_t(layer_.rows), uint32_t(n_), 0, 0};
    kernel.inner = {uint32_t(n_), 1, 0, 0};
    return kernel;
  }

  void record(uint32_t t) {
    const uint32_t acc = t * half_acc_, plane = uint32_t(layer_.rows * n_);
    MicroKernel reset = nest(false), gemm = nest(false), add = nest(true);
    reset.reset = true;
    gemm.outer.src = uint32_t(layer_.stride * padded_);
    gemm.inner.src = uint32_t(layer_.stride);
    for (uint32_t o = 0; o < uint32_t(layer_.out_blocks); ++o) {
      reset.uops.push_back({acc + o * plane, 0, 0, false});
      add.uops.push_back({acc + o * plane, acc + bias_at_ + o, 0, false});
    }
    for (int b = 0; b < layer_.in_blocks; ++b) {
      for (int kx = 0; kx < layer_.kernel; ++kx) {
        for (int ky = 0; ky < layer_.kernel; ++ky) {
          for (int o = 0; o < layer_.out_blocks; ++o) {
            const int source = (b * tile_rows_ + ky) * padded_ + kx;
            const int block = ((o * layer_.in_blocks + b) * layer_.kernel + ky) * layer_.kernel + kx;
            gemm.uops.push_back({acc + uint32_t(o) * plane, t * half_input_ + uint32_t(source),
                                 t * half_weight_ + uint32_t(block), false});
          }
        }
      }
    }
    add.opcode = AluOpcode::kAdd;
    MicroKernel immediate = add;
    for (MicroOp& op : immediate.uops) op.src = op.dst;
    immediate.outer.src = immediate.outer.dst;
    immediate.inner.src = immediate.inner.dst;
    immediate.use_imm = true;
    const auto with = [&](AluOpcode opcode, int32_t imm) {
      immediate.opcode = opcode;
      immediate.imm = imm;
      return runtime_.record(immediate);
    };
    reset_[t] = runtime_.record(reset);
    gemm_[t] = runtime_.record(gemm);
    shift_[t] = with(AluOpcode::kShr, 8);
    add_[t] = runtime_.record(add);
    min_[t] = with(AluOpcode::kMin, 127);
    max_[t] = with(AluOpcode::kMax, 0);
  }

  void reduce(uint32_t t, int row_tile, int channel_tile, int step) {
    runtime_.dep_pop(Stage::kCompute, Stage::kLoad);
    const int first = row_tile * layer_.rows * layer_.stride - layer_.pad, last = first + tile_rows_;
    const int width_end = padded_ - layer_.pad;
    for (int b = 0; b < layer_.in_blocks; ++b) {
      Transfer2D load;
      const int from = std::max(first, 0), to = std::min(last, layer_.size);
      load.dram_element = input_at_ + (int64_t{step + b} * layer_.size + from) * layer_.size;
      load.x_size = uint32_t(std::min(width_end, layer_.size));
      load.y_size = uint32_t(to - from);
      load.x_stride = uint32_t(layer_.size);
      load.x_pad_before = uint32_t(layer_.pad);
      load.x_pad_after = uint32_t(std::max(0, width_end - layer_.size));
      load.y_pad_before = uint32_t(from - first);
      load.y_pad_after = uint32_t(last - to);
      runtime_.load_buffer_2d(MemoryType::kInput, t * half_input_ + uint32_t(b * tile_rows_ * padded_), load);
    }
    const int taps = layer_.kernel * layer_.kernel, in_blocks = layer_.in / kBlock;
    Transfer2D weights;
    weights.dram_element = weight_at_ + (int64_t{channel_tile} * layer_.out_blocks * in_blocks + step) * taps;
    weights.x_size = uint32_t(layer_.in_blocks * taps);
    weights.y_size = uint32_t(layer_.out_blocks);
    weights.x_stride = uint32_t(in_blocks * taps);
    runtime_.load_buffer_2d(MemoryType::kWeight, t * half_weight_, weights);
    runtime_.dep_push(Stage::kLoad, Stage::kCompute);
    runtime_.dep_pop(Stage::kLoad, Stage::kCompute);
    runtime_.push(gemm_[t]);
    runtime_.dep_push(Stage::kCompute, Stage::kLoad);
  }

  void finish(uint32_t t, int row_tile, int channel_tile) {
    runtime_.push(shift_[t]);
    Transfer2D bias;
    bias.dram_element = bias_dram_ + channel_tile * layer_.out_blocks;
    bias.x_size = bias.x_stride = uint32_t(layer_.out_blocks);
    runtime_.load_buffer_2d(MemoryType::kAccumulator, t * half_acc_ + bias_at_, bias);
    runtime_.push(add_[t]);
    runtime_.push(min_[t]);
    runtime_.push(max_[t]);
    runtime_.dep_push(Stage::kCompute, Stage::kStore);
    runtime_.dep_pop(Stage::kCompute, Stage::kStore);
    Transfer2D store;
    store.x_size = uint32_t(layer_.rows * n_);
    store.y_size = uint32_t(layer_.out_blocks);
    store.x_stride = uint32_t(n_ * n_);
    store.dram_element =
        output_at_ + int64_t{channel_tile} * layer_.out_blocks * n_ * n_ + row_tile * layer_.rows * n_;
    runtime_.store_buffer_2d(t * half_acc_, store);
    runtime_.dep_push(Stage::kStore, Stage::kCompute);
  }

  const Layer& layer_;
  Runtime& runtime_;
  int n_;
  uint32_t half_input_, half_weight_, half_acc_;
  int padded_, tile_rows_;  // columns of a padded input row, input rows of a tile
  uint32_t bias_at_;
  int64_t input_at_ = 0, weight_at_ = 0, bias_dram_ = 0, output_at_ = 0;
  KernelHandle reset_[2], gemm_[2], shift_[2], add_[2], min_[2], max_[2];
};

template <typename Values>
int64_t append(std::vector<std::byte>& dram, const Values& values) {
  dram.resize((dram.size() + 4095) / 4096 * 4096);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  const size_t at = dram.size();
  dram.insert(dram.end(), bytes.begin(), bytes.end());
  return int64_t(at);
}

void append_program(Image& image, Runtime& runtime) {
  image.dram.resize((image.dram.size() + 4095) / 4096 * 4096);
  const uint64_t uops_at = image.dram.size();
  const RuntimeOutput output = runtime.synchronize(uops_at);
  append(image.dram, output.uops);
  image.address = uint64_t(append(image.dram, output.instructions));
  image.count = output.instructions.size() / size_t(runtime.hardware().instruction_bytes());
}

Image layer_image(const Layer& layer, const OverlayHardware& hardware) {
  const Data data = random_data(layer);
  Image image;
  image.dram.resize(4096);
  const int64_t input_at = append(image.dram, data.input), weight_at = append(image.dram, data.weight);
  const int64_t bias_at = append(image.dram, data.bias);
  image.expected = plain_convolution(layer, data);
  image.output_at = append(image.dram, image.expected);
  image.output_bytes = int64_t(image.expected.size());
  Runtime runtime(hardware);
  LayerStream(layer, hardware, runtime).emit(input_at, weight_at, bias_at, image.output_at);
  append_program(image, runtime);
  return image;
}

// Runs `image` on `engine` and compares the output; returns the best time.
template <class Engine>
double timed(Engine& engine, Image& image, int runs, bool& correct) {
  const double seconds = best_of(runs, [&] {
    std::fill_n(image.dram.begin() + image.output_at, image.output_bytes, std::byte{0x55});
    engine.run(image.dram, image.address, image.count);
  });
  correct &= std::equal(image.expected.begin(), image.expected.end(), image.dram.begin() + image.output_at);
  return seconds;
}

void emit_small_instructions(Runtime& runtime, int pairs) {
  MicroKernel gemm;
  gemm.uops.push_back({0, 0, 0, false});
  const KernelHandle handle = runtime.record(gemm);
  Transfer2D one;
  one.dram_element = 16;
  one.x_size = one.x_stride = 1;
  runtime.dep_push(Stage::kCompute, Stage::kLoad);
  runtime.dep_push(Stage::kCompute, Stage::kLoad);
  for (int i = 0; i < pairs; ++i) {
    runtime.dep_pop(Stage::kCompute, Stage::kLoad);
    runtime.load_buffer_2d(MemoryType::kInput, 0, one);
    runtime.dep_push(Stage::kLoad, Stage::kCompute);
    runtime.dep_pop(Stage::kLoad, Stage::kCompute);
    runtime.push(handle);
    runtime.dep_push(Stage::kCompute, Stage::kLoad);
  }
  runtime.dep_pop(Stage::kCompute, Stage::kLoad);
  runtime.dep_pop(Stage::kCompute, Stage::kLoad);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const int runs = quick ? 2 : 15;
  const OverlayHardware hardware;
  FunctionalSimulator fastest(hardware);
  FunctionalSimulator avx2(hardware,
                           avx2_kernels() != nullptr ? SimulatorKernel::kAvx2 : SimulatorKernel::kScalar);
  FunctionalSimulator portable(hardware, SimulatorKernel::kScalar);
  ReferenceInterpreter interpreter(hardware);
  std::printf("functional simulator, C2-C11, whole instruction streams, one thread; kernels:%s%s portable\n",
              avx512_vnni_kernels() != nullptr ? " AVX-512 VNNI" : "",
              avx2_kernels() != nullptr ? " AVX2" : "");
  std::printf("%-5s %8s %12s %9s %9s %9s %9s   GMAC/s\n", "layer", "MMAC", "instructions", "fastest", "AVX2",
              "portable", "scalar");
  bool correct = true;
  double macs = 0, seconds[4] = {};
  for (const Layer& layer : kLayers) {
    Image image = layer_image(layer, hardware);
    const double times[4] = {timed(fastest, image, runs, correct), timed(avx2, image, runs, correct),
                             timed(portable, image, 2, correct), timed(interpreter, image, 2, correct)};
    const double layer_macs = double(layer.macs());
    std::printf("%-5s %8.1f %12llu", layer.name, layer_macs * 1e-6, (unsigned long long)image.count);
    for (int e = 0; e < 4; ++e) {
      seconds[e] += times[e];
      std::printf(" %9.2f", layer_macs / times[e] * 1e-9);
    }
    std::printf("%s\n", correct ? "" : "  WRONG OUTPUT");
    macs += layer_macs;
  }

  const int pairs = quick ? 100000 : 1000000;
  Image small;
  small.dram.resize(4096);
  Runtime runtime(hardware);
  emit_small_instructions(runtime, pairs);
  append_program(small, runtime);
  RunCounters counters;
  const double small_seconds =
      best_of(quick ? 3 : 9, [&] { counters = fastest.run(small.dram, small.address, small.count); });
  correct &= counters.gemm_uops == uint64_t(pairs);
  double emitted = 0;
  const double jit_seconds = best_of(quick ? 3 : 9, [&] {
    Runtime builder(hardware);
    emit_small_instructions(builder, pairs);
    emitted = double(builder.synchronize(4096).instructions.size()) / 16;
  });
  std::printf("small instructions: %.1f M/s executed, %.1f M/s built by the runtime\n",
              double(small.count) / small_seconds * 1e-6, emitted / jit_seconds * 1e-6);
  // A CPU without AVX2 has no such figure.
  const std::string avx2_speed =
      avx2_kernels() == nullptr ? "null" : std::to_string(macs / seconds[1] * 1e-9);
  std::printf(
      "{\"figure\": \"functional_speed\", \"gmac_per_s\": %.2f, \"avx2_gmac_per_s\": %s, "
      "\"portable_gmac_per_s\": %.2f, \"scalar_gmac_per_s\": %.2f, \"ratio_to_scalar\": %.1f, "
      "\"small_instructions_per_s\": %.0f, \"jit_instructions_per_s\": %.0f, \"layers\": %zu, "
      "\"outputs_correct\": %s}\n",
      macs / seconds[0] * 1e-9, avx2_speed.c_str(), macs / seconds[2] * 1e-9, macs / seconds[3] * 1e-9,
      seconds[3] / seconds[0], double(small.count) / small_seconds, emitted / jit_seconds, std::size(kLayers),
      correct ? "true" : "false");
  return correct ? 0 : 1;
}
