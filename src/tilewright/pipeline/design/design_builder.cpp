// The frame of a design: control registers, memory ports, and the array's finish. Memory port 0 carries
// images and results, and its share of the weights.
#include "tilewright/pipeline/design/design_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/component/finish.h"
#include "tilewright/pipeline/component/rom_walker.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {

using netlist::Direction;
using netlist::kNoNet;
using netlist::NetId;
using netlist::Operation;
using netlist::Parameters;

namespace {

constexpr int kAddressBits = 32;
// Beats that a read port may have on their way: covers the latency of board memories.
constexpr int64_t kReadQueue = 256;

Design empty_design(const std::string& name) {
  Design design;
  design.name = name;
  design.netlist.top = "tilewright_pipeline";
  design.netlist.modules.push_back(netlist::Module(design.netlist.top));
  return design;
}

}  // namespace

DesignBuilder::DesignBuilder(const Network& network, const Allocation& allocation)
    : network_(network),
      allocation_(allocation),
      design_(empty_design(network.name)),
      wiring_(design_.netlist.modules[0], design_.images) {
  netlist::Module& m = top();
  start_ = m.add_net("start", 1);
  input_base_ = m.add_net("input_base", kAddressBits);
  input_bytes_ = m.add_net("input_bytes", 32);
  output_base_ = m.add_net("output_base", kAddressBits);
  output_bytes_ = m.add_net("output_bytes", 32);
  design_.clock_mhz = allocation.clock_mhz;
  design_.streaming = allocation.streaming;
  design_.port_bytes = allocation.port_bytes;
  design_.channels = allocation.weights_on_chip ? 1 : allocation.weight_channels;
}

void DesignBuilder::export_ports(const std::string& component, const Parameters& parameters,
                                 const std::string& prefix, const std::string& renamed,
                                 std::map<std::string, NetId>& connections) {
  for (const ComponentPort& port : component_type(component)->ports(parameters)) {
    const std::string& name = port.port.name;
    if (name.rfind(prefix, 0) != 0) continue;
    connections[name] =
        top().add_port(renamed + name.substr(prefix.size()), port.port.direction, port.port.width);
  }
}

Parameters DesignBuilder::read_parameters() const {
  return {{"DATA", allocation_.port_bytes * 8},
          {"BURST", allocation_.max_burst_beats},
          {"QUEUE", kReadQueue},
          {"A", int64_t{kAddressBits}}};
}

Stream DesignBuilder::read_port(const std::string& name, NetId base, NetId bytes, int channel,
                                int element_bits) {
  netlist::Module& m = top();
  const Parameters parameters = read_parameters();
  std::map<std::string, NetId> master, others = {{"start", start_}, {"base", base}, {"bytes", bytes}};
  for (const ComponentPort& port : component_type("dma_read")->ports(parameters)) {
    if (port.port.name.rfind("m_", 0) != 0) continue;
    const NetId net = m.add_net(name + port.port.name.substr(1), port.port.width);
    master[port.port.name.substr(2)] = net;
    others[port.port.name] = net;
  }
  readers_[channel].push_back(master);
  busy_.push_back(others["busy"] = m.add_net(name + "_busy", 1));
  errors_.push_back(others["error"] = m.add_net(name + "_error", 1));
  Stream out = wiring_.stream(name, allocation_.port_bytes * 8 / element_bits, element_bits);
  wiring_.add(name, "dma_read", parameters, {{"out", &out}}, others);
  return out;
}

Stream DesignBuilder::input_elements(int64_t count, int bits) {
  Stream beats = read_port("input_dma", input_base_, input_bytes_, 0, bits);
  const int64_t total = ceil_div(count, beats.elements) * beats.elements;
  design_.input.bytes = total * bits / 8;
  if (total == count) return beats;
  const int64_t step = std::gcd(count, beats.elements);
  return wiring_.framed("input_frame", wiring_.resized("input_step", beats, step, total), count / step,
                        (total - count) / step, 0);
}

void DesignBuilder::output_elements(Stream elements, int64_t count) {
  const int64_t beat = allocation_.port_bytes * 8 / elements.element_bits;
  const int64_t total = ceil_div(count, beat) * beat;
  design_.output.bytes = total * elements.element_bits / 8;
  if (total != count) {
    const int64_t step = std::gcd(count, beat);
    elements = wiring_.framed("output_frame", wiring_.resized("output_step", elements, step, count),
                              count / step, 0, (total - count) / step);
  }
  Stream beats = wiring_.resized("output_beats", elements, beat, total);
  const Parameters parameters = {{"DATA", allocation_.port_bytes * 8},
                                 {"BURST", allocation_.max_burst_beats},
                                 {"QUEUE", write_queue_beats(allocation_)},
                                 {"A", int64_t{kAddressBits}}};
  std::map<std::string, NetId> others = {{"start", start_}, {"base", output_base_}, {"bytes", output_bytes_}};
  busy_.push_back(others["busy"] = top().add_net("output_dma_busy", 1));
  errors_.push_back(others["error"] = top().add_net("output_dma_error", 1));
  export_ports("dma_write", parameters, "m_", "m0_", others);
  wiring_.add("output_dma", "dma_write", parameters, {{"in", &beats}}, others);
}

Stream DesignBuilder::weight_beats() {
  weight_bytes_ = top().add_net("weight_bytes", 32);
  std::vector<Stream> parts;
  for (int64_t c = 0; c < allocation_.weight_channels; ++c) {
    weight_bases_.push_back(top().add_net(fmt::format("weight_base{}", c), kAddressBits));
    parts.push_back(
        read_port(fmt::format("weight_dma{}", c), weight_bases_[size_t(c)], weight_bytes_, int(c), 8));
  }
  return wiring_.joined("weight_join", parts);
}

Stream DesignBuilder::rom(const std::string& name, MemoryImage contents, const std::vector<WalkerRow>& rows,
                          netlist::MemoryKind kind) {
  return add_rom(name, std::move(contents), rows, kind, {});
}

Stream DesignBuilder::cycled_rom(const std::string& name, MemoryImage contents, netlist::MemoryKind kind) {
  const int64_t words = contents.words();
  return add_rom(name, std::move(contents), {{0, 1, 1, words}}, cycled_rom_kind(words, kind),
                 cycle_counters(words));
}

Stream DesignBuilder::add_rom(const std::string& name, MemoryImage contents,
                              const std::vector<WalkerRow>& rows, netlist::MemoryKind kind,
                              const Parameters& counters) {
  std::vector<RomWalkerRow> table;
  for (const WalkerRow& row : rows) table.push_back({row.base, row.outer, row.repeats, row.words});
  const int width = contents.width_bits();
  const int64_t words = contents.words();
  const std::string file = wiring_.image(name, std::move(contents));
  const std::string table_file = wiring_.image(name + "_tasks", encode(table));
  Stream out = wiring_.stream(name, width, 1);
  Parameters parameters = {{"WIDTH", width},      {"WORDS", words},
                           {"FILE", file},        {"TASKS", int64_t(rows.size())},
                           {"TABLE", table_file}, {"KIND", std::string(kind_text(kind))}};
  parameters.insert(counters.begin(), counters.end());
  wiring_.add(name, "rom_walker", parameters, {{"out", &out}});
  return out;
}

int DesignBuilder::multiplier_bits(const std::vector<FinishTask>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(),
                     [](const FinishTask& t) { return has_multipliers(*t.layer); })
             ? 32
             : 0;
}

Stream DesignBuilder::finish(const std::string& name, Stream sums, Stream parameters, Stream* residual,
                             const std::vector<FinishTask>& tasks, int64_t pf, int result_bits) {
  const bool fixed = network_.number == NumberType::kFixed;
  std::vector<FinishRow> rows;
  MemoryImage tables(fixed ? 32 : 8);
  int64_t table_count = 0;
  int sum_bits = 1;
  for (const FinishTask& task : tasks) {
    const Layer& layer = *task.layer;
    FinishRow row;
    row.beats = task.beats;
    row.drain = task.drain;
    row.raw = fixed && layer.kind == LayerKind::kMaxPool;
    row.zero_point = layer.finish.zero_point;
    row.clip_low = layer.finish.clip_low;
    row.clip_high = layer.finish.clip_high;
    row.bipolar = layer.finish.bipolar && result_bits > 1;
    if (layer.add) {
      row.add = true;
      row.add_a = layer.add->multiplier_a;
      row.add_b = layer.add->multiplier_b;
      row.add_bias = layer.add->bias;
      row.add_shift = layer.add->shift;
      row.add_zero = layer.add->zero_point;
      row.add_low = layer.add->clip_low;
      row.add_high = layer.add->clip_high;
    }
    if (layer.lookup) {
      row.lookup = true;
      row.table = table_count++;
      row.input_shift = layer.lookup->input_shift;
      for (int32_t value : layer.lookup->table) tables.set(tables.add_word(), 0, fixed ? 32 : 8, value);
    }
    rows.push_back(row);
    sum_bits = std::max(sum_bits, biased_sum_bits(network_, layer));
  }
  Parameters p = {{"NUMBER", std::string(fixed ? "fixed" : "integer")},
                  {"AW", int64_t{result_bits}},
                  {"ACC", int64_t{sums.element_bits}},
                  {"PO", sums.elements},
                  {"PF", pf},
                  {"RESIDUAL", int64_t{residual == nullptr ? 0 : 1}},
                  {"TABLES", table_count},
                  {"TASKS", int64_t(rows.size())},
                  {"TABLE", wiring_.image(name + "_tasks", encode(rows, network_.number))}};
  if (table_count > 0) p["FILE"] = wiring_.image(name + "_lookup", std::move(tables));
  if (fixed) {
    p["FRACTION"] = int64_t{network_.fraction};
  } else {
    p["SUM_BITS"] = int64_t{sum_bits};
    p["MULTIPLIER_BITS"] = int64_t{multiplier_bits(tasks)};
  }
  Stream out = wiring_.stream(name, pf, result_bits);
  std::vector<std::pair<std::string, Stream*>> ports = {
      {"acc", &sums}, {"param", &parameters}, {"out", &out}};
  std::map<std::string, NetId> others;
  if (residual != nullptr) {
    ports.push_back({"residual", residual});
  } else {
    others = {{"residual_valid", wiring_.constant(1, 0)},
              {"residual_data", wiring_.constant(int(pf) * result_bits, 0)}};
  }
  wiring_.add(name, "finish", std::move(p), ports, others);
  return out;
}

// Every channel's read masters onto one memory port.
void DesignBuilder::connect_reads() {
  for (const auto& [channel, masters] : readers_) {
    const std::string port = fmt::format("m{}_", channel);
    TILEWRIGHT_CHECK(masters.size() <= 2, "a memory port with more than two read masters");
    if (masters.size() == 1) {
      connect_reader(port, masters[0]);
      continue;
    }
    const Parameters parameters = {{"A", int64_t{kAddressBits}}, {"DATA", allocation_.port_bytes * 8}};
    std::map<std::string, NetId> others;
    export_ports("read_share", parameters, "m_", port, others);
    for (size_t i = 0; i < masters.size(); ++i) {
      for (const auto& [name, net] : masters[i]) others[fmt::format("c{}_{}", i, name)] = net;
    }
    wiring_.add(fmt::format("read_share{}", channel), "read_share", parameters, {}, others);
  }
}

// A master that has a memory port for itself.
void DesignBuilder::connect_reader(const std::string& port, const std::map<std::string, NetId>& master) {
  for (const ComponentPort& own : component_type("dma_read")->ports(read_parameters())) {
    if (own.port.name.rfind("m_", 0) != 0) continue;
    const std::string name = own.port.name.substr(2);
    const NetId outside = top().add_port(port + name, own.port.direction, own.port.width);
    const NetId inside = master.at(name);
    const bool output = own.port.direction == Direction::kOutput;
    top().connect(output ? outside : inside, output ? inside : outside);
  }
}

NetId DesignBuilder::concatenated(const std::vector<NetId>& nets, const std::string& name) {
  return top().add_assign(Operation::kConcatenate, {nets.rbegin(), nets.rend()}, int(nets.size()), 0, name);
}

Design DesignBuilder::finished() {
  connect_reads();
  const DesignIdentity identity = {
      .hash = std::hash<std::string>{}(print_allocation(allocation_) + network_.name),
      .input_bytes = uint32_t(design_.input.bytes),
      .output_bytes = uint32_t(design_.output.bytes),
      .weight_bytes = uint32_t(design_.weight_bytes_per_channel),
      .port_bytes = uint32_t(allocation_.port_bytes),
      .channels = uint32_t(design_.channels)};
  const Parameters parameters = {{"A", int64_t{kAddressBits}},
                                 {"CHANNELS", allocation_.weight_channels},
                                 {"BUSY", int64_t(busy_.size())},
                                 {"IDENTITY", wiring_.image("identity", encode(identity))}};
  std::map<std::string, NetId> others = {
      {"start", start_},
      {"input_base", input_base_},
      {"input_bytes", input_bytes_},
      {"output_base", output_base_},
      {"output_bytes", output_bytes_},
      {"busy", concatenated(busy_, "busy")},
      {"error", top().add_assign(Operation::kReduceOr, {concatenated(errors_, "errors")}, 1, 0, "error")},
      {"irq", top().add_port("irq", Direction::kOutput, 1)}};
  if (!weight_bases_.empty()) others["weight_bytes"] = weight_bytes_;
  for (size_t c = 0; c < weight_bases_.size(); ++c)
    others[fmt::format("weight_base{}", c)] = weight_bases_[c];
  export_ports("control", parameters, "s_", "s_", others);
  wiring_.add("control", "control", parameters, {}, others);
  return std::move(design_);
}

}  // namespace tilewright::pipeline
