// The frame of a design: control registers, memory ports, and the array's finish. Memory port 0 carries
// images and results, and its share of the weights.
#include "tilewright/pipeline/design/design_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/netlist/names.h"
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

constexpr size_t kLongestName = 32;  // of a layer, in the names of its parts

}  // namespace

std::string component_prefix(const char* kind, size_t index, const std::string& name) {
  const std::string part = netlist::identifier_part(name, kLongestName);
  return fmt::format("{}{}{}{}", kind, index, part.empty() ? "" : "_", part);
}

DesignBuilder::DesignBuilder(const Network& network, const Allocation& allocation, ComponentSink& sink,
                             Design* design)
    : network_(network), allocation_(allocation), sink_(sink), wiring_(sink.wiring()), design_(design) {
  TILEWRIGHT_CHECK((wiring_ == nullptr) == (design_ == nullptr), "a netlist without its design");
  busy_.reserve(16);
  readers_.reserve(8);
  if (wiring_ == nullptr) return;
  netlist::Module& m = top();
  start_ = m.add_net("start", 1);
  input_base_ = m.add_net("input_base", kAddressBits);
  input_bytes_ = m.add_net("input_bytes", 32);
  output_base_ = m.add_net("output_base", kAddressBits);
  output_bytes_ = m.add_net("output_bytes", 32);
  design_->clock_mhz = allocation.clock_mhz;
  design_->streaming = allocation.streaming;
  design_->port_bytes = allocation.port_bytes;
  design_->channels = allocation.weights_on_chip ? 1 : allocation.weight_channels;
}

void DesignBuilder::begin_section(std::vector<std::string> heading) {
  if (wiring_ != nullptr) top().begin_section(std::move(heading));
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

Parameters DesignBuilder::port_parameters(int64_t queue) const {
  return {{"DATA", allocation_.port_bytes * 8},
          {"BURST", allocation_.max_burst_beats},
          {"QUEUE", queue},
          {"A", int64_t{kAddressBits}}};
}

Stream DesignBuilder::port_beats(const Label& name, int bits) {
  return sink_.stream(name, allocation_.port_bytes * 8 / bits, bits);
}

Stream DesignBuilder::read_port(const Label& name, NetId base, NetId bytes, int channel, int element_bits) {
  Parameters parameters = port_parameters(kReadQueue);
  Master master;
  ComponentSink::Nets others;
  NetId busy = kNoNet;
  if (wiring_ != nullptr) {
    const std::string text = name.text();
    others = {{"start", start_}, {"base", base}, {"bytes", bytes}};
    for (const ComponentPort& port : component_type("dma_read")->ports(parameters)) {
      if (port.port.name.rfind("m_", 0) != 0) continue;
      const NetId net = top().add_net(text + port.port.name.substr(1), port.port.width);
      master[port.port.name.substr(2)] = net;
      others[port.port.name] = net;
    }
    busy = others["busy"] = top().add_net(text + "_busy", 1);
    errors_.push_back(others["error"] = top().add_net(text + "_error", 1));
  }
  readers_.push_back({channel, std::move(master)});
  busy_.push_back(busy);
  Stream out = port_beats(name, element_bits);
  sink_.add(name, "dma_read", std::move(parameters), {{"out", &out}}, std::move(others));
  return out;
}

Stream DesignBuilder::input_beats(int bits) {
  return read_port("input_dma", input_base_, input_bytes_, 0, bits);
}

Stream DesignBuilder::framed_input(Stream beats, int64_t count) {
  const int64_t total = ceil_div(count, beats.elements) * beats.elements;
  if (design_ != nullptr) design_->input.bytes = total * beats.element_bits / 8;
  if (total == count) return beats;
  const BorderFrame frame = border_frame(count, beats.elements);
  const int64_t step = frame.step, coarse = frame.coarse;
  const int64_t rounded = coarse == step ? total : round_up(count, coarse);
  if (coarse != step)
    beats = sink_.framed("input_coarse_frame", sink_.resized("input_coarse_step", beats, coarse, total),
                         rounded / coarse, (total - rounded) / coarse, 0);
  return sink_.framed("input_frame", sink_.resized("input_step", beats, step, rounded), count / step,
                      (rounded - count) / step, 0);
}

Stream DesignBuilder::framed_output(Stream elements, int64_t count) {
  const int64_t beat = allocation_.port_bytes * 8 / elements.element_bits;
  const int64_t total = ceil_div(count, beat) * beat;
  if (design_ != nullptr) design_->output.bytes = total * elements.element_bits / 8;
  if (total != count) {
    const BorderFrame frame = border_frame(count, beat);
    const int64_t step = frame.step, coarse = frame.coarse;
    const int64_t rounded = coarse == step ? total : round_up(count, coarse);
    elements = sink_.framed("output_frame", sink_.resized("output_step", elements, step, count), count / step,
                            0, (rounded - count) / step);
    if (coarse != step)
      elements =
          sink_.framed("output_coarse_frame", sink_.resized("output_coarse_step", elements, coarse, rounded),
                       rounded / coarse, 0, (total - rounded) / coarse);
  }
  return sink_.resized("output_beats", elements, beat, total);
}

void DesignBuilder::output_beats(Stream beats) {
  Parameters parameters = port_parameters(write_queue_beats(allocation_));
  ComponentSink::Nets others;
  NetId busy = kNoNet;
  if (wiring_ != nullptr) {
    others = {{"start", start_}, {"base", output_base_}, {"bytes", output_bytes_}};
    busy = others["busy"] = top().add_net("output_dma_busy", 1);
    errors_.push_back(others["error"] = top().add_net("output_dma_error", 1));
    export_ports("dma_write", parameters, "m_", "m0_", others);
  }
  busy_.push_back(busy);
  sink_.add("output_dma", "dma_write", std::move(parameters), {{"in", &beats}}, std::move(others));
}

Stream DesignBuilder::weight_beats() {
  if (wiring_ != nullptr) weight_bytes_ = top().add_net("weight_bytes", 32);
  std::vector<Stream> parts;
  for (int64_t c = 0; c < allocation_.weight_channels; ++c) {
    if (wiring_ != nullptr) {
      weight_bases_.push_back(top().add_net(fmt::format("weight_base{}", c), kAddressBits));
    }
    parts.push_back(read_port(Label("weight_dma") + c, wiring_ != nullptr ? weight_bases_[size_t(c)] : kNoNet,
                              weight_bytes_, int(c), 8));
  }
  return sink_.joined("weight_join", parts);
}

Stream DesignBuilder::rom(const Label& name, const RomSizes& sizes, netlist::MemoryKind kind,
                          RomContents contents) {
  return add_rom(name, sizes, kind, std::move(contents), {});
}

Stream DesignBuilder::cycled_rom(const Label& name, int64_t width, int64_t words, netlist::MemoryKind kind,
                                 RomContents contents) {
  contents.rows = {{0, 1, 1, words}};
  return add_rom(name, {width, words, 1}, cycled_rom_kind(words, kind), std::move(contents),
                 cycle_counters(words));
}

Stream DesignBuilder::add_rom(const Label& name, const RomSizes& sizes, netlist::MemoryKind kind,
                              RomContents contents, Parameters parameters) {
  parameters["WIDTH"] = sizes.width;
  parameters["WORDS"] = sizes.words;
  parameters["TASKS"] = sizes.tasks;
  parameters["KIND"] = std::string(kind_text(kind));
  if (wiring_ != nullptr) {
    TILEWRIGHT_CHECK(contents.words.width_bits() == sizes.width && contents.words.words() == sizes.words &&
                         int64_t(contents.rows.size()) == sizes.tasks,
                     "a memory of other sizes than its contents: " + name.text());
    parameters["FILE"] = wiring_->image(name, std::move(contents.words));
    parameters["TABLE"] = wiring_->image(name + "_tasks", encode(contents.rows));
  }
  Stream out = sink_.stream(name, sizes.width, 1);
  sink_.add(name, "rom_walker", std::move(parameters), {{"out", &out}});
  return out;
}

// Stores the task table and the tables of values, one for each task that has one; returns the former's file.
std::string DesignBuilder::finish_table(const Label& name, const std::vector<FinishTask>& tasks,
                                        int result_bits, Parameters& parameters) {
  const bool fixed = network_.number == NumberType::kFixed;
  std::vector<FinishRow> rows;
  MemoryImage tables(fixed ? 32 : 8);
  int64_t table_count = 0;
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
      row.product = layer.add->product;
      if (row.product) {
        row.add_a = layer.add->zero_a;
        row.add_b = layer.add->zero_b;
        row.add_bias = layer.add->multiplier_a;
      }
    }
    if (layer.lookup) {
      row.lookup = true;
      row.table = table_count++;
      row.input_shift = layer.lookup->input_shift;
      for (int32_t value : layer.lookup->table) tables.set(tables.add_word(), 0, fixed ? 32 : 8, value);
    }
    rows.push_back(row);
  }
  parameters["TABLES"] = table_count;
  if (table_count > 0) parameters["FILE"] = wiring_->image(name + "_lookup", std::move(tables));
  return wiring_->image(name + "_tasks", encode(rows, network_.number));
}

Stream DesignBuilder::finish(const Label& name, Stream sums, Stream parameters, Stream* residual,
                             const FinishSizes& sizes, const std::vector<FinishTask>& tasks) {
  const bool fixed = network_.number == NumberType::kFixed;
  Parameters p = {{"NUMBER", std::string(fixed ? "fixed" : "integer")},
                  {"AW", int64_t{sizes.result_bits}},
                  {"ACC", int64_t{sums.element_bits}},
                  {"PO", sums.elements},
                  {"PF", sizes.pf},
                  {"RESIDUAL", int64_t{residual == nullptr ? 0 : 1}},
                  {"TABLES", sizes.tables},
                  {"TASKS", sizes.tasks}};
  if (fixed) {
    p["FRACTION"] = int64_t{network_.fraction};
  } else {
    p["SUM_BITS"] = int64_t{sizes.sum_bits};
    p["MULTIPLIER_BITS"] = int64_t{sizes.multiplier_bits};
    if (sizes.products) p["PRODUCTS"] = int64_t{1};
    if (sizes.twice) p["TWICE"] = int64_t{1};
    if (allocation_.finish_multiplier == Multiplier::kLut) p["MULTIPLY"] = std::string("lut");
  }
  if (wiring_ != nullptr) {
    TILEWRIGHT_CHECK(int64_t(tasks.size()) == sizes.tasks, "a finish with other tasks than its table");
    p["TABLE"] = finish_table(name, tasks, sizes.result_bits, p);
  }
  Stream out = sink_.stream(name, sizes.pf, sizes.result_bits);
  ComponentSink::Nets others;
  if (wiring_ != nullptr && residual == nullptr) {
    others = {{"residual_valid", wiring_->constant(1, 0)},
              {"residual_data", wiring_->constant(int(sizes.pf) * sizes.result_bits, 0)}};
  }
  sink_.add(name, "finish", std::move(p),
            {{"acc", &sums}, {"param", &parameters}, {"out", &out}, {"residual", residual}},
            std::move(others));
  return out;
}

// A channel's read masters onto its memory port.
void DesignBuilder::connect_reads(int channel) {
  const Master* masters[2] = {nullptr, nullptr};
  size_t count = 0;
  for (const Reader& reader : readers_) {
    if (reader.channel != channel) continue;
    TILEWRIGHT_CHECK(count < 2, "a memory port with more than two read masters");
    masters[count++] = &reader.nets;
  }
  const std::string port = wiring_ == nullptr ? "" : fmt::format("m{}_", channel);
  if (count == 1 && wiring_ != nullptr) connect_reader(port, *masters[0]);
  if (count < 2) return;
  Parameters parameters = {{"A", int64_t{kAddressBits}}, {"DATA", allocation_.port_bytes * 8}};
  ComponentSink::Nets others;
  if (wiring_ != nullptr) {
    export_ports("read_share", parameters, "m_", port, others);
    for (size_t i = 0; i < count; ++i) {
      for (const auto& [name, net] : *masters[i]) others[fmt::format("c{}_{}", i, name)] = net;
    }
  }
  sink_.add(Label("read_share") + int64_t{channel}, "read_share", std::move(parameters), {},
            std::move(others));
}

// A master that has a memory port for itself.
void DesignBuilder::connect_reader(const std::string& port, const Master& master) {
  for (const ComponentPort& own : component_type("dma_read")->ports(port_parameters(kReadQueue))) {
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

ComponentSink::Nets DesignBuilder::control_nets(Parameters& parameters) {
  const DesignIdentity identity = {
      .hash = std::hash<std::string>{}(print_allocation(allocation_) + network_.name),
      .input_bytes = uint32_t(design_->input.bytes),
      .output_bytes = uint32_t(design_->output.bytes),
      .weight_bytes = uint32_t(design_->weight_bytes_per_channel),
      .port_bytes = uint32_t(allocation_.port_bytes),
      .channels = uint32_t(design_->channels)};
  parameters["IDENTITY"] = wiring_->image("identity", encode(identity));
  ComponentSink::Nets others = {
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
  return others;
}

void DesignBuilder::finish_frame() {
  int channels = 0;
  for (const Reader& reader : readers_) channels = std::max(channels, reader.channel + 1);
  begin_section({"memory ports"});
  for (int channel = 0; channel < channels; ++channel) connect_reads(channel);
  Parameters parameters = {{"A", int64_t{kAddressBits}},
                           {"CHANNELS", allocation_.weight_channels},
                           {"BUSY", int64_t(busy_.size())}};
  ComponentSink::Nets others;
  begin_section({"registers"});
  if (wiring_ != nullptr) others = control_nets(parameters);
  sink_.add("control", "control", std::move(parameters), {}, std::move(others));
}

}  // namespace tilewright::pipeline
