// Puts cycles and resources of an allocation together, and the counts that both shapes share.
#include "tilewright/pipeline/estimate/estimate.h"

#include <algorithm>
#include <numeric>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/estimate/estimate_cycles.h"
#include "tilewright/pipeline/estimate/resource_model.h"

namespace tilewright::pipeline {
namespace {

// Products per cycle of all arrays.
int64_t count_multipliers(const Network& network, const Allocation& allocation) {
  std::vector<int64_t> products(allocation.streaming ? network.layers.size() : allocation.engines.size(), 0);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    if (!multiplies(network.layers[i])) continue;
    const size_t place = allocation.streaming ? i : size_t(allocation.layers[i].engine);
    products[place] = std::max(products[place], layer_geometry(network, allocation, i).products_per_beat());
  }
  return std::accumulate(products.begin(), products.end(), int64_t{0});
}

int64_t dram_bytes(const Network& network, const Allocation& allocation) {
  const auto tensor_bytes = [&](int index, int64_t word) {
    const TensorShape& shape = network.tensors[size_t(index)].shape;
    const int64_t channels = ceil_div(shape.channels, word) * word;
    return ceil_div(shape.rows * shape.columns * channels * element_bits(network), 8);
  };
  int64_t input_word = 1, output_word = 1, total = 0;
  if (!allocation.streaming) input_word = output_word = allocation.engines.front().shape.pi;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const LayerGeometry geometry = layer_geometry(network, allocation, i);
    if (network.layers[i].input == network.input) input_word = geometry.shape.pi;
    if (network.layers[i].output == network.output) {
      output_word = allocation.streaming ? geometry.shape.pf : geometry.shape.pi;
    }
    if (allocation.layers[i].unroll) {
      total += ceil_div(geometry.input.rows * geometry.input.columns * geometry.pixel_words *
                            geometry.shape.pi * element_bits(network),
                        8) -
               tensor_bytes(network.input, geometry.shape.pi);
    }
    if (!allocation.weights_on_chip && !geometry.lanes) {
      const int bits = engine_weight_bits(network, allocation, allocation.layers[i].engine);
      total += stored_weight_bits(geometry, bits) / 8;
    }
  }
  return total + tensor_bytes(network.input, input_word) + tensor_bytes(network.output, output_word);
}

}  // namespace

double cycles_per_beat(const Allocation& allocation, const MemoryPort& port) {
  const int64_t burst = std::max<int64_t>(1, allocation.max_burst_beats);
  const int64_t pause = ceil_div(burst * (100 - port.efficiency_percent), port.efficiency_percent);
  return double(burst + pause) / double(burst);
}

int64_t array_cycles(const LayerGeometry& g, int64_t pixels) {
  const int64_t beats = g.row_major && g.lanes ? g.blocks : g.blocks * g.words;
  const int64_t words = g.row_major && !g.lanes ? g.blocks * g.pixel_words : beats;
  return pixels * std::max(words, g.blocks * g.beats);
}

int64_t window_words(const LayerGeometry& g, int64_t first_row, int64_t rows) {
  const RowRange range = rows_read(g, first_row, rows);
  return (range.last - range.first) * g.input.columns * g.pixel_words;
}

int64_t window_steps(const LayerGeometry& g, int64_t first_row, int64_t rows) {
  const RowRange range = rows_read(g, first_row, rows);
  const LayerWindow& w = g.window;
  const int64_t bottom = (first_row + rows - 1) * w.stride_y - w.top + w.rows - 1 - range.first,
                right = (g.output.columns - 1) * w.stride_x - w.left + w.columns - 1;
  const int64_t last = (bottom * g.input.columns + right + 1) * g.pixel_words;
  return std::max(window_words(g, first_row, rows), last);
}

int64_t stored_weight_bits(const LayerGeometry& g, int weight_bits) {
  if (g.lanes) return g.blocks * g.shape.pi * g.window.rows * g.window.columns * weight_bits;
  return g.blocks * g.words * g.shape.pi * g.shape.po * weight_bits *
         (g.row_major ? g.window.rows * g.window.columns : 1);
}

Estimate Estimator::operator()(const Allocation& allocation) const {
  Estimate result;
  CycleEstimate cycles;
  if (allocation.streaming) {
    cycles = streaming_cycles(network_, allocation, port_);
    result.resources = bill_resources(streaming_bill(network_, facts_, allocation), family_);
  } else {
    const Plan plan = make_plan(network_, allocation);
    cycles = processor_cycles(network_, allocation, plan, port_);
    result.resources = bill_resources(processor_bill(network_, facts_, allocation, plan), family_);
  }
  result.latency_cycles = cycles.latency_cycles;
  result.interval_cycles = cycles.interval_cycles;
  result.layers = std::move(cycles.layers);
  result.multipliers = count_multipliers(network_, allocation);
  result.dram_bytes = dram_bytes(network_, allocation);
  return result;
}

Estimate estimate(const Network& network, const Allocation& allocation, synthesis::DeviceFamily family,
                  const MemoryPort& port) {
  return Estimator(network, family, port)(allocation);
}

}  // namespace tilewright::pipeline
