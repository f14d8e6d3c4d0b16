// The loop over the passes of a layer. Blocks of the outer loops share nothing but operands, so threads take
// whole blocks; all results are sums of integers and do not depend on who computed what.
#include "tilewright/spatial/chip/array_simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "tilewright/base/parallel.h"

namespace tilewright {
namespace {

constexpr int64_t kMostPasses = int64_t{1} << 24;

void check(const RowStationaryChip& chip, const RowStationaryLayer& layer,
           const RowStationaryMapping& mapping) {
  Diagnostics diagnostics;
  chip.verify(diagnostics);
  layer.verify(diagnostics);
  if (diagnostics.ok()) verify_mapping(chip, layer, mapping, diagnostics);
  diagnostics.raise_if_any();
  const int64_t passes = pass_count(layer, mapping);
  if (passes > kMostPasses) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("layer '{}' takes {} passes, more than the {} that are simulated", layer.name,
                            passes, kMostPasses),
                "choose a mapping with larger passes");
  }
}

void add_pass(ArrayTime& time, const PassResult& result, int64_t ideal, int64_t times) {
  time.passes += times;
  time.cycles += times * result.cycles;
  time.ideal_cycles += times * ideal;
  time.pe_cycles.add(result.pe_cycles, times);
  time.bank_conflict_cycles += times * result.bank_conflict_cycles;
  time.traffic.add(result.traffic, times);
}

void add(ArrayTime& time, const ArrayTime& other) {
  time.passes += other.passes;
  time.cycles += other.cycles;
  time.ideal_cycles += other.ideal_cycles;
  time.simulated_cycles += other.simulated_cycles;
  time.pe_cycles.add(other.pe_cycles, 1);
  time.bank_conflict_cycles += other.bank_conflict_cycles;
  time.traffic += other.traffic;
}

class LayerRunner {
 public:
  LayerRunner(const RowStationaryChip& chip, const RowStationaryLayer& layer,
              const RowStationaryMapping& mapping)
      : chip_(chip), layer_(layer), mapping_(mapping), blocks_(pass_blocks(layer, mapping)) {}

  ArrayTime time_shapes() const {
    std::map<PassShape, int64_t> shapes = count_shapes();
    ArrayTime time;
    for (const auto& entry : shapes) {
      Pass pass;
      pass.shape = entry.first;
      const PassResult result = simulate_pass(chip_, layer_, mapping_, pass, {}, {});
      time.simulated_cycles += result.cycles;
      add_pass(time, result, ideal_cycles(layer_, mapping_, pass.shape), entry.second);
    }
    time.pass_shapes = int64_t(shapes.size());
    for (size_t b = 0; b < blocks_.size(); ++b) time.traffic += block_transfers(blocks_[b], b == 0);
    return time;
  }

  ArrayRun run(const LayerOperands& operands, const ArrayRunOptions& options) const {
    ArrayRun run;
    run.outputs.resize(size_t(layer_.output_words()));
    if (!options.time_every_pass) run.time = time_shapes();
    std::mutex mutex;
    parallel_for(options.threads, int64_t(blocks_.size()), [&](int64_t begin, int64_t end) {
      ArrayTime time;
      for (int64_t b = begin; b < end; ++b) run_block(b, operands, options, time, run.outputs);
      const std::lock_guard lock(mutex);
      add(run.time, time);
    });
    if (options.time_every_pass) run.time.pass_shapes = int64_t(count_shapes().size());
    return run;
  }

 private:
  std::map<PassShape, int64_t> count_shapes() const {
    std::map<PassShape, int64_t> shapes;
    for (size_t b = 0; b < blocks_.size(); ++b) {
      for (const Pass& pass : passes_of_block(layer_, mapping_, blocks_[b], b == 0)) ++shapes[pass.shape];
    }
    return shapes;
  }

  // What enters and leaves the chip for a block: the weights of every pass, the pixels of every batch of
  // channels, the finished outputs through the buffer.
  ArrayTraffic block_transfers(const PassBlock& block, bool first_block) const {
    ArrayTraffic traffic;
    int64_t channel = -1;
    for (const Pass& pass : passes_of_block(layer_, mapping_, block, first_block)) {
      const PassShape& shape = pass.shape;
      traffic.dram_weight_words +=
          shape.channels * shape.filters * layer_.kernel_height * layer_.kernel_width;
      if (pass.channel != channel) {
        channel = pass.channel;
        traffic.dram_pixel_words +=
            shape.images * shape.channels * pixel_rows(layer_, shape.rows) * layer_.width;
      }
    }
    const int64_t outputs = block.images * block.rows * layer_.output_width() * block.filters;
    traffic.dram_output_words = traffic.buffer_output_reads = outputs;
    return traffic;
  }

  void run_block(int64_t index, const LayerOperands& operands, const ArrayRunOptions& options,
                 ArrayTime& time, std::vector<int64_t>& outputs) const {
    const PassBlock& block = blocks_[size_t(index)];
    const int64_t columns = layer_.output_width();
    std::vector<int64_t> words(size_t(block.images * block.rows * columns * block.filters));
    BlockPsums psums{words.data(), block.rows, columns, block.filters};
    for (const Pass& pass : passes_of_block(layer_, mapping_, block, index == 0)) {
      psums.words = words.data() + (pass.filter - block.filter);
      if (options.time_every_pass) {
        const PassResult result = simulate_pass(chip_, layer_, mapping_, pass, operands, psums);
        time.simulated_cycles += result.cycles;
        add_pass(time, result, ideal_cycles(layer_, mapping_, pass.shape), 1);
      } else {
        execute_pass(layer_, mapping_, pass, operands, psums);
      }
    }
    if (options.time_every_pass) time.traffic += block_transfers(block, index == 0);
    write_outputs(block, words, outputs);
  }

  void write_outputs(const PassBlock& block, const std::vector<int64_t>& words,
                     std::vector<int64_t>& outputs) const {
    const int64_t columns = layer_.output_width(), rows = layer_.output_height();
    size_t word = 0;
    for (int64_t image = 0; image < block.images; ++image) {
      for (int64_t j = 0; j < block.rows; ++j) {
        for (int64_t x = 0; x < columns; ++x) {
          for (int64_t f = 0; f < block.filters; ++f) {
            const int64_t plane =
                ((block.image + image) * layer_.groups + block.group) * layer_.filters + block.filter + f;
            outputs[size_t((plane * rows + block.row + j) * columns + x)] = words[word++];
          }
        }
      }
    }
  }

  const RowStationaryChip& chip_;
  const RowStationaryLayer& layer_;
  const RowStationaryMapping& mapping_;
  const std::vector<PassBlock> blocks_;
};

}  // namespace

ArrayTime time_layer(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                     const RowStationaryMapping& mapping) {
  check(chip, layer, mapping);
  return LayerRunner(chip, layer, mapping).time_shapes();
}

ArrayRun run_layer(const RowStationaryChip& chip, const RowStationaryLayer& layer,
                   const RowStationaryMapping& mapping, std::span<const int16_t> input,
                   std::span<const int16_t> weights, const ArrayRunOptions& options) {
  check(chip, layer, mapping);
  Diagnostics diagnostics;
  const auto size = [&](const char* what, size_t have, int64_t need) {
    if (int64_t(have) == need) return;
    diagnostics.error(ErrorKind::kInvalidInput, "layer '" + layer.name + "'", what,
                      fmt::format("has {} words, the shape {}", have, need));
  };
  size("input", input.size(), layer.input_words());
  size("weights", weights.size(), layer.weight_words());
  diagnostics.raise_if_any();
  return LayerRunner(chip, layer, mapping).run({input, weights}, options);
}

}  // namespace tilewright
