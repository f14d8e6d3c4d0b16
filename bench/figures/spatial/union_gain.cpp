// union_gain: what an array that supports two or three of the six dataflows buys over the best single one, on
// storage of equal area with 256 PEs (docs/guides/map.md), for five networks at batch 1 and 16: least
// energy, and least energy x delay of the network. Every layer is at its proven optimum under each dataflow.
// Exits non-zero if a model is missing.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include "support/outside_testing.h"
#include "tilewright/flow/map/map.h"
#include "tilewright/flow/map/map_report.h"
#include "tilewright/flow/model/load_model.h"

namespace {

using namespace tilewright;

struct Least {
  double energy = std::numeric_limits<double>::infinity(), edp = energy;
  std::string energy_members, edp_members;
};

Least least_of(const UnionTable& table, size_t size) {
  Least least;
  for (const UnionChoice& choice : table.shared) {
    if (choice.dataflows.size() != size || choice.missing > 0) continue;
    std::string members;
    for (const int member : choice.dataflows)
      members += (members.empty() ? "" : "+") + table.dataflows[size_t(member)];
    if (choice.energy < least.energy) least.energy = choice.energy, least.energy_members = members;
    if (choice.least_edp < least.edp) least.edp = choice.least_edp, least.edp_members = members;
  }
  return least;
}

}  // namespace

int main() try {
  const char* const kModels[][2] = {{"alexnet", "onnx_light_topologies/light_bvlc_alexnet.onnx"},
                                    {"resnet18", "onnx_shape_only/resnet18_noweights.onnx"},
                                    {"mobilenet_v2", "onnx_shape_only/mobilenetv2_noweights.onnx"},
                                    {"vgg19", "onnx_light_topologies/light_vgg19.onnx"},
                                    {"inception_v1", "onnx_light_topologies/light_inception_v1.onnx"}};
  const auto dataflows = find_dataflows({"all"}, std::string(TILEWRIGHT_SOURCE_DIR) + "/dataflows");
  MapRequest request;
  request.hardware = find_array_hardware("eyeriss-256", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  std::string fields;
  double most_energy = 0, most_edp = 0;
  for (const auto& model : kModels) {
    LoadOptions load;
    load.allow_missing_weights = true;
    const Graph graph = load_model(outside_models().string() + "/" + model[1], load);
    for (const int64_t batch : {1, 16}) {
      const NetworkReport report = map_dataflows(network_of(graph, batch), request, dataflows, true);
      const UnionTable table = map_unions(report, request, dataflows);
      const Least one = least_of(table, 1);
      for (size_t size = 2; size <= 3; ++size) {
        const Least more = least_of(table, size);
        const double energy_gain = 1 - more.energy / one.energy, edp_gain = 1 - more.edp / one.edp;
        most_energy = std::max(most_energy, energy_gain);
        most_edp = std::max(most_edp, edp_gain);
        std::printf("%s, batch %lld, %zu dataflows: energy -%.2f %% (%s), energy x delay -%.2f %% (%s)\n",
                    model[0], static_cast<long long>(batch), size, 100 * energy_gain,
                    more.energy_members.c_str(), 100 * edp_gain, more.edp_members.c_str());
        char text[200];
        std::snprintf(text, sizeof text,
                      ", \"%s_batch%lld_of%zu\": {\"energy_gain\": %.6f, \"edp_gain\": %.6f}", model[0],
                      static_cast<long long>(batch), size, energy_gain, edp_gain);
        fields += text;
      }
    }
  }
  std::printf("{\"figure\": \"union_gain\", \"largest_energy_gain\": %.6f, \"largest_edp_gain\": %.6f%s}\n",
              most_energy, most_edp, fields.c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "union_gain: %s\n", error.what());
  return 1;
}
