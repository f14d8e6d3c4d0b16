// Strictly periodic schedules. Every stage works at the pace of the slowest one, so pixel n of an image
// begins at start + n * period. A stage's start is the least for which no window begins before its pixels are
// there; a buffer is as deep as the most that its writer has claimed and its reader not yet released, at any
// time of the schedule.
#include "tilewright/pipeline/fifo_sizing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component_latency.h"
#include "tilewright/pipeline/estimate_cycles.h"
#include "tilewright/pipeline/window_reach.h"

namespace tilewright::pipeline {
namespace {

constexpr double kTolerance = 1e-6;  // of times, which are sums of fractions of the interval

class Sizing {
 public:
  Sizing(const Network& network, const Allocation& allocation) : network_(network), allocation_(allocation) {
    TILEWRIGHT_CHECK(allocation.streaming, "only streaming designs have queues to size");
    for (size_t l = 0; l < network.layers.size(); ++l) {
      geometries_.push_back(layer_geometry(network, allocation, l));
      reaches_.emplace_back(geometries_[l], allocation.layers[l].stage.feeder);
    }
    find_interval();
    for (size_t l = 0; l < network.layers.size(); ++l) schedule(l);
  }

  StreamingSchedule schedules() const { return {interval_, stages_}; }

  int64_t input_depth(size_t l) const {
    const WindowReach& reach = reaches_[l];
    const StageSchedule& own = stages_[l];
    const int64_t held = most_held(network_.layers[l].input, own, own.service, reach.out_pixels(),
                                   [&](int64_t n) { return reach.released(n); });
    return beats(network_.layers[l].input, std::max<int64_t>(held - reach.capacity(), 0));
  }

  int64_t residual_depth(size_t l) const {
    const Layer& layer = network_.layers[l];
    if (!layer.add) return 0;
    const StageSchedule& own = stages_[l];
    const int64_t held = most_held(layer.add->tensor, own, own.last_beat, reaches_[l].out_pixels(),
                                   [](int64_t n) { return n + 1; });
    return beats(layer.add->tensor, held);
  }

 private:
  // What writes a tensor: a stage, or the memory port (the index behind the layers).
  struct Writer {
    StageSchedule schedule;
    int64_t pixels = 1;
    double pixel_beats = 1;  // in the stream that leaves it
  };

  void find_interval() {
    const NetworkTensor& in = network_.tensors[size_t(network_.input)];
    const NetworkTensor& out = network_.tensors[size_t(network_.output)];
    interval_ = std::max(port_beats(in), port_beats(out));
    for (size_t l = 0; l < geometries_.size(); ++l) {
      const LayerGeometry& g = geometries_[l];
      interval_ = std::max(
          {interval_, array_cycles(g, reaches_[l].out_pixels()), reaches_[l].in_pixels() * g.pixel_words});
    }
  }

  int64_t port_beats(const NetworkTensor& tensor) const {
    return ceil_div(tensor.shape.elements() * tensor.bits, allocation_.port_bytes * 8);
  }

  // The image as the first stage sees it.
  TensorShape input_shape() const {
    for (size_t l = 0; l < geometries_.size(); ++l) {
      if (network_.layers[l].input == network_.input && allocation_.layers[l].unroll) {
        return geometries_[l].input;
      }
    }
    return network_.tensors[size_t(network_.input)].shape;
  }

  Writer writer(int tensor) const {
    for (size_t l = 0; l < network_.layers.size(); ++l) {
      if (network_.layers[l].output != tensor) continue;
      const LayerGeometry& g = geometries_[l];
      return {stages_[l], reaches_[l].out_pixels(), double(g.output.channels) / double(g.shape.pf)};
    }
    const TensorShape shape = input_shape();
    const int64_t port = allocation_.port_bytes * 8 / network_.tensors[size_t(tensor)].bits;
    const int64_t elements = shape.elements() % port == 0 ? port : std::gcd(shape.elements(), port);
    Writer result;
    result.pixels = shape.rows * shape.columns;
    result.pixel_beats = double(shape.channels) / double(elements);
    result.schedule.period = double(interval_) / double(result.pixels);
    result.schedule.service = int64_t(std::ceil(double(shape.channels) / double(port)));
    result.schedule.last_beat = result.schedule.service + latency_.width;
    return result;
  }

  void schedule(size_t l) {
    const Layer& layer = network_.layers[l];
    const LayerGeometry& g = geometries_[l];
    const WindowReach& reach = reaches_[l];
    StageSchedule own;
    own.period = double(interval_) / double(reach.out_pixels());
    own.service = array_cycles(g, 1);
    const int64_t depth = latency_.window + latency_.array(g) + latency_.finish;
    own.first_beat = g.words + depth;
    own.last_beat = own.service + depth + g.beats;
    const Writer source = writer(layer.input);
    for (int64_t n = 0; n < reach.out_pixels(); ++n) {
      const int64_t pixels = reach.needed(n);
      if (pixels > 0) own.start = std::max(own.start, there(source, pixels - 1) - double(n) * own.period);
    }
    if (layer.add) {
      // The finish takes the pixel when its first sums arrive.
      own.start = std::max(own.start, there(writer(layer.add->tensor), 0) - double(own.first_beat));
    }
    stages_.push_back(own);
  }

  // When a pixel has arrived behind its writer, and the width of the stream was changed.
  double there(const Writer& source, int64_t pixel) const {
    return source.schedule.start + double(pixel) * source.schedule.period +
           double(source.schedule.last_beat + latency_.width);
  }

  // Pixels of `tensor` claimed by its writer and not released by a reader that is done with pixel n at
  // reader.start + n * period + after; the most over an image of the steady state.
  template <typename Released>
  int64_t most_held(int tensor, const StageSchedule& reader, int64_t after, int64_t reader_pixels,
                    Released&& released) const {
    const Writer source = writer(tensor);
    int64_t most = 0;
    for (int64_t k = 0; k < source.pixels; ++k) {
      const double claimed =
          source.schedule.start + double(k) * source.schedule.period + double(source.schedule.first_beat);
      const double done = (claimed - reader.start - double(after)) / reader.period;
      const int64_t n = int64_t(std::floor(done + kTolerance));
      // Pixels of earlier images count below zero.
      int64_t image = n / reader_pixels, m = n % reader_pixels;
      if (m < 0) {
        --image;
        m += reader_pixels;
      }
      most = std::max(most, k + 1 - (image * source.pixels + released(m)));
    }
    return most;
  }

  int64_t beats(int tensor, int64_t pixels) const {
    return int64_t(std::ceil(double(pixels) * writer(tensor).pixel_beats - kTolerance));
  }

  const Network& network_;
  const Allocation& allocation_;
  const ComponentLatency latency_;
  std::vector<LayerGeometry> geometries_;
  std::vector<WindowReach> reaches_;
  std::vector<StageSchedule> stages_;
  int64_t interval_ = 1;
};

}  // namespace

StreamingSchedule streaming_schedule(const Network& network, const Allocation& allocation) {
  return Sizing(network, allocation).schedules();
}

void size_fifos(const Network& network, Allocation& allocation) {
  const Sizing sizing(network, allocation);
  for (size_t l = 0; l < network.layers.size(); ++l) {
    allocation.layers[l].input_fifo = sizing.input_depth(l);
    allocation.layers[l].residual_fifo = sizing.residual_depth(l);
  }
}

}  // namespace tilewright::pipeline
