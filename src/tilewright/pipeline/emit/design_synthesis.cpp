// A component by itself becomes a netlist of one instance whose ports are the top's.
#include "tilewright/pipeline/emit/design_synthesis.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component.h"
#include "tilewright/pipeline/emit/design_sources.h"
#include "tilewright/synthesis/yosys.h"

namespace tilewright::pipeline {
namespace {

bool uses_ultra(const netlist::Design& design) {
  for (const netlist::Module& module : design.modules) {
    for (const netlist::Memory& memory : module.memories) {
      if (memory.kind == netlist::MemoryKind::kUltraRam) return true;
    }
    for (const netlist::Instance& instance : module.instances) {
      if (netlist::text_or(instance.parameters, "KIND", "") == "ultra") return true;
    }
  }
  return false;
}

netlist::Design alone(const netlist::Instance& instance) {
  netlist::Design result;
  result.top = "tilewright_component";
  netlist::Module& top = result.modules.emplace_back(result.top);
  std::vector<netlist::Port> ports;
  const bool known = component_library().ports(instance.module, instance.parameters, ports);
  TILEWRIGHT_CHECK(known, "an instance of the unknown component " + instance.module);
  std::map<std::string, netlist::NetId> connections;
  for (const netlist::Port& port : ports) {
    connections[port.name] = top.add_port(port.name, port.direction, port.width);
  }
  top.add_instance("component", instance.module, instance.parameters, std::move(connections));
  return result;
}

// The component and what distinguishes it; strings that name files are left out.
std::string signature(const netlist::Instance& instance, const MemoryImages& images) {
  std::string text = instance.module;
  for (const auto& [name, value] : instance.parameters) {
    if (const auto* number = std::get_if<int64_t>(&value)) {
      text += fmt::format(" {}={}", name, *number);
    } else if (const std::string& string = std::get<std::string>(value); images.count(string) == 0) {
      text += fmt::format(" {}={}", name, string);
    }
  }
  return text;
}

// Those that the instance names.
MemoryImages images_of(const netlist::Instance& instance, const MemoryImages& images) {
  MemoryImages result;
  for (const auto& [name, value] : instance.parameters) {
    const auto* text = std::get_if<std::string>(&value);
    const auto found = text ? images.find(*text) : images.end();
    if (found != images.end()) result.insert(*found);
  }
  return result;
}

void add(synthesis::Resources& total, const synthesis::Resources& one, int64_t count) {
  total.lut += one.lut * count;
  total.ff += one.ff * count;
  total.carry += one.carry * count;
  total.dsp += one.dsp * count;
  total.bram += one.bram * count;
  total.uram += one.uram * count;
}

synthesis::YosysResult synthesize(const netlist::Design& netlist, const MemoryImages& images,
                                  const std::filesystem::path& folder,
                                  const DesignSynthesisOptions& options) {
  synthesis::YosysJob job;
  job.family = options.family;
  job.use_uram = uses_ultra(netlist);
  job.top = netlist.top;
  job.folder = folder;
  job.timeout_s = options.timeout_s;
  job.sources = write_sources(netlist, images, folder / "sources", options.rtl_folder / "pipeline");
  return synthesis::run_yosys(job);
}

}  // namespace

DesignCounts count_resources(const Design& design, const DesignSynthesisOptions& options) {
  DesignCounts counts;
  counts.by_module = options.by_module;
  const auto take = [&](const synthesis::YosysResult& result, int64_t times) {
    add(counts.resources, result.count.resources, times);
    for (const auto& [type, cells] : result.count.other) counts.other[type] += cells * times;
    counts.seconds += result.seconds;
    ++counts.runs;
  };
  if (!options.by_module) {
    take(synthesize(design.netlist, design.images, options.folder, options), 1);
    return counts;
  }
  std::map<std::string, std::pair<const netlist::Instance*, int64_t>> distinct;
  for (const netlist::Module& module : design.netlist.modules) {
    for (const netlist::Instance& instance : module.instances) {
      if (design.netlist.module(instance.module) != nullptr) continue;
      auto& entry = distinct[signature(instance, design.images)];
      entry.first = &instance;
      ++entry.second;
    }
  }
  for (const auto& [text, entry] : distinct) {
    const std::filesystem::path folder =
        options.folder / fmt::format("{}_{}", entry.first->name, counts.runs);
    const netlist::Instance& instance = *entry.first;
    const int64_t times = entry.second;
    with_context(text, [&] {
      take(synthesize(alone(instance), images_of(instance, design.images), folder, options), times);
    });
  }
  return counts;
}

}  // namespace tilewright::pipeline
