// Layers come from the bundle's overlay steps; equal ones, by the text of their workload, are counted. For a
// narrower width only what time depends on is replaced: bits, ranges, padding and clipping, and weights of 1.
// Layers that have no overlay form at that width are left out.
#include "tilewright/flow/explore/exploration_network.h"

#include <fmt/format.h>

#include <map>

#include "tilewright/base/error.h"
#include "tilewright/base/hash.h"
#include "tilewright/flow/model/container.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/samples/samples.h"
#include "tilewright/overlay/tuning/schedule_problem.h"

namespace tilewright {
namespace {

using overlay::OverlayLayer;

// Why a layer has no form of narrower operands; empty when it has.
std::string why_not_narrow(const OverlayLayer& layer, int bits) {
  if (layer.kind != overlay::OverlayLayerKind::kMatrix) {
    return bits == 1 ? "pools of single bits run on the host" : std::string();
  }
  if (layer.weight_planes != 1) return "its weights are wider than 8 bits";
  if (layer.pattern == overlay::ChannelPattern::kSharedDiagonal ||
      layer.pattern == overlay::ChannelPattern::kDiagonal) {
    return layer.sources.size() > 1 ? "additions of narrow activations run on the host"
                                    : "channel-wise layers of narrow weights run on the host";
  }
  return {};
}

// The same shapes with operands of `bits` bits; single bits stand for -1 and +1.
OverlayLayer narrowed(OverlayLayer layer, int bits) {
  const bool signs = bits == 1;
  const int64_t low = signs ? 0 : -(int64_t{1} << (bits - 1)),
                high = signs ? 1 : (int64_t{1} << (bits - 1)) - 1;
  layer.weight_bits = bits;
  layer.input_magnitude = signs ? 1 : -low;
  layer.pad_value = signs ? -1 : 0;
  for (overlay::LayerSource& source : layer.sources) source.bipolar = signs;
  layer.output.bipolar = signs;
  layer.output.clip_low = int32_t(low);
  layer.output.clip_high = int32_t(high);
  layer.output.zero_point = 0;
  if (layer.kind == overlay::OverlayLayerKind::kMaximum) return layer;
  for (int64_t i = 0; i < layer.weights.size(); ++i) layer.weights.set_integer(i, 1);
  const int64_t per_output = layer.weights.size() / std::max<int64_t>(1, layer.out_channels);
  layer.weight_magnitude.assign(layer.weight_magnitude.size(), per_output);
  return layer;
}

OverlayHardware machine_of_width(int bits) {
  OverlayHardware hardware = exploration_reference();
  hardware.block_in *= 8 / bits;
  hardware.input_bits = hardware.weight_bits = hardware.output_bits = bits;
  return hardware;
}

std::vector<OverlayLayer> layers_of(const Bundle& bundle) {
  std::vector<OverlayLayer> layers;
  for (const PartitionStep& step : bundle.steps()) {
    if (step.on_host()) continue;
    for (OverlayLayer& layer : overlay::overlay_layers(bundle.graph, step.nodes, bundle.hardware)) {
      layers.push_back(std::move(layer));
    }
  }
  return layers;
}

}  // namespace

std::string network_digest(const ExplorationNetwork& network) {
  std::string text;
  for (const ExplorationLayer& item : network.layers) {
    text += fmt::format("{} {}\n", item.count, overlay::workload_text(item.layer));
  }
  return fmt::format("{:016x}", fnv1a(text));
}

Bundle exploration_bundle(const ModelFile& file, int threads) {
  return is_container(file.path) ? read_bundle(file.path) : exploration_bundle(load_model(file), threads);
}

OverlayHardware exploration_reference() {
  OverlayHardware hardware;
  hardware.name = "exploration";
  hardware.isa = IsaVersion::kWide;
  hardware.uop_buffer_bytes = hardware.input_buffer_bytes = 1 << 16;
  hardware.weight_buffer_bytes = hardware.accumulator_buffer_bytes = 1 << 19;
  return hardware;
}

Bundle exploration_bundle(Graph model, int threads) {
  const std::vector<Tensor> inputs = random_inputs(model);
  const Graph integer = hardware_form(std::move(model), NumberFormat{}, inputs, threads, Recipe::kQuickest);
  return compile(integer, exploration_reference()).bundle;
}

ExplorationNetwork exploration_network(const Bundle& bundle, int bits) {
  if (bundle.hardware.input_bits != 8 || bundle.hardware.weight_bits != 8) {
    throw Error(ErrorKind::kInvalidInput, "the bundle was compiled for an overlay with narrower operands",
                "compile it for one with 8-bit operands; exploration narrows it itself");
  }
  ExplorationNetwork network;
  network.operand_bits = bits;
  const OverlayHardware machine = machine_of_width(bits);
  std::map<std::string, size_t> index;
  for (size_t n = 0; n < bundle.nodes.size(); ++n) {
    if (!bundle.nodes[n].on_host()) continue;
    network.left_out.push_back(fmt::format("{}: {}", bundle.graph.nodes[n].name, bundle.nodes[n].reason));
  }
  for (OverlayLayer& layer : layers_of(bundle)) {
    std::string reason = bits == 8 ? "" : why_not_narrow(layer, bits);
    const std::string name = layer.name;
    if (reason.empty() && bits != 8) {
      layer = narrowed(std::move(layer), bits);
      reason = overlay::why_not(layer, machine);
    }
    if (!reason.empty()) {
      network.left_out.push_back(fmt::format("{}: {}", name, reason));
      continue;
    }
    network.macs += layer.macs;
    const auto [found, fresh] = index.emplace(overlay::workload_text(layer), network.layers.size());
    if (fresh) network.layers.push_back({std::move(layer), 0, {}});
    ++network.layers[found->second].count;
    network.layers[found->second].names.push_back(name);
  }
  if (network.layers.empty()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("no layer of the network runs on an overlay of {}-bit operands", bits),
                "'tilewright compile' says why, node by node");
  }
  return network;
}

}  // namespace tilewright
