// A component's own port list says which of a stream's nets it has.
#include "tilewright/pipeline/design/wiring.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {

using netlist::kNoNet;
using netlist::NetId;

Stream Wiring::stream(const std::string& name, int64_t elements, int element_bits) {
  Stream s;
  s.elements = elements;
  s.element_bits = element_bits;
  s.width = int(elements * element_bits);
  s.valid = module_.add_net(name + "_valid", 1);
  s.ready = module_.add_net(name + "_ready", 1);
  s.data = module_.add_net(name + "_data", s.width);
  return s;
}

NetId Wiring::constant(int width, uint64_t value) {
  NetId& net = constants_.try_emplace({width, value}, kNoNet).first->second;
  if (net == kNoNet) net = module_.add_constant(width, value, fmt::format("const{}_{}", width, value));
  return net;
}

void Wiring::add(const std::string& instance, const std::string& component, netlist::Parameters parameters,
                 std::vector<std::pair<std::string, Stream*>> streams, std::map<std::string, NetId> others) {
  const ComponentType* const type = component_type(component);
  TILEWRIGHT_CHECK(type != nullptr, "no component '" + component + "'");
  const std::vector<ComponentPort> ports = type->ports(parameters);
  for (auto& [name, s] : streams) {
    for (const ComponentPort& port : ports) {
      const std::string& port_name = port.port.name;
      if (port_name == name + "_valid") others[port_name] = s->valid;
      if (port_name == name + "_ready") others[port_name] = s->ready;
      if (port_name == name + "_data") others[port_name] = s->data;
      if (port_name != name + "_last") continue;
      if (port.port.direction == netlist::Direction::kOutput) {
        if (s->last == kNoNet) s->last = module_.add_net(fmt::format("{}_{}", instance, port_name), 1);
        others[port_name] = s->last;
      } else {
        others[port_name] = s->last == kNoNet ? constant(1, 1) : s->last;
      }
    }
  }
  module_.add_instance(instance, component, std::move(parameters), std::move(others));
}

Stream Wiring::resized(const std::string& name, Stream in, int64_t elements, int64_t count) {
  const std::vector<int64_t> path = resize_path(in.elements, elements, in.element_bits, count);
  for (size_t i = 1; i < path.size(); ++i) {
    const std::string step = i + 1 == path.size() ? name : name + "_between";
    Stream out = stream(step, path[i], in.element_bits);
    add(step, "stream_width", {{"ELEMENT", in.element_bits}, {"IN", path[i - 1]}, {"OUT", path[i]}},
        {{"in", &in}, {"out", &out}});
    in = out;
  }
  return in;
}

Stream Wiring::queued(const std::string& name, Stream in, int64_t depth) {
  if (depth == 0) return in;
  Stream out = stream(name, in.elements, in.element_bits);
  add(name, "stream_fifo",
      {{"WIDTH", in.width}, {"DEPTH", depth}, {"KIND", std::string(small_memory_kind(depth, in.width))}},
      {{"in", &in}, {"out", &out}});
  return out;
}

std::vector<Stream> Wiring::forked(const std::string& name, Stream in, int64_t count) {
  std::vector<Stream> outputs;
  for (int64_t i = 0; i + 1 < count; ++i) {
    const std::string fork = fmt::format("{}_{}", name, i);
    Stream taken = stream(fork + "_out", in.elements, in.element_bits);
    Stream rest = stream(fork + "_rest", in.elements, in.element_bits);
    add(fork, "stream_fork", {{"WIDTH", in.width}}, {{"in", &in}, {"out0", &taken}, {"out1", &rest}});
    outputs.push_back(taken);
    in = rest;
  }
  outputs.push_back(in);
  return outputs;
}

Stream Wiring::joined(const std::string& name, std::vector<Stream> parts) {
  for (int level = 0; parts.size() > 1; ++level) {
    std::vector<Stream> wider;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      const std::string join = fmt::format("{}_{}_{}", name, level, i / 2);
      Stream both = stream(join + "_out", 2 * parts[i].elements, parts[i].element_bits);
      add(join, "stream_join", {{"WIDTH", parts[i].width}},
          {{"in0", &parts[i]}, {"in1", &parts[i + 1]}, {"out", &both}});
      wider.push_back(both);
    }
    parts = std::move(wider);
  }
  return parts[0];
}

Stream Wiring::framed(const std::string& name, Stream in, int64_t keep, int64_t drop, int64_t added) {
  if (drop == 0 && added == 0) return in;
  Stream out = stream(name, in.elements, in.element_bits);
  add(name, "stream_frame", {{"WIDTH", in.width}, {"KEEP", keep}, {"DROP", drop}, {"ADD", added}},
      {{"in", &in}, {"out", &out}});
  return out;
}

std::string Wiring::image(const std::string& name, MemoryImage contents) {
  const std::string file = name + ".hex";
  images_[file] = std::move(contents);
  return file;
}

const char* kind_text(netlist::MemoryKind kind) {
  switch (kind) {
    case netlist::MemoryKind::kRegisters:
      return "registers";
    case netlist::MemoryKind::kLutRam:
      return "lutram";
    case netlist::MemoryKind::kBlockRam:
      return "block";
    case netlist::MemoryKind::kUltraRam:
      return "ultra";
  }
  return "";
}

const char* small_memory_kind(int64_t words, int64_t width) {
  if (words <= 2) return "registers";
  return words <= 64 || words * width <= 4096 ? "lutram" : "block";
}

}  // namespace tilewright::pipeline
