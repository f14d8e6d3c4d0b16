// `quantize`: writes the QDQ or the fixed-point form of a float model and prints what it costs.
#include <ostream>

#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/model/quantize_model.h"

namespace tilewright::cli {

void quantize(const QuantizeVerbOptions& options, std::ostream& out) {
  QuantizeRequest request{.model = model_file(options.model),
                          .number_type = options.number_type,
                          .calibration = sample_request(options.calibration, options.preprocess),
                          .evaluation = sample_request(options.evaluation, options.preprocess),
                          .states = state_pairs(options.states),
                          .output = options.output,
                          .format = options.format,
                          .scales = options.scales,
                          .method = options.method,
                          .corrections = options.corrections,
                          .per_tensor = options.per_tensor,
                          .integer_borders = options.integer_borders,
                          .symmetric = options.symmetric,
                          .weight_bits = options.weight_bits,
                          .activation_bits = options.activation_bits,
                          .weight_group = options.weight_group,
                          .mixed = options.mixed,
                          .target_db = options.target_db,
                          .mean_bits = options.mean_bits,
                          .keep_float = options.keep_float,
                          .threads = options.threads};
  if (!options.labels.empty())
    request.labels = SampleSource{.input = "", .path = options.labels, .array = {}};
  const Answer answer =
      with_progress("quantising " + options.model.path, [&] { return quantize_model(request); }).report;
  out << (options.json ? answer.json : answer.text);
}

}  // namespace tilewright::cli
