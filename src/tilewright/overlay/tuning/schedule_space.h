// The schedules of one layer on one overlay as a space of knobs for search and learned models.
//
// A tile size is a knob with one value for every number of tiles that an axis can be cut into. A combination
// is valid where its tiles fit the scratchpads, and if no earlier combination means the same program:
// a residency that adds no buffer, say, is valid only as "none". docs/design/overlay/schedules.md has the
// counts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/overlay/schedule/tiling.h"
#include "tilewright/search/knobs/knob_space.h"

namespace tilewright::overlay {

// A layer in each form that its schedules may give it (Schedule::fold_y, fold_x), with what all tilings of
// that form share.
class LayerForms {
 public:
  struct Form {
    OverlayLayer layer;
    std::shared_ptr<const TilingFacts> facts;
  };

  LayerForms(const OverlayLayer& layer, const OverlayHardware& hardware);
  const Form& original() const { return forms_.at({1, 1}); }
  // nullptr: no form for these folds.
  const Form* find(int fold_y, int fold_x) const;
  const std::map<std::pair<int, int>, Form>& all() const { return forms_; }

 private:
  std::map<std::pair<int, int>, Form> forms_;
};

// A lower bound of the cycles of any schedule, whatever form it gives the layer: the least layer_bound of all
// forms.
double forms_bound(const LayerForms& forms, const OverlayHardware& hardware, const MemoryModel& memory);

class ScheduleSpace {
 public:
  // The knobs batch_blocks, rows, cols, out_blocks, in_blocks, virtual_threads, order, resident, fold_y,
  // fold_x, early_start, parameters, first_parts and finish_parts of a layer that the overlay supports.
  ScheduleSpace(const OverlayLayer& layer, const OverlayHardware& hardware);

  const KnobSpace& knobs() const { return knobs_; }
  const OverlayHardware& hardware() const { return *hardware_; }
  const LayerForms& forms() const { return *forms_; }
  // The schedule of a point, valid or not.
  Schedule schedule(KnobSpace::Point point) const;
  // The valid point whose program is that of `schedule`; nothing where the space has none: a size that is no
  // value of its knob, a fold that the layer does not allow, tiles that do not fit.
  std::optional<KnobSpace::Point> point(const Schedule& schedule) const;
  // Of a valid point. The space must outlive it.
  Tiling tiling(KnobSpace::Point point) const;

 private:
  std::shared_ptr<const OverlayHardware> hardware_;
  std::shared_ptr<const LayerForms> forms_;
  KnobSpace knobs_;
};

}  // namespace tilewright::overlay
