// The graph runs through the passes three times: layout only (what freezing gave, with the importer's
// Transposes cancelled: the base of the intensity), everything but the folding of normalisation, whose
// parameters become a factor and a summand, and everything.
#include "tilewright/flow/model/graph_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/base/json.h"
#include "tilewright/transform/fold/split_batch_norm.h"
#include "tilewright/transform/fusion_groups.h"

namespace tilewright {
namespace {

GraphTableRow row_of(const std::string& stage, const TfStage& counts) {
  return {stage,         counts.nodes,           counts.nodes - counts.constants,
          counts.random, counts.moving_averages, counts.normalizations,
          counts.rsqrts, counts.scales};
}

bool names_moving_average(const std::string& name) {
  return name.find("moving_mean") != std::string::npos || name.find("moving_variance") != std::string::npos ||
         name.find("ExponentialMovingAverage") != std::string::npos;
}

GraphTableRow row_of(const std::string& stage, const Graph& graph) {
  GraphTableRow row;
  row.stage = stage;
  std::set<ValueId> constants;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      if (graph.is_constant(id)) constants.insert(id);
    }
    const bool has_constant = std::any_of(node.inputs.begin(), node.inputs.end(),
                                          [&](ValueId id) { return graph.is_constant(id); });
    row.normalizations += node.is("BatchNormalization");
    row.rsqrts += node.is("Sqrt") || node.is("Reciprocal");
    row.scales += (node.is("Mul") || node.is("Div")) && has_constant;
  }
  for (const ValueId id : constants) row.moving_averages += names_moving_average(graph.value(id).name);
  row.operators = int(graph.nodes.size());
  row.nodes = row.operators + int(constants.size() + graph.inputs.size());
  return row;
}

std::string kernel_name(const Graph& graph, const Node& node) {
  if (!node.is("Conv") && !node.is("ConvTranspose")) return node.op;
  const Shape& weights = graph.value(node.input(1)).shape;
  const std::vector<int64_t> strides = node.ints_or("strides", {1, 1});
  const bool is_grouped = node.int_or("group", 1) != 1;
  std::string text = node.op;
  if (is_grouped) text += weights[1] == 1 ? " depthwise" : " grouped";
  for (int axis = 2; axis < weights.rank(); ++axis)
    text += fmt::format("{}{}", axis == 2 ? " " : "x", weights[axis]);
  return strides.empty() ? text : fmt::format("{} stride {}", text, strides[0]);
}

// Every group by its first node; sums apart, by whether they joined a layer.
std::map<std::string, int> count_fused(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const FusionGroup& group : fusion_groups(graph)) {
    const Node& first = graph.nodes[size_t(group.nodes[0])];
    ++counts[kernel_name(graph, first)];
    for (size_t i = 1; i < group.nodes.size(); ++i) {
      ++counts[graph.nodes[size_t(group.nodes[i])].op + " in a layer"];
    }
  }
  return counts;
}

void add_graph_rows(GraphTable& table, const Graph& graph, const std::string& first_stage) {
  const Graph frozen = run_passes(graph, {"remove_dead", "remove_no_ops", "cancel_transposes"});
  if (!first_stage.empty()) table.rows.push_back(row_of(first_stage, frozen));
  std::vector<std::string> names = pass_names();
  const auto folds = [](const std::string& n) { return n == "fold_batch_norm" || n == "fold_input_affine"; };
  names.erase(std::remove_if(names.begin(), names.end(), folds), names.end());
  const Graph constants_folded = run_passes(split_batch_norm(frozen), names);
  table.rows.push_back(row_of("constants folded", constants_folded));
  const Graph result = optimize(graph);
  table.rows.push_back(row_of("normalisation folded", result));
  GraphTableRow fused = row_of("fused", result);
  fused.nodes -= fused.operators;
  fused.operators = int(fusion_groups(result).size());
  fused.nodes += fused.operators;
  table.rows.push_back(fused);
  const Intensity before = measure_intensity(frozen), after = measure_intensity(result);
  table.macs = after.macs;
  table.frozen_unfused = before.unfused();
  table.constants_folded_unfused = measure_intensity(constants_folded).unfused();
  table.final_unfused = after.unfused();
  table.final_fused = after.fused();
  table.frozen_activation_bytes = before.unfused_activation_bytes;
  table.final_activation_bytes = after.fused_activation_bytes;
  table.fused_operators = count_fused(result);
}

}  // namespace

GraphTable graph_table(const Graph& graph, const TfStages* stages) {
  GraphTable table;
  if (stages != nullptr) {
    table.rows = {row_of("stored", stages->stored), row_of("reachable", stages->reachable),
                  row_of("frozen", stages->frozen)};
  }
  add_graph_rows(table, graph, stages != nullptr ? "" : "as read");
  return table;
}

GraphTable graph_table(const std::filesystem::path& path, const LoadOptions& options, Diagnostics* warnings) {
  TfStages stages;
  const Graph graph = load_model(path, options, warnings, &stages);
  return graph_table(graph, stages.stored.nodes > 0 ? &stages : nullptr);
}

std::string to_string(const GraphTable& table) {
  const auto yes = [](bool needed) { return needed ? "yes" : "no"; };
  std::string text = fmt::format("{:<20} {:>6} {:>9} {:>7} {:>15} {:>11} {:>6} {:>6}  {:<11} {}\n", "stage",
                                 "nodes", "operators", "random", "moving averages", "batch norms", "rsqrts",
                                 "scales", "needs rsqrt", "needs scale");
  for (const GraphTableRow& row : table.rows) {
    text += fmt::format("{:<20} {:>6} {:>9} {:>7} {:>15} {:>11} {:>6} {:>6}  {:<11} {}\n", row.stage,
                        row.nodes, row.operators, row.random, row.moving_averages, row.normalizations,
                        row.rsqrts, row.scales, yes(row.needs_rsqrt()), yes(row.needs_scale()));
  }
  text += fmt::format(
      "\n{} MACs; MACs per byte, every operator on its own: {:.2f} frozen, {:.2f} with constants folded, "
      "{:.2f} with all passes; fused {:.2f}: {:.2f} times the frozen graph's, {:.2f} times that with "
      "constants "
      "folded\n",
      table.macs, table.frozen_unfused, table.constants_folded_unfused, table.final_unfused,
      table.final_fused, table.intensity_gain(), table.gain_from_constants_folded());
  text += fmt::format("activations alone, without weights: {} bytes frozen, {} fused: {:.2f} times\n\n",
                      table.frozen_activation_bytes, table.final_activation_bytes, table.activation_gain());
  for (const auto& [name, count] : table.fused_operators) text += fmt::format("{:>5} x {}\n", count, name);
  return text;
}

GraphTable graph_table(const ModelFile& file) {
  LoadOptions options = file.options;
  options.allow_missing_weights = true;
  Diagnostics warnings;
  const GraphTable table = graph_table(file.path, options, &warnings);
  if (file.warn) file.warn(warnings);
  return table;
}

std::string to_json(const GraphTable& table) {
  nlohmann::json rows = nlohmann::json::array();
  for (const GraphTableRow& row : table.rows) {
    rows.push_back({{"stage", row.stage},
                    {"nodes", row.nodes},
                    {"operators", row.operators},
                    {"random", row.random},
                    {"moving_averages", row.moving_averages},
                    {"batch_norms", row.normalizations},
                    {"rsqrts", row.rsqrts},
                    {"scales", row.scales},
                    {"needs_rsqrt", row.needs_rsqrt()},
                    {"needs_scale", row.needs_scale()}});
  }
  const nlohmann::json json = {{"stages", rows},
                               {"macs", table.macs},
                               {"macs_per_byte_frozen", table.frozen_unfused},
                               {"macs_per_byte_constants_folded", table.constants_folded_unfused},
                               {"macs_per_byte_folded", table.final_unfused},
                               {"macs_per_byte_fused", table.final_fused},
                               {"intensity_gain", table.intensity_gain()},
                               {"gain_from_constants_folded", table.gain_from_constants_folded()},
                               {"activation_bytes_frozen", table.frozen_activation_bytes},
                               {"activation_bytes_fused", table.final_activation_bytes},
                               {"activation_gain", table.activation_gain()},
                               {"fused_operators", table.fused_operators}};
  return json_text(json, 2) + "\n";
}

}  // namespace tilewright
