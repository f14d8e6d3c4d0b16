// `inspect`: the operators of a model and their work.
#include <ostream>

#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/model/inspect_model.h"
#include "tilewright/flow/targets.h"

namespace tilewright::cli {

void inspect(const InspectOptions& options, std::ostream& out) {
  if (!options.machine.empty()) {
    const Answer answer = taken_by(model_file(options.model), options.machine, shared_folders());
    out << (options.json ? answer.json : answer.text);
    return;
  }
  const Graph graph = load_shapes(model_file(options.model));
  if (options.text) {
    out << model_text(graph);
    return;
  }
  const Answer answer = inspect_model(graph);
  out << (options.json ? answer.json : answer.text);
}

}  // namespace tilewright::cli
