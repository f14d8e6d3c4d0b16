// The instances of build_streaming.cpp and of the frame (design_builder.cpp), with sizes alone.
#include <bit>
#include <numeric>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/sliding_window.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/design/wiring.h"
#include "tilewright/pipeline/estimate/bill.h"

namespace tilewright::pipeline {
namespace {

// Of the network's input (as the first layer wants it) or output.
TensorShape border_shape(const Network& network, const Allocation& allocation, int id) {
  for (size_t l = 0; l < network.layers.size(); ++l) {
    if (id == network.input && allocation.layers[l].unroll)
      return layer_geometry(network, allocation, l).input;
  }
  return network.tensors[size_t(id)].shape;
}

class StageBill {
 public:
  StageBill(const Network& network, const std::vector<LayerFacts>& facts, const Allocation& allocation)
      : network_(network), facts_(facts), allocation_(allocation) {}

  std::vector<BillItem> take() { return std::move(items_); }

  void stage(size_t l) {
    part_ = int(l);
    const Layer& layer = network_.layers[l];
    const LayerAllocation& own = allocation_.layers[l];
    const LayerGeometry g = layer_geometry(network_, allocation_, l);
    const NetworkTensor& in = tensor(layer.input);
    const int64_t source = source_elements(layer.input);
    queue(source * in.bits, own.input_fifo);
    resize(in.bits, source, own.stage.pi, in.shape.elements());
    feeder(g, in);
    array(layer, g, in, facts_[l]);
    finish(layer, g, own, facts_[l]);
    fork(layer.output, own.stage.pf);
  }

  // Between a memory port and the stages: frames, widths, forks.
  void border() {
    part_ = -1;
    port(network_.input, true, 0);
    fork(network_.input, source_elements(network_.input));
    port(network_.output, false, source_elements(network_.output));
  }

 private:
  const NetworkTensor& tensor(int id) const { return network_.tensors[size_t(id)]; }
  void add(const char* component, netlist::Parameters parameters) {
    items_.push_back({component, std::move(parameters), part_});
  }
  int64_t port_elements(const NetworkTensor& t) const { return allocation_.port_bytes * 8 / t.bits; }

  TensorShape border_shape(int id) const { return pipeline::border_shape(network_, allocation_, id); }
  int64_t source_elements(int id) const { return stream_elements(network_, allocation_, id); }

  void resize(int bits, int64_t from, int64_t to, int64_t count) {
    add_width(items_, part_, bits, from, to, count);
  }
  void queue(int64_t width, int64_t depth) {
    if (depth == 0) return;
    add("stream_fifo",
        {{"WIDTH", width}, {"DEPTH", depth}, {"KIND", std::string(small_memory_kind(depth, int(width)))}});
  }
  void fork(int id, int64_t elements) {
    int64_t readers = id == network_.output ? 1 : 0;
    for (const Layer& layer : network_.layers) {
      readers += layer.input == id ? 1 : 0;
      readers += layer.add && layer.add->tensor == id ? 1 : 0;
    }
    for (int64_t i = 1; i < readers; ++i) add("stream_fork", {{"WIDTH", elements * tensor(id).bits}});
  }
  void port(int id, bool input, int64_t width) {
    for (BillItem& item :
         port_bill(allocation_, border_shape(id).elements(), tensor(id).bits, input, width)) {
      items_.push_back(std::move(item));
    }
  }

  void feeder(const LayerGeometry& g, const NetworkTensor& in) {
    const bool row_major = g.row_major;
    const LayerWindow& w = g.window;
    const int64_t blocks = g.input.channels / g.shape.pi, line = g.input.columns * blocks;
    const int64_t outer = g.lanes ? 1 : g.blocks;
    if (row_major) {
      SlidingWindowRow counted{g.input.rows, g.input.columns, blocks};
      counted.top = w.top, counted.left = w.left;
      add("sliding_window", {{"AW", int64_t{in.bits}},
                             {"PI", g.shape.pi},
                             {"KH", w.rows},
                             {"KW", w.columns},
                             {"MAX_WORDS", line},
                             {"MAX_CB", blocks},
                             {"COUNT_BITS", sliding_window_count_bits(counted, w.rows, w.columns)},
                             {"TASKS", int64_t{1}},
                             {"REPEAT", blocks == 1 ? outer : 1},
                             {"KIND", std::string(small_memory_kind(line, int(g.shape.pi) * in.bits))}});
      return;
    }
    if (g.direct) return;
    const int64_t ring_rows = streaming_ring_rows(g.input, w);
    const int64_t words = ring_rows * line;
    add("line_window", {{"AW", int64_t{in.bits}},
                        {"PI", g.shape.pi},
                        {"H", g.input.rows},
                        {"W", g.input.columns},
                        {"CB", blocks},
                        {"KH", w.rows},
                        {"KW", w.columns},
                        {"SH", w.stride_y},
                        {"SW", w.stride_x},
                        {"PT", w.top},
                        {"PL", w.left},
                        {"HO", g.output.rows},
                        {"WO", g.output.columns},
                        {"OB", outer},
                        {"PAD", stored_element(in, w.pad_value)},
                        {"LANES", int64_t{g.lanes}},
                        {"ROWS", ring_rows},
                        {"KIND", std::string(small_memory_kind(words, int(g.shape.pi) * in.bits))}});
  }

  void rom(int64_t width, int64_t words, netlist::MemoryKind kind) {
    netlist::Parameters parameters = cycle_counters(words);
    parameters["WIDTH"] = width;
    parameters["WORDS"] = words;
    parameters["TASKS"] = int64_t{1};
    parameters["KIND"] = std::string(kind_text(cycled_rom_kind(words, kind)));
    add("rom_walker", std::move(parameters));
  }

  void array(const Layer& layer, const LayerGeometry& g, const NetworkTensor& in, const LayerFacts& facts) {
    const bool row_major = g.row_major;
    const int64_t all_taps = g.window.rows * g.window.columns, taps = row_major ? all_taps : 1;
    const int64_t bits = g.lanes ? lane_weight_bits(layer) : layer.weight_bits;
    const int64_t width = taps * g.shape.pi * (g.lanes ? 1 : g.shape.po) * bits + (g.lanes ? 1 : 0);
    const int64_t words = g.lanes ? g.blocks * all_taps / taps : g.blocks * g.pixel_words * all_taps / taps;
    rom(width, g.lanes ? kept_lane_words(layer, words) : words, allocation_.weight_memory);
    if (g.lanes) {
      const bool maximum = layer.kind == LayerKind::kMaxPool;
      add("lane_array", {{"AW", int64_t{in.bits}},
                         {"A_BIPOLAR", int64_t{in.bipolar}},
                         {"WW", bits},
                         {"P", g.shape.pi},
                         {"TAPS", taps},
                         {"ACC", int64_t{facts.accumulator_bits}},
                         {"SUM", int64_t{!maximum}},
                         {"MAXIMUM", int64_t{maximum}},
                         {"MULTIPLY", std::string(multiplier_text(lane_multiplier(layer, g.shape)))}});
      return;
    }
    add("mac_array", {{"AW", int64_t{in.bits}},
                      {"A_BIPOLAR", int64_t{in.bipolar}},
                      {"WW", bits},
                      {"W_BIPOLAR", int64_t{layer.weight_bipolar}},
                      {"PI", taps * g.shape.pi},
                      {"PO", g.shape.po},
                      {"ACC", int64_t{facts.accumulator_bits}},
                      {"MULTIPLY", std::string(multiplier_text(g.shape.multiplier))}});
  }

  void finish(const Layer& layer, const LayerGeometry& g, const LayerAllocation& own,
              const LayerFacts& facts) {
    const bool fixed = network_.number == NumberType::kFixed;
    const int multiplier_bits = facts.has_multipliers ? 32 : 0;
    const int64_t outputs = g.lanes ? g.shape.pi : g.shape.po;
    rom(finish_word_bits(network_.number, g.shape.pf, multiplier_bits),
        ceil_div(g.output.channels, outputs) * outputs / g.shape.pf, netlist::MemoryKind::kBlockRam);
    const NetworkTensor& out = tensor(layer.output);
    if (layer.add) {
      const int64_t source = source_elements(layer.add->tensor);
      queue(source * tensor(layer.add->tensor).bits, own.residual_fifo);
      resize(tensor(layer.add->tensor).bits, source, g.shape.pf, g.output.elements());
    }
    netlist::Parameters p = {{"NUMBER", std::string(fixed ? "fixed" : "integer")},
                             {"AW", int64_t{out.bits}},
                             {"ACC", int64_t{facts.accumulator_bits}},
                             {"PO", outputs},
                             {"PF", g.shape.pf},
                             {"RESIDUAL", int64_t{layer.add.has_value()}},
                             {"TABLES", int64_t{layer.lookup.has_value()}},
                             {"TASKS", int64_t{1}}};
    if (fixed) {
      p["FRACTION"] = int64_t{network_.fraction};
    } else {
      p["SUM_BITS"] = int64_t{facts.biased_sum_bits};
      p["MULTIPLIER_BITS"] = int64_t{multiplier_bits};
    }
    add("finish", std::move(p));
  }

  const Network& network_;
  const std::vector<LayerFacts>& facts_;
  const Allocation& allocation_;
  int part_ = -1;
  std::vector<BillItem> items_;
};

}  // namespace

int64_t stream_elements(const Network& network, const Allocation& allocation, int tensor) {
  for (size_t l = 0; l < network.layers.size(); ++l) {
    if (network.layers[l].output == tensor) return allocation.layers[l].stage.pf;
  }
  const int64_t elements = border_shape(network, allocation, tensor).elements();
  const int64_t beat = allocation.port_bytes * 8 / network.tensors[size_t(tensor)].bits;
  return elements % beat == 0 ? beat : std::gcd(elements, beat);
}

void add_width(std::vector<BillItem>& items, int part, int bits, int64_t from, int64_t to, int64_t count) {
  const std::vector<int64_t> path = resize_path(from, to, bits, count);
  for (size_t i = 1; i < path.size(); ++i) {
    items.push_back(
        {"stream_width", {{"ELEMENT", int64_t{bits}}, {"IN", path[i - 1]}, {"OUT", path[i]}}, part});
  }
}

std::vector<BillItem> port_bill(const Allocation& allocation, int64_t count, int bits, bool input,
                                int64_t& width) {
  std::vector<BillItem> items;
  const int64_t beat = allocation.port_bytes * 8 / bits;
  if (input) width = beat;
  const int64_t total = ceil_div(count, beat) * beat, step = std::gcd(count, beat);
  if (total != count) {
    add_width(items, -1, bits, width, step, input ? total : count);
    const int64_t rest = (total - count) / step;
    items.push_back({"stream_frame",
                     {{"WIDTH", step * bits},
                      {"KEEP", count / step},
                      {"DROP", input ? rest : 0},
                      {"ADD", input ? 0 : rest}}});
    width = step;
  }
  if (!input) add_width(items, -1, bits, width, beat, total);
  return items;
}

std::vector<BillItem> frame_bill(const Allocation& allocation, int64_t busy_inputs) {
  const int64_t data = allocation.port_bytes * 8, address = 32;
  const int64_t channels = allocation.weights_on_chip ? 1 : allocation.weight_channels;
  const int64_t masters = 1 + (allocation.weights_on_chip ? 0 : channels);
  std::vector<BillItem> items;
  items.push_back(
      {"dma_read",
       {{"DATA", data}, {"BURST", allocation.max_burst_beats}, {"QUEUE", int64_t{256}}, {"A", address}},
       -1,
       masters});
  items.push_back({"dma_write",
                   {{"DATA", data},
                    {"BURST", allocation.max_burst_beats},
                    {"QUEUE", write_queue_beats(allocation)},
                    {"A", address}}});
  if (!allocation.weights_on_chip) {
    items.push_back({"read_share", {{"A", address}, {"DATA", data}}});
    for (int64_t width = 1; width < channels; width *= 2) {
      items.push_back({"stream_join", {{"WIDTH", width * data}}, -1, channels / (2 * width)});
    }
  }
  items.push_back(
      {"control", {{"A", address}, {"CHANNELS", allocation.weight_channels}, {"BUSY", busy_inputs}}});
  std::erase_if(items, [](const BillItem& item) { return item.count == 0; });
  return items;
}

std::vector<BillItem> stage_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                 const Allocation& allocation, size_t layer) {
  StageBill bill(network, facts, allocation);
  bill.stage(layer);
  return bill.take();
}

std::vector<BillItem> border_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                  const Allocation& allocation) {
  StageBill bill(network, facts, allocation);
  bill.border();
  return bill.take();
}

std::vector<BillItem> streaming_bill(const Network& network, const std::vector<LayerFacts>& facts,
                                     const Allocation& allocation) {
  StageBill bill(network, facts, allocation);
  bill.border();
  for (size_t l = 0; l < network.layers.size(); ++l) bill.stage(l);
  std::vector<BillItem> items = bill.take();
  for (BillItem& item : frame_bill(allocation, 2)) items.push_back(std::move(item));
  return items;
}

}  // namespace tilewright::pipeline
