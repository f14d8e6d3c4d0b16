// `optimize`: the graph passes on a model and their report; --table shows instead what every stage of reading
// and optimising leaves of the graph.
#include <ostream>

#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/model/graph_table.h"
#include "tilewright/flow/model/optimize_model.h"

namespace tilewright::cli {

void optimize(const OptimizeOptions& options, std::ostream& out) {
  if (options.table) {
    const GraphTable table = graph_table(model_file(options.model));
    out << (options.json ? to_json(table) : to_string(table));
    return;
  }
  const Answer answer = optimize_model({model_file(options.model), options.output, options.dump_folder});
  out << (options.json ? answer.json : answer.text);
}

}  // namespace tilewright::cli
