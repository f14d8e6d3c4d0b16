// `compare`: runs the first sample through the float model and the bundle, and lists the error of every
// tensor with its cause. An overlay engine that differs from the integer reference is an internal error.
#include "tilewright/flow/run/compare.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/base/json.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright::cli {

void compare(const CompareOptions& options, std::ostream& out) {
  if (options.input.path.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no input data", "give an array with --input");
  }
  const Graph model = tilewright::optimize(read_model(options.model));
  const Bundle bundle = read_bundle(options.bundle);
  const Samples samples = read_samples(options.input);
  count_inputs(model, samples);
  const Comparison comparison =
      compare_models(model, bundle, cut_inputs(model, samples, 0), options.threshold_db);
  if (!options.json) {
    out << to_string(comparison);
  } else {
    nlohmann::json tensors = nlohmann::json::array();
    for (const TensorComparison& t : comparison.tensors) {
      tensors.push_back({{"tensor", t.source},
                         {"integer", t.integer},
                         {"sqnr_db", std::isfinite(t.sqnr_db) ? nlohmann::json(t.sqnr_db) : nlohmann::json()},
                         {"largest_error_steps", t.largest_error_steps},
                         {"saturated_share", t.saturated_share},
                         {"cause", name(t.cause)}});
    }
    out << json_text(nlohmann::json{{"tensors", tensors},
                                    {"first_divergence", comparison.first_divergence},
                                    {"engine_faults", comparison.engine_faults}},
                     2)
        << "\n";
  }
  if (!comparison.engine_faults.empty()) {
    throw Error(ErrorKind::kInternal, "the simulator and the integer reference disagree");
  }
}

}  // namespace tilewright::cli
