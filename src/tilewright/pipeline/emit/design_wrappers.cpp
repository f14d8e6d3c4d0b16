// The top's ports say which signals there are: s_* is the register port, mN_* memory port N.
#include "tilewright/pipeline/emit/design_wrappers.h"

#include <fmt/format.h>

#include <map>

#include "tilewright/pipeline/image/registers.h"
#include "tilewright/pipeline/verilog/design_sources.h"

namespace tilewright::pipeline {
namespace {

using netlist::Direction;
using netlist::Module;
using netlist::NetId;
using netlist::Port;

constexpr Direction kIn = Direction::kInput, kOut = Direction::kOutput;

const std::map<std::string, std::string> kOwnFolder = {{kFolderParameter, "."}};

// A file of the design's folder by its path there; empty: the folder.
netlist::ParameterText in_folder(const std::string& file) {
  return {kFolderParameter, file.empty() ? "" : "/" + file};
}

std::vector<Port> memory_ports(int data, int address) {
  return {{"arvalid", kIn, 1}, {"arready", kOut, 1}, {"araddr", kIn, address}, {"arlen", kIn, 8},
          {"rvalid", kOut, 1}, {"rready", kIn, 1},   {"rdata", kOut, data},    {"rresp", kOut, 2},
          {"rlast", kOut, 1},  {"awvalid", kIn, 1},  {"awready", kOut, 1},     {"awaddr", kIn, address},
          {"wvalid", kIn, 1},  {"wready", kOut, 1},  {"wdata", kIn, data},     {"wstrb", kIn, data / 8},
          {"wlast", kIn, 1},   {"bvalid", kOut, 1},  {"bready", kIn, 1},       {"bresp", kOut, 2},
          {"finish", kIn, 1},  {"count", kIn, 32},   {"mismatches", kOut, 32}};
}

std::vector<Port> host_ports() {
  return {{"awvalid", kOut, 1}, {"awready", kIn, 1},  {"awaddr", kOut, 12}, {"wvalid", kOut, 1},
          {"wready", kIn, 1},   {"wdata", kOut, 32},  {"wstrb", kOut, 4},   {"bvalid", kIn, 1},
          {"bready", kOut, 1},  {"arvalid", kOut, 1}, {"arready", kIn, 1},  {"araddr", kOut, 12},
          {"rvalid", kIn, 1},   {"rready", kOut, 1},  {"rdata", kIn, 32},   {"irq", kIn, 1},
          {"count", kIn, 32},   {"finish", kOut, 1},  {"failed", kOut, 1},  {"cycles", kOut, 64}};
}

// "m1_araddr" -> "m1_axi_araddr".
std::string axi_name(const std::string& port) {
  const size_t bar = port.find('_');
  return bar == std::string::npos ? port : port.substr(0, bar) + "_axi" + port.substr(bar);
}

int port_width(const Module& top, const std::string& name, int otherwise) {
  for (const Port& port : top.ports) {
    if (port.name == name) return port.width;
  }
  return otherwise;
}

}  // namespace

bool WrapperLibrary::ports(const std::string& component, const netlist::Parameters& parameters,
                           std::vector<Port>& result) const {
  if (component == top_.name) {
    result = top_.ports;
  } else if (component == "tw_bench_memory") {
    result = memory_ports(int(netlist::integer(parameters, "DATA")), int(netlist::integer(parameters, "A")));
  } else if (component == "tw_bench_host") {
    result = host_ports();
  } else {
    return false;
  }
  return true;
}

netlist::Netlist axi_wrapper(const Design& design) {
  const Module& inner = *design.netlist.module(design.netlist.top);
  Module top("tilewright_axi");
  top.text_parameters = kOwnFolder;
  std::map<std::string, NetId> connections;
  for (const Port& port : inner.ports) {
    const std::string name = axi_name(port.name);
    connections[port.name] = top.add_port(name, port.direction, port.width);
    // Signals beside every address that a design without caches and protection has constant.
    const bool read = name.ends_with("_araddr"), write = name.ends_with("_awaddr");
    if (!read && !write) continue;
    const std::string stem = name.substr(0, name.size() - 4);
    if (port.direction == kIn) {
      top.add_port(stem + "prot", kIn, 3);
      continue;
    }
    const auto constant = [&](const char* signal, int width, uint64_t value) {
      top.connect(top.add_port(stem + signal, kOut, width), top.add_constant(width, value));
    };
    constant("prot", 3, 0);
    constant("cache", 4, 3);  // normal, bufferable
    constant("lock", 1, 0);
    constant("qos", 4, 0);
  }
  top.add_instance("design", inner.name, {{kFolderParameter, in_folder("")}}, std::move(connections));
  return {top.name, {top}};
}

netlist::Netlist bench(const Design& design, const BenchFiles& files) {
  const Module& inner = *design.netlist.module(design.netlist.top);
  Module top("bench");
  top.text_parameters = kOwnFolder;
  std::map<std::string, NetId> dut;
  for (const Port& port : inner.ports) dut[port.name] = top.add_net(port.name, port.width);
  const auto output = [&](const char* name, int width) { return top.add_port(name, kOut, width); };
  const NetId finish = output("finish", 1), failed = output("failed", 1), cycles = output("cycles", 64);
  const NetId mismatches = output("mismatches", 32), count = top.add_port("count", kIn, 32);
  const auto fact = [&](const char* name, int width, int64_t value) {
    top.connect(output(name, width), top.add_constant(width, uint64_t(value)));
  };
  fact("words", 32, files.output_words / files.images);
  fact("images", 32, files.images);
  fact("patience", 64, files.patience);
  // A signal of the design by its name there; 0 where it has none.
  const auto signal = [&](const std::string& name, int width) {
    const auto found = dut.find(name);
    return found == dut.end() ? top.add_constant(width, 0) : found->second;
  };
  std::map<std::string, NetId> host = {
      {"finish", finish}, {"failed", failed}, {"cycles", cycles}, {"irq", dut.at("irq")}, {"count", count}};
  for (const Port& port : host_ports()) {
    if (!host.contains(port.name)) host[port.name] = signal("s_" + port.name, port.width);
  }
  top.add_instance("host", "tw_bench_host",
                   {{"SCRIPT", in_folder(files.script)},
                    {"WRITES", files.script_words},
                    {"STREAMING", int64_t{design.streaming}},
                    {"IMAGES", int64_t{register_offset("IMAGES")}},
                    {"INPUT_BYTES", int64_t{register_offset("INPUT_BYTES")}},
                    {"OUTPUT_BYTES", int64_t{register_offset("OUTPUT_BYTES")}},
                    {"CYCLES_LO", int64_t{register_offset("CYCLES_LO")}},
                    {"STATUS", int64_t{register_offset("STATUS")}}},
                   std::move(host));
  for (int64_t c = 0; c < design.channels; ++c) {
    const std::string prefix = fmt::format("m{}_", c);
    const int data = int(design.port_bytes * 8), address = port_width(inner, prefix + "araddr", 32);
    std::map<std::string, NetId> memory = {{"finish", finish}, {"count", count}};
    if (c == 0) memory["mismatches"] = mismatches;
    for (const Port& port : memory_ports(data, address)) {
      if (memory.contains(port.name) || port.name == "mismatches") continue;
      if (port.direction == kIn) {
        memory[port.name] = signal(prefix + port.name, port.width);
      } else if (dut.contains(prefix + port.name)) {
        memory[port.name] = dut.at(prefix + port.name);
      }
    }
    netlist::Parameters parameters = {{"DATA", int64_t{data}},
                                      {"A", int64_t{address}},
                                      {"WORDS", files.memory_words},
                                      {"FILE", in_folder(files.memory)},
                                      {"LATENCY", files.latency}};
    if (c == 0) {
      parameters["FIRST"] = files.output_word;
      parameters["EACH"] = files.output_words / files.images;
      parameters["COUNT"] = files.output_words;
      parameters["EXPECTED"] = in_folder(files.expected);
      parameters["MASK"] = in_folder(files.mask);
    }
    top.add_instance(fmt::format("memory{}", c), "tw_bench_memory", std::move(parameters), std::move(memory));
  }
  top.add_instance("design", inner.name, {{kFolderParameter, in_folder("")}}, std::move(dut));
  return {top.name, {top}};
}

}  // namespace tilewright::pipeline
