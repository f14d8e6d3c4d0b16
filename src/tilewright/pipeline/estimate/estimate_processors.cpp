// Processors: the tasks of the plan one after another, each at the earliest time that its engine, its waits
// and its weights allow. Within an engine the reader runs ahead: the next task starts when the last beat of
// the one before has been issued, its results are complete a pipeline's depth later.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/design/component_latency.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/estimate/estimate_cycles.h"

namespace tilewright::pipeline {
namespace {

constexpr double kLeastPiece = 16;  // cycles: of ReadPort

// The weight ring: words come one after another from memory and leave block by block.
class WeightStream {
 public:
  // `cycles_per_word` without anything in the way; until `busy_end` the port also brings the input, which
  // leaves `share` of its time (share_port).
  WeightStream(double first, double cycles_per_word, int64_t capacity)
      : time_(first), cycles_per_word_(cycles_per_word), capacity_(capacity) {}

  double cycles_of(int64_t words) const { return double(words) * cycles_per_word_; }
  void share_port(double busy_end, double share) {
    busy_end_ = busy_end;
    share_ = share;
  }
  // When the last of the next `words` words is in the ring.
  double fetch(int64_t words) {
    fetched_ += words;
    while (next_free_ < frees_.size() && frees_[next_free_].words < fetched_ - capacity_) ++next_free_;
    if (fetched_ > capacity_ && next_free_ < frees_.size()) {
      // Only the part that found no room waits.
      const double late = frees_[next_free_].time;
      const double part = double(std::min(words, fetched_ - capacity_)) * cycles_per_word_;
      time_ =
          std::max(advance(time_, double(words) * cycles_per_word_), late + std::min(part, cycles_per_word_));
      return time_;
    }
    time_ = advance(time_, double(words) * cycles_per_word_);
    // What the whole ring does not hold comes while its own block is read.
    const int64_t released = frees_.empty() ? 0 : frees_.back().words;
    if (fetched_ - released > capacity_ && !frees_.empty()) {
      time_ =
          std::max(time_, frees_.back().time + double(fetched_ - released - capacity_) * cycles_per_word_);
    }
    return time_;
  }
  void release(int64_t words, double time) {
    const int64_t before = frees_.empty() ? 0 : frees_.back().words;
    frees_.push_back({before + words, time});
  }

 private:
  double advance(double from, double work) const {
    if (from >= busy_end_) return from + work;
    const double possible = (busy_end_ - from) * share_;
    return possible >= work ? from + work / share_ : busy_end_ + work - possible;
  }

  struct Free {
    int64_t words = 0;  // in total
    double time = 0;
  };
  double time_, cycles_per_word_;
  int64_t capacity_;
  double busy_end_ = 0, share_ = 1;
  int64_t fetched_ = 0;
  std::vector<Free> frees_;
  size_t next_free_ = 0;
};

// The read port of a tensor memory: one word per cycle, shared by all engines that work at the same time.
// Time is cut into pieces; a task takes what earlier tasks of the plan left of them.
class ReadPort {
 public:
  explicit ReadPort(double piece_cycles) : piece_(piece_cycles) {}

  // When `words` reads that begin at `start` and would alone be spread over `duration` are done.
  double reserve(double start, double words, double duration) {
    const double rate = duration <= 0 ? 1 : std::min(1.0, words / duration);
    double left = words, time = start;
    for (size_t piece = size_t(start / piece_); left > 1e-6; ++piece) {
      if (piece >= free_.size()) free_.resize(piece + 64, piece_);
      const double end = double(piece + 1) * piece_, own = rate * (end - time);
      const double taken = std::min({left, own, free_[piece]});
      free_[piece] -= taken;
      left -= taken;
      time = left > 1e-6 ? end : time + taken / rate;
    }
    return time;
  }

 private:
  double piece_;
  std::vector<double> free_;
};

class ProcessorWalk {
 public:
  ProcessorWalk(const Network& network, const Allocation& allocation, const Plan& plan,
                const MemoryPort& port)
      : network_(network),
        allocation_(allocation),
        plan_(plan),
        port_(port),
        first_data_(double(latency_.start + port.latency_cycles)),
        issued_(allocation.engines.size() + 1, 0.0),
        ends_(allocation.engines.size() + 1),
        weights_(weight_stream()) {
    double work_cycles = 0;
    for (size_t i = 0; i < network.layers.size(); ++i) {
      geometries_.push_back(layer_geometry(network, allocation, i));
      const LayerGeometry& g = geometries_.back();
      work_cycles += double(g.output.rows * g.output.columns * g.blocks * std::max(g.words, g.beats));
    }
    if (!allocation.weights_on_chip) share_port();
    // Some thousand pieces tell who was there first well enough.
    ports_.assign(plan.unit_words.size(), ReadPort(std::max(kLeastPiece, work_cycles / 4096)));
  }

  CycleEstimate run() {
    result_.layers.resize(network_.layers.size());
    issued_[0] = first_data_;
    for (const PlannedTask& task : plan_.tasks) {
      if (task.engine == PlannedTask::kLoader) {
        load(task);
      } else if (task.engine == PlannedTask::kStorer) {
        store(task);
      } else {
        work(task);
      }
    }
    result_.interval_cycles = result_.latency_cycles;
    return std::move(result_);
  }

 private:
  // Of one word through the memory port.
  double word_cycles() const {
    const double bytes = double(plan_.word_elements * plan_.element_bits) / 8;
    return bytes / double(allocation_.port_bytes) * cycles_per_beat(allocation_, port_);
  }
  // Of one of the `words` words of the image or the result on its way between port and tensor memory, `part`
  // elements at a time there.
  double border_cycles(int64_t words, int64_t part) const {
    const int64_t count = words * plan_.word_elements, beat = allocation_.port_bytes * 8 / plan_.element_bits;
    const int64_t framed = count % beat == 0 ? beat : std::gcd(count, beat);
    const std::vector<int64_t> path = resize_path(framed, part, plan_.element_bits, count);
    const int64_t narrowest = *std::min_element(path.begin(), path.end());
    return std::max({1.0, word_cycles(), double(plan_.word_elements) / double(narrowest)});
  }

  WeightStream weight_stream() const {
    double bits = 1;
    for (size_t e = 0; e < allocation_.engines.size(); ++e) {
      const EngineAllocation& engine = allocation_.engines[e];
      if (engine.lanes) continue;
      bits = double(engine.shape.pi * engine.shape.po * engine_weight_bits(network_, allocation_, int(e)));
    }
    const double beat = double(allocation_.port_bytes * allocation_.weight_channels * 8);
    return {first_data_, bits / beat * cycles_per_beat(allocation_, port_),
            std::max<int64_t>(1, allocation_.ring_words)};
  }

  // Of one word of the image, with nothing else on the port.
  double input_cycles() const {
    const int64_t part = part_elements(allocation_, plan_.word_elements, plan_.element_bits);
    return border_cycles(plan_.places[size_t(network_.input)].words, part);
  }

  // Image and weights take turns on channel 0, burst by burst, until the ring is full for the first time.
  void share_port() {
    int64_t words = 0;
    for (const LayerGeometry& g : geometries_) words += g.lanes ? 0 : g.blocks * g.words;
    const double alone = input_cycles(), used = std::min(0.5, word_cycles() / alone);
    const double filling =
        weights_.cycles_of(std::min(words, std::max<int64_t>(1, allocation_.ring_words))) / (1 - used);
    shared_cycles_ = std::max(alone, 2 * word_cycles());
    shared_until_ = first_data_ + filling;
    const double image = double(plan_.places[size_t(network_.input)].words);
    weights_.share_port(input_end(first_data_, image), 1 - used);
  }

  // When `words` more words of the image are there.
  double input_end(double begin, double words) const {
    const double shared = std::clamp((shared_until_ - begin) / shared_cycles_, 0.0, words);
    return begin + shared * shared_cycles_ + (words - shared) * input_cycles();
  }

  void load(const PlannedTask& task) {
    const TensorPlace& place = plan_.places[size_t(network_.input)];
    issued_[0] = input_end(issued_[0], double(task.rows * place.row_words));
    ends_[0].push_back(issued_[0] + double(latency_.width + latency_.writer));
  }

  void store(const PlannedTask& task) {
    const double start = ready(task.waits) + double(latency_.reader);
    const TensorPlace& place = plan_.places[size_t(network_.output)];
    const double words = double(place.words) * border_cycles(place.words, plan_.word_elements);
    const int64_t beats =
        ceil_div(place.words * plan_.word_elements * plan_.element_bits, allocation_.port_bytes * 8);
    // The port begins a burst when it has all of it.
    double end = 0;
    for (int64_t done = 0; done < beats;) {
      const int64_t burst = std::min(beats - done, allocation_.max_burst_beats);
      done += burst;
      end = std::max(end, words * double(done) / double(beats)) +
            double(burst) * cycles_per_beat(allocation_, port_);
    }
    result_.latency_cycles =
        int64_t(std::llround(start + end + double(port_.latency_cycles + latency_.width + latency_.stop)));
  }

  double ready(const std::vector<int64_t>& waits) const {
    double time = 0;
    for (size_t s = 0; s < waits.size(); ++s) {
      if (waits[s] > 0) time = std::max(time, ends_[s][size_t(waits[s] - 1)]);
    }
    return time;
  }

  // Beats of one output pixel and block: into the array, out of the finish, and through the memory port when
  // the residual lies beside the input.
  int64_t pixel_cycles(const LayerGeometry& g, const Layer& layer) const {
    int64_t reads = g.words;
    if (layer.add && plan_.places[size_t(layer.add->tensor)].unit == plan_.places[size_t(layer.input)].unit) {
      reads += g.lanes ? 1 : g.shape.po / g.shape.pi;
    }
    return std::max(reads, g.beats);
  }

  void work(const PlannedTask& task) {
    const size_t index = size_t(task.layer), source = size_t(task.engine + 1);
    const Layer& layer = network_.layers[index];
    const LayerGeometry& g = geometries_[index];
    // The last block's results follow its words; a memory's word made of several parts takes a cycle more.
    const double depth = double(g.array_latency + g.finish_latency + latency_.writer +
                                std::min(g.words, g.beats) + (g.shape.pf < g.shape.pi ? 1 : 0));
    const double waited = ready(task.waits);
    double start =
        std::max(issued_[source] + double(latency_.reader_gap), waited + double(latency_.reader_resumed));
    if (layer.add) {
      const double residual = ready(task.residual_waits) + double(latency_.reader + latency_.width);
      start = std::max(start, residual - double(g.array_latency + g.words));
    }
    const double stall_before = weight_stall_;
    const int64_t pixels = task.rows * g.output.columns;
    double end = 0;
    if (g.row_major) {
      const int64_t steps = window_steps(g, task.first_row, task.rows);
      end = start + double(std::max(steps, array_cycles(g, pixels)) + latency_.window);
    } else {
      end = blocks(task, g, start, double(pixels * pixel_cycles(g, layer)));
    }
    end = reads(task, g, start, end);
    issued_[source] = end;
    ends_[source].push_back(end + depth);
    account(task, g, start - waited, end - start, weight_stall_ - stall_before, end + depth);
  }

  // The end of a task with the reads of other engines from the same memories.
  double reads(const PlannedTask& task, const LayerGeometry& g, double start, double end) {
    const Layer& layer = network_.layers[size_t(task.layer)];
    const int64_t pixels = task.rows * g.output.columns;
    const int64_t words =
        g.row_major ? window_words(g, task.first_row, task.rows) : g.blocks * pixels * g.words;
    double last =
        ports_[size_t(plan_.places[size_t(layer.input)].unit)].reserve(start, double(words), end - start);
    if (layer.add) {
      const int64_t other = g.blocks * pixels * (g.lanes ? 1 : g.shape.po / g.shape.pi);
      const size_t unit = size_t(plan_.places[size_t(layer.add->tensor)].unit);
      last = std::max(last, ports_[unit].reserve(start, double(other), end - start));
    }
    return std::max(end, last);
  }

  // The passes over the pixels, one per block of output channels; returns when the last beat is issued.
  double blocks(const PlannedTask& task, const LayerGeometry& g, double start, double block_cycles) {
    const bool streamed = !allocation_.weights_on_chip && !g.lanes;
    if (!streamed) return start + double(g.blocks) * block_cycles;
    double time = start;
    for (int64_t block = 0; block < g.blocks; ++block) {
      if (task.first_row == 0) {
        const double first_pass = weights_.fetch(g.words) - double(g.words);
        weight_stall_ += std::max(0.0, first_pass - time);
        time = std::max(time, first_pass);
      }
      time += block_cycles;
      if (!task.hold) weights_.release(g.words, time);
    }
    return time;
  }

  void account(const PlannedTask& task, const LayerGeometry& g, double slack, double duration, double stall,
               double end) {
    LayerEstimate& estimate = result_.layers[size_t(task.layer)];
    estimate.compute_cycles += std::llround(duration - stall);
    estimate.weight_cycles += std::llround(stall);
    if (!allocation_.weights_on_chip && !g.lanes) {
      estimate.fetch_cycles = std::llround(weights_.cycles_of(g.blocks * g.words));
    }
    estimate.cycles += std::llround(std::max(0.0, end - latest_));
    latest_ = std::max(latest_, end);
    if (slack < double(latency_.reader_resumed) + 0.5 &&
        network_.layers[size_t(task.layer)].input == network_.input) {
      ++input_waits_;
    }
    const bool input = input_waits_ > 1;
    estimate.bound =
        4 * estimate.weight_cycles > estimate.compute_cycles ||
                estimate.fetch_cycles > estimate.compute_cycles
            ? "weights"
        : input && network_.layers[size_t(task.layer)].input == network_.input ? "input"
        : g.row_major && window_steps(g, 0, g.output.rows) > array_cycles(g, g.output.rows * g.output.columns)
            ? "window"
        : g.beats > g.words ? "finish"
                            : "array";
  }

  const Network& network_;
  const Allocation& allocation_;
  const Plan& plan_;
  const MemoryPort& port_;
  const ComponentLatency latency_;
  const double first_data_;
  std::vector<LayerGeometry> geometries_;
  std::vector<double> issued_;             // by source: when its reader is free
  std::vector<std::vector<double>> ends_;  // by source: when its tasks are complete
  WeightStream weights_;
  std::vector<ReadPort> ports_;                  // by unit
  double shared_until_ = 0, shared_cycles_ = 1;  // until then, of a word of the image
  double weight_stall_ = 0, latest_ = 0;
  int64_t input_waits_ = 0;
  CycleEstimate result_;
};

}  // namespace

CycleEstimate processor_cycles(const Network& network, const Allocation& allocation, const Plan& plan,
                               const MemoryPort& port) {
  return ProcessorWalk(network, allocation, plan, port).run();
}

}  // namespace tilewright::pipeline
