// Streaming: every stage as a recurrence over its output rows. A row starts when the row before is done and
// the first window's input rows are there, and ends not before its last input row has come; between the two
// it needs its beats. Buffers are taken as deep enough (docs/pipeline_fifos.md sizes them so).
#include <algorithm>
#include <cmath>

#include "tilewright/pipeline/component_latency.h"
#include "tilewright/pipeline/estimate_cycles.h"

namespace tilewright::pipeline {
namespace {

// When each row of a tensor has left its writer, and how many of its elements leave per cycle.
struct RowTimes {
  std::vector<double> ends;
  double start = 0;  // of the first row
  double elements_per_cycle = 1;
  double row_start(size_t row) const { return row == 0 ? start : ends[row - 1]; }
};

class StreamWalk {
 public:
  StreamWalk(const Network& network, const Allocation& allocation, const MemoryPort& port)
      : network_(network), allocation_(allocation), port_(port), times_(network.tensors.size()) {}

  CycleEstimate run() {
    load();
    double latest = times_[size_t(network_.input)].ends.back();
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      stage(i);
      const double end = times_[size_t(network_.layers[i].output)].ends.back();
      result_.layers[i].cycles = int64_t(std::llround(std::max(0.0, end - latest)));
      latest = std::max(latest, end);
    }
    const double beats = store_beats();
    interval_ = std::max(interval_, beats);
    const double last = times_[size_t(network_.output)].ends.back() +
                        std::min(beats, double(allocation_.max_burst_beats)) +
                        double(port_.latency_cycles + latency_.stop);
    result_.latency_cycles = int64_t(std::llround(last));
    result_.interval_cycles = int64_t(std::llround(interval_));
    return std::move(result_);
  }

 private:
  // The input as it comes from the memory port; unrolled if the first layer wants it so.
  void load() {
    result_.layers.resize(network_.layers.size());
    TensorShape shape = network_.tensors[size_t(network_.input)].shape;
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      if (allocation_.layers[i].unroll) shape = layer_geometry(network_, allocation_, i).input;
    }
    RowTimes& times = times_[size_t(network_.input)];
    times.elements_per_cycle = double(allocation_.port_bytes * 8) /
                               double(network_.tensors[size_t(network_.input)].bits) /
                               cycles_per_beat(allocation_, port_);
    times.start = double(latency_.start + port_.latency_cycles);
    const double row = double(shape.columns * shape.channels) / times.elements_per_cycle;
    for (int64_t y = 1; y <= shape.rows; ++y) times.ends.push_back(times.start + double(y) * row);
    interval_ = double(shape.rows) * row;
  }

  void stage(size_t i) {
    const Layer& layer = network_.layers[i];
    const LayerGeometry g = layer_geometry(network_, allocation_, i);
    const std::vector<double> arrivals = receive(g, times_[size_t(layer.input)]);
    const double first_word = times_[size_t(layer.input)].start + double(latency_.width + latency_.window);
    const int64_t pixels = g.output.rows * g.output.columns;
    const double row_cycles = double(array_cycles(g, g.output.columns));
    const double pixel_cycles = row_cycles / double(g.output.columns);
    const double depth = double(latency_.array(g) + latency_.finish);
    RowTimes& out = times_[size_t(layer.output)];
    out.elements_per_cycle = double(g.shape.pf);
    double end = 0;
    for (int64_t y = 0; y < g.output.rows; ++y) {
      const RowRange rows = rows_read(g, y, 1);
      double start = std::max(end, first_word), finished = 0;
      if (rows.last > rows.first) {
        const size_t last = size_t(rows.last - 1);
        const double row_first = last == 0 ? first_word : arrivals[last - 1];
        start = std::max(start, row_first + double(first_columns(g)) * (arrivals[last] - row_first) /
                                                double(g.input.columns));
        finished = arrivals[last] + double(latency_.window) + pixel_cycles;
      }
      if (y == 0) out.start = start + depth + double(g.words);
      end = std::max(start + row_cycles, finished);
      if (layer.add)
        end = std::max(end, times_[size_t(layer.add->tensor)].ends[size_t(y)] + pixel_cycles - depth);
      out.ends.push_back(end + depth);
    }
    LayerEstimate& estimate = result_.layers[i];
    estimate.compute_cycles = pixels * int64_t(pixel_cycles);
    const double words = double(g.input.rows * g.input.columns * g.pixel_words);
    const double longest = std::max(double(estimate.compute_cycles), words);
    estimate.bound = bound(g, words);
    interval_ = std::max(interval_, longest);
  }

  // Columns of the lowest input row that the first window of a row needs.
  static int64_t first_columns(const LayerGeometry& g) {
    return std::clamp<int64_t>(g.window.columns - g.window.left, 1, g.input.columns);
  }

  static const char* bound(const LayerGeometry& g, double words) {
    const double beats = double(g.output.rows * g.output.columns * g.blocks);
    if (words >= beats * double(std::max(g.words, g.beats))) return "input";
    return g.beats > g.words ? "finish" : "array";
  }

  // When the rows of the input are in the stage's window memory: one word of pi channels per cycle.
  std::vector<double> receive(const LayerGeometry& g, const RowTimes& source) const {
    const double row = double(g.input.columns * g.pixel_words);
    std::vector<double> arrivals;
    double done = source.start + double(latency_.width);
    for (const double end : source.ends) {
      done = std::max(done + row, end + double(latency_.width + latency_.window));
      arrivals.push_back(done);
    }
    return arrivals;
  }

  double store_beats() const {
    const NetworkTensor& output = network_.tensors[size_t(network_.output)];
    return std::ceil(double(output.shape.elements() * output.bits) / double(allocation_.port_bytes * 8)) *
           cycles_per_beat(allocation_, port_);
  }

  const Network& network_;
  const Allocation& allocation_;
  const MemoryPort& port_;
  const ComponentLatency latency_;
  std::vector<RowTimes> times_;  // by tensor
  double interval_ = 0;
  CycleEstimate result_;
};

}  // namespace

CycleEstimate streaming_cycles(const Network& network, const Allocation& allocation, const MemoryPort& port) {
  return StreamWalk(network, allocation, port).run();
}

}  // namespace tilewright::pipeline
