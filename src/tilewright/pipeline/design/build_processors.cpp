// Engines on shared tensor memories. Every engine is a chain reader, array, finish, writer whose components
// walk task tables made from the plan; tensor memories give their ports to the readers and writers that use
// them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/weight_ring.h"
#include "tilewright/pipeline/design/design_builder.h"
#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/design/plan.h"
#include "tilewright/pipeline/design/processor_rows.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/design/tensor_memories.h"

namespace tilewright::pipeline {

using netlist::Direction;
using netlist::kNoNet;
using netlist::NetId;
using netlist::Operation;
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

class ProcessorBuilder {
 public:
  ProcessorBuilder(const Network& network, const Allocation& allocation)
      : network_(network),
        allocation_(allocation),
        plan_(make_plan(network, allocation)),
        pi_(plan_.word_elements),
        bits_(plan_.element_bits),
        part_(part_elements(allocation, pi_, bits_)),
        rows_(network, plan_, part_),
        builder_(network, allocation) {
    memories_.word_elements = pi_;
    memories_.part_elements = part_;
    memories_.element_bits = bits_;
    memories_.unit_words = plan_.unit_words;
    address_bits_ = address_bits(*std::max_element(plan_.unit_words.begin(), plan_.unit_words.end()));
  }

  Design run() {
    netlist::Module& m = wiring().module();
    for (size_t s = 0; s <= allocation_.engines.size(); ++s) {
      progress_.push_back(m.add_net(fmt::format("progress{}", s), 16));
    }
    loader();
    for (size_t e = 0; e < allocation_.engines.size(); ++e) engine(int(e));
    storer();
    connect_tensor_memories(wiring(), memories_, allocation_.tensor_memory);
    list_tasks();
    return builder_.finished();
  }

 private:
  Wiring& wiring() { return builder_.wiring(); }
  const NetworkTensor& tensor(int id) const { return network_.tensors[size_t(id)]; }
  const TensorPlace& place(int id) const { return plan_.places[size_t(id)]; }
  LayerGeometry geometry(int layer) const { return layer_geometry(network_, allocation_, size_t(layer)); }

  std::vector<PlannedTask> tasks_of(int engine) const {
    std::vector<PlannedTask> list;
    for (const PlannedTask& task : plan_.tasks) {
      if (task.engine == engine) list.push_back(task);
    }
    return list;
  }

  Stream reader(const std::string& name, std::vector<TensorReaderRow> rows) {
    netlist::Module& m = wiring().module();
    const int64_t units = int64_t(plan_.unit_words.size());
    TensorPort port{name};
    for (const TensorReaderRow& row : rows) port.units |= uint64_t{1} << row.unit;
    Parameters parameters = {{"AW", int64_t{bits_}},
                             {"PI", pi_},
                             {"UNITS", units},
                             {"A", int64_t{address_bits_}},
                             {"PROGRESS", int64_t(progress_.size())},
                             {"TASKS", int64_t(rows.size())},
                             {"QUEUE", kReaderQueue}};
    parameters["TABLE"] = wiring().image(name + "_tasks", encode(rows, bits_, int(progress_.size())));
    std::map<std::string, NetId> others = {{"start", builder_.start()}};
    for (int p = 0; p < kProgressPorts; ++p) {
      others[fmt::format("progress{}", p)] =
          size_t(p) < progress_.size() ? progress_[size_t(p)] : wiring().constant(16, 0);
    }
    others["rd_valid"] = port.valid = m.add_net(name + "_rd_valid", int(units));
    others["rd_ready"] = port.ready = m.add_net(name + "_rd_ready", int(units));
    others["rd_address"] = port.address = m.add_net(name + "_rd_address", address_bits_);
    others["rd_data"] = port.data = m.add_net(name + "_rd_data", int(units * pi_) * bits_);
    const NetId busy = others["busy"] = m.add_net(name + "_busy", 1);
    builder_.add_busy(busy);
    Stream out = wiring().stream(name, pi_, bits_);
    wiring().add(name, "tensor_reader", std::move(parameters), {{"out", &out}}, others);
    memories_.reads.push_back(port);
    return out;
  }

  void writer(const std::string& name, Stream in, std::vector<TensorWriterRow> rows, NetId progress) {
    netlist::Module& m = wiring().module();
    const int64_t units = int64_t(plan_.unit_words.size());
    in = wiring().resized(name + "_parts", in, part_, pi_);
    TensorPort port{name};
    for (const TensorWriterRow& row : rows) port.units |= uint64_t{1} << row.unit;
    Parameters parameters = {{"AW", int64_t{bits_}},        {"PI", pi_},
                             {"PF", in.elements},           {"UNITS", units},
                             {"A", int64_t{address_bits_}}, {"TASKS", int64_t(rows.size())}};
    parameters["TABLE"] = wiring().image(name + "_tasks", encode(rows));
    std::map<std::string, NetId> others = {{"clear", builder_.start()}, {"progress", progress}};
    others["wr_valid"] = port.valid = m.add_net(name + "_wr_valid", int(units));
    others["wr_ready"] = port.ready = m.add_net(name + "_wr_ready", int(units));
    others["wr_address"] = port.address = m.add_net(name + "_wr_address", address_bits_);
    others["wr_part"] = port.part = m.add_net(name + "_wr_part", address_bits(pi_ / part_));
    others["wr_data"] = port.data = m.add_net(name + "_wr_data", in.width);
    wiring().add(name, "tensor_writer", std::move(parameters), {{"in", &in}}, others);
    memories_.writes.push_back(port);
  }

  static DramLayout layout(const NetworkTensor& t, const TensorPlace& at, int64_t pi, int bits) {
    return {t.shape, at.pixel_words * pi, bits, false, 0, {0, 0}, t.shape};
  }

  // The image, rows of words one after another.
  void loader() {
    const NetworkTensor& t = tensor(network_.input);
    const TensorPlace& in = place(network_.input);
    builder_.design().input = layout(t, in, pi_, bits_);
    std::vector<TensorWriterRow> rows;
    for (const PlannedTask& task : tasks_of(PlannedTask::kLoader)) {
      TensorWriterRow row;
      row.unit = in.unit;
      row.base = in.base + task.first_row * in.row_words;
      row.row_step = row.columns = in.row_words;
      row.column_step = 1;
      row.rows = task.rows;
      row.beats = pi_ / part_;
      row.limit = 1;
      rows.push_back(row);
    }
    const Stream elements = builder_.input_elements(t.shape.rows * in.row_words * pi_, bits_);
    writer("loader", elements, rows, progress_[0]);
  }

  void storer() {
    const NetworkTensor& t = tensor(network_.output);
    const TensorPlace& out = place(network_.output);
    builder_.design().output = layout(t, out, pi_, bits_);
    TensorReaderRow row;
    row.unit = out.unit;
    row.base = out.base;
    row.row_step = out.row_words;
    row.column_step = 1;
    row.rows = row.in_rows = t.shape.rows;
    row.columns = row.in_columns = out.row_words;
    row.waits = tasks_of(PlannedTask::kStorer).at(0).waits;
    Stream words = reader("storer", {row});
    words.last = kNoNet;
    builder_.output_elements(words, t.shape.rows * out.row_words * pi_);
  }

  void engine(int e) {
    const EngineAllocation& own = allocation_.engines[size_t(e)];
    const std::vector<PlannedTask> tasks = tasks_of(e);
    if (tasks.empty()) return wiring().module().connect(progress_[size_t(e) + 1], wiring().constant(16, 0));
    const std::string name = fmt::format("engine{}", e);
    std::vector<TensorReaderRow> reads, residuals;
    std::vector<TensorWriterRow> writes;
    std::vector<SlidingWindowRow> windows;
    std::vector<DesignBuilder::FinishTask> finishes;
    for (const PlannedTask& task : tasks) {
      const LayerGeometry g = geometry(task.layer);
      const Layer& layer = network_.layers[size_t(task.layer)];
      reads.push_back(rows_.input_row(task, g));
      writes.push_back(rows_.output_row(task, g));
      if (g.row_major) windows.push_back(rows_.window_row(task, g));
      if (layer.add) residuals.push_back(rows_.residual_row(task, g));
      finishes.push_back({&layer, task.rows * g.output.columns * g.blocks * g.beats, g.beats});
    }
    Stream act = reader(name + "_reader", std::move(reads));
    if (!windows.empty()) act = window(name, own, act, windows);
    Stream sums = array(name, e, own, act, tasks);
    Stream parameters = finish_parameters(name, own, tasks, sums.elements, finishes);
    std::optional<Stream> residual;
    if (!residuals.empty()) {
      residual = reader(name + "_residual", std::move(residuals));
      residual->last = kNoNet;
      residual = wiring().resized(name + "_residual_parts", *residual, own.shape.pf, pi_);
    }
    const Stream result = builder_.finish(name + "_finish", sums, parameters, residual ? &*residual : nullptr,
                                          finishes, own.shape.pf, bits_);
    writer(name + "_writer", result, std::move(writes), progress_[size_t(e) + 1]);
  }

  Stream window(const std::string& name, const EngineAllocation& own, Stream in,
                const std::vector<SlidingWindowRow>& rows) {
    int64_t line = 1, blocks = 1, words = 1;
    for (const SlidingWindowRow& row : rows) {
      line = std::max(line, row.columns * row.blocks);
      blocks = std::max(blocks, row.blocks);
      words = std::max(words, row.rows * row.columns * row.blocks);
    }
    Stream act = wiring().stream(name + "_window", own.taps_y * own.taps_x * pi_, bits_);
    Parameters parameters = {
        {"AW", int64_t{bits_}}, {"PI", pi_},
        {"KH", own.taps_y},     {"KW", own.taps_x},
        {"MAX_WORDS", line},    {"TASKS", int64_t(rows.size())},
        {"REPEAT", int64_t{1}}, {"KIND", std::string(small_memory_kind(line, pi_ * bits_))}};
    parameters["TABLE"] = wiring().image(name + "_window_tasks", encode(rows, parameters));
    in.last = kNoNet;
    wiring().add(name + "_window", "sliding_window", std::move(parameters), {{"in", &in}, {"out", &act}});
    act.last = kNoNet;  // lanes: every window is whole
    return act;
  }

  // The weights of the engine's layers one after the other, and where each begins.
  MemoryImage all_weights(int e, const EngineAllocation& own, std::map<int, int64_t>& bases) const {
    const int weight_bits = engine_weight_bits(network_, allocation_, e);
    const bool row_major = own.shape.feeder == Feeder::kRowMajor;
    const int64_t taps = row_major ? own.taps_y * own.taps_x : 1;
    const int64_t width = own.lanes ? taps * pi_ * lane_bits(e) + 1 : own.shape.po * pi_ * weight_bits;
    MemoryImage words{int(width)};
    for (size_t l = 0; l < network_.layers.size(); ++l) {
      if (allocation_.layers[l].engine != e) continue;
      bases[int(l)] = words.words();
      const LayerGeometry g = geometry(int(l));
      if (own.lanes) {
        append_lane_weights(words, network_.layers[l], g.input.channels, pi_, lane_bits(e), row_major);
      } else {
        append_mac_weights(words, network_.layers[l], g.input.channels, pi_, own.shape.po, weight_bits,
                           false);
      }
    }
    return words;
  }

  int lane_bits(int e) const {
    int bits = 2;
    for (size_t l = 0; l < network_.layers.size(); ++l) {
      if (allocation_.layers[l].engine == e) bits = std::max(bits, lane_weight_bits(network_.layers[l]));
    }
    return bits;
  }

  Stream weights(const std::string& name, int e, const EngineAllocation& own,
                 const std::vector<PlannedTask>& tasks) {
    std::map<int, int64_t> bases;
    MemoryImage words = all_weights(e, own, bases);
    const bool from_dram = !own.lanes && !allocation_.weights_on_chip;
    std::vector<DesignBuilder::WalkerRow> rows;
    std::vector<WeightRingRow> ring_rows;
    for (const PlannedTask& task : tasks) {
      const LayerGeometry g = geometry(task.layer);
      const int64_t pixels = task.rows * g.output.columns;
      if (from_dram) {
        ring_rows.push_back({g.blocks, pixels, g.words, task.hold});
      } else if (g.row_major) {
        rows.push_back({bases[task.layer], 1, pixels, g.blocks});
      } else {
        rows.push_back({bases[task.layer], g.blocks, pixels, g.words});
      }
    }
    if (!from_dram) {
      const netlist::MemoryKind kind =
          own.lanes && words.words() <= 64 ? netlist::MemoryKind::kLutRam : allocation_.weight_memory;
      return builder_.rom(name + "_weights", std::move(words), rows,
                          kind == netlist::MemoryKind::kUltraRam ? netlist::MemoryKind::kBlockRam : kind);
    }
    return ring(name, words, ring_rows);
  }

  Stream ring(const std::string& name, const MemoryImage& words, const std::vector<WeightRingRow>& rows) {
    Design& design = builder_.design();
    if (!design.weights.empty()) {
      throw Error(ErrorKind::kUnsupported, "two engines would fetch their weights from DRAM",
                  "give all layers with weights one engine, or keep the weights on chip");
    }
    Stream beats = builder_.weight_beats();
    // Beat b of channel c lies at c * bytes_per_channel + b * port_bytes.
    const int64_t port = allocation_.port_bytes, channels = allocation_.weight_channels;
    const std::vector<uint8_t> bytes = without_gaps(words);
    const int64_t beat_count = (int64_t(bytes.size()) + port * channels - 1) / (port * channels);
    design.weight_bytes_per_channel = beat_count * port;
    design.weights.assign(size_t(beat_count * port * channels), 0);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const int64_t beat = int64_t(i) / (port * channels), channel = int64_t(i) / port % channels;
      design.weights[size_t(channel * beat_count * port + beat * port + int64_t(i) % port)] = bytes[i];
    }
    Parameters parameters = {
        {"WIDTH", int64_t{words.width_bits()}}, {"DEPTH", allocation_.ring_words},
        {"BEAT", int64_t{beats.width}},         {"STREAM", words.words()},
        {"TASKS", int64_t(rows.size())},        {"KIND", std::string(kind_text(allocation_.weight_memory))}};
    parameters["TABLE"] = wiring().image(name + "_weights_tasks", encode(rows));
    Stream out = wiring().stream(name + "_weights", words.width_bits(), 1);
    wiring().add(name + "_weights", "weight_ring", std::move(parameters), {{"in", &beats}, {"out", &out}});
    return out;
  }

  Stream array(const std::string& name, int e, const EngineAllocation& own, Stream act,
               const std::vector<PlannedTask>& tasks) {
    Stream weight = weights(name, e, own, tasks);
    int accumulator = 2;
    bool sum = false, maximum = false, products = false;
    for (const PlannedTask& task : tasks) {
      const Layer& layer = network_.layers[size_t(task.layer)];
      products = products || multiplies(layer);
      accumulator = std::max(accumulator, accumulator_bits(network_, layer));
      (layer.kind == LayerKind::kMaxPool ? maximum : sum) = true;
    }
    if (own.lanes) accumulator = std::max(accumulator, bits_);  // maxima are elements
    const int64_t outputs = own.lanes ? pi_ : own.shape.po;
    const int64_t taps = act.elements / pi_;
    Stream sums = wiring().stream(name + "_sums", outputs, accumulator);
    Parameters parameters = {{"AW", int64_t{bits_}}, {"ACC", int64_t{accumulator}}};
    if (own.lanes) {
      parameters["WW"] = int64_t{lane_bits(e)};
      parameters["P"] = pi_;
      parameters["TAPS"] = taps;
      parameters["SUM"] = int64_t{sum};
      parameters["MAXIMUM"] = int64_t{maximum};
      parameters["MULTIPLY"] = std::string(lane_bits(e) <= 4 ? "lut" : multiplier_text(own.shape.multiplier));
    } else {
      parameters["A_BIPOLAR"] = int64_t{0};
      parameters["WW"] = int64_t{engine_weight_bits(network_, allocation_, e)};
      parameters["W_BIPOLAR"] = int64_t{0};
      parameters["PI"] = pi_;
      parameters["PO"] = outputs;
      parameters["MULTIPLY"] = std::string(multiplier_text(own.shape.multiplier));
    }
    if (products) builder_.design().multipliers += own.lanes ? taps * pi_ : pi_ * outputs;
    wiring().add(name + "_array", own.lanes ? "lane_array" : "mac_array", std::move(parameters),
                 {{"act", &act}, {"weight", &weight}, {"acc", &sums}});
    return sums;
  }

  Stream finish_parameters(const std::string& name, const EngineAllocation& own,
                           const std::vector<PlannedTask>& tasks, int64_t outputs,
                           const std::vector<DesignBuilder::FinishTask>& finishes) {
    const int multiplier_bits = DesignBuilder::multiplier_bits(finishes);
    MemoryImage words(finish_word_bits(network_.number, own.shape.pf, multiplier_bits));
    std::map<int, int64_t> bases;
    std::vector<DesignBuilder::WalkerRow> rows;
    for (const PlannedTask& task : tasks) {
      const LayerGeometry g = geometry(task.layer);
      if (bases.count(task.layer) == 0) {
        bases[task.layer] = words.words();
        append_finish_words(words, network_, network_.layers[size_t(task.layer)], g.output.channels, outputs,
                            own.shape.pf, multiplier_bits);
      }
      const int64_t pixels = task.rows * g.output.columns;
      if (g.row_major) {
        rows.push_back({bases[task.layer], 1, pixels, g.blocks * g.beats});
      } else {
        rows.push_back({bases[task.layer], g.blocks, pixels, g.beats});
      }
    }
    const netlist::MemoryKind kind =
        words.words() <= 64 ? netlist::MemoryKind::kLutRam : netlist::MemoryKind::kBlockRam;
    return builder_.rom(name + "_parameters", std::move(words), rows, kind);
  }

  void list_tasks() {
    for (const PlannedTask& task : plan_.tasks) {
      if (task.engine < 0) continue;
      const LayerGeometry g = geometry(task.layer);
      builder_.design().tasks.push_back(
          {allocation_.engines[size_t(task.engine)].name, task.layer, task.first_row, task.rows,
           fmt::format("engine{}_finish", task.engine), task.rows * g.output.columns * g.blocks * g.beats});
    }
  }

  const Network& network_;
  const Allocation& allocation_;
  const Plan plan_;
  const int64_t pi_;  // elements of a word
  const int bits_;
  const int64_t part_;  // elements written at once
  const ProcessorRows rows_;
  DesignBuilder builder_;
  int address_bits_ = 1;
  std::vector<NetId> progress_;
  TensorMemories memories_;
};

}  // namespace

Design build_processors(const Network& network, const Allocation& allocation) {
  return ProcessorBuilder(network, allocation).run();
}

}  // namespace tilewright::pipeline
