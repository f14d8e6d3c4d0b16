// The rules of docs/design/pipeline/pipeline.md that an allocation has to keep for a network, each with the
// layer or engine that breaks it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/rom_walker.h"
#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/pipeline/design/plan.h"
#include "tilewright/pipeline/design/shapes.h"

namespace tilewright::pipeline {
namespace {

class Rules {
 public:
  Rules(const Network& network, const Allocation& allocation, Diagnostics& diagnostics)
      : network_(network), allocation_(allocation), diagnostics_(diagnostics) {}

  void check() {
    port();
    if (!layer_list()) return;
    for (size_t i = 0; i < network_.layers.size(); ++i) unrolling(i);
    if (allocation_.streaming) {
      streaming();
    } else if (engines()) {
      processors();
    }
  }

 private:
  void error(const std::string& where, const char* field, std::string message, std::string hint) {
    diagnostics_.error(ErrorKind::kInvalidInput, where, field, std::move(message), std::move(hint));
  }
  std::string layer_name(size_t i) const { return "layer '" + network_.layers[i].name + "'"; }
  const NetworkTensor& tensor(int index) const { return network_.tensors[size_t(index)]; }

  void port() {
    const Allocation& a = allocation_;
    const std::string where = "allocation";
    if (!(a.clock_mhz > 0)) error(where, "clock_mhz", "is not positive", "e.g. 100");
    const bool legal_port =
        a.port_bytes >= 1 && a.port_bytes <= 128 && std::has_single_bit(uint64_t(a.port_bytes));
    if (!legal_port) {
      error(where, "port_bytes", fmt::format("{} is not a power of two in 1..128", a.port_bytes),
            "a memory port has 8 to 1024 bits");
    }
    const int64_t most = legal_port ? std::min<int64_t>(256, 4096 / a.port_bytes) : 256;
    const int64_t bits = element_bits(network_);
    if (legal_port && a.port_bytes * 8 < bits) {
      error(where, "port_bytes", fmt::format("{} holds no element of {} bits", a.port_bytes, bits),
            fmt::format("at least {}", std::bit_ceil(uint64_t(ceil_div(bits, 8)))));
    }
    if (a.max_burst_beats < 1 || a.max_burst_beats > most ||
        !std::has_single_bit(uint64_t(a.max_burst_beats))) {
      error(where, "max_burst_beats",
            fmt::format("{} is not a power of two in 1..{}", a.max_burst_beats, most),
            "a burst has at most 256 beats and 4096 bytes");
    }
    if (a.weight_channels != 1 && a.weight_channels != 2 && a.weight_channels != 4) {
      error(where, "weight_channels", fmt::format("{} is not 1, 2 or 4", a.weight_channels),
            "one memory port each");
    }
    if (a.weights_on_chip && a.weight_memory == netlist::MemoryKind::kUltraRam) {
      error(where, "weight_memory", "UltraRAM has no contents at the start", "block, or weights from dram");
    }
    const bool tables = a.finish_multiplier == Multiplier::kLut;
    if (a.finish_multiplier != Multiplier::kDsp && (!tables || network_.number != NumberType::kInteger)) {
      error(where, "finish_multiplier",
            tables ? "'lut' is for integers"
                   : fmt::format("'{}' is none of dsp, lut", multiplier_text(a.finish_multiplier)),
            tables ? "dsp" : "choose one of them");
    }
    if (a.streaming && !a.weights_on_chip) {
      error(where, "weights", "a streaming design keeps its weights on chip", "choose processors");
    }
  }

  // Whether each layer has its entry.
  bool layer_list() {
    const size_t count = network_.layers.size();
    if (allocation_.layers.size() != count) {
      error("allocation", "layers",
            fmt::format("{} entries for {} layers of network '{}'", allocation_.layers.size(), count,
                        network_.name),
            "one entry per layer, in its order");
    }
    for (size_t i = 0; i < std::min(count, allocation_.layers.size()); ++i) {
      if (allocation_.layers[i].layer == network_.layers[i].name) continue;
      error(fmt::format("entry {}", i), "layer",
            fmt::format("'{}' is listed where the network has '{}'", allocation_.layers[i].layer,
                        network_.layers[i].name),
            "keep the order of the network");
    }
    return allocation_.layers.size() == count;
  }

  void unrolling(size_t i) {
    if (!allocation_.layers[i].unroll) return;
    const Layer& layer = network_.layers[i];
    if (layer.input != network_.input || layer.kind != LayerKind::kConvolution) {
      error(layer_name(i), "unroll", "only a convolution of the network's input can be unrolled",
            "set unroll: false");
      return;
    }
    for (const NetworkTensor& part : network_.tensors) {
      if (!part.part || part.part->whole != layer.input) continue;
      error(layer_name(i), "unroll", "part '" + part.name + "' of the input is read as well",
            "set unroll: false");
    }
    for (size_t j = 0; j < network_.layers.size(); ++j) {
      const Layer& other = network_.layers[j];
      const bool reads =
          (j != i && other.input == layer.input) || (other.add && other.add->tensor == layer.input);
      if (!reads) continue;
      error(layer_name(i), "unroll", "layer '" + other.name + "' reads the input as well",
            "set unroll: false");
    }
  }

  void shape(const std::string& where, const ArrayShape& shape, bool lanes) {
    for (const auto& [field, value] : {std::pair{"pi", shape.pi}, {"po", shape.po}, {"pf", shape.pf}}) {
      if (value < 1 || value > 65536)
        error(where, field, fmt::format("{} is not in 1..65536", value), "e.g. 8");
    }
    if (shape.pi < 1 || shape.po < 1 || shape.pf < 1) return;
    if (lanes && shape.po != shape.pi) {
      error(where, "po", fmt::format("{} results of {} lanes", shape.po, shape.pi), "lanes need po = pi");
    }
    if (shape.po % shape.pf != 0) {
      error(where, "pf", fmt::format("{} does not divide po, {}", shape.pf, shape.po), "take a divisor");
    }
    if (products_per_block(shape.multiplier) == 1) return;
    if (lanes) {
      error(where, "multiplier", "the products of lanes share no operand", "dsp or lut");
    } else if (shape.multiplier == Multiplier::kPair && shape.po % 2 != 0) {
      error(where, "multiplier", fmt::format("po, {}, is odd: no pairs", shape.po), "dsp, or an even po");
    }
  }

  // Two products per block need operands of at most eight bits.
  void pair_operands(size_t i, const ArrayShape& shape) {
    if (shape.multiplier != Multiplier::kPair) return;
    const Layer& layer = network_.layers[i];
    const NetworkTensor& input = tensor(layer.input);
    if (network_.number == NumberType::kInteger && input.bits <= 8 && layer.weight_bits <= 8 &&
        !input.bipolar && !layer.weight_bipolar) {
      return;
    }
    error(layer_name(i), "multiplier",
          "two products share a block only with signed operands of at most 8 bits", "dsp or lut");
  }

  void packed_operands(size_t i, const ArrayShape& shape) {
    const int64_t rows = products_per_block(shape.multiplier);
    if (rows == 1 || shape.multiplier == Multiplier::kPair) return;
    const Layer& layer = network_.layers[i];
    const NetworkTensor& input = tensor(layer.input);
    const std::optional<Multiplier> most =
        network_.number == NumberType::kInteger && !input.bipolar && !layer.weight_bipolar
            ? most_packed(input.bits, layer.weight_bits, kWidestBlockBits)
            : std::nullopt;
    if (!most || products_per_block(*most) < rows) {
      error(
          layer_name(i), "multiplier",
          fmt::format("{} products of {} x {} bits do not fit a block", rows, input.bits, layer.weight_bits),
          most ? multiplier_text(*most) : "dsp or lut");
    } else if (has_lowest_weight(layer)) {
      error(layer_name(i), "multiplier",
            fmt::format("packed products take no weight of {}", -(1 << (layer.weight_bits - 1))),
            "pair, dsp or lut");
    }
  }

  void streaming() {
    for (const NetworkTensor& part : network_.tensors) {
      if (!part.part) continue;
      error("tensor '" + tensor(part.part->whole).name + "'", "shape",
            "its parts are written or read by themselves, which streams cannot", "shape: processors");
      return;
    }
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      const ArrayShape& stage = allocation_.layers[i].stage;
      const size_t before = diagnostics_.errors().size();
      shape(layer_name(i), stage, works_in_lanes(network_.layers[i].kind));
      pair_operands(i, stage);
      packed_operands(i, stage);
      if (diagnostics_.errors().size() == before) stage_fits(i);
      if (allocation_.layers[i].input_fifo < 0 || allocation_.layers[i].residual_fifo < 0) {
        error(layer_name(i), "input_fifo", "a depth is negative", "0 means no queue");
      }
    }
    if (diagnostics_.ok()) stage_widths();
  }

  void stage_fits(size_t i) {
    const LayerGeometry g = layer_geometry(network_, allocation_, i);
    if (g.input.channels % g.shape.pi != 0) {
      error(layer_name(i), "pi", fmt::format("{} does not divide {} channels", g.shape.pi, g.input.channels),
            "take a divisor");
    }
    if (g.output.channels % (g.lanes ? g.shape.po : g.shape.pf) != 0) {
      error(
          layer_name(i), g.lanes ? "po" : "pf",
          fmt::format("{} does not divide {} channels", g.lanes ? g.shape.po : g.shape.pf, g.output.channels),
          "take a divisor");
    } else if (g.shape.po > g.output.channels) {
      error(layer_name(i), "po", fmt::format("{} for {} channels", g.shape.po, g.output.channels),
            "no more than there are");
    }
    weight_word(i, g, lane_or_weight_bits(i));
    windows(i, g);
    if (sweeps_twice(g)) {
      error(layer_name(i), "feeder", "a row-major stage has all input or all output channels at once",
            "pi or po = the channels, or channel_major");
    }
  }

  int64_t lane_or_weight_bits(size_t i) const {
    const Layer& layer = network_.layers[i];
    return works_in_lanes(layer.kind) ? lane_weight_bits(layer) : layer.weight_bits;
  }
  // All weights of a cycle are one word of a memory.
  void weight_word(size_t i, const LayerGeometry& g, int64_t bits) {
    const int64_t width = g.products_per_beat() * bits;
    if (width < kWidestRomWord) return;
    error(layer_name(i), "po",
          fmt::format("{} bits of weights per cycle, fewer than {} are possible", width, kWidestRomWord),
          "fewer products per cycle");
  }

  void windows(size_t i, const LayerGeometry& g) {
    if (const char* obstacle = window_obstacle(g, allocation_.streaming)) {
      error(layer_name(i), allocation_.streaming ? "feeder" : "engine",
            fmt::format("{}: a {} feeder cannot cut them", obstacle,
                        g.row_major ? "row-major" : "streaming stage's"),
            g.row_major ? "channel_major" : "shape: processors");
    }
  }

  // Elements per beat of the stream that carries a tensor: of its writer, or of the network's input.
  int64_t source_width(int index) const {
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      if (network_.layers[i].output == index) return allocation_.layers[i].stage.pf;
    }
    return 0;
  }

  void stage_widths() {
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      const Layer& layer = network_.layers[i];
      const ArrayShape& stage = allocation_.layers[i].stage;
      const auto meet = [&](int source, int64_t width, const char* field) {
        const int64_t given = source_width(source);
        if (given == 0 || given % width == 0 || width % given == 0) return;
        error(layer_name(i), field,
              fmt::format("{} elements per beat meet {} of tensor '{}'", width, given, tensor(source).name),
              "one must divide the other");
      };
      meet(layer.input, stage.pi, "pi");
      if (layer.add) meet(layer.add->tensor, stage.pf, "pf");
    }
  }

  bool engines() {
    const size_t before = diagnostics_.errors().size();
    if (allocation_.engines.empty()) error("allocation", "engines", "none", "at least one");
    if (allocation_.engines.size() > 7) error("allocation", "engines", "more than 7", "share engines");
    std::set<std::string> names;
    for (const EngineAllocation& engine : allocation_.engines) {
      const std::string where = "engine '" + engine.name + "'";
      if (engine.name.empty() || !names.insert(engine.name).second) {
        error(where, "name", "is empty or taken", "give each engine a name of its own");
      }
      shape(where, engine.shape, engine.lanes);
      if (engine.shape.multiplier != Multiplier::kPair && products_per_block(engine.shape.multiplier) > 1)
        error(where, "multiplier", "packed products are for stages", "pair, dsp or lut");
      engine_shape(where, engine);
    }
    if (allocation_.units < 1 || allocation_.units > 16) {
      error("allocation", "units", fmt::format("{} is not in 1..16", allocation_.units), "1 to 16");
    }
    if (allocation_.tensor_unit.size() != network_.tensors.size()) {
      error("allocation", "tensor_unit",
            fmt::format("{} entries for {} tensors", allocation_.tensor_unit.size(), network_.tensors.size()),
            "one per tensor of the network");
    }
    for (size_t t = 0; t < allocation_.tensor_unit.size(); ++t) {
      const int unit = allocation_.tensor_unit[t];
      const bool part = t < network_.tensors.size() && network_.tensors[t].part;
      if (part) continue;  // it lies where its whole does
      if (unit >= 0 && unit < allocation_.units) continue;
      error("allocation", "tensor_unit", fmt::format("unit {} of {}", unit, allocation_.units),
            "0 is the first");
    }
    return diagnostics_.errors().size() == before;
  }

  void engine_shape(const std::string& where, const EngineAllocation& engine) {
    const ArrayShape& s = engine.shape;
    if (s.pi < 1 || s.po < 1 || s.pf < 1) return;
    const int64_t word = allocation_.engines.front().shape.pi;
    if (s.pi != word) {
      error(where, "pi", fmt::format("{} where the first engine has {}", s.pi, word),
            "the tensors of a design have words of one width");
    }
    if (s.po % s.pi != 0) {
      error(where, "po", fmt::format("pi, {}, does not divide {}", s.pi, s.po), "take a multiple of pi");
    }
    if (s.pi % s.pf != 0) {
      error(where, "pf", fmt::format("{} does not divide pi, {}", s.pf, s.pi), "take a divisor of pi");
    }
    if (!engine.lanes && s.feeder == Feeder::kRowMajor) {
      error(where, "feeder", "only lanes have a row-major feeder among the engines", "channel_major");
    }
    if (engine.taps_y < 1 || engine.taps_x < 1 || engine.taps_y > 255 || engine.taps_x > 255) {
      error(where, "taps_y", "a window has 1 to 255 rows and columns", "the window of its layers");
    }
  }

  void processors() {
    for (size_t i = 0; i < network_.layers.size(); ++i) layer_on_engine(i);
    if (!allocation_.weights_on_chip) one_weight_stream();
    if (diagnostics_.ok()) {
      for (size_t i = 0; i < network_.layers.size(); ++i) fields(i);
      progress_counts();
      if (!allocation_.weights_on_chip) ring();
    }
  }

  void layer_on_engine(size_t i) {
    const LayerAllocation& own = allocation_.layers[i];
    const Layer& layer = network_.layers[i];
    if (own.engine < 0 || size_t(own.engine) >= allocation_.engines.size()) {
      error(layer_name(i), "engine", fmt::format("there is no engine {}", own.engine), "0 is the first");
      return;
    }
    const EngineAllocation& engine = allocation_.engines[size_t(own.engine)];
    if (engine.lanes != works_in_lanes(layer.kind)) {
      error(layer_name(i), "engine",
            fmt::format("a {} layer on engine '{}', which has {}", kind_name(layer.kind), engine.name,
                        engine.lanes ? "lanes" : "no lanes"),
            "convolutions need lanes: false, all others lanes: true");
    }
    if (engine.shape.feeder == Feeder::kRowMajor &&
        (layer.window.rows != engine.taps_y || layer.window.columns != engine.taps_x)) {
      error(layer_name(i), "engine",
            fmt::format("a window of {} x {} on engine '{}' for {} x {}", layer.window.rows,
                        layer.window.columns, engine.name, engine.taps_y, engine.taps_x),
            "a row-major engine has one window");
    }
    const int64_t rows = tensor(layer.output).shape.rows;
    if (own.band_rows < 0 || own.band_rows > rows) {
      error(layer_name(i), "band_rows", fmt::format("{} of {} rows", own.band_rows, rows),
            "0 means the whole layer");
    }
    pair_operands(i, engine.shape);
  }

  void one_weight_stream() {
    int64_t arrays = 0;
    for (const EngineAllocation& engine : allocation_.engines) arrays += engine.lanes ? 0 : 1;
    if (arrays <= 1) return;
    error("allocation", "weights", fmt::format("{} engines would share one stream from memory", arrays),
          "one engine for all convolutions, or weights on chip");
  }

  // The widths of the fields of task tables (docs/design/pipeline/pipeline.md).
  void fields(size_t i) {
    const LayerGeometry g = layer_geometry(network_, allocation_, i);
    const auto fits = [&](const char* what, int64_t value, int64_t most) {
      if (value <= most) return;
      error(layer_name(i), what, fmt::format("{} does not fit its field, at most {}", value, most),
            "this layer is too large for processors");
    };
    windows(i, g);
    weight_word(i, g,
                g.lanes ? lane_or_weight_bits(i)
                        : engine_weight_bits(network_, allocation_, allocation_.layers[i].engine));
    fits("rows", std::max({g.input.rows, g.output.rows, (g.output.rows - 1) * g.window.stride_y}), 32767);
    fits("columns", std::max({g.input.columns, g.output.columns, (g.output.columns - 1) * g.window.stride_x}),
         32767);
    fits("window", std::max(g.window.rows, g.window.columns), 255);
    fits("stride", std::max(g.window.stride_y, g.window.stride_x), 15);
    fits("blocks", g.blocks, 65535);
    const int64_t result_words = ceil_div(g.output.channels, g.shape.pi);
    fits("words per pixel", std::max(g.pixel_words, result_words), 65535);
    // The loader and the storer walk whole rows, word by word.
    if (network_.layers[i].input == network_.input)
      fits("words per row", g.input.columns * g.pixel_words, 65535);
    if (network_.layers[i].output == network_.output)
      fits("words per row", g.output.columns * result_words, 65535);
  }

  // Progress is counted in 16 bits: the tasks of an engine in an image. Its tables have numbers of 8 bits.
  void progress_counts() {
    std::vector<int64_t> tasks(allocation_.engines.size(), 0), tables(allocation_.engines.size(), 0);
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      tables[size_t(allocation_.layers[i].engine)] += network_.layers[i].lookup ? 1 : 0;
      const int64_t rows = tensor(network_.layers[i].output).shape.rows,
                    band = allocation_.layers[i].band_rows;
      tasks[size_t(allocation_.layers[i].engine)] += band == 0 ? 1 : ceil_div(rows, band);
    }
    for (size_t e = 0; e < tasks.size(); ++e) {
      if (tables[e] > 256) {
        error("engine '" + allocation_.engines[e].name + "'", "layers",
              fmt::format("{} of its layers have tables, 256 can be numbered", tables[e]), "another engine");
      }
      if (tasks[e] <= 65535) continue;
      error("engine '" + allocation_.engines[e].name + "'", "band_rows",
            fmt::format("{} tasks per image, 65535 can be counted", tasks[e]), "larger bands");
    }
  }

  void ring() {
    constexpr int64_t kMostRingWords = int64_t{1} << 24;
    if (allocation_.ring_words > kMostRingWords) {
      error("allocation", "ring_words",
            fmt::format("{}, at most {} are possible", allocation_.ring_words, kMostRingWords), "fewer");
    }
    const int64_t beat = allocation_.port_bytes * allocation_.weight_channels * 8;
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      const LayerGeometry g = layer_geometry(network_, allocation_, i);
      if (g.lanes) continue;
      const int64_t width =
          g.shape.pi * g.shape.po * engine_weight_bits(network_, allocation_, allocation_.layers[i].engine);
      if (width % beat != 0 && beat % width != 0) {
        error(layer_name(i), "weight_channels",
              fmt::format("{} bits of the memory ports and {} of the array: neither divides the other", beat,
                          width),
              "powers of two for pi, po and weight_channels");
      }
      const int64_t rows = allocation_.layers[i].band_rows;
      const bool banded = rows > 0 && rows < g.output.rows;
      const bool once = g.output.rows * g.output.columns == 1;
      const int64_t need = banded ? g.blocks * g.words : once ? 2 : g.words;
      if (allocation_.ring_words >= need) continue;
      error(layer_name(i), "ring_words",
            fmt::format("{} where {} are used {}", allocation_.ring_words, need,
                        banded ? "by every band again" : "for every pixel again"),
            banded ? "a larger ring, or no bands" : "a larger ring");
    }
  }

  const Network& network_;
  const Allocation& allocation_;
  Diagnostics& diagnostics_;
};

}  // namespace

void Allocation::verify(const Network& network, Diagnostics& diagnostics) const {
  Rules(network, *this, diagnostics).check();
}

}  // namespace tilewright::pipeline
