// Streaming: every stage as a recurrence over its output rows. A row starts when the row before is done and
// the first window's input rows are there, and ends not before its last input row has come; between the two
// it needs its beats. Buffers are taken as deep enough (docs/design/pipeline/pipeline_fifos.md sizes them
// so).
#include <algorithm>
#include <cmath>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/design/component_latency.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/design/streaming_design.h"
#include "tilewright/pipeline/estimate/estimate_cycles.h"
#include "tilewright/pipeline/estimate/image_pace.h"

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
    const double stored = store_cycles();
    const RowTimes& output = times_[size_t(network_.output)];
    result_.interval_cycles = std::max(result_.interval_cycles, stored);
    result_.latency_cycles = std::max(output.ends.back(), output.start + stored) + last_burst() +
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
    const double elements =
        std::min(port_elements(network_.input), double(stream_elements(network_, frame_, network_.input)));
    const double row = double(shape.columns * shape.channels) / elements;
    for (int64_t y = 1; y <= shape.rows; ++y) times.ends.push_back(times.start + double(y) * row);
    result_.interval_cycles = std::max(double(shape.rows) * row, framed(network_.input, shape.elements()));
  }

  void stage(size_t i) {
    const Layer& layer = network_.layers[i];
    const LayerGeometry& g = geometries_[i];
    const StageTiming& timing = timings_[i];
    const RowTimes& source = times_[size_t(layer.input)];
    receive(timing, source);
    const double first_word = source.start + double(kLatency.width + kLatency.window);
    const double pixels = double(g.output.columns), pixel = timing.row_cycles / pixels;
    // Columns of the lowest input row that the first and the last window of a row need.
    const double columns = double(g.input.columns);
    const auto share = [&](int64_t x) {
      const int64_t last = x * g.window.stride_x - g.window.left + g.window.columns;
      return double(std::clamp<int64_t>(last, 1, g.input.columns)) / columns;
    };
    const double first_share = share(0), last_share = share(g.output.columns - 1);
    const double held_up = held_up_row(i);
    RowTimes& out = times_[size_t(layer.output)];
    double end = 0;
    for (int64_t y = 0; y < g.output.rows; ++y) {
      const RowRange rows = rows_read(g, y, 1);
      const double start = std::max(end, first_word), before_end = end;
      double first_end = start + pixel, tail = 1;
      end = start + timing.row_cycles;
      if (rows.last > rows.first) {
        const size_t last = size_t(rows.last - 1);
        const double before = last == 0 ? first_word : arrivals_[last - 1], row = arrivals_[last] - before;
        // A window is read word by word: after its last word come the passes for the other channels.
        tail = std::max(1.0, timing.tail + 1 - timing.tail_share * row / columns);
        first_end = std::max(first_end, before + first_share * row + tail);
        end = std::max({end, first_end + timing.row_cycles - pixel, before + last_share * row + tail});
      }
      if (y > 0) end = std::max(end, before_end + held_up);
      if (y == 0) out.start = std::max(start + timing.first_words, first_end - tail + 1) + timing.depth;
      if (layer.add) {
        const double residual = times_[size_t(layer.add->tensor)].ends[size_t(y)];
        end = std::max(end, residual + pixel - timing.depth);
      }
      out.ends.push_back(end + timing.depth + timing.drain);
    }
    result_.ends.push_back(out.ends.back());
    result_.interval_cycles =
        std::max({result_.interval_cycles, timing.pace, double(g.output.rows) * held_up});
  }

  // A row-major feeder with a stride takes a row's words as its windows leave: what the next stage cannot
  // take as fast, and no queue holds, delays the rows without windows that follow. Cycles from row to row
  // then.
  double held_up_row(size_t i) const {
    const LayerGeometry& g = geometries_[i];
    if (!g.row_major || g.window.stride_y < 2) return 0;
    // Where each window is held for several passes, the words without windows cannot come meanwhile.
    double slowest = !g.lanes && g.blocks > 1 ? timings_[i].row_cycles : 0;
    for (size_t j = 0; j < network_.layers.size(); ++j) {
      if (network_.layers[j].input != network_.layers[i].output) continue;
      const int64_t beats = g.output.columns * g.output.channels / g.shape.pf;
      if (frame_.layers[j].input_fifo * 2 < beats) slowest = std::max(slowest, timings_[j].input_row);
    }
    return slowest == 0 ? 0 : slowest + double(g.window.stride_y - 1) * timings_[i].input_row;
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

  // Of an image's results, as they come and as the port takes them.
  double store_cycles() const {
    const NetworkTensor& output = network_.tensors[size_t(network_.output)];
    const int64_t beat = frame_.port_bytes * 8 / output.bits, count = output.shape.elements();
    const std::vector<int64_t> path =
        resize_path(stream_elements(network_, frame_, network_.output), beat, output.bits, count);
    const double elements =
        std::min(port_elements(network_.output), double(*std::min_element(path.begin(), path.end())));
    return std::max(std::ceil(double(count) / elements), framed(network_.output, count));
  }

  // The port begins a burst when it has all of it.
  double last_burst() const {
    const NetworkTensor& output = network_.tensors[size_t(network_.output)];
    const int64_t beat = frame_.port_bytes * 8 / output.bits;
    const int64_t beats = std::min(ceil_div(output.shape.elements(), beat), frame_.max_burst_beats);
    return std::ceil(double(beats) * cycles_per_beat(frame_, port_));
  }

  // Cycles between whole beats of the port and the elements of an image.
  double framed(int tensor, int64_t count) const {
    return double(border_frame(count, frame_.port_bytes * 8 / network_.tensors[size_t(tensor)].bits).cycles);
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

// The narrowest place on the way of a tensor to a stream of `elements`.
int64_t rate(const Network& network, const Allocation& allocation, int tensor, int64_t elements) {
  const NetworkTensor& t = network.tensors[size_t(tensor)];
  const std::vector<int64_t> path =
      resize_path(stream_elements(network, allocation, tensor), elements, t.bits, t.shape.elements());
  return *std::min_element(path.begin(), path.end());
}

const char* bound(const LayerGeometry& g) {
  const int64_t words = g.input.rows * g.input.columns * g.pixel_words;
  if (words >= array_cycles(g, g.output.rows * g.output.columns)) return "input";
  return g.beats > g.words ? "finish" : "array";
}

}  // namespace

StageTiming stage_timing(const LayerGeometry& g, int64_t input_elements, int64_t residual_elements) {
  StageTiming timing;
  timing.row_cycles = double(array_cycles(g, g.output.columns));
  timing.first_words = double(g.words);
  timing.input_row = double(g.input.columns * g.pixel_words);
  timing.depth = double(g.array_latency + g.finish_latency);
  timing.drain = double(std::min(g.words, g.beats) - 1);
  if (g.lanes) {
    timing.tail = double((g.blocks - 1) * std::max(g.words, g.beats));
    timing.tail_share = double(g.blocks - 1) / double(g.blocks);
  } else {
    timing.tail =
        std::max(0.0, timing.row_cycles / double(g.output.columns) - double(g.words * g.pixel_words) +
                          (g.row_major ? 0.0 : double(g.words * (g.pixel_words - 1))));
  }
  const auto slower = [](double& cycles, const TensorShape& shape, int64_t elements) {
    if (elements > 0) cycles = std::max(cycles, double(shape.columns * shape.channels) / double(elements));
  };
  if (g.row_major && !g.lanes && g.blocks > 1) {
    const double passes = double(g.output.columns * g.pixel_words * (g.blocks - 1));
    timing.row_cycles = std::max(timing.row_cycles, timing.input_row + passes);
  }
  slower(timing.input_row, g.input, input_elements);
  slower(timing.row_cycles, g.output, residual_elements);
  timing.pace = image_pace(g, timing);
  return timing;
}

int64_t input_rate(const Network& network, const Allocation& allocation, size_t layer) {
  return rate(network, allocation, network.layers[layer].input, allocation.layers[layer].stage.pi);
}

int64_t residual_rate(const Network& network, const Allocation& allocation, size_t layer) {
  if (!network.layers[layer].add) return 0;
  return rate(network, allocation, network.layers[layer].add->tensor, allocation.layers[layer].stage.pf);
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
    timings.push_back(stage_timing(geometries.back(), input_rate(network, allocation, i),
                                   residual_rate(network, allocation, i)));
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
