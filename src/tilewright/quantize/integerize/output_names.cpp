// Names are swapped, so that all of them stay unique.
#include "tilewright/quantize/integerize/output_names.h"

#include <algorithm>

namespace tilewright {

void name_outputs(Graph& graph, const Graph& source) {
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string wanted = source.value(source.outputs[i]).name;
    ValueId& id = graph.outputs[i];
    const auto listed = std::find(source.outputs.begin(), source.outputs.end(), source.outputs[i]);
    const size_t first = size_t(listed - source.outputs.begin());
    if (first < i) id = graph.outputs[first];  // one output listed twice
    if (graph.value(id).name == wanted) continue;
    const auto before = graph.outputs.begin(), here = before + ptrdiff_t(i);
    const bool is_input = std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end();
    if (is_input || std::find(before, here, id) != here) {
      const ValueId copy = graph.add_value(wanted, graph.value(id).type, graph.value(id).shape);
      graph.add_node(wanted + "_copy", "Identity", {id}, {copy});
      id = copy;
    }
    const auto holder = std::find_if(graph.values.begin(), graph.values.end(),
                                     [&](const Value& value) { return value.name == wanted; });
    if (holder == graph.values.end()) {
      graph.value(id).name = wanted;
    } else {
      std::swap(holder->name, graph.value(id).name);
    }
  }
}

}  // namespace tilewright
