// The expected error of a reader has two parts. Rounding its input, in steps of the largest channel range R
// over the number of levels, gives each of its results (R / levels)^2 / 12 times the sum of its squared
// weights; factors make those weights smaller. Rounding its weights, in steps of the largest over the highest
// integer, gives step^2 / 12 times the mean square of what each weight is multiplied with; factors raise
// that. With one scale for a whole tensor, the first layer's weights, which the factors multiply, are rounded
// in larger steps, too.
#include "tilewright/quantize/equalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tilewright/quantize/calibrate/layer_inputs.h"
#include "tilewright/quantize/integerize/integer_builder.h"

namespace tilewright {
namespace {

constexpr double kPowers[] = {0, 0.25, 0.5, 0.75, 1};
// Other samples may exceed what the calibration's reach in a channel.
constexpr double kMargin = 2;
// With fewer numbers a channel's range is not known, and factors let other samples saturate.
constexpr int64_t kFewestNumbers = 4096;
constexpr double kLargestFactor = 256;

struct Chain {
  const WeightedOperator* first = nullptr;
  std::vector<NodeId> readers;
  std::vector<ValueId> values;                             // that the factors multiply
  double bound = std::numeric_limits<double>::infinity();  // of the Clips
};

class ChainFinder {
 public:
  ChainFinder(const Graph& graph, const QuantizationPlan& plan) : graph_(graph), readers_(graph.consumers()) {
    for (const WeightedOperator& op : plan.weighted) weighted_.insert(op.node);
  }

  // No readers: the layer begins no chain.
  Chain from(const WeightedOperator& op) const {
    Chain chain{&op, {}, {}};
    const Node& node = graph_.nodes[size_t(op.node)];
    const bool fits = layer(op.node) && op.bias_addition == kNoNode &&
                      (!node.has_input(2) || graph_.constant_input(node, 2)->type() == ElementType::kF32);
    if (!fits || !follow(node.outputs[0], chain)) return {};
    return chain;
  }

 private:
  bool layer(NodeId id) const {
    const Node& node = graph_.nodes[size_t(id)];
    return node.is("Conv") && weighted_.count(id) != 0 && layer_matrix(graph_, node).depth > 0;
  }

  bool follow(ValueId v, Chain& chain) const {
    if (graph_.is_output(v) || readers_[size_t(v)].empty()) return false;
    chain.values.push_back(v);
    for (NodeId id : readers_[size_t(v)]) {
      const Node& node = graph_.nodes[size_t(id)];
      if (node.input(0) != v || std::count(node.inputs.begin(), node.inputs.end(), v) != 1) return false;
      if (layer(id)) {
        chain.readers.push_back(id);
        continue;
      }
      if (!commutes(node, chain) || !follow(node.outputs[0], chain)) return false;
    }
    return true;
  }

  bool commutes(const Node& node, Chain& chain) const {
    if (node.outputs.size() != 1) return false;
    if (const auto interval = clip_interval(graph_, node)) {
      if (interval->first != 0 || interval->second <= 0) return false;
      chain.bound = std::min(chain.bound, double(interval->second));
      return true;
    }
    if (node.is("PRelu")) return graph_.is_constant(node.input(1));
    for (const char* op : {"LeakyRelu", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"}) {
      if (node.is(op)) return true;
    }
    return false;
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>> readers_;
  std::set<NodeId> weighted_;
};

// Squares and the largest magnitude of a layer's weights, output by output and input channel by channel.
struct ChannelWeights {
  struct Entry {
    int64_t input = 0;  // channel
    double squares = 0, largest = 0;
  };
  int64_t taps = 1;
  std::vector<std::vector<Entry>> outputs;

  ChannelWeights(const Graph& graph, const Node& node) {
    const Tensor& weights = *graph.constant_input(node, 1);
    const LayerMatrix matrix = layer_matrix(graph, node);
    const int64_t inputs = weights.shape()[1];  // of a group
    taps = matrix.depth / std::max<int64_t>(inputs, 1);
    const float* number = weights.data<float>().data();
    for (int64_t o = 0; o < matrix.outputs; ++o) {
      outputs.emplace_back();
      for (int64_t i = 0; i < inputs; ++i) {
        Entry entry{matrix.group_of(o) * inputs + i};
        for (int64_t t = 0; t < taps; ++t, ++number) {
          entry.squares += double(*number) * double(*number);
          entry.largest = std::max(entry.largest, std::fabs(double(*number)));
        }
        outputs.back().push_back(entry);
      }
    }
  }
};

using Statistics = std::vector<ChannelStatistics>;

class Equalizer {
 public:
  Equalizer(Graph& graph, const EqualizeOptions& options) : graph_(graph), options_(options) {
    levels_ = double((1 << options.activation_bits) - 1);
    highest_ = double((1 << (options.weight_bits - 1)) - 1);
  }

  // middle: statistics of what the chain's readers read, before any pool; input: of what the first layer
  // reads. Returns the factors; empty: all are 1.
  std::vector<double> equalize(const Chain& chain, const Statistics& middle, const Statistics& input) {
    const Node& first = graph_.nodes[size_t(chain.first->node)];
    const ChannelWeights own(graph_, first);
    if (middle.size() != own.outputs.size() || input.empty() || middle[0].count < kFewestNumbers) return {};
    std::vector<ChannelWeights> readers;
    for (NodeId id : chain.readers) readers.emplace_back(graph_, graph_.nodes[size_t(id)]);
    std::vector<double> best;
    double least = std::numeric_limits<double>::infinity();
    for (const double power : kPowers) {
      const std::vector<double> factors = factors_of(chain, middle, power);
      const double error = expected_error(own, readers, middle, input, factors);
      if (error < least) least = error, best = factors;
    }
    if (std::all_of(best.begin(), best.end(), [](double f) { return f == 1; })) return {};
    multiply_outputs(graph_.nodes[size_t(chain.first->node)], best);
    for (NodeId id : chain.readers) divide_inputs(graph_.nodes[size_t(id)], best);
    return best;
  }

 private:
  static std::vector<double> factors_of(const Chain& chain, const Statistics& middle, double power) {
    double range = 0;
    for (const ChannelStatistics& channel : middle) range = std::max(range, channel.largest);
    range = std::min(range, chain.bound);
    std::vector<double> factors;
    for (const ChannelStatistics& channel : middle) {
      const double ratio = channel.largest > 0 ? range / (kMargin * channel.largest) : 1;
      // In single precision, as the report tells them.
      factors.push_back(double(float(std::clamp(std::pow(ratio, power), 1.0, kLargestFactor))));
    }
    return factors;
  }

  double expected_error(const ChannelWeights& own, const std::vector<ChannelWeights>& readers,
                        const Statistics& middle, const Statistics& input,
                        const std::vector<double>& factors) const {
    double range = 0;
    for (size_t c = 0; c < middle.size(); ++c) range = std::max(range, factors[c] * middle[c].largest);
    const double step = range / levels_;
    // Squared error of each channel that the readers read.
    std::vector<double> noise(middle.size(), step * step / 12);
    if (!options_.per_channel) {
      double largest = 0;
      for (size_t o = 0; o < factors.size(); ++o) {
        for (const auto& e : own.outputs[o]) largest = std::max(largest, e.largest * factors[o]);
      }
      for (size_t o = 0; o < factors.size(); ++o) {
        for (const auto& e : own.outputs[o]) {
          noise[o] +=
              std::pow(largest / highest_, 2) / 12 * input[size_t(e.input)].mean_square * double(own.taps);
        }
      }
    }
    double error = 0;
    for (const ChannelWeights& reader : readers) {
      double largest_of_all = 0;
      for (const auto& output : reader.outputs) {
        for (const auto& e : output)
          largest_of_all = std::max(largest_of_all, e.largest / factors[size_t(e.input)]);
      }
      for (const auto& output : reader.outputs) {
        // Of the weights that share a step, by the group of an entry's first weight.
        const auto group_of = [&](size_t entry) {
          return options_.weight_group > 0 ? entry * size_t(reader.taps) / size_t(options_.weight_group) : 0;
        };
        const bool whole = !options_.per_channel && options_.weight_group == 0;
        std::vector<double> largest(output.empty() ? 0 : group_of(output.size() - 1) + 1,
                                    whole ? largest_of_all : 0);
        for (size_t i = 0; i < output.size(); ++i) {
          double& own_largest = largest[group_of(i)];
          own_largest = std::max(own_largest, output[i].largest / factors[size_t(output[i].input)]);
        }
        for (size_t i = 0; i < output.size(); ++i) {
          const auto& e = output[i];
          const double f = factors[size_t(e.input)];
          const double weight_noise = std::pow(largest[group_of(i)] / highest_, 2) / 12 * double(reader.taps);
          error += noise[size_t(e.input)] * e.squares / (f * f) +
                   weight_noise * f * f * middle[size_t(e.input)].mean_square;
        }
      }
    }
    return error;
  }

  void multiply_outputs(Node& node, const std::vector<double>& factors) {
    for (int input : {1, 2}) {
      if (!node.has_input(input)) continue;
      Tensor scaled = *graph_.constant_input(node, input);
      const int64_t each = scaled.size() / int64_t(factors.size());
      const auto numbers = scaled.mutable_data<float>();
      for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = float(double(numbers[i]) * factors[i / size_t(std::max<int64_t>(each, 1))]);
      node.inputs[size_t(input)] = replace(node, input, std::move(scaled));
    }
  }

  void divide_inputs(Node& node, const std::vector<double>& factors) {
    Tensor scaled = *graph_.constant_input(node, 1);
    const LayerMatrix matrix = layer_matrix(graph_, node);
    const int64_t inputs = scaled.shape()[1], taps = matrix.depth / inputs;
    const auto numbers = scaled.mutable_data<float>();
    for (int64_t i = 0; i < scaled.size(); ++i) {
      const int64_t channel = matrix.group_of(i / matrix.depth) * inputs + i / taps % inputs;
      numbers[size_t(i)] = float(double(numbers[size_t(i)]) / factors[size_t(channel)]);
    }
    node.inputs[1] = replace(node, 1, std::move(scaled));
  }

  ValueId replace(const Node& node, int input, Tensor tensor) {
    return graph_.add_constant(graph_.value(node.input(input)).name + "_equalized", std::move(tensor));
  }

  Graph& graph_;
  const EqualizeOptions options_;
  double levels_ = 255, highest_ = 127;
};

}  // namespace

ChannelFactors equalize_channels(Graph& graph, const QuantizationPlan& plan,
                                 const std::vector<Tensor>& samples, const EqualizeOptions& options) {
  std::vector<Chain> chains;
  const ChainFinder finder(graph, plan);
  for (const WeightedOperator& op : plan.weighted) {
    Chain chain = finder.from(op);
    if (!chain.readers.empty()) chains.push_back(std::move(chain));
  }
  if (chains.empty()) return {};
  std::vector<ValueId> values;
  for (const Chain& chain : chains) {
    values.push_back(chain.first->output);
    values.push_back(graph.nodes[size_t(chain.first->node)].input(0));
  }
  std::vector<Statistics> statistics = channel_statistics(graph, samples, values, options.threads);
  ChannelFactors result;
  std::map<ValueId, std::vector<double>> known;  // factors of values that later chains read
  Equalizer equalizer(graph, options);
  for (size_t i = 0; i < chains.size(); ++i) {
    Statistics& input = statistics[2 * i + 1];
    const auto before = known.find(values[2 * i + 1]);
    for (size_t c = 0; before != known.end() && c < input.size(); ++c) {
      input[c].largest *= before->second[c];
      input[c].mean_square *= before->second[c] * before->second[c];
    }
    const std::vector<double> factors = equalizer.equalize(chains[i], statistics[2 * i], input);
    if (factors.empty()) continue;
    for (ValueId v : chains[i].values) {
      known[v] = factors;
      std::string& name = graph.value(v).name;
      result[name] = std::vector<float>(factors.begin(), factors.end());
      name += "_equalized";
    }
  }
  return result;
}

}  // namespace tilewright
