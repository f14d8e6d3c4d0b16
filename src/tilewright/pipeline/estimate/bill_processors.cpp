// The instances of build_processors.cpp, with sizes alone.
#include <algorithm>
#include <bit>
#include <string>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/design/wiring.h"
#include "tilewright/pipeline/estimate/bill.h"

namespace tilewright::pipeline {
namespace {

int address_bits(int64_t words) { return std::max(1, int(std::bit_width(uint64_t(words - 1)))); }

// Sums over the layers of one engine.
struct EngineWork {
  int64_t tasks = 0, weight_words = 0, parameter_words = 0, line = 1, lookups = 0;
  int accumulator_bits = 1, sum_bits = 1, lane_bits = 2;
  bool multipliers = false, adds = false, sums = false, maxima = false;
  uint64_t read_units = 0, residual_units = 0, write_units = 0;
};

class ProcessorBill {
 public:
  ProcessorBill(const Network& network, const std::vector<LayerFacts>& facts, const Allocation& allocation,
                const Plan& plan)
      : network_(network),
        facts_(facts),
        allocation_(allocation),
        plan_(plan),
        work_(allocation.engines.size()) {
    bits_ = plan.element_bits;
    pi_ = plan.word_elements;
    address_ = address_bits(*std::max_element(plan.unit_words.begin(), plan.unit_words.end()));
    part_elements_ = part_elements(allocation, pi_, bits_);
    for (size_t l = 0; l < network.layers.size(); ++l) collect(l);
    for (const PlannedTask& task : plan.tasks) {
      if (task.engine >= 0) ++work_[size_t(task.engine)].tasks;
      loader_tasks_ += task.engine == PlannedTask::kLoader ? 1 : 0;
    }
  }

  std::vector<BillItem> run() {
    loader();
    for (size_t e = 0; e < work_.size(); ++e) {
      if (work_[e].tasks > 0) engine(e);
    }
    storer();
    part_ = -1;
    for (size_t unit = 0; unit < plan_.unit_words.size(); ++unit) memory(unit);
    const int64_t masters = 2 + (allocation_.weights_on_chip ? 0 : allocation_.weight_channels);
    for (BillItem& item : frame_bill(allocation_, masters + readers_)) items_.push_back(std::move(item));
    return std::move(items_);
  }

 private:
  void add(const char* component, netlist::Parameters parameters) {
    items_.push_back({component, std::move(parameters), part_});
  }
  uint64_t unit_bit(int tensor) const { return uint64_t{1} << plan_.places[size_t(tensor)].unit; }
  int64_t units() const { return int64_t(plan_.unit_words.size()); }

  void collect(size_t l) {
    const Layer& layer = network_.layers[l];
    const LayerGeometry g = layer_geometry(network_, allocation_, l);
    EngineWork& work = work_[size_t(allocation_.layers[l].engine)];
    work.weight_words +=
        g.lanes ? g.blocks * (g.row_major ? 1 : g.window.rows * g.window.columns) : g.blocks * g.words;
    work.parameter_words += g.blocks * ceil_div(g.lanes ? pi_ : g.shape.po, g.shape.pf);
    if (g.row_major) work.line = std::max(work.line, g.input.columns * g.pixel_words);
    work.lookups += layer.lookup ? 1 : 0;
    work.accumulator_bits =
        std::max({work.accumulator_bits, facts_[l].accumulator_bits, g.lanes ? bits_ : 2});
    work.sum_bits = std::max(work.sum_bits, facts_[l].biased_sum_bits);
    work.lane_bits = std::max(work.lane_bits, lane_weight_bits(layer));
    work.multipliers |= facts_[l].has_multipliers;
    (layer.kind == LayerKind::kMaxPool ? work.maxima : work.sums) = true;
    work.read_units |= unit_bit(layer.input);
    work.write_units |= unit_bit(layer.output);
    if (!layer.add) return;
    work.adds = true;
    work.residual_units |= unit_bit(layer.add->tensor);
  }

  void reader(int64_t tasks, uint64_t used) {
    add("tensor_reader", {{"AW", int64_t{bits_}},
                          {"PI", pi_},
                          {"UNITS", units()},
                          {"A", int64_t{address_}},
                          {"PROGRESS", int64_t(allocation_.engines.size() + 1)},
                          {"TASKS", tasks},
                          {"QUEUE", int64_t{8}}});
    reads_.push_back(used);
    ++readers_;
  }
  // All writers write parts of one width.
  void writer(int64_t tasks, int64_t elements, uint64_t used) {
    resize(elements, part_elements_);
    add("tensor_writer", {{"AW", int64_t{bits_}},
                          {"PI", pi_},
                          {"PF", part_elements_},
                          {"UNITS", units()},
                          {"A", int64_t{address_}},
                          {"TASKS", tasks}});
    writes_.push_back(used);
  }
  void resize(int64_t from, int64_t to) { add_width(items_, part_, bits_, from, to, pi_); }
  void rom(int64_t width, int64_t words, int64_t tasks, netlist::MemoryKind kind) {
    add("rom_walker",
        {{"WIDTH", width}, {"WORDS", words}, {"TASKS", tasks}, {"KIND", std::string(kind_text(kind))}});
  }

  void loader() {
    int64_t width = 0;
    port(network_.input, true, width);
    writer(loader_tasks_, width, unit_bit(network_.input));
  }
  void storer() {
    part_ = -1;
    reader(1, unit_bit(network_.output));
    int64_t width = pi_;
    port(network_.output, false, width);
  }
  void port(int id, bool input, int64_t& width) {
    const TensorPlace& place = plan_.places[size_t(id)];
    for (BillItem& item : port_bill(allocation_, place.words * pi_, bits_, input, width)) {
      items_.push_back(std::move(item));
    }
  }

  void engine(size_t e) {
    part_ = int(e);
    const EngineAllocation& own = allocation_.engines[e];
    const EngineWork& work = work_[e];
    const bool row_major = own.shape.feeder == Feeder::kRowMajor;
    const int64_t taps = row_major ? own.taps_y * own.taps_x : 1;
    reader(work.tasks, work.read_units);
    if (row_major && taps > 1) {
      add("sliding_window", {{"AW", int64_t{bits_}},
                             {"PI", pi_},
                             {"KH", own.taps_y},
                             {"KW", own.taps_x},
                             {"MAX_WORDS", work.line},
                             {"TASKS", work.tasks},
                             {"REPEAT", int64_t{1}},
                             {"KIND", std::string(small_memory_kind(work.line, int(pi_) * bits_))}});
    }
    array(e, taps);
    const int multiplier_bits = work.multipliers ? 32 : 0;
    using netlist::MemoryKind;
    rom(finish_word_bits(network_.number, own.shape.pf, multiplier_bits), work.parameter_words, work.tasks,
        work.parameter_words <= 64 ? MemoryKind::kLutRam : MemoryKind::kBlockRam);
    if (work.adds) {
      reader(adding_tasks(int(e)), work.residual_units);
      resize(pi_, own.shape.pf);
    }
    finish(own, work, multiplier_bits);
    writer(work.tasks, own.shape.pf, work.write_units);
  }

  int64_t adding_tasks(int engine) const {
    return std::count_if(plan_.tasks.begin(), plan_.tasks.end(), [&](const PlannedTask& task) {
      return task.engine == engine && network_.layers[size_t(task.layer)].add;
    });
  }

  void array(size_t e, int64_t taps) {
    const EngineAllocation& own = allocation_.engines[e];
    const EngineWork& work = work_[e];
    const int64_t weight_bits =
        own.lanes ? work.lane_bits : engine_weight_bits(network_, allocation_, int(e));
    const int64_t width = own.lanes ? taps * pi_ * weight_bits + 1 : own.shape.po * pi_ * weight_bits;
    using netlist::MemoryKind;
    if (!own.lanes && !allocation_.weights_on_chip) {
      const int64_t beat = allocation_.port_bytes * allocation_.weight_channels * 8;
      add("weight_ring", {{"WIDTH", width},
                          {"DEPTH", allocation_.ring_words},
                          {"BEAT", beat},
                          {"TASKS", work.tasks},
                          {"KIND", std::string(kind_text(allocation_.weight_memory))}});
    } else {
      rom(width, work.weight_words, work.tasks,
          own.lanes && work.weight_words <= 64 ? MemoryKind::kLutRam : allocation_.weight_memory);
    }
    const char* const names[] = {"dsp", "pair", "lut"};
    const std::string multiplier = names[size_t(own.shape.multiplier)];
    if (own.lanes) {
      add("lane_array", {{"AW", int64_t{bits_}},
                         {"WW", weight_bits},
                         {"P", pi_},
                         {"TAPS", taps},
                         {"ACC", int64_t{work.accumulator_bits}},
                         {"SUM", int64_t{work.sums}},
                         {"MAXIMUM", int64_t{work.maxima}},
                         {"MULTIPLY", work.lane_bits <= 4 ? std::string("lut") : multiplier}});
      return;
    }
    add("mac_array", {{"AW", int64_t{bits_}},
                      {"A_BIPOLAR", int64_t{0}},
                      {"WW", weight_bits},
                      {"W_BIPOLAR", int64_t{0}},
                      {"PI", pi_},
                      {"PO", own.shape.po},
                      {"ACC", int64_t{work.accumulator_bits}},
                      {"MULTIPLY", multiplier}});
  }

  void finish(const EngineAllocation& own, const EngineWork& work, int multiplier_bits) {
    const bool fixed = network_.number == NumberType::kFixed;
    netlist::Parameters p = {{"NUMBER", std::string(fixed ? "fixed" : "integer")},
                             {"AW", int64_t{bits_}},
                             {"ACC", int64_t{work.accumulator_bits}},
                             {"PO", own.lanes ? pi_ : own.shape.po},
                             {"PF", own.shape.pf},
                             {"RESIDUAL", int64_t{work.adds}},
                             {"TABLES", work.lookups},
                             {"TASKS", work.tasks}};
    if (fixed) {
      p["FRACTION"] = int64_t{network_.fraction};
    } else {
      p["SUM_BITS"] = int64_t{work.sum_bits};
      p["MULTIPLIER_BITS"] = int64_t{multiplier_bits};
    }
    add("finish", std::move(p));
  }

  void memory(size_t unit) {
    int64_t readers = 0, writers = 0;
    for (const uint64_t used : reads_) readers += int64_t(used >> unit & 1);
    for (const uint64_t used : writes_) writers += int64_t(used >> unit & 1);
    add("tensor_memory", {{"WIDTH", pi_ * bits_},
                          {"PARTS", pi_ / part_elements_},
                          {"WORDS", plan_.unit_words[unit]},
                          {"READERS", std::max<int64_t>(1, readers)},
                          {"WRITERS", std::max<int64_t>(1, writers)},
                          {"KIND", std::string(kind_text(allocation_.tensor_memory))}});
  }

  const Network& network_;
  const std::vector<LayerFacts>& facts_;
  const Allocation& allocation_;
  const Plan& plan_;
  std::vector<EngineWork> work_;
  int64_t pi_ = 1, part_elements_ = 1, loader_tasks_ = 0, readers_ = 0;
  int bits_ = 8, address_ = 1, part_ = -1;
  std::vector<uint64_t> reads_, writes_;  // units that each reader or writer uses
  std::vector<BillItem> items_;
};

}  // namespace

std::vector<BillItem> processor_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                     const Allocation& allocation, const Plan& plan) {
  return ProcessorBill(network, facts, allocation, plan).run();
}

}  // namespace tilewright::pipeline
