// Bits chosen layer by layer: narrow weights where the outputs hardly notice, wide activations where they do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/quantize/quantizer.h"

namespace tilewright {

struct MixedBits {
  std::vector<int> weight_bits = {4, 8};  // that a layer may have, each 2..8
  bool wide_activations = false;          // activations may have 16 bits instead of options.activation_bits
  // One of the two: the least ratio of the outputs on the samples, or the most bits of a weight on average.
  std::optional<double> target_db, mean_bits;
};

struct MixedReport {
  struct Layer {
    std::string node;
    int64_t weights = 0;
    int bits = 8;
    // Of the outputs, with this layer alone at each of the widths but the largest, from the second largest
    // down.
    std::vector<double> alone_db;
  };
  struct Activation {
    std::string value;
    double alone_db = 0;  // with 16 bits here alone
    bool wide = false;
  };
  std::vector<Layer> layers;
  std::vector<Activation> activations;  // measured only if the target needs any of them
  double uniform_db = 0;                // of the outputs, all at the largest width
  double output_db = 0;                 // as chosen
  double mean_bits = 0;                 // of a weight
  bool reached = true;                  // the target
};

// The recipe is chosen with the least width in all layers, where corrections count most; then each layer
// alone is given fewer bits, which measures what that adds to the noise of the outputs, and bits are taken
// where the least is added for each bit saved. What is added is assumed to add up; how far that order is
// followed towards a target is measured, not assumed. A target beyond what the largest width reaches widens
// activations, where they lower the noise most for each multiply-accumulate that reads them, if that is
// allowed. Up to 8 runs of the samples are measured. `report` and `mixed` may be null. Errors (invalid
// input): no bound or both, widths out of range or fewer than two (unless activations may be wide), a mean
// below the least width; (unsupported) scales of powers of two; those of quantize.
Graph quantize_mixed(const Graph& float_graph, const std::vector<Tensor>& samples,
                     const QuantizeOptions& options, const MixedBits& bits, QuantizeReport* report = nullptr,
                     MixedReport* mixed = nullptr);

// A table of the layers with what they were given.
std::string to_string(const MixedReport& report);

}  // namespace tilewright
