// `optimize`: the graph passes on a model, with a dump after each on request, and their report; --table shows
// instead what every stage of reading and optimising leaves of the graph.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "tilewright/base/folder_writer.h"
#include "tilewright/base/json.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/model/graph_table.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright::cli {
namespace {

nlohmann::json passes_as_json(const GraphTable& table) {
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
  return {{"stages", rows},
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
}

// Shapes and structure are enough: variables without a value do not matter.
void print_pass_table(const OptimizeOptions& options, std::ostream& out) {
  Diagnostics warnings;
  const GraphTable table = graph_table(options.model.path, load_options(options.model, true), &warnings);
  show_warnings(warnings);
  out << (options.json ? json_text(passes_as_json(table), 2) + "\n" : to_string(table));
}

}  // namespace

void optimize(const OptimizeOptions& options, std::ostream& out) {
  if (options.table) return print_pass_table(options, out);
  Graph graph = read_model(options.model);
  int stage = 0;
  std::optional<FolderWriter> passes;
  std::function<void(const std::string&, const Graph&)> dump;
  if (!options.dump_folder.empty()) {
    passes.emplace(options.dump_folder, "optimize");
    dump = [&](const std::string& pass, const Graph& result) {
      write_onnx(passes->path() / fmt::format("{:02}_{}.onnx", ++stage, pass), result);
    };
    dump("read", graph);
  }
  PassReport report;
  graph = tilewright::optimize(std::move(graph), &report, dump);
  if (passes) passes->commit();
  if (!options.output.empty()) write_onnx(options.output, graph);
  if (!options.json) {
    out << to_string(report) << "\n";
    return;
  }
  nlohmann::json steps = nlohmann::json::array();
  for (const PassStep& step : report.steps) {
    steps.push_back({{"pass", step.pass},
                     {"round", step.round},
                     {"nodes_before", step.nodes_before},
                     {"nodes_after", step.nodes_after}});
  }
  const auto intensity = [](const Intensity& i) {
    return nlohmann::json{
        {"macs", i.macs}, {"unfused_bytes", i.unfused_bytes}, {"fused_bytes", i.fused_bytes}};
  };
  out << json_text(nlohmann::json{{"nodes_before", report.nodes_before},
                                  {"nodes_after", report.nodes_after},
                                  {"before", intensity(report.before)},
                                  {"after", intensity(report.after)},
                                  {"groups", report.groups},
                                  {"steps", steps}},
                   2)
      << "\n";
}

}  // namespace tilewright::cli
