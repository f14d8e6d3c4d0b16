// Every engine is a chain reader, array, finish, writer whose components walk task tables made from the plan;
// tensor memories give their ports to the readers and writers that use them.
#include "tilewright/pipeline/design/processor_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {

using netlist::kNoNet;
using netlist::NetId;
using netlist::Parameters;

namespace {

constexpr int kProgressPorts = 8;
constexpr int64_t kReaderQueue = 8;

// Words one after the other, as the ring cuts them from a beat.
std::vector<uint8_t> without_gaps(const MemoryImage& words) {
  const int64_t width = words.width_bits();
  if (width % 8 == 0) return words.bytes();
  std::vector<uint8_t> bytes(size_t(ceil_div(words.words() * width, 8)));
  for (int64_t at = 0; at < words.words() * width; ++at) {
    bytes[size_t(at / 8)] |= uint8_t(words.get(at / width, at % width, 1) << (at % 8));
  }
  return bytes;
}

int64_t engine_taps(const EngineAllocation& engine) {
  return engine.shape.feeder == Feeder::kRowMajor ? engine.taps_y * engine.taps_x : 1;
}

template <typename Row>
void expect_rows(const std::vector<Row>& rows, int64_t tasks, uint64_t units) {
  uint64_t used = 0;
  for (const Row& row : rows) used |= uint64_t{1} << row.unit;
  TILEWRIGHT_CHECK(int64_t(rows.size()) == tasks && used == units, "a task table of other tasks");
}

}  // namespace

ProcessorDesign::ProcessorDesign(const Network& network, const std::vector<LayerFacts>& facts,
                                 const Allocation& allocation, const Plan& plan, ComponentSink& sink,
                                 Design* design)
    : network_(network),
      facts_(facts),
      allocation_(allocation),
      plan_(plan),
      pi_(plan.word_elements),
      bits_(plan.element_bits),
      part_(part_elements(allocation, pi_, bits_)),
      address_bits_(address_bits(*std::max_element(plan.unit_words.begin(), plan.unit_words.end()))),
      rows_(network, allocation, plan, part_),
      sink_(sink),
      builder_(network, allocation, sink, design),
      work_(allocation.engines.size()) {
  memories_.word_elements = pi_;
  memories_.part_elements = part_;
  memories_.element_bits = bits_;
  memories_.unit_words = plan_.unit_words;
  memories_.reads.reserve(2 * work_.size() + 1);
  memories_.writes.reserve(work_.size() + 1);
  progress_.reserve(work_.size() + 1);
  for (size_t e = 0; e < work_.size() && wiring() != nullptr; ++e) {
    names_.push_back(component_prefix("engine", e, allocation.engines[e].name));
  }
  for (size_t l = 0; l < network.layers.size(); ++l) collect(l);
  for (const PlannedTask& task : plan.tasks) {
    loader_tasks_ += task.engine == PlannedTask::kLoader ? 1 : 0;
    if (task.engine < 0) continue;
    Work& work = work_[size_t(task.engine)];
    ++work.tasks;
    work.adding_tasks += network.layers[size_t(task.layer)].add ? 1 : 0;
  }
}

Label ProcessorDesign::engine_name(size_t e) const {
  return names_.empty() ? Label("engine") + int64_t(e) : Label(names_[e]);
}

// The heading lists the engine's layers in its order.
void ProcessorDesign::begin_engine(size_t e) {
  std::vector<std::string> heading = {fmt::format("engine {}, {}", e, allocation_.engines[e].name)};
  for (size_t l = 0; l < network_.layers.size(); ++l) {
    if (size_t(allocation_.layers[l].engine) != e) continue;
    heading.push_back(fmt::format("layer {}, {}", l, description(network_, network_.layers[l])));
  }
  builder_.begin_section(std::move(heading));
}

void ProcessorDesign::collect(size_t l) {
  const Layer& layer = network_.layers[l];
  const LayerGeometry g = layer_geometry(network_, allocation_, l);
  Work& work = work_[size_t(allocation_.layers[l].engine)];
  work.weight_words +=
      g.lanes ? g.blocks * (g.row_major ? 1 : g.window.rows * g.window.columns) : g.blocks * g.words;
  work.parameter_words += g.blocks * ceil_div(g.lanes ? pi_ : g.shape.po, g.shape.pf);
  if (g.row_major) work.line = std::max(work.line, g.input.columns * g.pixel_words);
  work.lookups += layer.lookup ? 1 : 0;
  work.fused_products |= layer.add && layer.add->product;
  work.accumulator_bits = std::max({work.accumulator_bits, facts_[l].accumulator_bits, g.lanes ? bits_ : 2});
  work.sum_bits = std::max(work.sum_bits, facts_[l].biased_sum_bits);
  work.lane_bits = std::max(work.lane_bits, lane_weight_bits(layer));
  work.multiplier_bits = std::max(work.multiplier_bits, facts_[l].multiplier_bits);
  work.twice |= facts_[l].rounds_twice;
  work.products |= multiplies(layer);
  (layer.kind == LayerKind::kMaxPool ? work.maxima : work.sums) = true;
  work.read_units |= unit_bit(layer.input);
  work.write_units |= unit_bit(layer.output);
  if (layer.add) work.residual_units |= unit_bit(layer.add->tensor);
}

EngineWidths ProcessorDesign::widths(size_t e) const {
  const EngineAllocation& own = allocation_.engines[e];
  EngineWidths widths;
  widths.weight_bits = own.lanes ? work_[e].lane_bits : engine_weight_bits(network_, allocation_, int(e));
  widths.weight_word =
      own.lanes ? engine_taps(own) * pi_ * widths.weight_bits + 1 : own.shape.po * pi_ * widths.weight_bits;
  widths.multiplier_bits = work_[e].multiplier_bits;
  widths.parameter_word = finish_word_bits(network_.number, own.shape.pf, widths.multiplier_bits);
  widths.outputs = own.lanes ? pi_ : own.shape.po;
  return widths;
}

void ProcessorDesign::whole() {
  for (int64_t s = 0; s <= int64_t(work_.size()); ++s) {
    progress_.push_back(wiring() == nullptr ? kNoNet
                                            : wiring()->module().add_net(fmt::format("progress{}", s), 16));
  }
  builder_.begin_section({"images from memory"});
  loader();
  for (size_t e = 0; e < work_.size(); ++e) {
    if (work_[e].tasks > 0) {
      if (wiring() != nullptr) begin_engine(e);
      engine(e);
    } else if (Wiring* const wires = wiring()) {
      wires->module().connect(progress_[e + 1], wires->constant(16, 0));
    }
  }
  builder_.begin_section({"results to memory"});
  storer();
  builder_.begin_section({"tensors on chip"});
  connect_tensor_memories(sink_, memories_, allocation_.tensor_memory);
  if (builder_.design() != nullptr) list_tasks();
  builder_.finish_frame();
}

Stream ProcessorDesign::reader(const Label& name, int64_t tasks, uint64_t units_used,
                               std::vector<TensorReaderRow> rows) {
  Parameters parameters = {{"AW", int64_t{bits_}},
                           {"PI", pi_},
                           {"UNITS", units()},
                           {"A", int64_t{address_bits_}},
                           {"PROGRESS", int64_t(progress_.size())},
                           {"TASKS", tasks},
                           {"QUEUE", kReaderQueue}};
  TensorPort port;
  port.units = units_used;
  ComponentSink::Nets others;
  NetId busy = kNoNet;
  if (Wiring* const wires = wiring()) {
    netlist::Module& m = wires->module();
    port.name = name.text();
    expect_rows(rows, tasks, units_used);
    parameters["TABLE"] = wires->image(name + "_tasks", encode(rows, bits_, int(progress_.size())));
    others = {{"start", builder_.start()}};
    for (int p = 0; p < kProgressPorts; ++p) {
      others[fmt::format("progress{}", p)] =
          size_t(p) < progress_.size() ? progress_[size_t(p)] : wires->constant(16, 0);
    }
    others["rd_valid"] = port.valid = m.add_net(port.name + "_rd_valid", int(units()));
    others["rd_ready"] = port.ready = m.add_net(port.name + "_rd_ready", int(units()));
    others["rd_address"] = port.address = m.add_net(port.name + "_rd_address", address_bits_);
    others["rd_data"] = port.data = m.add_net(port.name + "_rd_data", int(units() * pi_) * bits_);
    busy = others["busy"] = m.add_net(port.name + "_busy", 1);
  }
  builder_.add_busy(busy);
  Stream out = sink_.stream(name, pi_, bits_);
  sink_.add(name, "tensor_reader", std::move(parameters), {{"out", &out}}, std::move(others));
  memories_.reads.push_back(std::move(port));
  return out;
}

// All writers write parts of one width.
void ProcessorDesign::writer(const Label& name, Stream in, int64_t count, int64_t tasks, uint64_t units_used,
                             std::vector<TensorWriterRow> rows, size_t progress) {
  in = sink_.resized(name + "_parts", in, part_, count);
  Parameters parameters = {{"AW", int64_t{bits_}},        {"PI", pi_},
                           {"PF", in.elements},           {"UNITS", units()},
                           {"A", int64_t{address_bits_}}, {"TASKS", tasks}};
  TensorPort port;
  port.units = units_used;
  ComponentSink::Nets others;
  if (Wiring* const wires = wiring()) {
    netlist::Module& m = wires->module();
    port.name = name.text();
    expect_rows(rows, tasks, units_used);
    parameters["TABLE"] = wires->image(name + "_tasks", encode(rows));
    others = {{"clear", builder_.start()}, {"progress", progress_[progress]}};
    others["wr_valid"] = port.valid = m.add_net(port.name + "_wr_valid", int(units()));
    others["wr_ready"] = port.ready = m.add_net(port.name + "_wr_ready", int(units()));
    others["wr_address"] = port.address = m.add_net(port.name + "_wr_address", address_bits_);
    others["wr_part"] = port.part = m.add_net(port.name + "_wr_part", address_bits(pi_ / part_));
    others["wr_data"] = port.data = m.add_net(port.name + "_wr_data", in.width);
  }
  sink_.add(name, "tensor_writer", std::move(parameters), {{"in", &in}}, std::move(others));
  memories_.writes.push_back(std::move(port));
}

DramLayout ProcessorDesign::layout(int id) const {
  const TensorShape& shape = network_.tensors[size_t(id)].shape;
  return {shape, plan_.places[size_t(id)].pixel_words * pi_, bits_, false, 0, {0, 0}, shape};
}

void ProcessorDesign::loader() {
  std::vector<TensorWriterRow> rows;
  if (Design* const design = builder_.design()) {
    design->input = layout(network_.input);
    rows = rows_.loader();
  }
  const int64_t count = plan_.places[size_t(network_.input)].words * pi_;
  const Stream elements = builder_.input_elements(count, bits_);
  writer("loader", elements, count, loader_tasks_, unit_bit(network_.input), std::move(rows), 0);
}

void ProcessorDesign::storer() {
  std::vector<TensorReaderRow> rows;
  if (Design* const design = builder_.design()) {
    design->output = layout(network_.output);
    rows = {rows_.storer()};
  }
  Stream words = reader("storer", 1, unit_bit(network_.output), std::move(rows));
  words.last = kNoNet;
  builder_.output_elements(words, plan_.places[size_t(network_.output)].words * pi_);
}

void ProcessorDesign::engine(size_t e) {
  const EngineAllocation& own = allocation_.engines[e];
  const Work& work = work_[e];
  const Label name = engine_name(e);
  const EngineWidths bits = widths(e);
  EngineContents contents;
  if (wiring() != nullptr) contents = rows_.engine(int(e), bits);
  Stream act = reader(name + "_reader", work.tasks, work.read_units, std::move(contents.reads));
  if (engine_taps(own) > 1) act = window(name, own, work, act, contents.windows);
  const Stream sums = array(name, e, bits, act, weights(name, e, bits, contents));
  const Stream result = finish(name, e, bits, sums, contents);
  writer(name + "_writer", result, pi_, work.tasks, work.write_units, std::move(contents.writes), e + 1);
}

Stream ProcessorDesign::window(const Label& name, const EngineAllocation& own, const Work& work, Stream in,
                               const std::vector<SlidingWindowRow>& rows) {
  Stream act = sink_.stream(name + "_window", engine_taps(own) * pi_, bits_);
  Parameters parameters = {
      {"AW", int64_t{bits_}},   {"PI", pi_},
      {"KH", own.taps_y},       {"KW", own.taps_x},
      {"MAX_WORDS", work.line}, {"TASKS", work.tasks},
      {"REPEAT", int64_t{1}},   {"KIND", std::string(small_memory_kind(work.line, pi_ * bits_))}};
  if (Wiring* const wires = wiring()) {
    TILEWRIGHT_CHECK(int64_t(rows.size()) == work.tasks, "an engine with windows for some of its tasks");
    parameters["TABLE"] = wires->image(name + "_window_tasks", encode(rows, parameters));
  }
  in.last = kNoNet;
  sink_.add(name + "_window", "sliding_window", std::move(parameters), {{"in", &in}, {"out", &act}});
  act.last = kNoNet;  // lanes: every window is whole
  return act;
}

Stream ProcessorDesign::weights(const Label& name, size_t e, const EngineWidths& bits,
                                EngineContents& contents) {
  const EngineAllocation& own = allocation_.engines[e];
  const Work& work = work_[e];
  if (!own.lanes && !allocation_.weights_on_chip) return ring(name, bits.weight_word, work, contents);
  using netlist::MemoryKind;
  MemoryKind kind = own.lanes && work.weight_words <= 64 ? MemoryKind::kLutRam : allocation_.weight_memory;
  // UltraRAM has no contents at the start. Estimates count such a memory as logic.
  if (wiring() != nullptr && kind == MemoryKind::kUltraRam) kind = MemoryKind::kBlockRam;
  return builder_.rom(name + "_weights", {bits.weight_word, work.weight_words, work.tasks}, kind,
                      std::move(contents.weights));
}

Stream ProcessorDesign::ring(const Label& name, int64_t width, const Work& work,
                             const EngineContents& contents) {
  Stream beats = builder_.weight_beats();
  Parameters parameters = {{"WIDTH", width},
                           {"DEPTH", allocation_.ring_words},
                           {"BEAT", int64_t{beats.width}},
                           {"STREAM", work.weight_words},
                           {"TASKS", work.tasks},
                           {"KIND", std::string(kind_text(allocation_.weight_memory))}};
  if (Wiring* const wires = wiring()) {
    TILEWRIGHT_CHECK(contents.weights.words.words() == work.weight_words, "a stream of other weights");
    place_weights(contents.weights.words);
    parameters["TABLE"] = wires->image(name + "_weights_tasks", encode(contents.ring));
  }
  Stream out = sink_.stream(name + "_weights", width, 1);
  sink_.add(name + "_weights", "weight_ring", std::move(parameters), {{"in", &beats}, {"out", &out}});
  return out;
}

// In DRAM: beat b of channel c lies at c * bytes_per_channel + b * port_bytes.
void ProcessorDesign::place_weights(const MemoryImage& words) {
  Design& design = *builder_.design();
  if (!design.weights.empty()) {
    throw Error(ErrorKind::kUnsupported, "two engines would fetch their weights from DRAM",
                "give all layers with weights one engine, or keep the weights on chip");
  }
  const int64_t port = allocation_.port_bytes, channels = allocation_.weight_channels;
  const std::vector<uint8_t> bytes = without_gaps(words);
  const int64_t beat_count = ceil_div(int64_t(bytes.size()), port * channels);
  design.weight_bytes_per_channel = beat_count * port;
  design.weights.assign(size_t(beat_count * port * channels), 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int64_t beat = int64_t(i) / (port * channels), channel = int64_t(i) / port % channels;
    design.weights[size_t(channel * beat_count * port + beat * port + int64_t(i) % port)] = bytes[i];
  }
}

Stream ProcessorDesign::array(const Label& name, size_t e, const EngineWidths& bits, Stream act,
                              Stream weight) {
  const EngineAllocation& own = allocation_.engines[e];
  const Work& work = work_[e];
  const int64_t taps = engine_taps(own);
  Stream sums = sink_.stream(name + "_sums", bits.outputs, work.accumulator_bits);
  Parameters parameters = {
      {"AW", int64_t{bits_}}, {"ACC", int64_t{work.accumulator_bits}}, {"WW", int64_t{bits.weight_bits}}};
  const char* const multiply = multiplier_text(own.shape.multiplier);
  if (own.lanes) {
    parameters["P"] = pi_;
    parameters["TAPS"] = taps;
    parameters["SUM"] = int64_t{work.sums};
    parameters["MAXIMUM"] = int64_t{work.maxima};
    parameters["MULTIPLY"] = std::string(bits.weight_bits <= 4 ? "lut" : multiply);
  } else {
    parameters["A_BIPOLAR"] = int64_t{0};
    parameters["W_BIPOLAR"] = int64_t{0};
    parameters["PI"] = pi_;
    parameters["PO"] = bits.outputs;
    parameters["MULTIPLY"] = std::string(multiply);
  }
  if (Design* const design = builder_.design(); design != nullptr && work.products) {
    design->multipliers += own.lanes ? taps * pi_ : pi_ * bits.outputs;
  }
  sink_.add(name + "_array", own.lanes ? "lane_array" : "mac_array", std::move(parameters),
            {{"act", &act}, {"weight", &weight}, {"acc", &sums}});
  return sums;
}

Stream ProcessorDesign::finish(const Label& name, size_t e, const EngineWidths& bits, Stream sums,
                               EngineContents& contents) {
  const EngineAllocation& own = allocation_.engines[e];
  const Work& work = work_[e];
  const Stream parameters =
      builder_.rom(name + "_parameters", {bits.parameter_word, work.parameter_words, work.tasks},
                   work.parameter_words <= 64 ? netlist::MemoryKind::kLutRam : netlist::MemoryKind::kBlockRam,
                   std::move(contents.parameters));
  std::optional<Stream> residual;
  if (work.adding_tasks > 0) {
    residual =
        reader(name + "_residual", work.adding_tasks, work.residual_units, std::move(contents.residuals));
    residual->last = kNoNet;
    residual = sink_.resized(name + "_residual_parts", *residual, own.shape.pf, pi_);
  }
  const DesignBuilder::FinishSizes sizes = {work.tasks,   work.lookups, work.sum_bits, bits.multiplier_bits,
                                            own.shape.pf, bits_,        work.twice,    work.fused_products};
  return builder_.finish(name + "_finish", sums, parameters, residual ? &*residual : nullptr, sizes,
                         contents.finishes);
}

void ProcessorDesign::list_tasks() {
  for (const PlannedTask& task : plan_.tasks) {
    if (task.engine < 0) continue;
    const LayerGeometry g = layer_geometry(network_, allocation_, size_t(task.layer));
    builder_.design()->tasks.push_back({allocation_.engines[size_t(task.engine)].name, task.layer,
                                        task.first_row, task.rows,
                                        (engine_name(size_t(task.engine)) + "_finish").text(),
                                        task.rows * g.output.columns * g.blocks * g.beats});
  }
}

}  // namespace tilewright::pipeline
