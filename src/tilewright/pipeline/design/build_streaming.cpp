// One stage per layer, joined by streams: feeder, array, finish. A tensor with several readers is forked; the
// branch that waits for the other one has a queue.
#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/sliding_window.h"
#include "tilewright/pipeline/design/design_builder.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/pack.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/design/tensor_memories.h"

namespace tilewright::pipeline {
namespace {

class StreamingBuilder {
 public:
  StreamingBuilder(const Network& network, const Allocation& allocation)
      : network_(network), allocation_(allocation), builder_(network, allocation) {}

  Design run() {
    connect_input();
    for (size_t l = 0; l < network_.layers.size(); ++l) stage(l);
    connect_output();
    return builder_.finished();
  }

 private:
  Wiring& wiring() { return builder_.wiring(); }
  const NetworkTensor& tensor(int id) const { return network_.tensors[size_t(id)]; }

  // What hands a tensor on, once per reader.
  void produce(int id, const std::string& name, Stream stream) {
    int64_t readers = id == network_.output ? 1 : 0;
    for (const Layer& layer : network_.layers) {
      readers += layer.input == id ? 1 : 0;
      readers += layer.add && layer.add->tensor == id ? 1 : 0;
    }
    TILEWRIGHT_CHECK(readers > 0, "a tensor that nobody reads");
    available_[id] = wiring().forked(name + "_fork", stream, readers);
  }
  Stream consume(int id) {
    std::vector<Stream>& copies = available_.at(id);
    const Stream stream = copies.back();
    copies.pop_back();
    return stream;
  }

  void connect_input() {
    const NetworkTensor& t = tensor(network_.input);
    DramLayout& layout = builder_.design().input;
    layout = {t.shape, t.shape.channels, t.bits, t.bipolar, 0, {0, 0}, t.shape};
    produce(network_.input, "input", builder_.input_elements(t.shape.elements(), t.bits));
  }

  void connect_output() {
    const NetworkTensor& t = tensor(network_.output);
    DramLayout& layout = builder_.design().output;
    layout = {t.shape, t.shape.channels, t.bits, t.bipolar, 0, {0, 0}, t.shape};
    builder_.output_elements(consume(network_.output), t.shape.elements());
  }

  void stage(size_t l) {
    const Layer& layer = network_.layers[l];
    const LayerAllocation& own = allocation_.layers[l];
    const std::string name = fmt::format("layer{}", l);
    Stream in = wiring().queued(name + "_queue", consume(layer.input), own.input_fifo);
    in = wiring().resized(name + "_in", in, own.stage.pi, tensor(layer.input).shape.elements());
    Stream sums = layer.kind == LayerKind::kConvolution
                      ? convolution(name, layer, own.stage, in)
                      : lanes(name, layer, layer_geometry(network_, allocation_, l), in);
    const TensorShape& out = tensor(layer.output).shape;
    const int64_t channels = out.channels;
    const int64_t beats = out.elements() / own.stage.pf;
    const std::vector<DesignBuilder::FinishTask> tasks = {{&layer, beats, sums.elements / own.stage.pf}};
    const int multiplier_bits = DesignBuilder::multiplier_bits(tasks);
    MemoryImage words(finish_word_bits(network_.number, own.stage.pf, multiplier_bits));
    append_finish_words(words, network_, layer, channels, sums.elements, own.stage.pf, multiplier_bits);
    Stream parameters =
        builder_.cycled_rom(name + "_parameters", std::move(words), netlist::MemoryKind::kBlockRam);
    Stream residual;
    if (layer.add) {
      residual = wiring().queued(name + "_residual_queue", consume(layer.add->tensor), own.residual_fifo);
      residual = wiring().resized(name + "_residual", residual, own.stage.pf, out.elements());
    }
    const Stream result = builder_.finish(name + "_finish", sums, parameters, layer.add ? &residual : nullptr,
                                          tasks, own.stage.pf, tensor(layer.output).bits);
    builder_.design().tasks.push_back({name, int(l), 0, out.rows, name + "_finish", beats});
    produce(layer.output, name, result);
  }

  // Words, pi channels each, to the array, window by window.
  Stream convolution(const std::string& name, const Layer& layer, const ArrayShape& shape, Stream in) {
    const NetworkTensor& t = tensor(layer.input);
    const bool row_major = is_row_major(shape, layer.window);
    const int64_t taps = row_major ? layer.window.rows * layer.window.columns : 1;
    const int64_t outer = tensor(layer.output).shape.channels / shape.po;
    Stream act = row_major ? sliding_window(name, layer, shape.pi, in, outer)
                           : line_window(name, layer, shape.pi, in, outer, false);
    MemoryImage words(int(shape.po * taps * shape.pi * layer.weight_bits));
    append_mac_weights(words, layer, t.shape.channels, shape.pi, shape.po, layer.weight_bits, row_major);
    Stream weights = builder_.cycled_rom(name + "_weights", std::move(words), allocation_.weight_memory);
    Stream sums = wiring().stream(name + "_sums", shape.po, accumulator_bits(network_, layer));
    wiring().add(name + "_array", "mac_array",
                 {{"AW", int64_t{t.bits}},
                  {"A_BIPOLAR", int64_t{t.bipolar}},
                  {"WW", int64_t{layer.weight_bits}},
                  {"W_BIPOLAR", int64_t{layer.weight_bipolar}},
                  {"PI", taps * shape.pi},
                  {"PO", shape.po},
                  {"ACC", int64_t{sums.element_bits}},
                  {"MULTIPLY", std::string(multiplier_text(shape.multiplier))}},
                 {{"act", &act}, {"weight", &weights}, {"acc", &sums}});
    builder_.design().multipliers += taps * shape.pi * shape.po;
    return sums;
  }

  Stream lanes(const std::string& name, const Layer& layer, const LayerGeometry& g, Stream in) {
    const NetworkTensor& t = tensor(layer.input);
    const ArrayShape& shape = g.shape;
    const bool row_major = g.row_major;
    const int64_t taps = row_major ? layer.window.rows * layer.window.columns : 1;
    Stream act = in;
    if (row_major) {
      act = sliding_window(name, layer, shape.pi, in, 1);
      act.last = netlist::kNoNet;  // every window is whole
    } else if (!g.direct) {
      act = line_window(name, layer, shape.pi, in, 1, true);
    }
    const int weight_bits = lane_weight_bits(layer);
    MemoryImage words(int(taps * shape.pi * weight_bits + 1));
    append_lane_weights(words, layer, t.shape.channels, shape.pi, weight_bits, row_major);
    words.bytes().resize(size_t(kept_lane_words(layer, words.words()) * words.word_bytes()));
    Stream weights = builder_.cycled_rom(name + "_weights", std::move(words), allocation_.weight_memory);
    Stream sums = wiring().stream(name + "_sums", shape.pi, accumulator_bits(network_, layer));
    const bool maximum = layer.kind == LayerKind::kMaxPool;
    wiring().add(name + "_array", "lane_array",
                 {{"AW", int64_t{t.bits}},
                  {"A_BIPOLAR", int64_t{t.bipolar}},
                  {"WW", int64_t{weight_bits}},
                  {"P", shape.pi},
                  {"TAPS", taps},
                  {"ACC", int64_t{sums.element_bits}},
                  {"SUM", int64_t{maximum ? 0 : 1}},
                  {"MAXIMUM", int64_t{maximum ? 1 : 0}},
                  {"MULTIPLY", std::string(multiplier_text(lane_multiplier(layer, shape)))}},
                 {{"act", &act}, {"weight", &weights}, {"acc", &sums}});
    if (!layer.weights.empty()) builder_.design().multipliers += taps * shape.pi;
    return sums;
  }

  Stream line_window(const std::string& name, const Layer& layer, int64_t pi, Stream in, int64_t outer,
                     bool as_lanes) {
    const NetworkTensor& t = tensor(layer.input);
    const TensorShape& out = tensor(layer.output).shape;
    const LayerWindow& w = layer.window;
    const int64_t blocks = t.shape.channels / pi;
    const int64_t ring_rows = streaming_ring_rows(t.shape, w);
    Stream act = wiring().stream(name + "_window", pi, t.bits);
    wiring().add(
        name + "_window", "line_window",
        {{"AW", int64_t{t.bits}},
         {"PI", pi},
         {"H", t.shape.rows},
         {"W", t.shape.columns},
         {"CB", blocks},
         {"KH", w.rows},
         {"KW", w.columns},
         {"SH", w.stride_y},
         {"SW", w.stride_x},
         {"PT", w.top},
         {"PL", w.left},
         {"HO", out.rows},
         {"WO", out.columns},
         {"OB", outer},
         {"PAD", stored_element(t, w.pad_value)},
         {"LANES", int64_t{as_lanes}},
         {"ROWS", ring_rows},
         {"KIND", std::string(small_memory_kind(ring_rows * t.shape.columns * blocks, pi * t.bits))}},
        {{"in", &in}, {"out", &act}});
    return act;
  }

  Stream sliding_window(const std::string& name, const Layer& layer, int64_t pi, Stream in, int64_t repeat) {
    const NetworkTensor& t = tensor(layer.input);
    const TensorShape& out = tensor(layer.output).shape;
    const LayerWindow& w = layer.window;
    const int64_t blocks = t.shape.channels / pi, line = t.shape.columns * blocks;
    const std::vector<SlidingWindowRow> rows = {{t.shape.rows, t.shape.columns, blocks, w.stride_y,
                                                 w.stride_x, w.top, w.left, out.rows, out.columns,
                                                 stored_element(t, w.pad_value)}};
    Stream act = wiring().stream(name + "_window", w.rows * w.columns * pi, t.bits);
    const std::string window = name + "_window";
    netlist::Parameters parameters = {{"AW", int64_t{t.bits}},
                                      {"PI", pi},
                                      {"KH", w.rows},
                                      {"KW", w.columns},
                                      {"MAX_WORDS", line},
                                      {"MAX_CB", blocks},
                                      {"COUNT_BITS", sliding_window_count_bits(rows[0], w.rows, w.columns)},
                                      {"TASKS", int64_t{1}},
                                      {"REPEAT", blocks == 1 ? repeat : 1},
                                      {"KIND", std::string(small_memory_kind(line, pi * t.bits))}};
    parameters["TABLE"] = wiring().image(window + "_tasks", encode(rows, parameters));
    wiring().add(window, "sliding_window", std::move(parameters), {{"in", &in}, {"out", &act}});
    return act;
  }

  const Network& network_;
  const Allocation& allocation_;
  DesignBuilder builder_;
  std::map<int, std::vector<Stream>> available_;
};

}  // namespace

Design build_streaming(const Network& network, const Allocation& allocation) {
  return StreamingBuilder(network, allocation).run();
}

}  // namespace tilewright::pipeline
