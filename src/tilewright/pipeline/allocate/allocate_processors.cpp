// Processors: every array shape that the budget could hold, in the order of the cycles that its
// multiplications alone take, until no other can beat the best one; then the other choices of the best few,
// one at a time, as long as that helps.
#include "tilewright/pipeline/allocate/allocate_processors.h"

#include <algorithm>
#include <map>
#include <set>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/allocate/stage_options.h"
#include "tilewright/pipeline/estimate/estimate_cycles.h"
#include "tilewright/pipeline/estimate/resource_features.h"
#include "tilewright/pipeline/network/tensor_parts.h"
#include "tilewright/synthesis/memory_cells.h"

namespace tilewright::pipeline {
namespace {

using netlist::MemoryKind;

bool takes_row_major(const Network& network, const Layer& layer, int64_t pi) {
  const TensorShape& input = network.tensors[size_t(layer.input)].shape;
  const TensorShape& output = network.tensors[size_t(layer.output)].shape;
  return works_in_lanes(layer.kind) && layer.window.rows * layer.window.columns > 1 &&
         row_major_obstacle(input, output, layer.window, ceil_div(input.channels, pi)) == nullptr;
}

// The window with the most depthwise (and pooling) work: {0, 0} if no layer has lanes with a window that a
// row-major feeder can cut.
std::pair<int64_t, int64_t> busiest_window(const Network& network, int64_t pi) {
  std::map<std::pair<int64_t, int64_t>, int64_t> work;
  for (const Layer& layer : network.layers) {
    if (!takes_row_major(network, layer, pi)) continue;
    work[{layer.window.rows, layer.window.columns}] += layer.macs;
  }
  std::pair<int64_t, int64_t> best{0, 0};
  for (const auto& [window, macs] : work) {
    if (best.first == 0 || macs > work[best]) best = window;
  }
  return best;
}

class Maker {
 public:
  Maker(const Network& network, const Budget& budget, const ProcessorChoice& choice)
      : network_(network), budget_(budget), choice_(choice) {}

  Allocation run() {
    a_.port_bytes = budget_.port_bytes;
    a_.max_burst_beats = std::min<int64_t>(64, 4096 / budget_.port_bytes);
    a_.clock_mhz = budget_.clock_mhz;
    a_.finish_multiplier = budget_.finish_multiplier;
    a_.tight_memory = choice_.tight_memory;
    a_.tensor_memory = choice_.tensor_memory;
    a_.weight_memory = choice_.weight_memory;
    a_.weights_on_chip = choice_.weights_on_chip;
    engines();
    layers();
    if (!a_.weights_on_chip) ring();
    bands();
    units();
    return std::move(a_);
  }

 private:
  void engines() {
    const ArrayShape lanes{choice_.pi, choice_.pi, choice_.pf, choice_.lane_multiplier};
    window_ = busiest_window(network_, choice_.pi);
    bool arrays = false, plain = false, rows = false;
    for (const Layer& layer : network_.layers) {
      if (!works_in_lanes(layer.kind)) {
        arrays = true;
      } else if (choice_.row_major_lanes && in_window(layer)) {
        rows = true;
      } else {
        plain = true;
      }
    }
    if (arrays) {
      array_ = int(a_.engines.size());
      a_.engines.push_back({"array", false, {choice_.pi, choice_.po, choice_.pf, choice_.multiplier}});
    }
    if (rows) {
      windows_ = int(a_.engines.size());
      ArrayShape shape = lanes;
      shape.feeder = Feeder::kRowMajor;
      shape.pf = choice_.pi;
      a_.engines.push_back({"windows", true, shape, window_.first, window_.second});
    }
    if (plain) {
      lanes_ = int(a_.engines.size());
      a_.engines.push_back({"lanes", true, lanes});
    }
  }

  bool in_window(const Layer& layer) const {
    return std::pair{layer.window.rows, layer.window.columns} == window_ &&
           takes_row_major(network_, layer, choice_.pi);
  }

  void layers() {
    for (const Layer& layer : network_.layers) {
      LayerAllocation own;
      own.layer = layer.name;
      const bool rows = windows_ >= 0 && in_window(layer);
      own.engine = !works_in_lanes(layer.kind) ? array_ : rows ? windows_ : lanes_;
      own.unroll = choice_.unroll && layer.input == network_.input && layer.kind == LayerKind::kConvolution;
      a_.layers.push_back(own);
    }
  }

  void ring() {
    a_.weight_channels = std::bit_floor(uint64_t(std::clamp<int64_t>(budget_.channels, 1, 4)));
    int64_t largest = 2;
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      const LayerGeometry g = layer_geometry(network_, a_, i);
      if (!g.lanes && g.output.rows * g.output.columns > 1) largest = std::max(largest, g.words);
    }
    // The shallowest block RAM has 512 words: fewer cost as much.
    a_.ring_words = largest * choice_.ring_blocks;
    if (a_.weight_memory == MemoryKind::kBlockRam) a_.ring_words = ceil_div(a_.ring_words, 512) * 512;
    if (array_ < 0) return;
    const int64_t width = choice_.pi * choice_.po * engine_weight_bits(network_, a_, array_);
    while (a_.weight_channels > 1 && width % (a_.weight_channels * a_.port_bytes * 8) != 0 &&
           (a_.weight_channels * a_.port_bytes * 8) % width != 0) {
      a_.weight_channels /= 2;
    }
  }

  void bands() {
    if (choice_.bands <= 1) return;
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      const LayerGeometry g = layer_geometry(network_, a_, i);
      const int64_t rows = ceil_div(g.output.rows, choice_.bands);
      if (rows < 2 && g.output.rows > 1) continue;
      if (!a_.weights_on_chip && !g.lanes && g.blocks * g.words > a_.ring_words) continue;
      if (rows < g.output.rows) a_.layers[i].band_rows = rows;
    }
  }

  // In the order of the layers, each tensor beside those that a later addition reads together with it.
  void units() {
    a_.units = choice_.units;
    a_.tensor_unit.assign(network_.tensors.size(), 0);
    if (choice_.units < 2) return;
    std::vector<int64_t> load(size_t(choice_.units), 0);
    std::vector<int> unit(network_.tensors.size(), -1);
    std::vector<int> whole;
    for (size_t t = 0; t < unit.size(); ++t) whole.push_back(place_in_whole(network_, int(t)).whole);
    const auto of = [&](int tensor) { return unit[size_t(whole[size_t(tensor)])]; };
    const auto place = [&](int tensor) {
      if (of(tensor) >= 0) return;
      std::set<int> taken;
      for (const Layer& layer : network_.layers) {
        if (!layer.add) continue;
        if (layer.input == tensor) taken.insert(of(layer.add->tensor));
        if (layer.add->tensor == tensor) taken.insert(of(layer.input));
      }
      int best = -1;
      for (int u = 0; u < int(choice_.units); ++u) {
        if (taken.count(u) != 0) continue;
        if (best < 0 || load[size_t(u)] < load[size_t(best)]) best = u;
      }
      if (best < 0) best = 0;
      const int own = whole[size_t(tensor)];
      unit[size_t(own)] = best;
      load[size_t(best)] = std::max(load[size_t(best)], network_.tensors[size_t(own)].shape.elements());
    };
    place(network_.input);
    for (const Layer& layer : network_.layers) place(layer.output);
    for (size_t t = 0; t < unit.size(); ++t) a_.tensor_unit[t] = of(int(t));
  }

  const Network& network_;
  const Budget& budget_;
  const ProcessorChoice& choice_;
  Allocation a_;
  std::pair<int64_t, int64_t> window_{0, 0};
  int array_ = -1, windows_ = -1, lanes_ = -1;
};

// The large memories of an iCE40 have one port.
bool has_ultra(const Budget& budget) {
  return budget.resources.uram > 0 && budget.family == synthesis::DeviceFamily::kXcup;
}

constexpr std::initializer_list<int64_t> kBands = {1, 2, 4, 8, 14};  // that a layer is cut into

class ProcessorSearch {
 public:
  ProcessorSearch(const Network& network, const Estimator& estimator, const Judge& judge,
                  const AllocateOptions& options)
      : network_(network), estimator_(estimator), judge_(judge), options_(options) {}

  ShapeSearch run() {
    std::vector<Scored> starts = array_shapes();
    // The products alone bound the cycles from below: in that order, the rest of the list is worse at some
    // point.
    std::vector<Scored> good;
    for (const Scored& start : starts) {
      if (result_.best && judge_.fits(result_.best->estimate) &&
          start.least_cycles >= judge_.cycles(result_.best->estimate))
        break;
      if (result_.evaluated > 4000 || options_.over()) break;
      const std::optional<Estimate> e = evaluate(start.choice);
      if (e) good.push_back({start.choice, start.least_cycles, *e});
    }
    std::stable_sort(good.begin(), good.end(),
                     [&](const Scored& a, const Scored& b) { return judge_.better(a.estimate, b.estimate); });
    if (good.size() > improved_starts()) good.resize(improved_starts());
    for (const Scored& start : good) improve(start);
    if (result_.best && !judge_.fits(result_.best->estimate))
      for_each_small([&](const ProcessorChoice& choice) { evaluate(choice); });
    return std::move(result_);
  }

  // Of the designs with up to eight inputs and outputs at a time.
  ShapeLimits limits() {
    ShapeLimits result;
    bool fits = false;
    for_each_small([&](const ProcessorChoice& choice) {
      const std::optional<Estimate> e = evaluate(choice);
      if (!e) return;
      result.least = result.least ? smaller_of(*result.least, e->resources) : e->resources;
      fits |= judge_.fits(*e);
    });
    if (options_.over()) return {};
    result.none_fits = result.least && !fits;
    return result;
  }

 private:
  struct Scored {
    ProcessorChoice choice;
    int64_t least_cycles = 0;
    Estimate estimate;
  };

  std::optional<Estimate> evaluate(const ProcessorChoice& choice) {
    Allocation a = make_processors(network_, judge_.budget(), choice);
    Diagnostics diagnostics;
    a.verify(network_, diagnostics);
    if (!diagnostics.ok()) {
      if (result_.obstacle.empty())
        result_.obstacle = "; on processors, " + to_string(diagnostics.errors()[0]);
      return std::nullopt;
    }
    AllocationCandidate candidate{std::move(a), {}};
    candidate.estimate = estimator_(candidate.allocation);
    result_.offer(judge_, candidate);
    return candidate.estimate;
  }

  // Estimates of few layers take little time.
  size_t improved_starts() const { return std::clamp<size_t>(96 / network_.layers.size(), 6, 32); }

  template <typename Visit>
  void for_each_small(Visit&& visit) const {
    std::vector<MemoryKind> kinds = {MemoryKind::kBlockRam, MemoryKind::kLutRam};
    if (has_ultra(judge_.budget())) kinds.push_back(MemoryKind::kUltraRam);
    std::vector<Multiplier> multipliers = {Multiplier::kDsp};
    if (narrow()) multipliers.push_back(Multiplier::kLut);
    for (const auto& [pi, po] :
         {std::pair<int64_t, int64_t>{1, 1}, {1, 2}, {1, 4}, {2, 2}, {2, 4}, {4, 4}, {8, 8}}) {
      for (const Multiplier multiplier : multipliers) {
        for (const MemoryKind tensors : kinds) {
          for (const MemoryKind weights : kinds) {
            for (int flags = 0; flags < 8 && !options_.over(); ++flags) {
              ProcessorChoice choice;
              choice.pi = pi;
              choice.po = po;
              choice.multiplier = choice.lane_multiplier = multiplier;
              choice.tensor_memory = tensors;
              choice.weight_memory = weights;
              choice.tight_memory = (flags & 1) != 0;
              choice.weights_on_chip = (flags & 2) != 0;
              choice.row_major_lanes = (flags & 4) != 0;
              choice.ring_blocks = 1;
              for (const int64_t bands : kBands) {
                choice.bands = bands;
                visit(choice);
              }
            }
          }
        }
      }
    }
  }

  bool narrow() const { return network_.number == NumberType::kInteger; }

  // All array shapes within the budget's products, by the cycles of the products alone.
  std::vector<Scored> array_shapes() const {
    std::vector<Scored> list;
    int64_t widest = 1;
    for (const Layer& layer : network_.layers) {
      widest = std::max(widest, network_.tensors[size_t(layer.output)].shape.channels);
    }
    std::vector<Multiplier> multipliers = {Multiplier::kDsp};
    if (narrow()) multipliers.push_back(Multiplier::kPair);
    if (narrow() && options_.lut_multipliers) multipliers.push_back(Multiplier::kLut);
    for (const int64_t pi : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}) {
      if (options_.over()) break;
      std::set<std::vector<int64_t>> seen;
      for (int64_t po = pi; po <= std::max(pi, ceil_div(widest, pi) * pi); po += pi) {
        std::vector<int64_t> blocks;
        for (const Layer& layer : network_.layers) {
          if (!works_in_lanes(layer.kind))
            blocks.push_back(ceil_div(network_.tensors[size_t(layer.output)].shape.channels, po));
        }
        if (!seen.insert(blocks).second) continue;
        for (const Multiplier multiplier : multipliers) add_shape(pi, po, multiplier, list);
      }
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Scored& a, const Scored& b) { return a.least_cycles < b.least_cycles; });
    return list;
  }

  void add_shape(int64_t pi, int64_t po, Multiplier multiplier, std::vector<Scored>& list) const {
    const Budget& budget = judge_.budget();
    if (multiplier == Multiplier::kPair && po % 2 != 0) return;
    const int64_t products = pi * po;
    if (budget.multipliers > 0 && products > budget.multipliers) return;
    // Wide products are made of logic only where the blocks, less some for the finish, run out.
    const int64_t in_blocks = po % 2 == 0 ? products / 2 : products;
    const bool blocks_suffice = in_blocks <= budget.resources.dsp * 17 / 20;
    if (multiplier == Multiplier::kLut && blocks_suffice && widest_weight_bits() > 4) return;
    // Far beyond the budget: not worth an estimate. The smallest array is always tried.
    const int64_t per_block = narrow() ? 1 : 4, adders = narrow() ? 12 : 60;
    const int64_t blocks = multiplier == Multiplier::kLut    ? 0
                           : multiplier == Multiplier::kPair ? products / 2
                                                             : products * per_block;
    const int64_t logic = products * (multiplier == Multiplier::kLut ? 60 : adders);
    if (products > 1 && (blocks > budget.resources.dsp || logic > budget.resources.lut)) return;
    for (const int64_t pf : divisors(pi)) {
      for (const bool unroll : {false, true}) {
        if (unroll && !can_unroll(network_)) continue;
        Scored scored{first_choice(pi, po, pf, multiplier, unroll), 0, {}};
        scored.least_cycles = least_cycles(scored.choice);
        list.push_back(scored);
      }
    }
  }

  int widest_weight_bits() const {
    int bits = 1;
    for (const Layer& layer : network_.layers) bits = std::max(bits, layer.weight_bits);
    return bits;
  }

  ProcessorChoice first_choice(int64_t pi, int64_t po, int64_t pf, Multiplier multiplier, bool unroll) const {
    const Budget& budget = judge_.budget();
    ProcessorChoice choice;
    choice.pi = pi;
    choice.po = po;
    choice.pf = pf;
    choice.multiplier = multiplier;
    choice.unroll = unroll;
    for (const Layer& layer : network_.layers) choice.row_major_lanes |= layer.kind == LayerKind::kDepthwise;
    if (has_ultra(budget)) choice.tensor_memory = MemoryKind::kUltraRam;
    const double room = double(budget.resources.bram * synthesis::block_ram_bits(budget.family));
    double bits = 0;
    for (const Layer& layer : network_.layers) {
      const NetworkTensor &in = network_.tensors[size_t(layer.input)],
                          &out = network_.tensors[size_t(layer.output)];
      if (works_in_lanes(layer.kind)) continue;
      bits += double(layer.window.rows * layer.window.columns * in.shape.channels * out.shape.channels *
                     layer.weight_bits);
    }
    choice.weights_on_chip = bits < 0.8 * room;
    return choice;
  }

  int64_t least_cycles(const ProcessorChoice& choice) const {
    const Allocation a = make_processors(network_, judge_.budget(), choice);
    std::vector<int64_t> busy(a.engines.size(), 0);
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      const LayerGeometry g = layer_geometry(network_, a, i);
      busy[size_t(a.layers[i].engine)] += array_cycles(g, g.output.rows * g.output.columns);
    }
    return *std::max_element(busy.begin(), busy.end());
  }

  // One change of one choice, all that there are.
  std::vector<ProcessorChoice> changes(const ProcessorChoice& from) const {
    std::vector<ProcessorChoice> list;
    const auto with = [&](auto field, auto values) {
      for (const auto value : values) {
        ProcessorChoice next = from;
        next.*field = value;
        if (!(next == from)) list.push_back(next);
      }
    };
    with(&ProcessorChoice::bands, kBands);
    with(&ProcessorChoice::units, std::initializer_list<int64_t>{1, 2, 3});
    with(&ProcessorChoice::row_major_lanes, std::initializer_list<bool>{false, true});
    with(&ProcessorChoice::pf, divisors(from.pi));
    with(&ProcessorChoice::tight_memory, std::initializer_list<bool>{false, true});
    with(&ProcessorChoice::weights_on_chip, std::initializer_list<bool>{false, true});
    with(&ProcessorChoice::ring_blocks, std::initializer_list<int64_t>{1, 2, 3, 4, 8, 16});
    std::vector<MemoryKind> kinds = {MemoryKind::kBlockRam, MemoryKind::kLutRam};
    if (has_ultra(judge_.budget())) kinds.push_back(MemoryKind::kUltraRam);
    with(&ProcessorChoice::tensor_memory, kinds);
    with(&ProcessorChoice::weight_memory, kinds);
    if (narrow())
      with(&ProcessorChoice::lane_multiplier,
           std::initializer_list<Multiplier>{Multiplier::kDsp, Multiplier::kLut});
    return list;
  }

  void improve(Scored at) {
    for (bool moved = true; moved;) {
      moved = false;
      for (const ProcessorChoice& next : changes(at.choice)) {
        if (options_.over()) return;
        const std::optional<Estimate> e = evaluate(next);
        if (!e || !judge_.better(*e, at.estimate)) continue;
        at.choice = next;
        at.estimate = *e;
        moved = true;
      }
    }
  }

  const Network& network_;
  const Estimator& estimator_;
  const Judge& judge_;
  const AllocateOptions& options_;
  ShapeSearch result_;
};

}  // namespace

Allocation make_processors(const Network& network, const Budget& budget, const ProcessorChoice& choice) {
  return Maker(network, budget, choice).run();
}

ShapeSearch search_processors(const Network& network, const Estimator& estimator, const Judge& judge,
                              const AllocateOptions& options) {
  return ProcessorSearch(network, estimator, judge, options).run();
}

ShapeLimits processor_limits(const Network& network, const Estimator& estimator, const Budget& budget,
                             const AllocateOptions& options) {
  return ProcessorSearch(network, estimator, Judge(budget, Objective::kLatency), options).limits();
}

}  // namespace tilewright::pipeline
