// Noise is counted as the sum over the outputs of error over signal, which adds up where errors of different
// layers are independent. Of the greedy order, a prefix is taken: as long as the mean needs it, or the
// longest that a bisection finds to reach the target when it is measured.
#include "tilewright/quantize/mixed_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tilewright/graph/inference/statistics.h"
#include "tilewright/quantize/bit_trials.h"

namespace tilewright {
namespace {

constexpr int64_t kMostSensitivityRuns = 8;
constexpr int kWideBits = 16;

void check_mixed(const QuantizeOptions& options, const MixedBits& bits) {
  Diagnostics problems;
  const auto wrong = [&](const std::string& message, const char* hint) {
    problems.error(ErrorKind::kInvalidInput, "mixed bits", "", message, hint);
  };
  if (options.scales == ScaleKind::kPowerOfTwo) {
    problems.error(ErrorKind::kUnsupported, "mixed bits", "",
                   "scales of powers of two constrain each other along the network", "use real scales");
  }
  for (int b : bits.weight_bits) {
    if (b < 2 || b > 8) wrong(fmt::format("weights of {} bits are not possible", b), "choose from 2 to 8");
  }
  if (bits.weight_bits.empty() || (bits.weight_bits.size() == 1 && !bits.wide_activations))
    wrong("there is nothing to choose between", "give two widths or more, for example 4 and 8");
  if (bits.target_db.has_value() == bits.mean_bits.has_value())
    wrong("there must be one bound", "give a target of the outputs' ratio or the mean bits of a weight");
  if (bits.mean_bits && !bits.weight_bits.empty() &&
      *bits.mean_bits < *std::min_element(bits.weight_bits.begin(), bits.weight_bits.end()))
    wrong(fmt::format("no mix of these widths has {:g} bits on average", *bits.mean_bits),
          "allow narrower weights or more bits");
  problems.raise_if_any();
}

class BitChooser {
 public:
  BitChooser(const Graph& float_graph, const std::vector<Tensor>& samples, const QuantizeOptions& recipe,
             const MixedBits& bits, MixedReport& report)
      : bits_(bits), report_(report), trials_(float_graph, samples, recipe, kMostSensitivityRuns) {
    widths_ = bits.weight_bits;
    std::sort(widths_.rbegin(), widths_.rend());
    widths_.erase(std::unique(widths_.begin(), widths_.end()), widths_.end());
  }

  Graph run(QuantizeReport& told) {
    if (!trials_.has_values()) return trials_.quantize_by_recipe(told);
    network_ = &trials_.network();
    chosen_ = trials_.widths();
    std::fill(chosen_.layers.begin(), chosen_.layers.end(), widths_[0]);
    report_.uniform_db = measured(chosen_);
    report_.reached = true;
    if (bits_.target_db && report_.uniform_db < *bits_.target_db) {
      widen();
    } else if (widths_.size() > 1) {
      narrow();
    }
    Graph graph = trials_.quantize(chosen_, told);
    finish();
    return graph;
  }

 private:
  struct Move {
    size_t index = 0;  // of a layer or group
    int bits = 8;
    double price = 0;  // smaller is earlier
  };

  double measured(const BitWidths& widths) { return trials_.output_db(widths); }
  int64_t weights(size_t layer) const { return network_->layers[layer].weights.size(); }
  double mean_bits(const BitWidths& widths) const {
    double bits = 0, count = 0;
    for (size_t i = 0; i < widths.layers.size(); ++i) {
      bits += double(weights(i)) * widths.layers[i];
      count += double(weights(i));
    }
    return count == 0 ? 0 : bits / count;
  }

  // The longest prefix of `moves` for which `enough` holds; it holds for none, and falls along the order.
  size_t longest(const std::vector<Move>& moves, const std::function<bool(size_t)>& enough) const {
    size_t least = 0, most = moves.size();
    while (least < most) {
      const size_t middle = (least + most + 1) / 2;
      if (enough(middle)) {
        least = middle;
      } else {
        most = middle - 1;
      }
    }
    return least;
  }

  BitWidths after(const std::vector<Move>& moves, size_t count, bool layers) const {
    BitWidths widths = chosen_;
    for (size_t i = 0; i < count; ++i)
      (layers ? widths.layers : widths.groups)[moves[i].index] = moves[i].bits;
    return widths;
  }

  // Weights, layer by layer.
  void narrow() {
    const double base = noise_share(report_.uniform_db);
    std::vector<std::vector<double>> added(network_->layers.size());
    for (size_t i = 0; i < added.size(); ++i) {
      MixedReport::Layer& told = report_.layers.emplace_back();
      for (size_t w = 1; w < widths_.size(); ++w) {
        BitWidths widths = chosen_;
        widths.layers[i] = widths_[w];
        told.alone_db.push_back(measured(widths));
        const double before = w == 1 ? 0 : added[i].back();
        added[i].push_back(std::max(noise_share(told.alone_db.back()) - base, before));
      }
    }
    const std::vector<Move> moves = order_of(added);
    size_t count = 0;
    if (bits_.mean_bits) {
      while (count < moves.size() && mean_bits(after(moves, count, true)) > *bits_.mean_bits) ++count;
      chosen_ = after(moves, count, true);
      return give_back({moves.begin(), moves.begin() + std::ptrdiff_t(count)});
    } else {
      count = longest(moves, [&](size_t n) { return measured(after(moves, n, true)) >= *bits_.target_db; });
    }
    chosen_ = after(moves, count, true);
  }

  // The last move may have saved more than the mean asks for: others are undone, the loudest first.
  void give_back(std::vector<Move> made) {
    const auto noise = [&](const Move& move) { return move.price * double(weights(move.index)); };
    std::stable_sort(made.begin(), made.end(),
                     [&](const Move& a, const Move& b) { return noise(a) > noise(b); });
    for (bool changed = true; changed;) {
      changed = false;
      for (const Move& move : made) {
        int& bits = chosen_.layers[move.index];
        if (bits != move.bits) continue;  // undone, or it went further down
        bits = *(std::find(widths_.begin(), widths_.end(), move.bits) - 1);
        changed = mean_bits(chosen_) <= *bits_.mean_bits;
        if (changed) break;
        bits = move.bits;
      }
    }
  }

  // Every time the layer whose next width adds least for each bit that it saves.
  std::vector<Move> order_of(const std::vector<std::vector<double>>& added) const {
    std::vector<Move> moves;
    std::vector<size_t> at(added.size(), 0);
    while (true) {
      std::optional<Move> best;
      for (size_t i = 0; i < added.size(); ++i) {
        if (at[i] + 1 >= widths_.size()) continue;
        const double more = added[i][at[i]] - (at[i] == 0 ? 0 : added[i][at[i] - 1]);
        const double saved = double(weights(i)) * (widths_[at[i]] - widths_[at[i] + 1]);
        const Move move{i, widths_[at[i] + 1], more / std::max(saved, 1.0)};
        if (!best || move.price < best->price) best = move;
      }
      if (!best) return moves;
      ++at[best->index];
      moves.push_back(*best);
    }
  }

  // Activations, group by group, as few as reach the target.
  void widen() {
    report_.reached = false;
    if (!bits_.wide_activations) return;
    const double base = noise_share(report_.uniform_db);
    const std::vector<double> work = reading_work();
    std::vector<Move> moves;
    std::vector<size_t> rows(chosen_.groups.size());  // of the report, by group
    for (size_t g = 0; g < chosen_.groups.size(); ++g) {
      if (network_->plan.narrow[g]) continue;
      BitWidths widths = chosen_;
      widths.groups[g] = kWideBits;
      const double alone = measured(widths);
      rows[g] = report_.activations.size();
      report_.activations.push_back({trials_.group_name(g), alone, false});
      moves.push_back({g, kWideBits, -(base - noise_share(alone)) / std::max(work[g], 1.0)});
    }
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Move& a, const Move& b) { return a.price < b.price; });
    const auto fails = [&](size_t n) { return measured(after(moves, n, false)) < *bits_.target_db; };
    const size_t count = std::min(longest(moves, fails) + 1, moves.size());
    chosen_ = after(moves, count, false);
    for (size_t i = 0; i < count; ++i) report_.activations[rows[moves[i].index]].wide = true;
  }

  // Multiply-accumulates of what reads each group.
  std::vector<double> reading_work() const {
    std::vector<double> work(chosen_.groups.size(), 0.0);
    for (const Node& node : network_->graph.nodes) {
      const int group = node.inputs.empty() ? -1 : network_->plan.group_of(node.input(0));
      if (group >= 0) work[size_t(group)] += double(multiply_accumulates(network_->graph, node));
    }
    return work;
  }

  void finish() {
    report_.layers.resize(network_->layers.size());
    for (size_t i = 0; i < report_.layers.size(); ++i) {
      report_.layers[i].node = trials_.layer_name(i);
      report_.layers[i].weights = weights(i);
      report_.layers[i].bits = chosen_.layers[i];
    }
    report_.output_db = measured(chosen_);
    report_.mean_bits = mean_bits(chosen_);
    report_.reached = !bits_.target_db || report_.output_db >= *bits_.target_db;
  }

  const MixedBits bits_;
  MixedReport& report_;
  BitTrials trials_;
  const PreparedNetwork* network_ = nullptr;
  std::vector<int> widths_;  // from the largest down
  BitWidths chosen_;
};

}  // namespace

Graph quantize_mixed(const Graph& float_graph, const std::vector<Tensor>& samples,
                     const QuantizeOptions& options, const MixedBits& bits, QuantizeReport* report,
                     MixedReport* mixed) {
  check_mixed(options, bits);
  const auto [least, most] = std::minmax_element(bits.weight_bits.begin(), bits.weight_bits.end());
  QuantizeOptions recipe = options;
  recipe.weight_bits = *least;
  QuantizeReport told;
  quantize(float_graph, samples, recipe, &told);
  recipe = told.recipe;
  recipe.weight_bits = *most;
  MixedReport ignored;
  Graph graph = BitChooser(float_graph, samples, recipe, bits, mixed != nullptr ? *mixed : ignored).run(told);
  if (report != nullptr) *report = std::move(told);
  return graph;
}

std::string to_string(const MixedReport& report) {
  std::string text = fmt::format("{:<32} {:>10} {:>5}  {}\n", "layer", "weights", "bits",
                                 "outputs, dB, with fewer bits here alone");
  for (const MixedReport::Layer& layer : report.layers) {
    text += fmt::format("{:<32} {:>10} {:>5}  {:.1f}\n", layer.node, layer.weights, layer.bits,
                        fmt::join(layer.alone_db, ", "));
  }
  for (const MixedReport::Activation& activation : report.activations) {
    if (activation.wide) text += fmt::format("'{}' has 16 bits\n", activation.value);
  }
  text += fmt::format("{:.2f} bits a weight on average, outputs {:.1f} dB (uniform bits: {:.1f} dB)\n",
                      report.mean_bits, report.output_db, report.uniform_db);
  if (!report.reached) text += "the target is not reached\n";
  return text;
}

}  // namespace tilewright
