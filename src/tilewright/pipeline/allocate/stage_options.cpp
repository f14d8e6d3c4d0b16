// Inputs are divisors of the channels, so that no stream is padded. Outputs need not be: what the last block
// computes in excess is dropped. The finish is as narrow as its array's rhythm allows: a wider one costs
// multipliers and waits.
#include "tilewright/pipeline/allocate/stage_options.h"

#include <algorithm>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/design/shapes.h"
#include "tilewright/pipeline/estimate/resource_model.h"

namespace tilewright::pipeline {
namespace {

// Divisors; for every number of blocks up to 16 also the fewest outputs at once that make no more blocks, and
// the next multiples of 2 and 4, which leave a choice of finishes.
std::vector<int64_t> outputs_at_once(int64_t channels) {
  std::vector<int64_t> all = divisors(channels);
  for (int64_t blocks = 2; blocks <= std::min<int64_t>(16, channels); ++blocks) {
    for (const int64_t multiple : {1, 2, 4}) {
      const int64_t po = round_up(ceil_div(channels, blocks), multiple);
      if (channels % multiple == 0 && ceil_div(channels, po) == blocks) all.push_back(po);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

class OptionFinder {
 public:
  OptionFinder(const Network& network, const std::vector<LayerFacts>& facts, const Allocation& frame,
               size_t layer, const Judge& judge, double most_cycles)
      : network_(network),
        facts_(facts),
        frame_(frame),
        index_(layer),
        judge_(judge),
        most_cycles_(most_cycles) {}

  std::vector<StageOption> run(bool lut_multipliers) {
    const Layer& layer = network_.layers[index_];
    const LayerGeometry g = layer_geometry(network_, frame_, index_);
    const NetworkTensor& input = network_.tensors[size_t(layer.input)];
    const bool lanes = g.lanes, window = g.window.rows * g.window.columns > 1;
    const bool narrow = network_.number == NumberType::kInteger;
    std::vector<Multiplier> multipliers = {Multiplier::kDsp};
    if (!lanes && narrow && !input.bipolar && !layer.weight_bipolar && layer.weight_bits <= 8) {
      multipliers.push_back(Multiplier::kPair);
      const std::optional<Multiplier> packed =
          facts_[index_].lowest_weight
              ? std::nullopt
              : most_packed(input.bits, layer.weight_bits, block_bits(judge_.budget().family));
      if (packed) multipliers.push_back(*packed);
    }
    if (narrow && (lut_multipliers || layer.weight_bits <= 4)) multipliers.push_back(Multiplier::kLut);
    for (const int64_t pi : divisors(g.input.channels)) {
      for (const int64_t po : lanes ? std::vector<int64_t>{pi} : outputs_at_once(g.output.channels)) {
        for (const Feeder feeder : {Feeder::kChannelMajor, Feeder::kRowMajor}) {
          if (feeder == Feeder::kRowMajor && !window) continue;
          for (const Multiplier multiplier : multipliers) consider({pi, po, 1, multiplier, feeder});
        }
      }
    }
    keep_best();
    return std::move(options_);
  }

 private:
  void consider(ArrayShape stage) {
    if (stage.multiplier == Multiplier::kPair && stage.po % 2 != 0) return;
    Allocation trial = frame_;
    LayerAllocation& own = trial.layers[index_];
    own.stage = stage;
    const LayerGeometry wide = layer_geometry(network_, trial, index_);
    if (window_obstacle(wide, true) != nullptr || sweeps_twice(wide)) return;
    const int64_t beats = wide.row_major ? (wide.lanes ? 1 : wide.pixel_words) : wide.words;
    for (const int64_t pf : divisors(stage.po)) {
      if (wide.output.channels % pf != 0) continue;
      own.stage.pf = pf;
      if (stage.po / pf <= std::max<int64_t>(1, beats)) break;
    }
    add(trial);
  }

  void add(Allocation& trial) {
    const Layer& layer = network_.layers[index_];
    const ArrayShape stage = trial.layers[index_].stage;
    // Neighbours as wide as this stage wants them: no converters.
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      if (i == index_) continue;
      if (network_.layers[i].output == layer.input) trial.layers[i].stage.pf = stage.pi;
      if (layer.add && network_.layers[i].output == layer.add->tensor) trial.layers[i].stage.pf = stage.pf;
    }
    const LayerGeometry g = layer_geometry(network_, trial, index_);
    StageOption option{stage, stage_timing(g), {}, multiplies(layer) ? g.products_per_beat() : 0, 0};
    option.cycles = option.timing.pace;
    if (option.cycles > most_cycles_) return;
    option.resources = bill_resources(stage_bill(network_, facts_, trial, index_), judge_.budget().family);
    if (judge_.pressure(option.resources, option.multipliers) <= 1 || options_.empty())
      options_.push_back(option);
  }

  static bool covers(const StageOption& a, const StageOption& b) {
    const synthesis::Resources &x = a.resources, &y = b.resources;
    return a.cycles <= b.cycles && a.timing.row_cycles <= b.timing.row_cycles &&
           a.timing.input_row <= b.timing.input_row && a.timing.depth <= b.timing.depth && x.lut <= y.lut &&
           x.ff <= y.ff && x.dsp <= y.dsp && x.bram <= y.bram && x.uram <= y.uram &&
           a.multipliers <= b.multipliers && a.stage.pf == b.stage.pf && a.stage.pi == b.stage.pi;
  }

  void keep_best() {
    std::vector<StageOption> kept;
    for (size_t i = 0; i < options_.size(); ++i) {
      bool covered = false;
      for (size_t j = 0; j < options_.size() && !covered; ++j) {
        if (i == j || !covers(options_[j], options_[i])) continue;
        covered = !covers(options_[i], options_[j]) || j < i;
      }
      if (!covered) kept.push_back(options_[i]);
    }
    std::stable_sort(kept.begin(), kept.end(), [](const StageOption& a, const StageOption& b) {
      return a.cycles != b.cycles ? a.cycles < b.cycles : a.resources.lut < b.resources.lut;
    });
    options_ = std::move(kept);
  }

  const Network& network_;
  const std::vector<LayerFacts>& facts_;
  const Allocation& frame_;
  const size_t index_;
  const Judge& judge_;
  const double most_cycles_;
  std::vector<StageOption> options_;
};

}  // namespace

bool can_unroll(const Network& network) {
  int64_t readers = 0;
  const Layer* first = nullptr;
  for (const NetworkTensor& tensor : network.tensors) {
    if (tensor.part && tensor.part->whole == network.input) return false;
  }
  for (const Layer& layer : network.layers) {
    if (layer.input == network.input) {
      ++readers;
      first = &layer;
    }
    readers += layer.add && layer.add->tensor == network.input ? 1 : 0;
  }
  return readers == 1 && first != nullptr && first->kind == LayerKind::kConvolution &&
         first->window.rows * first->window.columns > 1;
}

Allocation blank_stages(const Network& network, const Budget& budget, bool unroll) {
  Allocation a;
  a.streaming = true;
  a.port_bytes = budget.port_bytes;
  a.max_burst_beats = std::min<int64_t>(64, 4096 / budget.port_bytes);
  a.clock_mhz = budget.clock_mhz;
  a.finish_multiplier = budget.finish_multiplier;
  a.tight_memory = budget.family == synthesis::DeviceFamily::kIce40;  // its small blocks leave little over
  for (const Layer& layer : network.layers) {
    LayerAllocation own;
    own.layer = layer.name;
    own.unroll = unroll && layer.input == network.input;
    a.layers.push_back(own);
  }
  return a;
}

std::vector<StageOption> stage_options(const Network& network, const std::vector<LayerFacts>& facts,
                                       const Allocation& frame, size_t layer, const Judge& judge,
                                       bool lut_multipliers, double most_cycles) {
  return OptionFinder(network, facts, frame, layer, judge, most_cycles).run(lut_multipliers);
}

}  // namespace tilewright::pipeline
