// The loops of a schedule: output channel tiles and image tiles (in the schedule's order; an image tile is
// three loops), steps over input channels, and inside a step the box of indices that the micro-kernel runs.
#include "tilewright/overlay/tuning/schedule_features.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tilewright/base/integer_math.h"

namespace tilewright::overlay {
namespace {

enum Axis { kOut, kBatch, kRow, kCol, kIn, kTapY, kTapX, kAxes };
enum Tensor3 { kInputs, kWeights, kOutputs, kTensors };
enum NodeKind { kRoot, kLoop, kLoad, kMultiply, kPasses, kStore, kNodeKinds };

// A node: its kind, its axis, whether it is a loop of the micro-kernel; then a loop's numbers, or of a
// statement the cycles of one run and the runs.
constexpr size_t kAxisAt = size_t(kNodeKinds), kInStepAt = kAxisAt + size_t(kAxes),
                 kNumbersAt = kInStepAt + 1;
constexpr size_t kNumbers = 2 + 2 * size_t(kTensors);

float log_of(double value) { return float(std::log2(1.0 + std::max(0.0, value))); }
// One loop: `extent` runs of a body that covers `inside` (blocks, positions or taps) of each axis.
struct Loop {
  Axis axis = kOut;
  bool in_step = false;  // a loop of the micro-kernel
  int64_t extent = 1;
  double runs = 1;                       // of the loop itself
  std::array<double, kTensors> bytes{};  // touched by one run of the body
  std::array<double, kTensors> again{};  // bytes moved in all runs / bytes of the whole tensor
};

class Features {
 public:
  Features(const Tiling& tiling, const OverlayHardware& hardware, const MemoryModel& memory,
           const LayerBound& bound)
      : t_(tiling), layer_(*tiling.layer), hw_(hardware), memory_(memory), bound_(bound) {
    for (const Phase& phase : layer_.phases) {
      for (const TapGrid& grid : phase.grids) {
        taps_y_ = std::max<int64_t>(taps_y_, grid.ny);
        taps_x_ = std::max<int64_t>(taps_x_, grid.nx);
      }
    }
    list_loops();
  }

  ProgramFeatures run() {
    ProgramFeatures features;
    row(features.row);
    tree(features.tree);
    return features;
  }

 private:
  using Box = std::array<int64_t, kAxes>;

  Box whole() const {
    return {t_.blocks.out, t_.batch_total, layer_.out_height, layer_.out_width, inputs_of_tile(t_.blocks.in),
            taps_y_,       taps_x_};
  }
  // Input blocks of a step; diagonal layers read those of their outputs.
  int64_t inputs_of_tile(int64_t blocks) const { return t_.blocks.dense ? blocks : 1; }

  // Bytes of each tensor that the box touches.
  std::array<double, kTensors> touched(const Box& box) const {
    const double in = double(t_.blocks.dense ? box[kIn] : box[kOut]);
    const double rows = double((ceil_div(box[kRow], layer_.out_step_y) - 1) * layer_.in_step_y + box[kTapY]);
    const double cols = double((ceil_div(box[kCol], layer_.out_step_x) - 1) * layer_.in_step_x + box[kTapX]);
    const double weights =
        double(box[kOut] * t_.blocks.ratio * inputs_of_tile(box[kIn]) * box[kTapY] * box[kTapX]);
    const double outputs = double(box[kOut] * t_.blocks.ratio * box[kBatch] * box[kRow] * box[kCol]);
    return {double(box[kBatch]) * in * rows * cols * double(hw_.input_bytes()),
            weights * double(hw_.weight_bytes()), outputs * double(hw_.output_bytes())};
  }

  void list_loops() {
    const Schedule& s = t_.schedule;
    const Box tile{s.out_blocks, s.batch_blocks, s.rows, s.cols, inputs_of_tile(s.in_blocks),
                   taps_y_,      taps_x_};
    Box box = whole();
    const auto all = touched(box);
    double runs = 1;
    const auto add = [&](Axis axis, int64_t size, bool in_step) {
      Loop loop{.axis = axis, .in_step = in_step, .extent = ceil_div(box[axis], size), .runs = runs};
      runs *= double(loop.extent);
      box[axis] = size;
      loop.bytes = touched(box);
      for (int tensor = 0; tensor < kTensors; ++tensor)
        loop.again[tensor] = loop.bytes[tensor] * runs / all[tensor];
      loops_.push_back(loop);
    };
    const bool outer = s.order == TileOrder::kOutputsOuter;
    if (outer) add(kOut, tile[kOut], false);
    for (const Axis axis : {kBatch, kRow, kCol}) add(axis, tile[axis], false);
    if (!outer) add(kOut, tile[kOut], false);
    add(kIn, tile[kIn], false);
    for (const Axis axis : {kBatch, kOut, kIn, kTapY, kTapX, kRow, kCol}) add(axis, 1, true);
  }

  void row(std::vector<float>& row) const {
    const Schedule& s = t_.schedule;
    const LayerBound& bound = bound_;
    const double cycles = schedule_bound(t_, hw_, memory_);
    const double inner = double(ceil_div(inputs_of_tile(t_.blocks.in), inputs_of_tile(s.in_blocks)));
    const double tiles = double(t_.tile_count()), steps = tiles * inner;
    const auto tile = touched(
        {s.out_blocks, s.batch_blocks, s.rows, s.cols, inputs_of_tile(s.in_blocks), taps_y_, taps_x_});
    const auto add = [&](double value) { row.push_back(log_of(value)); };
    const auto plain = [&](double value) { row.push_back(float(value)); };
    // The machine.
    for (const double size :
         {double(hw_.batch), double(hw_.block_in), double(hw_.block_out), double(hw_.input_bits),
          double(hw_.input_depth()), double(hw_.weight_depth()), double(hw_.accumulator_depth()),
          double(hw_.uop_depth()), double(hw_.memory_width_bits), double(memory_.latency),
          double(hw_.alu_slices())}) {
      add(size);
    }
    plain(hw_.gemm_beside_alu);
    plain(double(t_.banks));
    // The layer.
    for (const double size : whole()) add(size);
    add(bound.compute_cycles);
    add(bound.port_cycles);
    plain(bound.compute_cycles / bound.cycles());
    // The schedule: choices, counts, how full the scratchpads are, what it adds to the layer's bound.
    plain(s.virtual_threads);
    plain(s.order == TileOrder::kOutputsOuter);
    plain(s.weights_resident);
    plain(s.inputs_resident);
    plain(s.early_start);
    plain(s.parameters_by_tile);
    plain(s.first_parts);
    plain(s.finish_parts);
    for (const double count : {tiles, inner, steps, double(t_.image_tiles()), double(t_.out_tiles()),
                               double(t_.input_slots), double(t_.weight_slots), double(t_.output_slots)}) {
      add(count);
    }
    plain(double(t_.input_need()) / double(hw_.input_depth()));
    plain(double(t_.weight_need()) / double(hw_.weight_depth()));
    plain(double(t_.accumulator_need()) / double(hw_.accumulator_depth()));
    plain(t_.all_parameters);
    add(cycles);
    add(bound.cycles());
    plain(cycles / bound.cycles());
    plain(8 * steps / bound.compute_cycles);
    const double beat = hw_.memory_width_bits / 8.0;
    const double multiply = bound.gemm_steps / steps;
    add(multiply);
    for (const double bytes : tile) plain(std::min(8.0, bytes / beat / multiply));
    plain((tile[kInputs] + tile[kWeights]) / beat / cycles);
    plain(tile[kOutputs] / beat / cycles);
    // Tiles at the end of an axis that are smaller than the others.
    const Box sizes{s.out_blocks, s.batch_blocks, s.rows, s.cols, inputs_of_tile(s.in_blocks), 1, 1};
    for (const Axis axis : {kOut, kBatch, kRow, kCol, kIn}) {
      plain(double((whole()[axis] - 1) % sizes[axis] + 1) / double(sizes[axis]));
    }
    for (const Loop& loop : loops_) append(loop, row);
  }

  static void append(const Loop& loop, std::vector<float>& row) {
    row.push_back(log_of(double(loop.extent)));
    row.push_back(log_of(loop.runs));
    for (const double bytes : loop.bytes) row.push_back(log_of(bytes));
    for (const double again : loop.again) row.push_back(log_of(again));
  }

  static std::vector<float> node(NodeKind kind) {
    std::vector<float> features(kNumbersAt + kNumbers, 0.0f);
    features[kind] = 1;
    return features;
  }

  int32_t add(LoopTree& tree, int32_t parent, std::vector<float> features) const {
    const auto index = int32_t(tree.nodes.size());
    tree.nodes.push_back({std::move(features), {}});
    if (parent >= 0) tree.nodes[size_t(parent)].children.push_back(index);
    return index;
  }

  // A statement under `loop` that moves or makes `cycles` in each of its runs.
  void add_statement(LoopTree& tree, int32_t parent, NodeKind kind, double cycles, double runs) const {
    std::vector<float> features = node(kind);
    features[kNumbersAt] = log_of(cycles);
    features[kNumbersAt + 1] = log_of(runs);
    add(tree, parent, std::move(features));
  }

  void tree(LoopTree& tree) const {
    const Schedule& s = t_.schedule;
    const double beat = hw_.memory_width_bits / 8.0;
    const double cycles = schedule_bound(t_, hw_, memory_);
    std::vector<float> root = node(kRoot);
    root[kNumbersAt] = log_of(cycles);
    root[kNumbersAt + 1] = log_of(bound_.cycles());
    root[kNumbersAt + 2] = float(cycles / bound_.cycles());
    root[kNumbersAt + 3] = float(s.early_start);
    root[kNumbersAt + 4] = float(s.parameters_by_tile);
    root[kNumbersAt + 5] = float(s.first_parts);
    root[kNumbersAt + 6] = float(s.finish_parts);
    int32_t parent = add(tree, -1, std::move(root));
    double runs = 1;
    int32_t tile_loop = 0;
    for (const Loop& loop : loops_) {
      if (loop.in_step && !loops_[size_t(&loop - loops_.data()) - 1].in_step) {
        add_statement(tree, parent, kLoad, loop_bytes_before(loop) / beat, runs);
      }
      std::vector<float> features = node(kLoop);
      features[kAxisAt + size_t(loop.axis)] = 1;
      features[kInStepAt] = loop.in_step;
      std::vector<float> numbers;
      append(loop, numbers);
      std::copy(numbers.begin(), numbers.end(), features.begin() + kNumbersAt);
      if (loop.axis == kIn && !loop.in_step) tile_loop = parent;
      parent = add(tree, parent, std::move(features));
      runs *= double(loop.extent);
    }
    add_statement(tree, parent, kMultiply, 1, runs);
    const double tiles = double(t_.tile_count()),
                 outputs = double(s.batch_blocks * s.rows * s.cols * s.out_blocks * t_.blocks.ratio);
    const auto passes = double(t_.output.passes.size() + (t_.output.start ? 1 : 0));
    add_statement(tree, tile_loop, kPasses, outputs * passes * hw_.alu_slices(), tiles);
    add_statement(tree, tile_loop, kStore, outputs * double(hw_.output_bytes()) / beat, tiles);
  }

  // Bytes of inputs and weights of one step: what the loop ahead of the micro-kernel's touches.
  double loop_bytes_before(const Loop& loop) const {
    const Loop& step = loops_[size_t(&loop - loops_.data()) - 1];
    return step.bytes[kInputs] + step.bytes[kWeights];
  }

  const Tiling& t_;
  const OverlayLayer& layer_;
  const OverlayHardware& hw_;
  const MemoryModel& memory_;
  const LayerBound& bound_;
  int64_t taps_y_ = 1, taps_x_ = 1;
  std::vector<Loop> loops_;
};

}  // namespace

ProgramFeatures schedule_features(const Tiling& tiling, const OverlayHardware& hardware,
                                  const MemoryModel& memory, const LayerBound& bound) {
  return Features(tiling, hardware, memory, bound).run();
}

}  // namespace tilewright::overlay
