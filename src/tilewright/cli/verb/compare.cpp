// `compare`: the error of every tensor with its cause. An overlay engine that differs from the integer
// reference is an internal error.
#include "tilewright/flow/run/compare.h"

#include <ostream>

#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/samples/input_samples.h"

namespace tilewright::cli {

void compare(const CompareOptions& options, std::ostream& out) {
  const SampleRequest input = sample_request(options.input, options.preprocess);
  check_given(input, "--input");
  const ModelComparison comparison = with_progress("comparing " + options.bundle, [&] {
    return compare_files(model_file(options.model), options.bundle, input, options.threshold_db);
  });
  out << (options.json ? to_json(comparison) : to_string(comparison));
  if (!comparison.engine_faults.empty()) {
    throw Error(ErrorKind::kInternal, "the simulator and the integer reference disagree");
  }
}

}  // namespace tilewright::cli
