// Keys of records. A value is in the text where some instruction's presence or size depends on it.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/overlay/tuning/schedule_problem.h"

namespace tilewright::overlay {
namespace {

const char* kind_name(OverlayLayerKind kind) {
  switch (kind) {
    case OverlayLayerKind::kMatrix:
      return "matrix";
    case OverlayLayerKind::kMaximum:
      return "maximum";
    case OverlayLayerKind::kProduct:
      return "product";
  }
  return "";
}

const char* pattern_name(ChannelPattern pattern) {
  switch (pattern) {
    case ChannelPattern::kDense:
      return "dense";
    case ChannelPattern::kGrouped:
      return "grouped";
    case ChannelPattern::kDiagonal:
      return "diagonal";
    case ChannelPattern::kSharedDiagonal:
      return "shared";
  }
  return "";
}

std::string phase_text(const Phase& phase) {
  std::string text = fmt::format(" phase {},{}", phase.out_y, phase.out_x);
  for (const TapGrid& g : phase.grids) {
    text += fmt::format(" taps {}x{} at {},{} by {},{}", g.ny, g.nx, g.dy, g.dx, g.dy_step, g.dx_step);
    if (g.source != 0) text += fmt::format(" source {}", g.source);
    if (g.pass != 0) text += fmt::format(" pass {}", g.pass);
    text += fmt::format(" weights {},{},{}", g.weight, g.weight_step_y, g.weight_step_x);
  }
  return text;
}

// The instructions of the plain set; the wide one always has the same.
std::string output_text(const OverlayLayer& layer) {
  if (layer.kind == OverlayLayerKind::kMaximum || layer.rows || !why_no_plain_output(layer).empty())
    return "";
  const OutputPasses output = make_output_passes(layer, IsaVersion::kVta);
  std::string text = fmt::format(" output {}", output.start ? "start" : "reset");
  for (const OutputPass& pass : output.passes) {
    text += fmt::format(" {}{}", int(pass.opcode), pass.use_imm ? "i" : "v");
  }
  return text + fmt::format(" parameters {}", output.parameters.size());
}

}  // namespace

std::string workload_text(const OverlayLayer& layer) {
  std::string text =
      fmt::format("{} {} batch {} out {}x{}x{}", kind_name(layer.kind), pattern_name(layer.pattern),
                  layer.batch, layer.out_channels, layer.out_height, layer.out_width);
  for (const LayerSource& source : layer.sources) {
    text += fmt::format(" in {}x{}x{}{}", source.channels, source.height, source.width,
                        source.bipolar ? " bipolar" : "");
    if (source.zero_point != 0) text += " shifted";
    if (source.planes > 1) text += fmt::format(" plane {} of {}", source.plane, source.planes);
  }
  if (layer.pattern == ChannelPattern::kGrouped) {
    text += fmt::format(" groups {}:{}", layer.group_inputs, layer.group_outputs);
  }
  text += fmt::format(" steps {},{} {},{} padding {} weights {}x{}", layer.in_step_y, layer.in_step_x,
                      layer.out_step_y, layer.out_step_x, layer.pad_value == 0 ? "zero" : "other",
                      layer.weight_count(), layer.weight_bits);
  if (layer.foldable) text += " foldable";
  if (layer.out_plane > 0) text += " two planes out";
  for (const Phase& phase : layer.phases) text += phase_text(phase);
  if (layer.pair == OverlayLayer::Pair::kSum) {
    text += " sum";
  } else if (layer.pair != OverlayLayer::Pair::kProduct) {
    text += " extreme";
  }
  if (layer.computed) text += layer.computed->columns ? " computed columns" : " computed rows";
  if (layer.computed && layer.computed->input_offset != 0) text += " shifted";
  if (layer.rows) text += layer.rows->kind == RowFunction::Kind::kSoftmax ? " softmax" : " norm";
  return text + output_text(layer) + (layer.output.table == nullptr ? "" : " table");
}

std::string hardware_text(const OverlayHardware& h, const MemoryModel& memory) {
  std::string text = fmt::format(
      "{} {}x{}x{} i{}w{}a{}o{} uop {} inp {} wgt {} acc {} port {} queue {} read {} burst {} lanes {}{}",
      h.isa == IsaVersion::kVta ? "vta" : "wide", h.batch, h.block_in, h.block_out, h.input_bits,
      h.weight_bits, h.accumulator_bits, h.output_bits, h.uop_buffer_bytes, h.input_buffer_bytes,
      h.weight_buffer_bytes, h.accumulator_buffer_bytes, h.memory_width_bits, h.command_queue_depth,
      h.read_queue_beats, h.max_burst_beats, h.alu_lanes, h.gemm_beside_alu ? " beside" : "");
  const MemoryModel::Ddr& d = memory.ddr;
  switch (memory.kind) {
    case MemoryModelKind::kIdeal:
      return text + " memory ideal";
    case MemoryModelKind::kFixed:
      return text + fmt::format(" memory fixed:{}:{}:{}", memory.latency, memory.beat_interval,
                                memory.efficiency_percent);
    case MemoryModelKind::kDdr:
      return text + fmt::format(" memory ddr {} {} {} {} {} {} {} {} {} {}", d.banks, d.row_bytes,
                                d.controller, d.activate, d.cas, d.precharge, d.write_recovery,
                                d.read_to_write, d.write_to_read, d.beat_interval);
  }
  return text;
}

}  // namespace tilewright::overlay
