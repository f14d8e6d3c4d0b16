// Where a compiled model leaves its float model, tensor by tensor, and why.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/flow/model/answer.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/run/bundle.h"
#include "tilewright/flow/samples/sample_request.h"

namespace tilewright {

enum class DivergenceCause {
  kNone,
  kRange,     // values that the quantisation cannot represent cause most of the error
  kLayout,    // the right values are in the wrong places
  kRounding,  // everything else: too coarse steps, errors carried on from earlier tensors
};
const char* name(DivergenceCause cause);

struct TensorComparison {
  std::string integer, source;     // value names in the bundle and in the float model
  double sqnr_db = 0;              // 10 log10(sum x^2 / sum (x - x')^2); infinite without error
  double largest_error_steps = 0;  // in quantisation steps
  double saturated_share = 0;      // of elements whose float value cannot be represented
  DivergenceCause cause = DivergenceCause::kNone;
  // Of the error's squares: of elements that cannot be represented, and what rounding the others to this
  // tensor's own steps makes of evenly spread numbers (at most 1). The rest came with what it is computed
  // from.
  double range_share = 0, step_share = 0;
};

// Compares `expected` float values with the integers that represent them. The cause is set when the
// signal-to-noise ratio is below `threshold_db`.
TensorComparison compare_tensors(const Tensor& expected, const Tensor& integers,
                                 const IntegerMeaning& meaning, double threshold_db);

struct ModelComparison {
  std::vector<TensorComparison> tensors;  // in graph order
  // Index of the first one with a cause; -1: none.
  int first_divergence = -1;
  // Index of the first one that loses most against the tensors it is made from; -1: none loses.
  int largest_loss = -1;
  double loss_db = 0;
  // Values that cross between host and overlay where simulator and integer reference differ: must be empty.
  std::vector<std::string> engine_faults;
  int64_t samples = 1;   // that were given; the first one is compared
  Answer preprocessing;  // of a picture or a sound; empty: the input is none
};

// Runs the float model, the integer reference and the functional engine on one input each. Errors (invalid
// input): the models have other inputs; no value of the bundle is known in the float model.
ModelComparison compare_models(const Graph& float_model, const Bundle& bundle,
                               const std::vector<Tensor>& inputs, double threshold_db = 20);
// The same for a graph of transform/optimize, and the first of the samples.
ModelComparison compare_samples(const Graph& float_model, const Bundle& bundle, const SampleRequest& input,
                                double threshold_db = 20);
// The same for a model file and the bundle in a file.
ModelComparison compare_files(const ModelFile& float_model, const std::filesystem::path& bundle,
                              const SampleRequest& input, double threshold_db = 20);
std::string to_string(const ModelComparison& comparison);
std::string to_json(const ModelComparison& comparison);  // ends with a newline

}  // namespace tilewright
