// For tests: the smallest design, which copies its image to its result through a queue.
#pragma once

#include <map>
#include <string>

#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/design/wiring.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {

struct CopyShape {
  int64_t image_bytes = 256;
  int64_t port_bytes = 8;
  int64_t queue = 4;
  bool streaming = false;
  int64_t held_back = 0;  // beats that never leave it: more than the image has of them, and it hangs
};

inline void export_ports(netlist::Module& top, const std::string& component,
                         const netlist::Parameters& parameters, const std::string& prefix,
                         const std::string& shown, std::map<std::string, netlist::NetId>& connections) {
  for (const ComponentPort& port : component_type(component)->ports(parameters)) {
    if (port.port.name.rfind(prefix, 0) != 0) continue;
    connections[port.port.name] =
        top.add_port(shown + port.port.name.substr(prefix.size()), port.port.direction, port.port.width);
  }
}

inline Design copy_design(const CopyShape& shape) {
  Design design;
  design.name = "copy";
  design.netlist.top = "copy";
  design.netlist.modules.push_back(netlist::Module("copy"));
  netlist::Module& top = design.netlist.modules[0];
  Wiring wiring(top, design.images);
  const auto net = [&](const char* name, int width) { return top.add_net(name, width); };
  const netlist::NetId start = net("start", 1), input_busy = net("input_busy", 1),
                       output_busy = net("output_busy", 1);
  const netlist::NetId input_base = net("input_base", 32), output_base = net("output_base", 32);
  const netlist::NetId input_bytes = net("input_bytes", 32), output_bytes = net("output_bytes", 32);
  const netlist::Parameters port = {
      {"DATA", shape.port_bytes * 8}, {"BURST", int64_t{16}}, {"QUEUE", int64_t{64}}, {"A", int64_t{32}}};
  Stream in = wiring.stream("input", shape.port_bytes, 8);
  std::map<std::string, netlist::NetId> reader = {
      {"start", start}, {"base", input_base}, {"bytes", input_bytes}, {"busy", input_busy}};
  export_ports(top, "dma_read", port, "m_", "m0_", reader);
  wiring.add("reader", "dma_read", port, {{"out", &in}}, reader);
  Stream out = wiring.queued("queue", in, shape.queue);
  if (shape.held_back > 0) out = wiring.framed("holder", out, 1, shape.held_back, 0);
  std::map<std::string, netlist::NetId> writer = {
      {"start", start}, {"base", output_base}, {"bytes", output_bytes}, {"busy", output_busy}};
  export_ports(top, "dma_write", port, "m_", "m0_", writer);
  wiring.add("writer", "dma_write", port, {{"in", &out}}, writer);
  const netlist::Parameters control = {{"A", int64_t{32}},
                                       {"CHANNELS", int64_t{1}},
                                       {"BUSY", int64_t{2}},
                                       {"IDENTITY", wiring.image("identity", encode(DesignIdentity{}))}};
  std::map<std::string, netlist::NetId> others = {
      {"start", start},
      {"input_base", input_base},
      {"input_bytes", input_bytes},
      {"output_base", output_base},
      {"output_bytes", output_bytes},
      {"busy", top.add_assign(netlist::Operation::kConcatenate, {output_busy, input_busy}, 2, 0, "busy")},
      {"error", wiring.constant(1, 0)},
      {"irq", top.add_port("irq", netlist::Direction::kOutput, 1)}};
  export_ports(top, "control", control, "s_", "s_", others);
  wiring.add("control", "control", control, {}, others);
  const int64_t beats = shape.image_bytes / shape.port_bytes;
  design.input = {{1, 1, shape.image_bytes}, shape.image_bytes, 8, false, shape.image_bytes, {0, 0}, {}};
  design.input.source = design.input.shape;
  design.output = design.input;
  design.tasks = {{"queue", 0, 0, 1, "input", beats / 2}, {"queue", 0, 1, 1, "input", beats - beats / 2}};
  design.port_bytes = shape.port_bytes;
  design.streaming = shape.streaming;
  return design;
}

}  // namespace tilewright::pipeline
