// One network quantised again and again at other widths: what its numbers lose at each.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/quantize/network_quantizer.h"
#include "tilewright/quantize/noise.h"
#include "tilewright/quantize/recipe_fitter.h"

namespace tilewright {

// Error over signal of a ratio in dB; errors of independent causes add up.
double noise_share(double decibels);

class BitTrials {
 public:
  enum class Measure {
    kOutputs,
    kScores,  // of outputs that a Softmax makes, what it reads: it hides errors of certain answers
  };
  // recipe.calibration must be one method. Of the samples' runs, up to `most_runs` are measured. Errors:
  // those of plan_quantization and calibrate.
  BitTrials(const Graph& float_graph, const std::vector<Tensor>& samples, const QuantizeOptions& recipe,
            int64_t most_runs, Measure measure = Measure::kOutputs);
  BitTrials(const BitTrials&) = delete;
  BitTrials& operator=(const BitTrials&) = delete;

  // False: nothing is quantised, and nothing below may be called but the last.
  bool has_values() const { return fitter_.has_values(); }
  const PreparedNetwork& network() { return fitter_.network(recipe_); }
  const QuantizeOptions& recipe() const { return recipe_; }
  // As the recipe has them.
  BitWidths widths() { return chosen_widths(network(), recipe_); }
  double mean_weight_bits(const BitWidths& widths) { return quantizer_->mean_weight_bits(widths); }
  // Of the outputs together, in dB; of the last value where the outputs are classes.
  double output_db(const BitWidths& widths) { return output_db(quantize(widths)); }
  double output_db(const Graph& quantized);
  std::string layer_name(size_t layer);
  // The first value of a group; empty: it has none.
  std::string group_name(size_t group);
  // told: of the graph, what was tried before left as it is.
  Graph quantize(const BitWidths& widths) { return quantizer_->quantize(widths); }
  Graph quantize(const BitWidths& widths, QuantizeReport& told);
  // What stands against fine_tune at any widths, as a sentence's second half; empty: nothing.
  std::string fine_tuning_problem();
  // The graph of the network trained at these widths; told: how it went. Errors: those of
  // quantize/finetune/fine_tune.h.
  Graph fine_tune(const BitWidths& widths, const std::vector<Tensor>& samples,
                  const std::vector<int64_t>& labels, const FineTuneOptions& options,
                  const Deadline* deadline, FineTuneResult& told);
  Graph quantize_by_recipe(QuantizeReport& told) { return fitter_.quantize(recipe_, told); }

 private:
  const QuantizeOptions recipe_;
  RecipeFitter fitter_;
  NoiseMeter meter_;
  std::optional<NetworkQuantizer> quantizer_;
  std::map<std::string, std::string> scores_;  // that are measured instead of outputs
};

}  // namespace tilewright
