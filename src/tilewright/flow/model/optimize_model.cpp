// Every stage is a valid ONNX file, numbered in the order of the passes.
#include "tilewright/flow/model/optimize_model.h"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "tilewright/base/folder_writer.h"
#include "tilewright/base/json.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {

Answer optimize_model(const OptimizeRequest& request) {
  Graph graph = load_model(request.model);
  int stage = 0;
  std::optional<FolderWriter> passes;
  std::function<void(const std::string&, const Graph&)> dump;
  if (!request.dump_folder.empty()) {
    passes.emplace(request.dump_folder, "optimize");
    dump = [&](const std::string& pass, const Graph& result) {
      write_onnx(passes->path() / fmt::format("{:02}_{}.onnx", ++stage, pass), result);
    };
    dump("read", graph);
  }
  PassReport report;
  graph = optimize(std::move(graph), &report, dump);
  if (passes) passes->commit();
  if (!request.output.empty()) write_onnx(request.output, graph);
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
  const nlohmann::json json = {{"nodes_before", report.nodes_before},
                               {"nodes_after", report.nodes_after},
                               {"before", intensity(report.before)},
                               {"after", intensity(report.after)},
                               {"groups", report.groups},
                               {"steps", steps}};
  return {to_string(report) + "\n", json_text(json, 2) + "\n"};
}

}  // namespace tilewright
