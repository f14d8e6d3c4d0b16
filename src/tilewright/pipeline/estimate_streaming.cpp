// Streaming: every stage as a recurrence over its output rows. A row starts when the row before is done and
// the first window's input rows are there, and ends not before its last input row has come; between the two
// it needs its beats. Buffers are taken as deep enough (docs/pipeline_fifos.md sizes them so).
#include <algorithm>
#include <cmath>

#include "tilewright/pipeline/component_latency.h"
#include "tilewright/pipeline/estimate_cycles.h"

namespace tilewright::pipeline {
namespace {

constexpr ComponentLatency kLatency;

// When each row of a tensor has left its writer.
struct RowTimes {
  std::vector<double> ends;
  double start = 0;  // of the first row
};

class StreamWalk {
 public:
  StreamWalk(const Network& network, const Allocation& frame, const MemoryPort& port,
             const std::vector<LayerGeometry>& geometries, const std::vector<StageTiming>& timings)
      : network_(network),
        frame_(frame),
        port_(port),
        geometries_(geometries),
        timings_(timings),
        times_(network.tensors.size()) {}

  StreamTimes run() {
    load();
    for (size_t i = 0; i < network_.layers.size(); ++i) stage(i);
    const double beats = store_beats();
    result_.interval_cycles = std::max(result_.interval_cycles, beats);
    result_.latency_cycles = times_[size_t(network_.output)].ends.back() +
                             std::min(beats, double(frame_.max_burst_beats)) +
                             double(port_.latency_cycles + kLatency.stop);
    return std::move(result_);
  }

 private:
  double port_elements(int tensor) const {
    return double(frame_.port_bytes * 8) / double(network_.tensors[size_t(tensor)].bits) /
           cycles_per_beat(frame_, port_);
  }

  // The input as it comes from the memory port; unrolled if the first layer wants it so.
  void load() {
    TensorShape shape = network_.tensors[size_t(network_.input)].shape;
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      if (network_.layers[i].input == network_.input) shape = geometries_[i].input;
    }
    RowTimes& times = times_[size_t(network_.input)];
    times.start = double(kLatency.start + port_.latency_cycles);
    const double row = double(shape.columns * shape.channels) / port_elements(network_.input);
    for (int64_t y = 1; y <= shape.rows; ++y) times.ends.push_back(times.start + double(y) * row);
    result_.interval_cycles = double(shape.rows) * row;
  }

  void stage(size_t i) {
    const Layer& layer = network_.layers[i];
    const LayerGeometry& g = geometries_[i];
    const StageTiming& timing = timings_[i];
    const RowTimes& source = times_[size_t(layer.input)];
    receive(timing, source);
    const double first_word = source.start + double(kLatency.width + kLatency.window);
    const double pixel_cycles = timing.row_cycles / double(g.output.columns);
    // Columns of the lowest input row that the first window of a row needs.
    const int64_t columns = std::clamp<int64_t>(g.window.columns - g.window.left, 1, g.input.columns);
    const double share = double(columns) / double(g.input.columns);
    RowTimes& out = times_[size_t(layer.output)];
    double end = 0;
    for (int64_t y = 0; y < g.output.rows; ++y) {
      const RowRange rows = rows_read(g, y, 1);
      double start = std::max(end, first_word), finished = 0;
      if (rows.last > rows.first) {
        const size_t last = size_t(rows.last - 1);
        const double before = last == 0 ? first_word : arrivals_[last - 1];
        start = std::max(start, before + share * (arrivals_[last] - before));
        finished = arrivals_[last] + double(kLatency.window) + pixel_cycles;
      }
      if (y == 0) out.start = start + timing.depth + timing.first_words;
      end = std::max(start + timing.row_cycles, finished);
      if (layer.add) {
        const double residual = times_[size_t(layer.add->tensor)].ends[size_t(y)];
        end = std::max(end, residual + pixel_cycles - timing.depth);
      }
      out.ends.push_back(end + timing.depth);
    }
    result_.ends.push_back(out.ends.back());
    result_.interval_cycles = std::max({result_.interval_cycles, double(g.output.rows) * timing.row_cycles,
                                        double(g.input.rows) * timing.input_row});
  }

  // When the rows of the input are in the stage's window memory: one word of pi channels per cycle.
  void receive(const StageTiming& timing, const RowTimes& source) {
    arrivals_.clear();
    double done = source.start + double(kLatency.width);
    for (const double end : source.ends) {
      done = std::max(done + timing.input_row, end + double(kLatency.width + kLatency.window));
      arrivals_.push_back(done);
    }
  }

  double store_beats() const {
    const NetworkTensor& output = network_.tensors[size_t(network_.output)];
    return std::ceil(double(output.shape.elements()) / port_elements(network_.output));
  }

  const Network& network_;
  const Allocation& frame_;
  const MemoryPort& port_;
  const std::vector<LayerGeometry>& geometries_;
  const std::vector<StageTiming>& timings_;
  std::vector<RowTimes> times_;  // by tensor
  std::vector<double> arrivals_;
  StreamTimes result_;
};

const char* bound(const LayerGeometry& g) {
  const int64_t words = g.input.rows * g.input.columns * g.pixel_words;
  if (words >= array_cycles(g, g.output.rows * g.output.columns)) return "input";
  return g.beats > g.words ? "finish" : "array";
}

}  // namespace

StageTiming stage_timing(const LayerGeometry& g) {
  return {double(array_cycles(g, g.output.columns)), double(g.words), double(g.input.columns * g.pixel_words),
          double(kLatency.array(g) + kLatency.finish)};
}

StreamTimes stream_times(const Network& network, const Allocation& frame, const MemoryPort& port,
                         const std::vector<LayerGeometry>& geometries,
                         const std::vector<StageTiming>& timings) {
  return StreamWalk(network, frame, port, geometries, timings).run();
}

CycleEstimate streaming_cycles(const Network& network, const Allocation& allocation, const MemoryPort& port) {
  std::vector<LayerGeometry> geometries;
  std::vector<StageTiming> timings;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    geometries.push_back(layer_geometry(network, allocation, i));
    timings.push_back(stage_timing(geometries.back()));
  }
  const StreamTimes times = stream_times(network, allocation, port, geometries, timings);
  CycleEstimate result;
  result.latency_cycles = std::llround(times.latency_cycles);
  result.interval_cycles = std::llround(times.interval_cycles);
  double latest = 0;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const LayerGeometry& g = geometries[i];
    LayerEstimate& layer = result.layers.emplace_back();
    layer.compute_cycles = array_cycles(g, g.output.rows * g.output.columns);
    layer.cycles = std::llround(std::max(0.0, times.ends[i] - latest));
    layer.bound = bound(g);
    latest = std::max(latest, times.ends[i]);
  }
  return result;
}

}  // namespace tilewright::pipeline
