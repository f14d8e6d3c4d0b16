// Feeder, array, finish for every layer. A tensor with several readers is forked; the branch that waits for
// the other one has a queue.
#include "tilewright/pipeline/design/streaming_design.h"

#include <fmt/format.h>

#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/sliding_window.h"
#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {
namespace {

// Of the network's input (as the first layer wants it) or output.
int64_t taps_of(const LayerGeometry& g) { return g.row_major ? g.window.rows * g.window.columns : 1; }

}  // namespace

TensorShape border_shape(const Network& network, const Allocation& allocation, int id) {
  for (size_t l = 0; l < network.layers.size(); ++l) {
    if (id == network.input && allocation.layers[l].unroll) {
      return layer_geometry(network, allocation, l).input;
    }
  }
  return network.tensors[size_t(id)].shape;
}

int64_t stream_elements(const Network& network, const Allocation& allocation, int tensor) {
  for (size_t l = 0; l < network.layers.size(); ++l) {
    if (network.layers[l].output == tensor) return allocation.layers[l].stage.pf;
  }
  const int64_t elements = border_shape(network, allocation, tensor).elements();
  const int64_t beat = allocation.port_bytes * 8 / network.tensors[size_t(tensor)].bits;
  return elements % beat == 0 ? beat : std::gcd(elements, beat);
}

StreamingDesign::StreamingDesign(const Network& network, const std::vector<LayerFacts>& facts,
                                 const Allocation& allocation, ComponentSink& sink, Design* design)
    : network_(network),
      facts_(facts),
      allocation_(allocation),
      sink_(sink),
      builder_(network, allocation, sink, design) {
  if (builder_.wiring() == nullptr) return;
  for (size_t l = 0; l < network.layers.size(); ++l) {
    names_.push_back(component_prefix("layer", l, network.layers[l].name));
  }
}

Label StreamingDesign::stage_name(size_t l) const {
  return names_.empty() ? Label("layer") + int64_t(l) : Label(names_[l]);
}

// Once per reader of the tensor.
std::vector<Stream> StreamingDesign::handed_on(int id, const Label& name, Stream stream) {
  const int64_t readers = network_.readers(id);
  TILEWRIGHT_CHECK(readers > 0, "a tensor that nobody reads");
  return sink_.forked(name + "_fork", stream, readers);
}

void StreamingDesign::whole() {
  std::vector<std::vector<Stream>> available(network_.tensors.size());
  const auto consume = [&](int id) {
    const Stream stream = available[size_t(id)].back();
    available[size_t(id)].pop_back();
    return stream;
  };
  const NetworkTensor &in = tensor(network_.input), &out = tensor(network_.output);
  if (Design* const design = builder_.design()) {
    design->input = {in.shape, in.shape.channels, in.bits, in.bipolar, 0, {0, 0}, in.shape};
    design->output = {out.shape, out.shape.channels, out.bits, out.bipolar, 0, {0, 0}, out.shape};
  }
  builder_.begin_section({"images from memory: " + in.name});
  const int64_t elements = border_shape(network_, allocation_, network_.input).elements();
  available[size_t(network_.input)] =
      handed_on(network_.input, "input", builder_.input_elements(elements, in.bits));
  for (size_t l = 0; l < network_.layers.size(); ++l) {
    const Layer& layer = network_.layers[l];
    const Stream source = consume(layer.input);
    const Stream residual = layer.add ? consume(layer.add->tensor) : Stream{};
    if (wiring() != nullptr) {
      builder_.begin_section({fmt::format("layer {}, {}", l, description(network_, layer))});
    }
    available[size_t(layer.output)] = handed_on(layer.output, stage_name(l), stage(l, source, residual));
  }
  builder_.begin_section({"results to memory: " + out.name});
  builder_.output_elements(consume(network_.output), out.shape.elements());
  builder_.finish_frame();
}

// The stream of a tensor, without what makes it.
Stream StreamingDesign::carried(int id) {
  return sink_.stream("", stream_elements(network_, allocation_, id), tensor(id).bits);
}

void StreamingDesign::stage_alone(size_t l) {
  const Layer& layer = network_.layers[l];
  const Stream residual = layer.add ? carried(layer.add->tensor) : Stream{};
  handed_on(layer.output, "", stage(l, carried(layer.input), residual));
}

void StreamingDesign::border_alone() {
  const Stream beats = builder_.port_beats("", tensor(network_.input).bits);
  const int64_t elements = border_shape(network_, allocation_, network_.input).elements();
  handed_on(network_.input, "", builder_.framed_input(beats, elements));
  builder_.framed_output(carried(network_.output), tensor(network_.output).shape.elements());
}

Stream StreamingDesign::stage(size_t l, Stream in, Stream residual) {
  const Layer& layer = network_.layers[l];
  const LayerAllocation& own = allocation_.layers[l];
  const LayerGeometry g = layer_geometry(network_, allocation_, l);
  const NetworkTensor& from = tensor(layer.input);
  const Label name = stage_name(l);
  in = sink_.queued(name + "_queue", in, own.input_fifo);
  in = sink_.resized(name + "_in", in, g.shape.pi, from.shape.elements());
  const Stream sums = array(name, l, g, feeder(name, g, from, in));
  return finish(name, l, g, sums, residual);
}

// Words, pi channels each, to the array, window by window.
Stream StreamingDesign::feeder(const Label& name, const LayerGeometry& g, const NetworkTensor& in,
                               Stream words) {
  if (g.row_major) return sliding_window(name, g, in, words);
  return g.direct ? words : line_window(name, g, in, words);
}

Stream StreamingDesign::line_window(const Label& name, const LayerGeometry& g, const NetworkTensor& in,
                                    Stream words) {
  const LayerWindow& w = g.window;
  const int64_t pi = g.shape.pi, blocks = g.input.channels / pi;
  const int64_t ring_rows = g.ring_rows;
  Stream act = sink_.stream(name + "_window", pi, in.bits);
  sink_.add(name + "_window", "line_window",
            {{"AW", int64_t{in.bits}},
             {"PI", pi},
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
             {"OB", g.lanes ? 1 : g.blocks},
             {"PAD", stored_element(in, w.pad_value)},
             {"LANES", int64_t{g.lanes}},
             {"ROWS", ring_rows},
             {"KIND", std::string(small_memory_kind(ring_rows * g.input.columns * blocks, pi * in.bits))}},
            {{"in", &words}, {"out", &act}});
  return act;
}

Stream StreamingDesign::sliding_window(const Label& name, const LayerGeometry& g, const NetworkTensor& in,
                                       Stream words) {
  const LayerWindow& w = g.window;
  const int64_t pi = g.shape.pi, blocks = g.input.channels / pi, line = g.input.columns * blocks;
  const SlidingWindowRow row = {
      g.input.rows, g.input.columns, blocks,        w.stride_y,       w.stride_x,
      w.top,        w.left,          g.output.rows, g.output.columns, stored_element(in, w.pad_value)};
  Stream act = sink_.stream(name + "_window", w.rows * w.columns * pi, in.bits);
  netlist::Parameters parameters = {{"AW", int64_t{in.bits}},
                                    {"PI", pi},
                                    {"KH", w.rows},
                                    {"KW", w.columns},
                                    {"MAX_WORDS", line},
                                    {"MAX_CB", blocks},
                                    {"COUNT_BITS", sliding_window_count_bits(row, w.rows, w.columns)},
                                    {"TASKS", int64_t{1}},
                                    {"REPEAT", blocks == 1 && !g.lanes ? g.blocks : 1},
                                    {"KIND", std::string(small_memory_kind(line, pi * in.bits))}};
  if (Wiring* const wires = wiring()) {
    parameters["TABLE"] = wires->image(name + "_window_tasks", encode({row}, parameters));
  }
  sink_.add(name + "_window", "sliding_window", std::move(parameters), {{"in", &words}, {"out", &act}});
  if (g.lanes) act.last = netlist::kNoNet;  // every window is whole
  return act;
}

Stream StreamingDesign::weights(const Label& name, const Layer& layer, const LayerGeometry& g) {
  const int64_t all_taps = g.window.rows * g.window.columns, taps = taps_of(g), pi = g.shape.pi;
  const int bits = g.lanes ? lane_weight_bits(layer) : layer.weight_bits;
  const int64_t width = g.lanes ? taps * pi * bits + 1 : g.shape.po * taps * pi * bits;
  const int64_t words = g.blocks * (g.lanes ? 1 : g.pixel_words) * all_taps / taps;
  const int64_t kept = g.lanes ? kept_lane_words(layer, words) : words;
  RomContents contents;
  if (wiring() != nullptr) {
    contents.words = MemoryImage(int(width));
    if (g.lanes) {
      append_lane_weights(contents.words, layer, g.input.channels, pi, bits, g.row_major);
      contents.words.bytes().resize(size_t(kept * contents.words.word_bytes()));
    } else {
      append_mac_weights(contents.words, layer, g.input.channels, pi, g.shape.po, bits, g.row_major);
    }
  }
  return builder_.cycled_rom(name + "_weights", width, kept, allocation_.weight_memory, std::move(contents));
}

Stream StreamingDesign::array(const Label& name, size_t l, const LayerGeometry& g, Stream act) {
  const Layer& layer = network_.layers[l];
  const NetworkTensor& in = tensor(layer.input);
  const int64_t taps = taps_of(g);
  Stream weight = weights(name, layer, g);
  Stream sums = sink_.stream(name + "_sums", g.lanes ? g.shape.pi : g.shape.po, facts_[l].accumulator_bits);
  const bool counts = !g.lanes || !layer.weights.empty();
  if (Design* const design = builder_.design(); design != nullptr && counts) {
    design->multipliers += g.products_per_beat();
  }
  if (g.lanes) {
    const bool maximum = layer.kind == LayerKind::kMaxPool;
    sink_.add(name + "_array", "lane_array",
              {{"AW", int64_t{in.bits}},
               {"A_BIPOLAR", int64_t{in.bipolar}},
               {"WW", int64_t{lane_weight_bits(layer)}},
               {"P", g.shape.pi},
               {"TAPS", taps},
               {"ACC", int64_t{sums.element_bits}},
               {"SUM", int64_t{!maximum}},
               {"MAXIMUM", int64_t{maximum}},
               {"MULTIPLY", std::string(multiplier_text(lane_multiplier(layer, g.shape)))}},
              {{"act", &act}, {"weight", &weight}, {"acc", &sums}});
    return sums;
  }
  sink_.add(name + "_array", "mac_array",
            {{"AW", int64_t{in.bits}},
             {"A_BIPOLAR", int64_t{in.bipolar}},
             {"WW", int64_t{layer.weight_bits}},
             {"W_BIPOLAR", int64_t{layer.weight_bipolar}},
             {"PI", taps * g.shape.pi},
             {"PO", g.shape.po},
             {"ACC", int64_t{sums.element_bits}},
             {"MULTIPLY", std::string(multiplier_text(g.shape.multiplier))}},
            {{"act", &act}, {"weight", &weight}, {"acc", &sums}});
  return sums;
}

Stream StreamingDesign::finish(const Label& name, size_t l, const LayerGeometry& g, Stream sums,
                               Stream residual) {
  const Layer& layer = network_.layers[l];
  const LayerAllocation& own = allocation_.layers[l];
  const int64_t pf = g.shape.pf;
  const int multiplier_bits = facts_[l].multiplier_bits;
  // Of each pixel the last block may have fewer outputs than sums.
  const int64_t real = g.output.channels / pf, surplus = g.surplus_beats();
  const int64_t beats = g.output.rows * g.output.columns * (real + surplus);
  const int64_t words = ceil_div(g.output.channels, sums.elements) * sums.elements / pf;
  const int width = finish_word_bits(network_.number, pf, multiplier_bits);
  RomContents contents;
  std::vector<DesignBuilder::FinishTask> tasks;
  if (wiring() != nullptr) {
    tasks = {{&layer, beats, sums.elements / pf}};
    contents.words = MemoryImage(width);
    append_finish_words(contents.words, network_, layer, g.output.channels, sums.elements, pf,
                        multiplier_bits);
  }
  const Stream parameters = builder_.cycled_rom(name + "_parameters", width, words,
                                                netlist::MemoryKind::kBlockRam, std::move(contents));
  if (layer.add) {
    residual = sink_.queued(name + "_residual_queue", residual, own.residual_fifo);
    residual = sink_.resized(name + "_residual", residual, pf, g.output.elements());
    residual = sink_.framed(name + "_residual_frame", residual, real, 0, surplus);
  }
  const DesignBuilder::FinishSizes sizes = {
      1,  int64_t{layer.lookup.has_value()}, facts_[l].biased_sum_bits, multiplier_bits,
      pf, tensor(layer.output).bits,         facts_[l].rounds_twice,    layer.add && layer.add->product};
  const Stream result =
      builder_.finish(name + "_finish", sums, parameters, layer.add ? &residual : nullptr, sizes, tasks);
  if (Design* const design = builder_.design()) {
    design->tasks.push_back({name.text(), int(l), 0, g.output.rows, (name + "_finish").text(), beats});
  }
  return sink_.framed(name + "_frame", result, real, surplus, 0);
}

}  // namespace tilewright::pipeline
