// Every run fills a slot of its own, and slots are added in the order of the runs. Weights that the quantised
// graph dequantises in every run are dequantised once.
#include "tilewright/quantize/noise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tilewright/base/parallel.h"
#include "tilewright/tensor/tensor_parts.h"

namespace tilewright {
namespace {

constexpr int64_t kMostKnownNumbers = int64_t{1} << 26;

struct NoiseSums {
  double signal = 0, noise = 0, largest_error = 0, largest_magnitude = 0;
};

Graph with_dequantized_constants(Graph graph) {
  std::vector<bool> gone(graph.nodes.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!node.is("DequantizeLinear") || graph.is_output(node.outputs[0])) continue;
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(graph.constant_input(node, int(i)));
    if (std::find(inputs.begin(), inputs.end(), nullptr) != inputs.end()) continue;
    graph.value(node.outputs[0]).constant = evaluate(graph, node, inputs)[0];
    gone[n] = true;
  }
  graph.erase_nodes(gone);
  return graph;
}

// Channels are axis 1.
void divide_channels(std::vector<float>& numbers, const Shape& shape, const std::vector<float>& factors) {
  const auto inner = size_t(shape.count(2, shape.rank()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] /= factors[i / inner % factors.size()];
}

void add_differences(const std::vector<float>& exact, const std::vector<float>& actual, NoiseSums& sums) {
  for (size_t i = 0; i < exact.size() && i < actual.size(); ++i) {
    const double error = double(exact[i]) - actual[i];
    sums.signal += double(exact[i]) * exact[i];
    sums.noise += error * error;
    sums.largest_error = std::max(sums.largest_error, std::fabs(error));
    sums.largest_magnitude = std::max(sums.largest_magnitude, std::fabs(double(exact[i])));
  }
}

ValueNoise noise_of(const std::string& name, const std::vector<std::vector<NoiseSums>>& runs, size_t pair) {
  NoiseSums total;
  for (const std::vector<NoiseSums>& run : runs) {
    total.signal += run[pair].signal;
    total.noise += run[pair].noise;
    total.largest_error = std::max(total.largest_error, run[pair].largest_error);
    total.largest_magnitude = std::max(total.largest_magnitude, run[pair].largest_magnitude);
  }
  const double ratio = total.noise == 0 ? std::numeric_limits<double>::infinity()
                                        : 10 * std::log10(std::max(total.signal, 1e-300) / total.noise);
  return {name, ratio, total.largest_error, total.largest_magnitude};
}

}  // namespace

double median_db(const std::vector<ValueNoise>& noise) {
  std::vector<double> ratios;
  for (const ValueNoise& n : noise) {
    if (std::isfinite(n.sqnr_db) && !n.given) ratios.push_back(n.sqnr_db);
  }
  if (ratios.empty()) return noise.empty() ? 0 : std::numeric_limits<double>::infinity();
  std::sort(ratios.begin(), ratios.end());
  return ratios[ratios.size() / 2];
}

double least_db(const std::vector<ValueNoise>& noise) {
  double least = noise.empty() ? 0 : std::numeric_limits<double>::infinity();
  for (const ValueNoise& n : noise) least = std::min(least, n.sqnr_db);
  return least;
}

std::vector<Tensor> sample_runs(const Graph& graph, const std::vector<Tensor>& samples, int64_t first,
                                int64_t step, int64_t most) {
  const int64_t there = (SampleInputs(graph, samples).runs() - first + step - 1) / step;
  const int64_t count = std::min(there, most);
  std::vector<Tensor> result;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Shape& one = graph.value(graph.inputs[i]).shape;
    if (one.rank() == 0 || one[0] == 0) {
      result.push_back(samples[i]);
      continue;
    }
    Shape all = one;
    all[0] *= count;
    Tensor chosen(samples[i].type(), all);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t run = first + k * there / count * step;
      set_elements(chosen, k * one.element_count(),
                   elements_from(samples[i], run * one.element_count(), one));
    }
    result.push_back(std::move(chosen));
  }
  return result;
}

NoiseMeter::NoiseMeter(const Graph& float_graph, const std::vector<Tensor>& samples, int threads)
    : graph_(float_graph),
      inputs_(float_graph, samples),
      outer_(int(std::clamp<int64_t>(inputs_.runs(), 1, std::max(threads, 1)))),
      inner_(std::max(1, threads / outer_)),
      executor_(float_graph, HostOptions{inner_}),
      known_(size_t(inputs_.runs())) {}

std::vector<NoiseMeter::Pair> NoiseMeter::value_pairs(const Graph& qdq, const ChannelFactors& factors) const {
  std::map<std::string, ValueId> float_values;
  for (ValueId v = 0; v < ValueId(graph_.values.size()); ++v) {
    const std::string& name = graph_.value(v).name;
    float_values[factors.count(name) != 0 ? name + "_equalized" : name] = v;
  }
  // A dequantised activation stands for the float value that has its name, or that of the QuantizeLinear's
  // input.
  std::vector<Pair> pairs;
  const std::vector<NodeId> producers = qdq.producers();
  for (const Node& node : qdq.nodes) {
    if (!node.is("DequantizeLinear") || qdq.is_constant(node.input(0))) continue;
    const Node* from = &node;
    while (from && !from->is("QuantizeLinear")) {
      const NodeId id = from->input(0) == kNoValue ? kNoNode : producers[size_t(from->input(0))];
      from = id == kNoNode ? nullptr : &qdq.nodes[size_t(id)];
      if (from && !from->is("QuantizeLinear") && !from->is("Clip")) from = nullptr;
    }
    auto found = float_values.find(qdq.value(node.outputs[0]).name);
    if (found == float_values.end() && from) found = float_values.find(qdq.value(from->input(0)).name);
    if (found == float_values.end()) continue;
    if (graph_.value(found->second).shape != qdq.value(node.outputs[0]).shape) continue;
    const std::string& name = graph_.value(found->second).name;
    const auto divided = factors.find(name);
    pairs.push_back(
        {found->second, node.outputs[0], name, divided == factors.end() ? nullptr : &divided->second});
  }
  return pairs;
}

std::vector<NoiseMeter::Pair> NoiseMeter::output_pairs(const Graph& qdq) const {
  std::vector<Pair> pairs;
  for (ValueId v : graph_.outputs) {
    const Value& value = graph_.value(v);
    for (ValueId other : qdq.outputs) {
      if (qdq.value(other).name == value.name && qdq.value(other).shape == value.shape &&
          is_float(value.type))
        pairs.push_back({v, other, value.name, nullptr});
    }
  }
  return pairs;
}

std::shared_ptr<const NoiseMeter::Numbers> NoiseMeter::exact_numbers(int64_t run,
                                                                     const std::vector<Pair>& pairs) {
  std::shared_ptr<const Numbers>& known = known_[size_t(run)];
  const bool complete = known && std::all_of(pairs.begin(), pairs.end(),
                                             [&](const Pair& pair) { return known->count(pair.exact) != 0; });
  if (complete) return known;
  std::set<ValueId> wanted;
  int64_t numbers = 0;
  for (const Pair& pair : pairs) {
    if (wanted.insert(pair.exact).second) numbers += graph_.value(pair.exact).shape.element_count();
  }
  const auto found = std::make_shared<Numbers>();
  executor_.run(inputs_.inputs(run), [&](ValueId v, const Tensor& tensor) {
    if (wanted.count(v) != 0) (*found)[v] = tensor.to_floats();
  });
  if (numbers <= kMostKnownNumbers / inputs_.runs()) known = found;
  return found;
}

NetworkNoise NoiseMeter::measure(const Graph& qdq, const ChannelFactors& factors) {
  const Graph graph = with_dequantized_constants(qdq);
  std::vector<Pair> pairs = value_pairs(graph, factors);
  const size_t values = pairs.size();
  for (Pair& pair : output_pairs(graph)) pairs.push_back(std::move(pair));
  std::vector<std::vector<size_t>> pairs_of(graph.values.size());
  for (size_t p = 0; p < pairs.size(); ++p) pairs_of[size_t(pairs[p].actual)].push_back(p);

  const Executor executor(graph, HostOptions{inner_});
  std::vector<std::vector<NoiseSums>> slots(size_t(inputs_.runs()), std::vector<NoiseSums>(pairs.size()));
  parallel_for(outer_, inputs_.runs(), [&](int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run) {
      const std::shared_ptr<const Numbers> exact = exact_numbers(run, pairs);
      executor.run(inputs_.inputs(run), [&](ValueId v, const Tensor& tensor) {
        for (size_t p : pairs_of[size_t(v)]) {
          std::vector<float> actual = tensor.to_floats();
          if (pairs[p].factors != nullptr) divide_channels(actual, tensor.shape(), *pairs[p].factors);
          add_differences(exact->at(pairs[p].exact), actual, slots[size_t(run)][p]);
        }
      });
    }
  });
  NetworkNoise result;
  for (size_t p = 0; p < pairs.size(); ++p) {
    std::vector<ValueNoise>& list = p < values ? result.values : result.outputs;
    list.push_back(noise_of(pairs[p].name, slots, p));
    list.back().given = std::count(graph_.inputs.begin(), graph_.inputs.end(), pairs[p].exact) != 0;
  }
  return result;
}

std::vector<ValueNoise> measure_noise(const Graph& float_graph, const Graph& qdq,
                                      const std::vector<Tensor>& samples, const ChannelFactors& factors) {
  return NoiseMeter(float_graph, samples, 1).measure(qdq, factors).values;
}

}  // namespace tilewright
