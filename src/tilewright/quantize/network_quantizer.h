// One way to quantise a network: scales and integers of one method at chosen widths.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "tilewright/quantize/finetune/fine_tune.h"
#include "tilewright/quantize/prepared_network.h"
#include "tilewright/quantize/qdq_writer.h"
#include "tilewright/quantize/quantizer.h"

namespace tilewright {

struct BitWidths {
  std::vector<int> layers;  // of the weights, as network.layers
  std::vector<int> groups;  // of activations, by the plan's number of the group
};

// Those that `options` names. Errors (invalid input): a name in layer_bits or value_bits that the plan has
// not.
BitWidths chosen_widths(const PreparedNetwork& network, const QuantizeOptions& options);

// Remembers what it has fitted: another graph that differs in few widths costs little. Network and statistics
// must outlive it; options.calibration must be one method.
class NetworkQuantizer {
 public:
  NetworkQuantizer(const PreparedNetwork& network, const SampleStatistics& statistics,
                   const QuantizeOptions& options);
  // errors, if not null: of each layer that has rows (others: no signal), as network.layers.
  Graph quantize(const BitWidths& widths, std::vector<LayerErrors>* errors = nullptr);
  // What quantize() writes, as fine_tune takes it; and the graph of such a network, whose scales are raised
  // where hardware could not use them. Weights have no groups and scales are real.
  RoundedNetwork rounded(const BitWidths& widths);
  Graph write(const RoundedNetwork& network);
  // Of a weight on average, the factors of groups included.
  double mean_weight_bits(const BitWidths& widths) const;

 private:
  struct Fit {
    QuantizedLayer layer;
    LayerErrors errors;
  };

  bool power_of_two() const { return options_.scales == ScaleKind::kPowerOfTwo; }
  NumberForm weight_form(int bits) const { return {bits, true, power_of_two()}; }
  LayerMatrix matrix_of(size_t layer) const;
  // Whether the layer's weights have groups with factors.
  bool in_weight_groups(size_t layer, int bits) const;
  NumberForm group_form(int group, int bits) const;
  QuantizedGroup& group_of(ValueId v) { return groups_[size_t(network_.plan.group_of(v))]; }
  void select_groups(const BitWidths& widths);
  std::vector<double> weight_scales(size_t layer, int bits) const;
  void select_weights(const BitWidths& widths);
  void select_all(const BitWidths& widths);
  void order_scales();
  void limit_weight_scales();
  const Fit& known_fit(size_t layer, const BitWidths& widths);
  Fit fit(size_t layer, int bits);
  void fit_to_rows(size_t layer, const RoundingSteps& steps, Fit& fit);

  const PreparedNetwork& network_;
  const SampleStatistics& statistics_;
  const QuantizeOptions options_;
  std::vector<QuantizedGroup> groups_;
  std::vector<std::vector<double>> scales_;                             // of the layers' weights
  std::map<std::pair<int, int>, Quantization> known_groups_;            // by group and bits
  std::map<std::pair<size_t, int>, std::vector<double>> known_scales_;  // by layer and bits
  // By layer, its bits and those of its input's and output's groups.
  std::map<std::tuple<size_t, int, int, int>, Fit> known_fits_;
};

}  // namespace tilewright
