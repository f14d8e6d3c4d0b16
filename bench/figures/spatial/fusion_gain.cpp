// fusion_gain: energy of whole networks on arch-unified, layer by layer at the proven optimum against fused
// chains (docs/guides/map.md): perfect factors, register files keep all data, Timeloop's accounting,
// batch 1.
//
// A fused tile's mapping is searched for 0.3 s at most and 24 tilings per segment are costed, so the gains
// are lower bounds. Exits non-zero if a model is missing or nothing is fused.
#include <chrono>
#include <cstdio>
#include <string>

#include "support/outside_testing.h"
#include "tilewright/flow/map/map.h"
#include "tilewright/flow/map/map_report.h"
#include "tilewright/flow/model/load_model.h"

namespace {

using namespace tilewright;

struct Result {
  FusionReport fusion;
  bool proven = false;
  double seconds = 0;
};

Result measure(const std::string& model) {
  const auto begin = std::chrono::steady_clock::now();
  LoadOptions load;
  load.allow_missing_weights = true;
  const Graph graph = load_model(outside_models().string() + "/" + model, load);
  WorkloadNetwork network = network_of(graph);
  const auto chains = layer_chains(graph, network);
  MapRequest request;
  request.hardware = find_array_hardware("arch-unified", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  request.rules = MapRules::kTimeloop;
  request.constraints = [&](const Workload& workload) {
    Mapspace mapspace{workload, request.hardware, {}, false};
    mapspace.constraints.resize(request.hardware.levels.size());
    mapspace.constraints.back().must_keep = 7;
    return mapspace;
  };
  const NetworkReport report = map_network(std::move(network), request);
  Result result;
  result.proven = report.totals(report.runs[0]).proven;
  result.fusion = map_fused(report, request, chains);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace

int main() try {
  const char* const kModels[][2] = {{"resnet18", "onnx_shape_only/resnet18_noweights.onnx"},
                                    {"mobilenet_v2", "onnx_shape_only/mobilenetv2_noweights.onnx"},
                                    {"vgg19", "onnx_light_topologies/light_vgg19.onnx"}};
  std::string fields;
  bool any = false;
  for (const auto& model : kModels) {
    const Result result = measure(model[1]);
    const FusionReport& fusion = result.fusion;
    std::printf(
        "%s: energy %.6g apart%s, %.6g fused: gain %.2f %%; cycles %.0f and %.0f; %zu segments of %d chains; "
        "%.1f s\n",
        model[0], fusion.separate_energy, result.proven ? " (proven)" : "", fusion.fused_energy,
        100 * fusion.gain(), fusion.separate_cycles, fusion.fused_cycles, fusion.segments.size(),
        fusion.chains, result.seconds);
    any = any || !fusion.segments.empty();
    char text[300];
    std::snprintf(text, sizeof text,
                  ", \"%s\": {\"gain\": %.6f, \"layers_proven\": %s, \"segments\": %zu, \"seconds\": %.2f}",
                  model[0], fusion.gain(), result.proven ? "true" : "false", fusion.segments.size(),
                  result.seconds);
    fields += text;
  }
  std::printf("{\"figure\": \"fusion_gain\"%s}\n", fields.c_str());
  return any ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fusion_gain: %s\n", error.what());
  return 1;
}
