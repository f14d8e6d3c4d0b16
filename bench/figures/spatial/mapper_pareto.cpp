// Fronts of energy, latency and buffer words with proof for two layers on hardware/arch-unified.yaml (each
// dimension on one axis, register files keep all tensors, Timeloop's accounting): AlexNet's FC2 at batch 16
// and the last 3x3 layers of ResNet-18. Two threads.
#include "tilewright/spatial/mapper/mapper_pareto.h"

#include <cstdio>
#include <string>

#include "reference_layers.h"

namespace {

using namespace tilewright;

Workload resnet_block() {
  ConvShape shape;
  shape.input_channels = shape.output_channels = 512;
  shape.height.output = 7, shape.height.kernel = 3, shape.height.input = 9;
  shape.width = shape.height;
  return conv2d_workload("R18_7", shape);
}

}  // namespace

int main() {
  Mapspace mapspace = reference_mapspace();
  MapperOptions options;
  options.rules = kTimeloopRules;
  options.threads = 2;
  std::string layers;
  int unproven = 0, count = 0;
  for (const Workload& workload : {dense_workload("FC2", 16, 4096, 4096), resnet_block()}) {
    mapspace.workload = workload;
    const MapFront front = map_pareto(mapspace, 1, options);
    const double operations = double(workload.operation_count());
    std::printf("%s: %zu points out of %.2e mappings, %s in %.2f s, %lld nodes, %lld pruned\n",
                workload.name.c_str(), front.points.size(), front.mapspace_size,
                front.status == MapStatus::kOptimal ? "proven" : "not proven", front.seconds,
                static_cast<long long>(front.nodes), static_cast<long long>(front.pruned));
    for (const MapPoint& point : front.points) {
      std::printf("  energy/MAC %8.4f  cycles %9lld  buffer words %6lld\n", point.energy / operations,
                  static_cast<long long>(point.cycles), static_cast<long long>(point.buffer_words));
    }
    std::fflush(stdout);
    unproven += front.status == MapStatus::kOptimal ? 0 : 1;
    char text[256];
    std::snprintf(
        text, sizeof text,
        "%s{\"layer\": \"%s\", \"points\": %zu, \"mapspace\": %.3e, \"seconds\": %.3f, \"nodes\": %lld, "
        "\"pruned\": %lld}",
        count++ == 0 ? "" : ", ", workload.name.c_str(), front.points.size(), front.mapspace_size,
        front.seconds, static_cast<long long>(front.nodes), static_cast<long long>(front.pruned));
    layers += text;
    if (front.points.empty()) unproven = 1;
  }
  std::printf("{\"figure\": \"mapper_pareto\", \"unproven\": %d, \"layers\": [%s]}\n", unproven,
              layers.c_str());
  return count == 0 || unproven > 0 ? 1 : 0;
}
