// Strictly periodic schedules. Every stage works at the pace of the slowest one, so pixel n of an image
// begins at start + n * period. A stage's start is the least for which no window begins before its pixels are
// there; a buffer is as deep as the most that its writer has claimed and its reader not yet released, at any
// time of the schedule.
#include "tilewright/pipeline/simulate/fifo_sizing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/design/component_latency.h"
#include "tilewright/pipeline/design/streaming_design.h"
#include "tilewright/pipeline/estimate/estimate_cycles.h"
#include "tilewright/pipeline/estimate/window_reach.h"

namespace tilewright::pipeline {
namespace {

constexpr int64_t kLeastDepth = 2;
constexpr double kTolerance = 1e-6;  // of times, which are sums of fractions of the interval

class Sizing {
 public:
  Sizing(const Network& network, const Allocation& allocation, const Deadline* deadline)
      : network_(network), allocation_(allocation), watch_(deadline) {
    TILEWRIGHT_CHECK(allocation.streaming, "only streaming designs have queues to size");
    for (size_t l = 0; l < network.layers.size(); ++l) {
      geometries_.push_back(layer_geometry(network, allocation, l));
      reaches_.emplace_back(geometries_[l]);
    }
    find_interval();
    for (size_t l = 0; l < network.layers.size(); ++l) schedule_early(l);
    for (size_t l = network.layers.size(); l-- > 0;) delay(l);
  }

  StreamingSchedule schedules() const { return {interval_, stages_}; }

  int64_t input_depth(size_t l) const {
    const WindowReach& reach = reaches_[l];
    const StageSchedule& own = stages_[l];
    const int tensor = network_.layers[l].input;
    const Writer source = writer(tensor);
    const double held = most_held(source, own, own.service + latency_.window, reach,
                                  [&](int64_t n) { return reach.released(n); });
    const double free = double(reach.capacity()) * source.pixel_beats + double(kept(tensor, source));
    return queue_depth(held - free);
  }

  int64_t residual_depth(size_t l) const {
    const Layer& layer = network_.layers[l];
    if (!layer.add) return 0;
    const StageSchedule& own = stages_[l];
    const Writer source = writer(layer.add->tensor);
    const double held = most_held(source, own, own.last_sums(), reaches_[l], [](int64_t n) { return n + 1; });
    const double free = double(kept(layer.add->tensor, source));
    return std::max<int64_t>(queue_depth(held - free), kLeastDepth);
  }

 private:
  // What writes a tensor: a stage, or the memory port.
  struct Writer {
    bool stage = false;
    StageSchedule schedule;
    int64_t pixels = 1;
    double pixel_beats = 1, beat_channels = 1;  // in the stream that leaves it
  };

  // A queue of one beat passes one in every two cycles.
  static int64_t queue_depth(double beats) {
    const int64_t depth = int64_t(std::ceil(beats - kTolerance));
    return depth <= 0 ? 0 : std::max(depth, kLeastDepth);
  }

  // The finish of a writer with one reader keeps a block while its array works on the next.
  int64_t kept(int tensor, const Writer& source) const {
    return source.stage && network_.readers(tensor) == 1 ? source.schedule.block_beats : 0;
  }

  void find_interval() {
    const NetworkTensor& in = network_.tensors[size_t(network_.input)];
    const NetworkTensor& out = network_.tensors[size_t(network_.output)];
    interval_ = std::max(port_beats(in), port_beats(out));
    for (size_t l = 0; l < geometries_.size(); ++l) {
      const StageTiming timing = stage_timing(geometries_[l], input_path(network_, allocation_, l));
      interval_ = std::max(interval_, int64_t(timing.pace));
    }
  }

  int64_t port_beats(const NetworkTensor& tensor) const {
    return ceil_div(tensor.shape.elements() * tensor.bits, allocation_.port_bytes * 8);
  }

  Writer writer(int tensor) const {
    for (size_t l = 0; l < network_.layers.size(); ++l) {
      if (network_.layers[l].output != tensor) continue;
      const StageSchedule& stage = stages_[l];
      const int64_t beats = stage.blocks * stage.block_beats - geometries_[l].surplus_beats();
      return {true, stage, reaches_[l].out_pixels(), double(beats), double(geometries_[l].shape.pf)};
    }
    const TensorShape shape = border_shape(network_, allocation_, network_.input);
    const int64_t port = allocation_.port_bytes * 8 / network_.tensors[size_t(tensor)].bits;
    const int64_t elements = shape.elements() % port == 0 ? port : std::gcd(shape.elements(), port);
    Writer result;
    result.pixels = shape.rows * shape.columns;
    result.pixel_beats = double(shape.channels) / double(elements);
    result.beat_channels = double(elements);
    result.schedule.period = double(interval_) / double(result.pixels);
    result.schedule.service = ceil_div(shape.channels, elements);
    result.schedule.block_beats = result.schedule.service;
    result.schedule.block = 0;
    return result;
  }

  // As early as what it reads allows.
  void schedule_early(size_t l) {
    const LayerGeometry& g = geometries_[l];
    StageSchedule own;
    own.period = double(interval_) / double(reaches_[l].out_pixels());
    own.service = array_cycles(g, 1);
    own.depth = latency_.window + g.array_latency + g.finish_latency;
    own.finish = g.finish_latency;
    own.blocks = g.blocks;
    own.block = own.service / g.blocks;
    own.block_beats = g.beats;
    stages_.push_back(own);
    stages_.back().start = earliest(l);
  }

  double earliest(size_t l) const {
    const Layer& layer = network_.layers[l];
    const WindowReach& reach = reaches_[l];
    const StageSchedule& own = stages_[l];
    const Writer source = writer(layer.input);
    // From the begin of a pixel in its writer to the begin of a window that reads it first.
    double behind = 0;
    for (int64_t word = 0; word < geometries_[l].pixel_words; ++word) {
      behind = std::max(
          behind, double(arrival(source, (word + 1) * geometries_[l].shape.pi) - word * reach.word_step()));
    }
    double start = 0;
    std::vector<WindowReach::Need> needs;
    for (const int64_t n : reach.corners()) {
      reach.needs(n, needs);
      for (const WindowReach::Need& need : needs) {
        start = std::max(start, source.schedule.start + double(need.pixel) * source.schedule.period + behind -
                                    double(need.words_before) - double(n) * own.period);
      }
    }
    // The finish takes the other operand when the first sums arrive.
    if (layer.add) {
      const Writer other = writer(layer.add->tensor);
      start = std::max(start, other.schedule.start + double(other.schedule.last_beat() + latency_.width) -
                                  double(own.first_sums()));
    }
    return start;
  }

  // Cycles from the begin of a pixel to its first `channels` channels being in the memory of the next stage.
  int64_t arrival(const Writer& source, int64_t channels) const {
    const StageSchedule& from = source.schedule;
    const int64_t beats = int64_t(std::ceil(double(channels) / source.beat_channels - kTolerance));
    const int64_t block = (beats - 1) / from.block_beats, rest = beats - block * from.block_beats;
    return from.depth + (block + 1) * from.block + rest + latency_.width;
  }

  // Later, where nobody has to wait for it and the memory in front of it has room: what a side branch keeps
  // there needs no queue after it.
  void delay(size_t l) {
    const int tensor = network_.layers[l].output;
    if (tensor == network_.output) return;
    StageSchedule& own = stages_[l];
    double slack = double(interval_);
    for (size_t reader = l + 1; reader < stages_.size(); ++reader) {
      const Layer& layer = network_.layers[reader];
      if (layer.input == tensor || (layer.add && layer.add->tensor == tensor)) {
        slack = std::min(slack, room(l, reader));
      }
    }
    if (slack <= kTolerance) return;
    const double early = own.start;
    const int64_t input = input_depth(l), residual = residual_depth(l);
    double fits = 0, fails = slack;
    own.start = early + slack;
    if (input_depth(l) <= input && residual_depth(l) <= residual) return;
    while (fails - fits > 1) {
      const double middle = (fits + fails) / 2;
      own.start = early + middle;
      (input_depth(l) <= input && residual_depth(l) <= residual ? fits : fails) = middle;
    }
    own.start = early + fits;
  }

  // By how much stage l may be later for `reader` to keep its start.
  double room(size_t l, size_t reader) {
    const double before = stages_[l].start;
    stages_[l].start = before + double(interval_);
    const double pushed = earliest(reader);
    stages_[l].start = before;
    return double(interval_) - (pushed - stages_[reader].start);
  }

  // Beats of a tensor that its writer has claimed room for and a reader has not released, which is done with
  // pixel n at reader.start + n * period + after: the most over an image of the steady state, just before a
  // release. With a whole number of the writer's pixels per pixel of the reader that is linear between
  // corners.
  template <typename Released>
  double most_held(const Writer& source, const StageSchedule& reader, int64_t after, const WindowReach& reach,
                   Released&& released) const {
    double most = 0;
    const int64_t last = reach.out_pixels() - 1;
    const auto look = [&](int64_t n) {
      watch_.check();
      const double time = reader.start + double(n) * reader.period + double(after);
      const int64_t gone = n > 0 ? released(n - 1) : released(last) - source.pixels;
      most = std::max(most, (claimed(source.schedule, time) - double(gone)) * source.pixel_beats);
    };
    if (source.pixels % reach.out_pixels() == 0) {
      for (const int64_t n : reach.corners()) look(n);
    } else {
      for (int64_t n = 0; n <= last; ++n) look(n);
    }
    return most;
  }

  // Pixels, and parts of one, that a writer has claimed room for before `time`.
  static double claimed(const StageSchedule& from, double time) {
    const double since = time - from.start - double(from.depth) - kTolerance;
    const double pixel = std::floor(since / from.period);
    const double within = since - pixel * from.period;
    const double blocks = from.block == 0 ? double(from.blocks) : std::floor(within / double(from.block));
    return pixel + std::clamp(blocks / double(from.blocks), 0.0, 1.0);
  }

  const Network& network_;
  const Allocation& allocation_;
  const ComponentLatency latency_;
  mutable DeadlineWatch watch_;
  std::vector<LayerGeometry> geometries_;
  std::vector<WindowReach> reaches_;
  std::vector<StageSchedule> stages_;
  int64_t interval_ = 1;
};

}  // namespace

StreamingSchedule streaming_schedule(const Network& network, const Allocation& allocation) {
  return Sizing(network, allocation, nullptr).schedules();
}

void size_fifos(const Network& network, Allocation& allocation, const Deadline* deadline) {
  const Sizing sizing(network, allocation, deadline);
  for (size_t l = 0; l < network.layers.size(); ++l) {
    allocation.layers[l].input_fifo = sizing.input_depth(l);
    allocation.layers[l].residual_fifo = sizing.residual_depth(l);
  }
}

}  // namespace tilewright::pipeline
