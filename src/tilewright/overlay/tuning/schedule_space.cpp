// Validity: the combinations that differ only in threads, order and residency are compared by what the
// lowering takes from these, the sequence of tiles and the numbers of buffers; the first of equal ones stands
// for all.
#include "tilewright/overlay/tuning/schedule_space.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "tilewright/base/integer_math.h"
#include "tilewright/overlay/schedule/schedule_refinements.h"
#include "tilewright/overlay/tuning/layer_bound.h"

namespace tilewright::overlay {
namespace {

enum KnobIndex : size_t {
  kBatchBlocks,
  kRows,
  kCols,
  kOutBlocks,
  kInBlocks,
  kThreads,
  kOrder,
  kResident,
  kFoldY,
  kFoldX,
  kEarlyStart,
  kParameters,
  kFirstParts,
  kFinishParts,
  kKnobs
};

Schedule schedule_of(const std::vector<int64_t>& values) {
  Schedule s;
  s.batch_blocks = values[kBatchBlocks];
  s.rows = values[kRows];
  s.cols = values[kCols];
  s.out_blocks = values[kOutBlocks];
  s.in_blocks = values[kInBlocks];
  s.virtual_threads = int(values[kThreads]);
  s.order = values[kOrder] == 0 ? TileOrder::kOutputsInner : TileOrder::kOutputsOuter;
  s.weights_resident = (values[kResident] & 1) != 0;
  s.inputs_resident = (values[kResident] & 2) != 0;
  s.fold_y = int(values[kFoldY]);
  s.fold_x = int(values[kFoldX]);
  s.early_start = values[kEarlyStart] != 0;
  s.parameters_by_tile = values[kParameters] != 0;
  s.first_parts = int(values[kFirstParts]);
  s.finish_parts = int(values[kFinishParts]);
  return s;
}

std::vector<int64_t> schedule_values(const Schedule& s) {
  return {s.batch_blocks,
          s.rows,
          s.cols,
          s.out_blocks,
          s.in_blocks,
          s.virtual_threads,
          s.order == TileOrder::kOutputsInner ? 0 : 1,
          (s.weights_resident ? 1 : 0) + (s.inputs_resident ? 2 : 0),
          s.fold_y,
          s.fold_x,
          s.early_start ? 1 : 0,
          s.parameters_by_tile ? 1 : 0,
          s.first_parts,
          s.finish_parts};
}

// What distinguishes programs of equal tile sizes, beside the fields that stand for themselves.
using Signature = std::tuple<bool, int64_t, int64_t, int64_t>;

Signature signature(const Tiling& tiling) {
  const Schedule& s = tiling.schedule;
  const bool outer =
      s.order == TileOrder::kOutputsOuter && tiling.image_tiles() > 1 && tiling.out_tiles() > 1;
  return {outer, tiling.input_slots, tiling.weight_slots, tiling.output_slots};
}

// `schedule` and those ahead of it that differ in threads, order and residency: two threads, outputs inside
// and nothing resident come first.
template <typename Visit>
void for_each_variant(Schedule s, Visit visit) {
  for (const int threads : {2, 1}) {
    for (const TileOrder order : {TileOrder::kOutputsInner, TileOrder::kOutputsOuter}) {
      for (const int resident : {0, 1, 2, 3}) {
        s.virtual_threads = threads;
        s.order = order;
        s.weights_resident = (resident & 1) != 0;
        s.inputs_resident = (resident & 2) != 0;
        if (!visit(s)) return;
      }
    }
  }
}

// The first schedule that means the same program.
Schedule canonical(const LayerForms::Form& form, const OverlayHardware& hardware, const Schedule& schedule) {
  const Signature wanted = signature(Tiling(form.layer, hardware, schedule, form.facts));
  Schedule first = schedule;
  for_each_variant(schedule, [&](const Schedule& s) {
    if (s != schedule && signature(Tiling(form.layer, hardware, s, form.facts)) != wanted) return true;
    first = s;
    return false;
  });
  return first;
}

std::vector<Knob> knobs_of(const LayerForms& forms, const OverlayHardware& hardware) {
  const OverlayLayer& layer = forms.original().layer;
  const ChannelBlocks& blocks = forms.original().facts->blocks;
  const bool diagonal = layer.pattern == ChannelPattern::kDiagonal || blocks.shared;
  int fold_y = 1, fold_x = 1;
  for (const auto& [fold, form] : forms.all()) {
    fold_y = std::max(fold_y, fold.first);
    fold_x = std::max(fold_x, fold.second);
  }
  const auto up_to = [](int64_t most) {
    std::vector<int64_t> values(static_cast<size_t>(most));
    std::iota(values.begin(), values.end(), int64_t{1});
    return values;
  };
  std::vector<Knob> knobs(kKnobs);
  const int64_t batches = ceil_div(layer.batch, hardware.batch);
  knobs[kBatchBlocks] = Knob::tile_sizes("batch_blocks", batches);
  knobs[kRows] = Knob::tile_sizes("rows", layer.out_height, layer.out_step_y);
  knobs[kCols] = Knob::tile_sizes("cols", layer.out_width, layer.out_step_x);
  knobs[kOutBlocks] = Knob::tile_sizes("out_blocks", blocks.out);
  knobs[kInBlocks] = Knob::tile_sizes("in_blocks", diagonal ? 1 : blocks.in);
  knobs[kThreads] = Knob::integers("virtual_threads", {1, 2});
  knobs[kOrder] = Knob::choices("order", {"outputs_inner", "outputs_outer"});
  knobs[kResident] = Knob::choices("resident", {"none", "weights", "inputs", "both"});
  knobs[kFoldY] = Knob::integers("fold_y", up_to(fold_y));
  knobs[kFoldX] = Knob::integers("fold_x", up_to(fold_x));
  knobs[kEarlyStart] = Knob::choices("early_start", {"no", "yes"});
  knobs[kParameters] = Knob::choices("parameters", {"all", "by_tile"});
  knobs[kFirstParts] = Knob::integers("first_parts", {1, 4, 8});
  knobs[kFinishParts] = Knob::integers("finish_parts", {1, 4});
  return knobs;
}

// Where the schedule's sizes are those of whole tiles of its layer, and fit.
bool fits(const LayerForms::Form& form, const OverlayHardware& hardware, const Schedule& s) {
  const ChannelBlocks& blocks = form.facts->blocks;
  if (s.rows > form.layer.out_height || s.cols > form.layer.out_width) return false;
  if (s.out_blocks > blocks.out || s.in_blocks > blocks.in) return false;
  if (s.batch_blocks * s.rows * s.cols * s.out_blocks * blocks.ratio > hardware.accumulator_depth())
    return false;
  return Tiling(form.layer, hardware, s, form.facts).fits(hardware);
}

}  // namespace

LayerForms::LayerForms(const OverlayLayer& layer, const OverlayHardware& hardware) {
  const auto add = [&](int fold_y, int fold_x, OverlayLayer form) {
    Form& entry = forms_[{fold_y, fold_x}];
    entry.layer = std::move(form);
    entry.facts = std::make_shared<const TilingFacts>(entry.layer, hardware);
  };
  add(1, 1, layer);
  if (!layer.foldable || layer.kind != OverlayLayerKind::kMatrix || layer.phases.size() != 1) return;
  // More channels than a block has lanes would bring no fewer micro-ops.
  const TapGrid& grid = layer.phases[0].grids[0];
  for (int y = 1; y <= grid.ny; ++y) {
    for (int x = 1; x <= grid.nx && layer.sources[0].channels * y * x <= hardware.block_in; ++x) {
      if (y * x == 1) continue;
      if (std::optional<OverlayLayer> folded = fold_input(layer, y, x)) add(y, x, std::move(*folded));
    }
  }
}

const LayerForms::Form* LayerForms::find(int fold_y, int fold_x) const {
  const auto form = forms_.find({fold_y, fold_x});
  return form == forms_.end() ? nullptr : &form->second;
}

double forms_bound(const LayerForms& forms, const OverlayHardware& hardware, const MemoryModel& memory) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [folds, form] : forms.all()) {
    least = std::min(least, layer_bound(form.layer, hardware, memory).cycles());
  }
  return least;
}

ScheduleSpace::ScheduleSpace(const OverlayLayer& layer, const OverlayHardware& hardware)
    : hardware_(std::make_shared<const OverlayHardware>(hardware)),
      forms_(std::make_shared<const LayerForms>(layer, hardware)) {
  // Copies, so that a space may be moved.
  knobs_ = KnobSpace(knobs_of(*forms_, hardware),
                     [forms = forms_, machine = hardware_](const std::vector<int64_t>& values) {
                       const Schedule schedule = schedule_of(values);
                       const LayerForms::Form* form = forms->find(schedule.fold_y, schedule.fold_x);
                       return form != nullptr && fits(*form, *machine, schedule) &&
                              refinements_matter(form->layer, *machine, schedule, form->facts) &&
                              canonical(*form, *machine, schedule) == schedule;
                     });
}

Schedule ScheduleSpace::schedule(KnobSpace::Point point) const { return schedule_of(knobs_.values(point)); }

std::optional<KnobSpace::Point> ScheduleSpace::point(const Schedule& schedule) const {
  const LayerForms::Form* form = forms_->find(schedule.fold_y, schedule.fold_x);
  if (form == nullptr || !fits(*form, *hardware_, schedule)) return std::nullopt;
  const std::optional<KnobSpace::Point> point =
      knobs_.find(schedule_values(canonical(*form, *hardware_, schedule)));
  return point && knobs_.valid(*point) ? point : std::nullopt;
}

Tiling ScheduleSpace::tiling(KnobSpace::Point point) const {
  const Schedule chosen = schedule(point);
  const LayerForms::Form& form = *forms_->find(chosen.fold_y, chosen.fold_x);
  return Tiling(form.layer, *hardware_, chosen, form.facts);
}

}  // namespace tilewright::overlay
