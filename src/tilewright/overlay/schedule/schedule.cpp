// Text form and verification of schedules.
#include "tilewright/overlay/schedule/schedule.h"

#include <fmt/format.h>

#include "tilewright/base/yaml.h"
#include "tilewright/overlay/schedule/tiling.h"

namespace tilewright::overlay {

std::string print_schedule(const Schedule& s) {
  // Fields that came later are left out at their defaults: a schedule keeps its text.
  std::string later;
  if (s.early_start) later += ", early_start: true";
  if (s.parameters_by_tile) later += ", parameters_by_tile: true";
  if (s.first_parts != 1) later += fmt::format(", first_parts: {}", s.first_parts);
  if (s.finish_parts != 1) later += fmt::format(", finish_parts: {}", s.finish_parts);
  return fmt::format(
      "{{batch_blocks: {}, rows: {}, cols: {}, out_blocks: {}, in_blocks: {}, virtual_threads: {}, order: "
      "{}, "
      "weights_resident: {}, inputs_resident: {}, fold_y: {}, fold_x: {}{}}}",
      s.batch_blocks, s.rows, s.cols, s.out_blocks, s.in_blocks, s.virtual_threads,
      s.order == TileOrder::kOutputsInner ? "outputs_inner" : "outputs_outer", s.weights_resident,
      s.inputs_resident, s.fold_y, s.fold_x, later);
}

Schedule parse_schedule(const std::string& text, const std::string& source_name) {
  Diagnostics diagnostics;
  YamlMap map(parse_yaml(text, source_name), source_name, diagnostics);
  constexpr int64_t kMost = int64_t{1} << 30;
  Schedule s;
  s.batch_blocks = map.integer("batch_blocks", 1, kMost, 1);
  s.rows = map.integer("rows", 1, kMost);
  s.cols = map.integer("cols", 1, kMost);
  s.out_blocks = map.integer("out_blocks", 1, kMost);
  s.in_blocks = map.integer("in_blocks", 1, kMost);
  s.virtual_threads = int(map.integer("virtual_threads", 1, 2, 2));
  const std::string order = map.text("order", "outputs_inner");
  if (order == "outputs_outer") {
    s.order = TileOrder::kOutputsOuter;
  } else if (order != "outputs_inner") {
    map.error("order", "'" + order + "' is neither outputs_inner nor outputs_outer");
  }
  s.weights_resident = map.boolean("weights_resident", false);
  s.inputs_resident = map.boolean("inputs_resident", false);
  s.fold_y = int(map.integer("fold_y", 1, 64, 1));
  s.fold_x = int(map.integer("fold_x", 1, 64, 1));
  s.early_start = map.boolean("early_start", false);
  s.parameters_by_tile = map.boolean("parameters_by_tile", false);
  s.first_parts = int(map.integer("first_parts", 1, kMost, 1));
  s.finish_parts = int(map.integer("finish_parts", 1, kMost, 1));
  map.finish();
  diagnostics.raise_if_any();
  return s;
}

OverlayLayer scheduled_layer(const OverlayLayer& layer, const Schedule& schedule) {
  if (schedule.fold_y * schedule.fold_x == 1) return layer;
  std::optional<OverlayLayer> folded;
  if (layer.foldable) folded = fold_input(layer, schedule.fold_y, schedule.fold_x);
  if (!folded) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the input of '{}' cannot be folded by {}x{}", layer.name, schedule.fold_y,
                            schedule.fold_x),
                "only dense convolutions whose input comes from the host fold, up to their kernel's size");
  }
  return std::move(*folded);
}

namespace {

// What to do about each scratchpad that overflows.
struct CapacityHints {
  const char *input, *weight, *accumulator;
};

void check_capacities(const Tiling& tiling, const OverlayHardware& hardware, const std::string& where,
                      const CapacityHints& hints, Diagnostics& diagnostics) {
  const auto check = [&](int64_t need, int64_t depth, const char* memory, const char* hint) {
    if (need <= depth) return;
    diagnostics.error(ErrorKind::kInfeasible, where, memory,
                      fmt::format("needs {} elements of {}", need, depth), hint);
  };
  check(tiling.input_need(), hardware.input_depth(), "INP scratchpad", hints.input);
  check(tiling.weight_need(), hardware.weight_depth(), "WGT scratchpad", hints.weight);
  check(tiling.accumulator_need(), hardware.accumulator_depth(), "ACC scratchpad", hints.accumulator);
}

}  // namespace

void verify(const OverlayLayer& layer, const OverlayHardware& hardware, const Schedule& schedule,
            Diagnostics& diagnostics) {
  const std::string where = "schedule of '" + layer.name + "'";
  const size_t before = diagnostics.errors().size();
  const auto positive = [&](int64_t value, const char* field) {
    if (value < 1)
      diagnostics.error(ErrorKind::kInvalidInput, where, field, fmt::format("{} is not positive", value));
  };
  positive(schedule.batch_blocks, "batch_blocks");
  positive(schedule.rows, "rows");
  positive(schedule.cols, "cols");
  positive(schedule.out_blocks, "out_blocks");
  positive(schedule.in_blocks, "in_blocks");
  positive(schedule.first_parts, "first_parts");
  positive(schedule.finish_parts, "finish_parts");
  if (schedule.virtual_threads < 1 || schedule.virtual_threads > 2) {
    diagnostics.error(ErrorKind::kInvalidInput, where, "virtual_threads",
                      fmt::format("{} is neither 1 nor 2", schedule.virtual_threads));
  }
  const auto phases = [&](int64_t size, int64_t total, int step, const char* field) {
    if (size < total && size % step != 0) {
      diagnostics.error(
          ErrorKind::kInvalidInput, where, field,
          fmt::format("{} is not a multiple of the stride {} of the transposed convolution", size, step));
    }
  };
  phases(schedule.rows, layer.out_height, layer.out_step_y, "rows");
  phases(schedule.cols, layer.out_width, layer.out_step_x, "cols");
  OverlayLayer target;
  try {
    target = scheduled_layer(layer, schedule);
  } catch (const Error& error) {
    diagnostics.error(error.kind(), where, "fold_y, fold_x", error.diagnostics()[0].message,
                      error.diagnostics()[0].hint);
  }
  if (diagnostics.errors().size() != before) return;
  check_capacities(Tiling(target, hardware, schedule), hardware, where,
                   {"use fewer rows, cols or in_blocks", "use fewer in_blocks or out_blocks",
                    "use fewer rows, cols or out_blocks"},
                   diagnostics);
}

void require_tile(const OverlayLayer& layer, const OverlayHardware& hardware) {
  const Schedule smallest{1, layer.out_step_y, layer.out_step_x, 1, 1, 1};
  Diagnostics diagnostics;
  check_capacities(Tiling(layer, hardware, smallest), hardware, "smallest tile of '" + layer.name + "'",
                   {"use an overlay with a larger input buffer", "use an overlay with a larger weight buffer",
                    "use an overlay with a larger accumulator buffer"},
                   diagnostics);
  diagnostics.raise_if_any("no tile of '" + layer.name + "' fits the overlay");
}

}  // namespace tilewright::overlay
