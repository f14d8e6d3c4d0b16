// The search for shared sums takes what is left of the time, a minute at most.
#include "tilewright/flow/design/constant_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/base/json.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/emit/constant_folder.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

constexpr double kMostSearchSeconds = 60;

void check_fit(const ConstantDesign& design) {
  const int64_t need = design.made.luts(), have = design.device.has.lut;
  if (need <= have) return;
  throw Error(ErrorKind::kInfeasible,
              fmt::format("the matrices need {} look-up tables, {} has {}", need, design.device.name, have),
              "take a larger --device, fewer --weight-bits, or --form auto");
}

}  // namespace

std::string to_string(const ConstantDesign& design) {
  TextTable layers(
      {"layer", ">outputs", ">inputs", ">weights not 0", ">LUT", ">at least", ">depth", ">cycles"});
  for (const pipeline::ConstantLayer& layer : design.made.layers) {
    layers.row({shortened_middle(layer.name, 32), std::to_string(layer.rows), std::to_string(layer.columns),
                std::to_string(layer.nonzero), std::to_string(layer.luts), std::to_string(layer.bound.luts),
                std::to_string(layer.depth), std::to_string(layer.latency)});
  }
  std::string text = fmt::format(
      "{} as wires on {}: a result in every cycle, {} cycles behind its input ({:.4g} us at {:g} MHz)\n",
      design.network, design.device.name, design.made.latency, design.made.latency / design.clock_mhz,
      design.clock_mhz);
  if (!design.host_nodes.empty()) {
    text += fmt::format("{} nodes before and behind stay on the host\n", design.host_nodes.size());
  }
  return text + "\n" + layers.to_string() +
         fmt::format("\n{} LUT for the matrices, clips not counted; no DSP, no memory\n", design.made.luts());
}

std::string to_json(const ConstantDesign& design) {
  nlohmann::ordered_json json;
  json["network"] = design.network;
  json["device"] = design.device.name;
  json["form"] = "constant";
  json["latency_cycles"] = design.made.latency;
  json["interval_cycles"] = 1;
  json["clock_mhz"] = design.clock_mhz;
  json["lut"] = design.made.luts();
  json["dsp"] = 0;
  json["host_nodes"] = design.host_nodes;
  json["folder"] = design.folder;
  for (const pipeline::ConstantLayer& layer : design.made.layers) {
    json["layers"].push_back({{"name", layer.name},
                              {"outputs", layer.rows},
                              {"inputs", layer.columns},
                              {"weights_not_zero", layer.nonzero},
                              {"lut", layer.luts},
                              {"lower_bound", layer.bound.luts},
                              {"lower_bound_sums", layer.bound.sums},
                              {"scale_digits", layer.scale_digits},
                              {"depth", layer.depth},
                              {"latency_cycles", layer.latency},
                              {"search", layer.search},
                              {"search_seconds", layer.cpu_seconds}});
  }
  if (!design.preprocessing.json.empty()) {
    json["preprocessing"] = nlohmann::ordered_json::parse(design.preprocessing.json);
  }
  return json_text(json, 2);
}

ConstantDesign generate_constant_folder(const DesignQuestion& question) {
  check_folder_target(question.output, kDesignMaker);
  ConstantDesign design;
  design.device = find_device(question.device, question.folders.devices());
  design.clock_mhz = question.clock_mhz > 0        ? question.clock_mhz
                     : design.device.clock_mhz > 0 ? design.device.clock_mhz
                                                   : pipeline::device_budget(design.device).clock_mhz;
  DesignGraph from = design_graph(question);
  design.preprocessing = std::move(from.preprocessing);
  const pipeline::Network network = pipeline::extract_network(from.graph);
  design.network = network.name;
  design.folder = question.output.string();
  for (const Graph* part : {&network.before, &network.behind}) {
    for (const Node& node : part->nodes) design.host_nodes.push_back(node.name);
  }
  pipeline::ConstantNetworkOptions options;
  options.solve.cpu_seconds = kMostSearchSeconds;
  if (question.deadline != nullptr) {
    options.solve.cpu_seconds = std::min(kMostSearchSeconds, question.deadline->left());
  }
  design.made = pipeline::build_constant_network(network, options);
  check_fit(design);
  netlist::require_verified(design.made.design, pipeline::component_library(), "constant network");
  FolderWriter writer(question.output, kDesignMaker);
  pipeline::write_constant_folder(design.made, network, writer.path());
  write_onnx(writer.path() / kDesignModelFile, from.graph);
  write_text_file(writer.path() / "report.json", to_json(design) + "\n");
  writer.commit();
  return design;
}

}  // namespace tilewright
