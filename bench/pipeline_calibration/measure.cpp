// pipeline_calibration_measure: areas of single components of random designs as Yosys counts them, one line
// each on the standard output: component, family, its sizes, then lut, ff, dsp, bram (of 18 Kb), uram.
//
//   pipeline_calibration_measure FIRST_SEED RUNS_PER_COMPONENT FAMILY FOLDER
//
// The designs are of random networks and allocations (network_testing.h); no evaluated network is among them.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "tilewright/pipeline/allocate/allocation_testing.h"
#include "tilewright/pipeline/build/build.h"
#include "tilewright/pipeline/component.h"
#include "tilewright/pipeline/emit/design_sources.h"
#include "tilewright/pipeline/estimate/bill.h"
#include "tilewright/pipeline/estimate/resource_features.h"
#include "tilewright/pipeline/network_testing.h"
#include "tilewright/synthesis/yosys.h"

namespace {

using namespace tilewright;
using namespace tilewright::pipeline;

// A network of one to four layers of up to 64 channels, eight bits or wide fixed point.
Network calibration_network(uint64_t seed) {
  Random random(seed);
  const auto channels = [&] { return (int64_t{1} << random.between(1, 5)) * random.between(1, 2); };
  const int64_t side = random.between(6, 30);
  NetworkBuilder builder(fmt::format("calibration{}", seed), {side, side, channels()}, seed);
  int tensor = builder.convolution(0, channels(), random.chance(0.5) ? 3 : 1, random.between(1, 2));
  if (random.chance(0.6)) tensor = builder.depthwise(tensor, 3);
  if (random.chance(0.4)) tensor = builder.max_pool(tensor, 2, 2);
  if (random.chance(0.6)) {
    const int branch = tensor;
    const int64_t width = builder.shape(branch).channels;
    tensor = builder.residual(builder.convolution(branch, width, 3), branch);
  }
  if (random.chance(0.3)) tensor = builder.average(tensor);
  Network network = builder.finish(tensor);
  if (!random.chance(0.15)) {
    for (Layer& layer : network.layers) {
      if (random.chance(0.1)) layer.lookup = FusedLookup{std::vector<int32_t>(256, 3), 0};
      if (layer.lookup) {
        for (int32_t& entry : layer.lookup->table) entry = int32_t(random.between(-128, 127));
      }
    }
    return network;
  }
  network.number = NumberType::kFixed;
  network.fraction = 22;
  for (NetworkTensor& t : network.tensors) t.bits = 32;
  for (Layer& layer : network.layers) {
    layer.weight_bits = 32;
    layer.scale.clear();
    layer.clip_low = INT32_MIN;
    layer.clip_high = INT32_MAX;
    if (layer.add) layer.add = FusedAdd{layer.add->tensor, 1, 1, 0, 0, 0, INT32_MIN, INT32_MAX};
    if (layer.kind == LayerKind::kAveragePool) {
      layer.weights.assign(size_t(layer.window.rows * layer.window.columns *
                                  network.tensors[size_t(layer.output)].shape.channels),
                           1 << 16);
    }
  }
  return network;
}

Allocation calibration_allocation(const Network& network, uint64_t seed) {
  Random random(seed);
  Allocation a = seed % 2 == 0 ? random_stages(network, seed) : random_processors(network, seed);
  const bool fixed = network.number == NumberType::kFixed;
  const auto multiplier = [&](const ArrayShape& shape, bool lanes) {
    if (fixed) return Multiplier::kDsp;
    if (!lanes && shape.po % 2 == 0 && random.chance(0.3)) return Multiplier::kPair;
    return random.chance(0.25) ? Multiplier::kLut : Multiplier::kDsp;
  };
  a.port_bytes = int64_t{8} << random.between(0, 2);
  for (size_t i = 0; i < a.layers.size(); ++i) {
    const bool lanes = works_in_lanes(network.layers[i].kind);
    if (a.streaming) a.layers[i].stage.multiplier = multiplier(a.layers[i].stage, lanes);
    if (a.streaming) a.layers[i].input_fifo = random.chance(0.5) ? random.between(2, 600) : 0;
    if (a.streaming) a.layers[i].residual_fifo = random.chance(0.5) ? random.between(2, 60) : 0;
  }
  for (Engine& engine : a.engines) engine.shape.multiplier = multiplier(engine.shape, engine.lanes);
  if (!a.streaming && random.chance(0.5)) {
    a.weights_on_chip = false;
    a.ring_words = 1024;
    a.weight_channels = int64_t{1} << random.between(0, 1);
  }
  return a;
}

netlist::Design alone(const netlist::Instance& instance) {
  netlist::Design result;
  result.top = "component_alone";
  netlist::Module& top = result.modules.emplace_back(result.top);
  std::vector<netlist::Port> ports;
  component_library().ports(instance.module, instance.parameters, ports);
  std::map<std::string, netlist::NetId> connections;
  for (const netlist::Port& port : ports) {
    connections[port.name] = top.add_port(port.name, port.direction, port.width);
  }
  top.add_instance("component", instance.module, instance.parameters, std::move(connections));
  return result;
}

std::string sizes(const netlist::Parameters& parameters, const MemoryImages& images) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    if (const auto* number = std::get_if<int64_t>(&value)) {
      text += fmt::format(" {}={}", name, *number);
    } else if (const std::string& word = std::get<std::string>(value); images.count(word) == 0) {
      text += fmt::format(" {}={}", name, word);
    }
  }
  return text;
}

class Calibration {
 public:
  Calibration(int64_t runs, synthesis::DeviceFamily family, std::filesystem::path folder)
      : runs_(runs), family_(family), folder_(std::move(folder)) {}

  // Whether any component still lacks runs.
  bool design(uint64_t seed) {
    const Network network = calibration_network(seed);
    const Allocation allocation = calibration_allocation(network, seed);
    Diagnostics diagnostics;
    allocation.verify(network, diagnostics);
    if (!diagnostics.ok()) return true;
    const Design built = build(network, allocation);
    std::map<std::string, int> of_this_design;
    for (const netlist::Instance& instance : built.netlist.modules.at(0).instances) {
      const std::string line = instance.module + sizes(instance.parameters, built.images);
      if (done_[instance.module] >= wanted(instance.module) || of_this_design[instance.module] >= 2) continue;
      if (!seen_.insert(line).second || too_large(instance)) continue;
      ++of_this_design[instance.module];
      ++done_[instance.module];
      measure(instance, built.images);
    }
    for (const std::string& name : modelled_components()) {
      if (done_[name] < wanted(name)) return true;
    }
    return false;
  }

 private:
  // Plain ones need few runs.
  int64_t wanted(const std::string& component) const {
    const std::set<std::string> plain = {"control",     "dma_read",    "dma_write",   "read_share",
                                         "stream_fork", "stream_join", "stream_frame"};
    return plain.count(component) != 0 ? std::min<int64_t>(4, runs_) : runs_;
  }

  // Minutes of synthesis that tell no more than a smaller one.
  static bool too_large(const netlist::Instance& instance) {
    const auto value = [&](const char* name) { return netlist::integer_or(instance.parameters, name, 1); };
    return value("PI") * value("PO") > 512 || value("P") * value("TAPS") > 256 || value("PF") > 16 ||
           value("WIDTH") > 4096;
  }

  void measure(const netlist::Instance& instance, const MemoryImages& images) {
    synthesis::YosysJob job;
    const netlist::Design design = alone(instance);
    job.family = family_;
    job.use_uram = netlist::text_or(instance.parameters, "KIND", "") == "ultra";
    job.top = design.top;
    job.folder = folder_ / fmt::format("run{}", ++run_);
    job.timeout_s = 240;
    MemoryImages own;
    for (const auto& [name, value] : instance.parameters) {
      const auto* text = std::get_if<std::string>(&value);
      const auto found = text == nullptr ? images.end() : images.find(*text);
      if (found != images.end()) own.insert(*found);
    }
    job.sources = write_sources(design, own, job.folder / "sources",
                                std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl" / "pipeline");
    try {
      const synthesis::Resources r = synthesis::run_yosys(job).count.resources;
      fmt::print("{} {}{} lut={} ff={} dsp={} bram={} uram={}\n", instance.module,
                 synthesis::family_name(family_), sizes(instance.parameters, images), r.lut, r.ff, r.dsp,
                 r.bram, r.uram);
      std::fflush(stdout);
    } catch (const Error& error) {
      std::fprintf(stderr, "%s: %s\n", instance.module.c_str(), error.what());
    }
    std::filesystem::remove_all(job.folder);
  }

  int64_t runs_;
  synthesis::DeviceFamily family_;
  std::filesystem::path folder_;
  int64_t run_ = 0;
  std::map<std::string, int64_t> done_;
  std::set<std::string> seen_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr,
                 "usage: pipeline_calibration_measure FIRST_SEED RUNS_PER_COMPONENT xc7|xcup FOLDER\n");
    return 1;
  }
  try {
    const bool xcup = std::string(argv[3]) == "xcup";
    Calibration calibration(std::atoll(argv[2]),
                            xcup ? synthesis::DeviceFamily::kXcup : synthesis::DeviceFamily::kXc7, argv[4]);
    const uint64_t first = uint64_t(std::atoll(argv[1]));
    for (uint64_t seed = first; seed < first + 400 && calibration.design(seed); ++seed) {
    }
  } catch (const tilewright::Error& error) {
    std::fprintf(stderr, "pipeline_calibration_measure: %s\n", error.what());
    return 1;
  }
  return 0;
}
