// Every run writes a slot of its own; the slots are put together in the order of the runs, so that sums and
// rows are the same for any number of threads. Places follow the golden ratio, which spreads any number of
// them evenly.
#include "tilewright/quantize/calibrate/layer_inputs.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tilewright/base/parallel.h"
#include "tilewright/graph/window.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/calibrate/calibration.h"

namespace tilewright {
namespace {

constexpr int64_t kMostRuns = 128;
constexpr int64_t kMostRows = 1024;
constexpr int64_t kMostNumbers = int64_t{1} << 26;
constexpr double kGoldenRatio = 0.6180339887498949;

// Runs drawn evenly from the samples; observe(slot, value, tensor) with slots 0..runs()-1.
class SpreadRuns {
 public:
  SpreadRuns(const Graph& graph, const std::vector<Tensor>& samples)
      : graph_(graph), inputs_(graph, samples), runs_(std::min(inputs_.runs(), kMostRuns)) {}
  int64_t runs() const { return runs_; }
  void run(int threads, const std::function<void(int64_t, ValueId, const Tensor&)>& observe) const {
    const int outer = int(std::clamp<int64_t>(runs_, 1, std::max(threads, 1)));
    const Executor executor(graph_, HostOptions{std::max(1, threads / outer)});
    parallel_for(outer, runs_, [&](int64_t begin, int64_t end) {
      for (int64_t slot = begin; slot < end; ++slot) {
        executor.run(inputs_.inputs(slot * inputs_.runs() / runs_),
                     [&](ValueId v, const Tensor& tensor) { observe(slot, v, tensor); });
      }
    });
  }

 private:
  const Graph& graph_;
  const SampleInputs inputs_;
  const int64_t runs_;
};

// Row number `place` (of all samples and outputs) that a convolution reads, groups in order.
void convolution_row(const Tensor& x, const Window& window, int64_t place, float* row) {
  const int64_t channels = x.shape()[1], pixels = x.shape().count(2, x.shape().rank());
  const int64_t outputs = window.output_elements();
  const float* sample = x.data<float>().data() + place / outputs * channels * pixels;
  const WindowAxis one;
  const WindowAxis& h = window.rank() == 2 ? window[0] : one;
  const WindowAxis& w = window.rank() == 2 ? window[1] : window[0];
  const int64_t y = place % outputs / w.output, z = place % outputs % w.output;
  for (int64_t c = 0; c < channels; ++c, sample += pixels) {
    for (int64_t i = 0; i < h.kernel; ++i) {
      for (int64_t j = 0; j < w.kernel; ++j) {
        const int64_t a = h.input_index(y, i), b = w.input_index(z, j);
        const bool inside = a >= 0 && a < h.input && b >= 0 && b < w.input;
        *row++ = inside ? sample[a * w.input + b] : 0.0f;
      }
    }
  }
}

struct SampledLayer {
  const Node* node = nullptr;
  LayerMatrix matrix;
  int64_t per_run = 0;  // rows
};

void sample_rows(const Graph& graph, const SampledLayer& layer, const Tensor& x, int64_t run, float* rows) {
  const int64_t width = layer.matrix.width();
  const bool convolution = layer.node->is("Conv");
  Window window;
  if (convolution)
    window = convolution_window(*layer.node, x.shape(), graph.constant_input(*layer.node, 1)->shape());
  const int64_t places = convolution ? x.shape()[0] * window.output_elements() : x.size() / width;
  for (int64_t r = 0; r < layer.per_run && places > 0; ++r) {
    const double spread = double(run * layer.per_run + r) * kGoldenRatio;
    const int64_t place = std::min(int64_t((spread - std::floor(spread)) * double(places)), places - 1);
    float* row = rows + r * width;
    if (convolution) {
      convolution_row(x, window, place, row);
    } else {
      std::copy_n(x.data<float>().data() + place * width, width, row);
    }
  }
}

}  // namespace

std::vector<std::vector<ChannelStatistics>> channel_statistics(const Graph& graph,
                                                               const std::vector<Tensor>& samples,
                                                               const std::vector<ValueId>& values,
                                                               int threads) {
  using Statistics = std::vector<std::vector<ChannelStatistics>>;
  const SpreadRuns runs(graph, samples);
  std::vector<std::vector<size_t>> index(graph.values.size());
  for (size_t i = 0; i < values.size(); ++i) index[size_t(values[i])].push_back(i);
  std::vector<Statistics> slots(size_t(runs.runs()), Statistics(values.size()));
  runs.run(threads, [&](int64_t slot, ValueId v, const Tensor& x) {
    if (index[size_t(v)].empty() || x.type() != ElementType::kF32 || x.shape().rank() < 2) return;
    const int64_t channels = x.shape()[1], inner = x.shape().count(2, x.shape().rank());
    std::vector<ChannelStatistics> found(static_cast<size_t>(channels));
    const float* number = x.data<float>().data();
    for (int64_t n = 0; n < x.shape()[0]; ++n) {
      for (ChannelStatistics& channel : found) {
        for (int64_t i = 0; i < inner; ++i, ++number) {
          channel.largest = std::max(channel.largest, std::fabs(double(*number)));
          channel.mean_square += double(*number) * double(*number);
        }
      }
    }
    const int64_t count = x.shape()[0] * inner;
    for (ChannelStatistics& channel : found) {
      channel.mean_square /= double(std::max<int64_t>(count, 1) * runs.runs());
      channel.count = count;
    }
    for (size_t i : index[size_t(v)]) slots[size_t(slot)][i] = found;
  });
  Statistics total(values.size());
  for (const Statistics& slot : slots) {
    for (size_t i = 0; i < total.size(); ++i) {
      total[i].resize(slot[i].size());
      for (size_t c = 0; c < slot[i].size(); ++c) {
        total[i][c].largest = std::max(total[i][c].largest, slot[i][c].largest);
        total[i][c].mean_square += slot[i][c].mean_square;
        total[i][c].count += slot[i][c].count;
      }
    }
  }
  return total;
}

LayerMatrix layer_matrix(const Graph& graph, const Node& node) {
  const Tensor* weights = graph.constant_input(node, 1);
  if (!weights || weights->type() != ElementType::kF32) return {};
  const Shape& shape = weights->shape();
  if (node.is("Conv") && (shape.rank() == 3 || shape.rank() == 4)) {
    const int64_t depth = shape.count(1, shape.rank());
    return {node.int_or("group", 1), shape[0], depth, depth, 1};
  }
  if (shape.rank() != 2 || node.int_or("transA", 0) != 0) return {};
  if (node.is("Gemm") && node.int_or("transB", 0) != 0) return {1, shape[0], shape[1], shape[1], 1};
  if (node.is("Gemm") || node.is("MatMul")) return {1, shape[1], shape[0], 1, shape[1]};
  return {};
}

std::vector<std::vector<float>> sample_layer_rows(const Graph& graph, const std::vector<Tensor>& samples,
                                                  const std::vector<NodeId>& nodes, int threads) {
  const SpreadRuns runs(graph, samples);
  std::vector<SampledLayer> layers;
  int64_t width = 0;
  for (NodeId id : nodes) {
    const Node& node = graph.nodes[size_t(id)];
    layers.push_back({&node, layer_matrix(graph, node)});
    width += layers.back().matrix.width();
  }
  const int64_t most = std::clamp(kMostNumbers / std::max<int64_t>(width, 1), int64_t{1}, kMostRows);
  std::vector<std::vector<size_t>> readers(graph.values.size());
  std::vector<std::vector<float>> rows(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    SampledLayer& layer = layers[i];
    if (layer.matrix.width() == 0) continue;
    layer.per_run = std::max<int64_t>(1, most / runs.runs());
    rows[i].resize(size_t(runs.runs() * layer.per_run * layer.matrix.width()));
    readers[size_t(layer.node->input(0))].push_back(i);
  }
  runs.run(threads, [&](int64_t slot, ValueId v, const Tensor& x) {
    if (x.type() != ElementType::kF32 || x.size() == 0) return;
    for (size_t i : readers[size_t(v)]) {
      const int64_t first = slot * layers[i].per_run * layers[i].matrix.width();
      sample_rows(graph, layers[i], x, slot, rows[i].data() + first);
    }
  });
  return rows;
}

}  // namespace tilewright
