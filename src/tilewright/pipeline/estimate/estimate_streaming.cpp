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

// When each row of a tensor begins to leave its writer, and when it has left. Between two rows a writer may
// rest: one with a stride waits for the rows that it skips.
struct RowTimes {
  std::vector<double> starts, ends;
  double span = 1, longest_span = 1;  // from the first beat of a pixel to its last
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
    const double made = std::max(output.ends.back() + last_parts(), output.starts[0] + stored);
    const double written = std::max(made, last_full_burst(output)) + store_registers() + last_burst() +
                           double(port_.latency_cycles + kLatency.stored);
    // Rows that no window reads come in, too.
    const double read = times_[size_t(network_.input)].ends.back() + double(kLatency.unread);
    result_.latency_cycles = std::max(written, read);
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
    const double begin =
        double(kLatency.start + port_.latency_cycles + border(network_.input, shape.elements()).registers);
    const double elements = double(stream_elements(network_, frame_, network_.input));
    times.span = times.longest_span = double(shape.channels) / elements;
    double end = 0;
    for (int64_t y = 1; y <= shape.rows; ++y) {
      const double count = double(y * shape.columns * shape.channels);
      times.starts.push_back(begin + end);
      end = std::max(count / elements, read_cycles(count));
      times.ends.push_back(begin + end);
    }
    result_.interval_cycles = std::max({end, double(shape.elements()) / port_elements(network_.input),
                                        double(border(network_.input, shape.elements()).cycles)});
  }

  // Of so many elements of the input, with the pauses between bursts.
  double read_cycles(double count) const {
    const double cycles = cycles_per_beat(frame_, port_), burst = double(frame_.max_burst_beats);
    const double beats = std::ceil(count / (port_elements(network_.input) * cycles));
    return beats + burst * (cycles - 1) * std::floor((beats - 1) / burst);
  }

  void stage(size_t i) {
    const Layer& layer = network_.layers[i];
    const LayerGeometry& g = geometries_[i];
    const StageTiming& timing = timings_[i];
    const RowTimes& source = times_[size_t(layer.input)];
    receive(timing, source);
    const double first_word = arrival_begins(i, 0);
    const double pixels = double(g.output.columns), pixel = timing.row_cycles / pixels;
    // Columns of the lowest input row that the first and the last window of a row need.
    const double columns = double(g.input.columns);
    const double group = std::max(1.0, timing.gathered / double(g.input.channels));  // pixels
    const auto column = [&](int64_t x) {
      const int64_t last = x * g.window.stride_x - g.window.left + g.window.columns;
      return std::min(columns, std::ceil(double(std::max<int64_t>(last, 1)) / group) * group);
    };
    const double first_column = column(0), last_column = column(g.output.columns - 1);
    const double held_up = held_up_row(i);
    // A pixel's words come as its writer gives them, but not faster than they are taken.
    const double taken = timing.input_row / columns, span = std::max(source.span, taken);
    const double word_by_word = timing.tail_share * std::max(source.longest_span, taken);
    RowTimes& out = times_[size_t(layer.output)];
    out.span = std::max(timing.span, timing.tail_share * span);
    out.longest_span = std::max(timing.longest_span, word_by_word + 1);
    double end = 0;
    for (int64_t y = 0; y < g.output.rows; ++y) {
      const RowRange rows = rows_read(g, y, 1);
      const double start = std::max(end, first_word), before_end = end;
      double first_block = start + timing.first_words;  // of the first pixel
      end = start + timing.row_cycles;
      if (rows.last > rows.first) {
        const size_t last = size_t(rows.last - 1);
        const double before = last == 0 ? first_word : std::max(arrivals_[last - 1], arrival_begins(i, last));
        const double row = arrivals_[last] - before;
        // The first pixel takes its words' time, what is between them is spread over the others.
        const double own = std::min(row, 1 + span * (1 - timing.first_share));
        const double apart = columns > 1 ? (row - own) / (columns - 1) : 0;
        // A sliding window steps over the rows of padding below the image.
        const int64_t below = y * g.window.stride_y - g.window.top + g.window.rows - g.input.rows;
        const double steps =
            g.row_major ? double(std::max<int64_t>(0, below) * g.input.columns * g.pixel_words) : 0;
        const auto arrived = [&](double pixels_in) { return before + own + (pixels_in - 1) * apart + steps; };
        // After a window's last word come the passes for the other channels.
        const double tail = std::max(0.0, timing.tail - word_by_word);
        first_block = std::max(first_block, arrived(first_column) - word_by_word);
        end = std::max(
            {end, arrived(first_column) + tail + timing.row_cycles - pixel, arrived(last_column) + tail});
      }
      if (y > 0) end = std::max(end, before_end + held_up);
      out.starts.push_back(first_block - 1 + timing.depth);
      if (layer.add) {
        const RowTimes& other = times_[size_t(layer.add->tensor)];
        end = std::max(end, other.ends[size_t(y)] + timing.other_entry - timing.drain);
        out.starts.back() =
            std::max(out.starts.back(), other.starts[size_t(y)] + timing.other_entry + timing.depth);
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

  // When the first word of a row of the input is there, which may be several beats of its writer.
  double arrival_begins(size_t i, size_t row) const {
    const int tensor = network_.layers[i].input;
    const RowTimes& source = times_[size_t(tensor)];
    const TensorShape& shape = geometries_[i].input;
    const double beats =
        double(shape.columns * shape.channels) / double(stream_elements(network_, frame_, tensor));
    const double start = source.starts[row];
    const double apart = beats > 1 ? (source.ends[row] - 1 - start) / (beats - 1) : 0;
    return start + timings_[i].entry + (timings_[i].first_beats - 1) * std::max(apart, 0.0);
  }

  // When the rows of the input are in the stage's window memory: one word of pi channels per cycle.
  void receive(const StageTiming& timing, const RowTimes& source) {
    arrivals_.clear();
    double done = source.starts[0] + timing.entry - double(kLatency.window);
    for (const double end : source.ends) {
      done = std::max(done + timing.input_row, end + timing.entry + timing.last_words);
      arrivals_.push_back(done);
    }
  }

  // Widths of the results' streams from the last stage to its frame, or to the port.
  std::vector<int64_t> store_path() const {
    const NetworkTensor& output = network_.tensors[size_t(network_.output)];
    const int64_t count = output.shape.elements();
    return resize_path(stream_elements(network_, frame_, network_.output),
                       border(network_.output, count).step, output.bits, count);
  }

  // Of an image's results, as they come and as the port takes them.
  double store_cycles() const {
    const int64_t count = network_.tensors[size_t(network_.output)].shape.elements();
    const std::vector<int64_t> path = store_path();
    const double elements =
        std::min(port_elements(network_.output), double(*std::min_element(path.begin(), path.end())));
    return std::max(std::ceil(double(count) / elements), double(border(network_.output, count).cycles));
  }

  // After the last beat of an image: it is cut, and the port's last beat filled.
  double last_parts() const {
    const int64_t count = network_.tensors[size_t(network_.output)].shape.elements();
    const std::vector<int64_t> path = store_path();
    const auto widest = std::max_element(path.begin(), path.end());
    const int64_t narrowest = *std::min_element(widest, path.end());
    return double(*widest / narrowest - 1 + border(network_.output, count).padding);
  }

  double store_registers() const {
    const int64_t count = network_.tensors[size_t(network_.output)].shape.elements();
    return double(std::ssize(store_path()) - 1 + border(network_.output, count).registers);
  }

  // The port begins a burst when it has all of it. Beats of the last one.
  double last_burst() const {
    const NetworkTensor& output = network_.tensors[size_t(network_.output)];
    const int64_t beats = ceil_div(output.shape.elements(), port_beat());
    return double((beats - 1) % frame_.max_burst_beats + 1);
  }

  // When the burst before the last one is written, if there is one: all of it after its last beat has come.
  double last_full_burst(const RowTimes& times) const {
    const TensorShape& shape = network_.tensors[size_t(network_.output)].shape;
    const double rest = last_burst() * double(port_beat());
    if (rest >= double(shape.elements())) return 0;
    const double elements = double(shape.columns * shape.channels), rows = std::floor(rest / elements);
    const size_t row = size_t(shape.rows - 1) - size_t(rows);
    const double begin = row == 0 ? times.starts[0] : times.ends[row - 1];
    const double share = 1 - (rest - rows * elements) / elements;
    const double made = begin + share * (times.ends[row] - begin);
    const double taken = times.starts[0] + store_cycles() * (1 - rest / double(shape.elements()));
    return std::max(made, taken) + double(frame_.max_burst_beats);
  }

  // Elements of the output in a beat of the port.
  int64_t port_beat() const { return frame_.port_bytes * 8 / network_.tensors[size_t(network_.output)].bits; }

  BorderFrame border(int tensor, int64_t count) const {
    return border_frame(count, frame_.port_bytes * 8 / network_.tensors[size_t(tensor)].bits);
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

StreamPath path(const Network& network, const Allocation& allocation, int tensor, int64_t elements,
                int64_t queue) {
  const std::vector<int64_t> widths =
      resize_path(stream_elements(network, allocation, tensor), elements,
                  network.tensors[size_t(tensor)].bits, border_shape(network, allocation, tensor).elements());
  StreamPath result{*std::min_element(widths.begin(), widths.end()), std::ssize(widths) - 1};
  const int64_t middle = widths[widths.size() / 2];
  result.gathered = std::max(middle, elements);
  result.first_beats = ceil_div(result.gathered, widths[0]);
  result.last_words =
      std::max(middle, widths[0]) / elements - (std::max(middle, widths[0]) >= elements ? 1 : 0);
  result.steps += (queue > 0 ? 1 : 0) + (network.readers(tensor) > 1 ? 1 : 0);
  return result;
}

const char* bound(const LayerGeometry& g) {
  const int64_t words = g.input.rows * g.input.columns * g.pixel_words;
  if (words >= array_cycles(g, g.output.rows * g.output.columns)) return "input";
  return g.beats > g.words ? "finish" : "array";
}

}  // namespace

StageTiming stage_timing(const LayerGeometry& g, const StreamPath& input, const StreamPath& residual) {
  StageTiming timing;
  timing.row_cycles = double(array_cycles(g, g.output.columns));
  timing.first_words = double(g.words);
  timing.input_row = double(g.input.columns * g.pixel_words);
  timing.entry = double(input.steps + (g.direct ? 0 : kLatency.window));
  timing.first_beats = double(input.first_beats);
  timing.gathered = double(input.gathered);
  if (input.elements > 0) timing.first_share = std::min(1.0, timing.gathered / double(g.input.channels));
  timing.last_words = double(input.last_words);
  timing.other_entry = double(residual.steps - g.array_latency);
  timing.depth = double(g.array_latency + g.finish_latency);
  timing.drain = double(std::min(g.words, g.beats) - 1);
  timing.span = timing.longest_span = double((g.blocks - 1) * std::max(g.words, g.beats) + g.beats);
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
  slower(timing.input_row, g.input, input.elements);
  if (g.row_major && !g.lanes && g.blocks > 1) {
    timing.row_cycles = std::max(timing.row_cycles, sliding_row(g, timing.input_row));
  }
  slower(timing.row_cycles, g.output, residual.elements);
  timing.pace = image_pace(g, timing);
  return timing;
}

StreamPath input_path(const Network& network, const Allocation& allocation, size_t layer) {
  const LayerAllocation& own = allocation.layers[layer];
  return path(network, allocation, network.layers[layer].input, own.stage.pi, own.input_fifo);
}

StreamPath residual_path(const Network& network, const Allocation& allocation, size_t layer) {
  if (!network.layers[layer].add) return {};
  const LayerAllocation& own = allocation.layers[layer];
  return path(network, allocation, network.layers[layer].add->tensor, own.stage.pf, own.residual_fifo);
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
    timings.push_back(stage_timing(geometries.back(), input_path(network, allocation, i),
                                   residual_path(network, allocation, i)));
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
