// A component by itself becomes a netlist of one instance whose ports are the top's.
#include "tilewright/pipeline/emit/design_synthesis.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/array_model.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/emit/component_parts.h"
#include "tilewright/pipeline/verilog/design_sources.h"
#include "tilewright/synthesis/yosys.h"

namespace tilewright::pipeline {
namespace {

bool uses_ultra(const netlist::Netlist& design) {
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

std::string part_name(size_t index) { return fmt::format("tilewright_part{}", index); }

// Every component in a module of its own, side by side in the top.
netlist::Netlist side_by_side(const std::vector<const netlist::Instance*>& components) {
  netlist::Netlist result;
  result.top = "tilewright_components";
  netlist::Module top(result.top);
  for (size_t i = 0; i < components.size(); ++i) {
    const netlist::Instance& component = *components[i];
    netlist::Module part(part_name(i));
    std::vector<netlist::Port> ports;
    const bool known = component_library().ports(component.module, component.parameters, ports);
    TILEWRIGHT_CHECK(known, "an instance of the unknown component " + component.module);
    std::map<std::string, netlist::NetId> inside, outside;
    for (const netlist::Port& port : ports) {
      inside[port.name] = part.add_port(port.name, port.direction, port.width);
      outside[port.name] = top.add_port(fmt::format("part{}_{}", i, port.name), port.direction, port.width);
    }
    part.add_instance("component", component.module, component.parameters, std::move(inside));
    top.add_instance(part_name(i), part.name, {}, std::move(outside));
    result.modules.push_back(std::move(part));
  }
  result.modules.push_back(std::move(top));
  return result;
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

synthesis::YosysResult synthesize(const netlist::Netlist& netlist, const MemoryImages& images,
                                  const DesignSynthesisOptions& options,
                                  std::vector<std::string> kept_modules = {}) {
  synthesis::YosysJob job;
  job.family = options.family;
  const bool ultra = uses_ultra(netlist);
  job.use_uram = ultra && options.family == synthesis::DeviceFamily::kXcup;
  job.any_memory = ultra || options.family == synthesis::DeviceFamily::kIce40;
  job.use_dsp = options.use_dsp;
  job.top = netlist.top;
  job.folder = options.folder;
  job.timeout_s = options.timeout_s;
  job.kept_modules = std::move(kept_modules);
  job.write_netlist = false;
  job.stop = options.stop;
  job.sources = write_sources(netlist, images, options.folder / "sources", options.rtl_folder);
  return synthesis::run_yosys(job);
}

// The Verilog module that arrays and rings repeat.
std::string column_module(const netlist::Instance& instance) {
  if (instance.module == "mac_array") return component_module("dot_product");
  if (instance.module == "lane_array") return component_module("lane_sum");
  return instance.module == "weight_ring" ? component_module("stream_memory") : "";
}

bool many_columns(const netlist::Instance& instance, const PartLimits& limits) {
  const auto value = [&](const char* name) { return netlist::integer_or(instance.parameters, name, 1); };
  // Of wide fixed point other logic is in the columns than a product by itself leaves to them.
  if (value("ACC") == 64) return false;
  if (instance.module == "mac_array") return value("PI") * value("PO") * value("ACC") > limits.product_bits;
  if (instance.module == "lane_array") return value("P") * value("TAPS") * value("ACC") > limits.product_bits;
  return instance.module == "weight_ring" && value("WIDTH") > limits.ring_bits;
}

// Bits of registers of activations that all columns of an array hold in the same cycle. Outside of blocks -
// all of UltraScale+ - Yosys makes one of equal ones.
int64_t shared_register_bits(const netlist::Instance& instance, synthesis::DeviceFamily family) {
  if (instance.module != "mac_array") return 0;
  const auto value = [&](const char* name) { return netlist::integer_or(instance.parameters, name, 0); };
  const std::string multiply = netlist::text_or(instance.parameters, "MULTIPLY", "dsp");
  const bool bipolar = value("A_BIPOLAR") != 0;
  if (multiply == "lut" || (bipolar && value("W_BIPOLAR") != 0)) return 0;
  const int64_t bits = (bipolar ? 2 : value("AW")) + (value("W_BIPOLAR") != 0 ? 2 : value("WW"));
  const bool logic = multiply == "dsp" && bits < 9;  // no blocks for these, whatever the family
  if (family != synthesis::DeviceFamily::kXcup && !logic) return 0;
  const int64_t rows = multiply == "pair" ? 2 : std::max<int64_t>(1, packed_rows(multiply));
  const int64_t columns = ceil_div(value("PO"), rows);
  return (columns - 1) * value("PI") * value("AW");
}

// What is synthesised for the component of that number.
struct Part {
  ComponentPart part;
  size_t component = 0;
};

// The cells of the parts of a component in its count; more than one part: a line through them.
void add_weighted(ComponentCount& one, size_t number, const std::vector<Part>& parts,
                  const synthesis::YosysResult& run, synthesis::DeviceFamily family) {
  const bool apart = one.columns_apart;
  double lut = 0, ff = 0, dsp = 0, bram = 0;
  int64_t used = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].component != number) continue;
    const auto cells = run.module_cells.find(part_name(i));
    if (cells == run.module_cells.end()) continue;
    const double weight = parts[i].part.weight;
    one.count = synthesis::count_cells(family, cells->second);
    lut += weight * double(one.count.resources.lut);
    int64_t own_ff = one.count.resources.ff;
    if (apart) own_ff -= shared_register_bits(parts[i].part.instance, family);
    one.count.resources.ff = own_ff;
    ff += weight * double(own_ff);
    dsp += weight * double(one.count.resources.dsp);
    bram += weight * double(one.count.resources.bram);
    ++used;
  }
  if (used < 2) return;
  one.columns_apart = true;
  one.count.resources.lut = std::llround(lut);
  one.count.resources.ff = std::llround(ff);
  one.count.resources.dsp = std::llround(dsp);
  one.count.resources.bram = int64_t(std::ceil(bram - 1e-6));
}

}  // namespace

std::string component_signature(const netlist::Instance& instance, const MemoryImages& images) {
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

std::vector<ComponentCount> count_components(const std::vector<const netlist::Instance*>& components,
                                             const MemoryImages& images,
                                             const DesignSynthesisOptions& options) {
  std::set<std::string> apart, wide;  // modules; contents that parts replace
  std::vector<std::string> kept, products;
  MemoryImages own;
  std::vector<Part> parts;
  for (size_t i = 0; i < components.size(); ++i) {
    own.merge(images_of(*components[i], images));
    const std::string file = netlist::text_or(components[i]->parameters, "FILE", "");
    for (ComponentPart& part : component_parts(*components[i], options.parts, own)) {
      if (netlist::text_or(part.instance.parameters, "FILE", "") != file) wide.insert(file);
      parts.push_back({std::move(part), i});
    }
    if (!many_columns(*components[i], options.parts)) continue;
    apart.insert(column_module(*components[i]));
    // The 7 series' blocks take registers and additions from outside of these.
    if (options.family == synthesis::DeviceFamily::kXcup) {
      products = {component_module("multiply"), component_module("multiply_pair"),
                  component_module("multiply_packed")};
    }
  }
  std::vector<const netlist::Instance*> instances;
  for (const std::string& file : wide) own.erase(file);
  for (const Part& part : parts) {
    kept.push_back(part_name(instances.size()));
    instances.push_back(&part.part.instance);
  }
  kept.insert(kept.end(), apart.begin(), apart.end());
  kept.insert(kept.end(), products.begin(), products.end());
  const synthesis::YosysResult run = synthesize(side_by_side(instances), own, options, kept);
  std::vector<ComponentCount> counts(components.size());
  for (size_t i = 0; i < components.size(); ++i) {
    counts[i].columns_apart = apart.count(column_module(*components[i])) != 0;
    counts[i].seconds = run.seconds / double(components.size());
    add_weighted(counts[i], i, parts, run, options.family);
  }
  return counts;
}

std::vector<DistinctComponent> distinct_components(const Design& design) {
  std::map<std::string, DistinctComponent> distinct;
  for (const netlist::Module& module : design.netlist.modules) {
    for (const netlist::Instance& instance : module.instances) {
      if (design.netlist.module(instance.module) != nullptr) continue;
      const std::string signature = component_signature(instance, design.images);
      DistinctComponent& entry = distinct[signature];
      entry.signature = signature;
      entry.instance = &instance;
      ++entry.times;
    }
  }
  std::vector<DistinctComponent> list;
  for (const auto& entry : distinct) list.push_back(entry.second);
  return list;
}

DesignCounts count_resources(const Design& design, const DesignSynthesisOptions& options) {
  DesignCounts counts;
  counts.by_module = options.by_module;
  const auto take = [&](const synthesis::CellCount& count, int64_t times, double seconds) {
    add(counts.resources, count.resources, times);
    for (const auto& [type, cells] : count.other) counts.other[type] += cells * times;
    counts.seconds += seconds;
    ++counts.runs;
  };
  if (!options.by_module) {
    const synthesis::YosysResult run = synthesize(design.netlist, design.images, options);
    take(run.count, 1, run.seconds);
    return counts;
  }
  for (const DistinctComponent& component : distinct_components(design)) {
    DesignSynthesisOptions own = options;
    own.folder /= fmt::format("{}_{}", component.instance->name, counts.runs);
    with_context(component.signature, [&] {
      const ComponentCount one = count_components({component.instance}, design.images, own).front();
      take(one.count, component.times, one.seconds);
    });
  }
  return counts;
}

}  // namespace tilewright::pipeline
