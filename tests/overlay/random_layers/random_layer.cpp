#include "random_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tilewright/base/random.h"
#include "tilewright/overlay/schedule/tiling.h"

namespace tilewright::random_layers {

using overlay::OverlayLayer;
using overlay::RunCounters;
using overlay::Schedule;

OverlayHardware pick_hardware(uint64_t seed, const std::string& folder, std::string* file) {
  Random random(seed * 7919 + 1);
  *file = kHardwareFiles[size_t(random.between(0, int64_t(std::size(kHardwareFiles)) - 1))];
  OverlayHardware hardware = read_overlay_hardware(folder + "/" + *file + ".yaml");
  hardware.dram_bytes = int64_t{1} << 26;
  // The plain encoding of a narrow overlay, and one with square blocks and two images.
  if (hardware.input_bits < 8 && hardware.input_bits > 1 && random.chance(0.3)) {
    hardware.isa = IsaVersion::kVta;
    hardware.gemm_beside_alu = false;
    hardware.uop_buffer_bytes = hardware.input_buffer_bytes = 1 << 15;
    hardware.weight_buffer_bytes = 1 << 18;
    hardware.accumulator_buffer_bytes = 1 << 17;
  } else if (hardware.input_bits < 8 && random.chance(0.2)) {
    hardware.batch = 2;
    hardware.block_in = hardware.block_out = 8;
  }
  // Small caches make kernels evict each other.
  if (random.chance(0.5)) hardware.uop_buffer_bytes = hardware.uop_bytes() << random.between(3, 6);
  // Where the field is on, every engine holds the program to its banks.
  if (hardware.isa == IsaVersion::kWide) hardware.gemm_beside_alu = Random(seed * 7477 + 5).chance(0.5);
  return hardware;
}

// An overlay for operators that work on tokens.
OverlayHardware pick_token_hardware(uint64_t seed, const std::string& folder, std::string* file) {
  constexpr const char* kFiles[] = {"overlay-16x16", "overlay-8x8", "overlay-tiny"};
  Random random(seed * 7919 + 2);
  *file = kFiles[size_t(random.between(0, int64_t(std::size(kFiles)) - 1))];
  OverlayHardware hardware = read_overlay_hardware(folder + "/" + *file + ".yaml");
  hardware.dram_bytes = int64_t{1} << 26;
  hardware.row_functions = true;
  if (random.chance(0.5)) hardware.uop_buffer_bytes = hardware.uop_bytes() << random.between(3, 6);
  hardware.gemm_beside_alu = random.chance(0.5);
  return hardware;
}

Kind pick_kind(uint64_t seed, const OverlayHardware& hardware) {
  constexpr Kind kOneBit[] = {Kind::kConv, Kind::kGroup, Kind::kTransposed, Kind::kDense};
  if (hardware.weight_bits == 1) return kOneBit[seed % std::size(kOneBit)];
  const int kinds = hardware.row_functions ? kKinds : int(Kind::kMove) + 1;
  const Kind kind = Kind(seed % uint64_t(kinds));
  const bool multiplies = hardware.isa == IsaVersion::kWide && hardware.input_bits == 8;
  return kind == Kind::kMultiply && !multiplies ? Kind::kMove : kind;
}

Schedule pick_schedule(uint64_t seed, const OverlayLayer& layer, const OverlayHardware& hardware) {
  Random random(seed * 104729 + 3);
  if (random.chance(0.15)) return default_schedule(layer, hardware);
  const auto size = [&](int64_t total, int64_t step) {
    const int64_t most = random.chance(0.3) ? total : std::max<int64_t>(1, (total + 1) / 2);
    const int64_t picked = random.between(1, most);
    return std::min(total, (picked + step - 1) / step * step);
  };
  const overlay::ChannelBlocks blocks(layer, hardware);
  for (int attempt = 0; attempt < 100; ++attempt) {
    Schedule s;
    s.batch_blocks = size((layer.batch + hardware.batch - 1) / hardware.batch, 1);
    s.rows = size(layer.out_height, layer.out_step_y);
    s.cols = size(layer.out_width, layer.out_step_x);
    s.out_blocks = size(blocks.out, 1);
    s.in_blocks = size(blocks.in, 1);
    s.virtual_threads = random.chance(0.75) ? 2 : 1;
    s.order = random.chance(0.5) ? overlay::TileOrder::kOutputsInner : overlay::TileOrder::kOutputsOuter;
    s.weights_resident = random.chance(0.3);
    s.inputs_resident = random.chance(0.3);
    if (layer.foldable && random.chance(0.7)) {
      s.fold_y = int(random.between(1, 3));
      s.fold_x = int(random.between(1, 3));
    }
    if (layer.foldable && random.chance(0.5)) {
      s.fold_y = int(random.between(1, 3));
      s.fold_x = int(random.between(1, 3));
    }
    s.early_start = random.chance(0.5);
    s.parameters_by_tile = random.chance(0.3);
    s.first_parts = int(random.chance(0.5) ? 1 : random.between(2, 5));
    s.finish_parts = int(random.chance(0.5) ? 1 : random.between(2, 5));
    Diagnostics diagnostics;
    overlay::verify(layer, hardware, s, diagnostics);
    if (diagnostics.ok()) return s;
  }
  return default_schedule(layer, hardware);
}

namespace {

// Traffic and micro-ops of the estimate against what the simulator counted.
std::string compare_estimate(const overlay::TilingEstimate& cost, const overlay::RunCounters& counters) {
  std::string text;
  const auto compare = [&](const char* what, int64_t estimated, uint64_t counted) {
    if (uint64_t(estimated) != counted)
      text += fmt::format("{} {} estimated, {} counted; ", what, estimated, counted);
  };
  compare("input bytes", cost.input_bytes, counters.input_load_bytes);
  compare("weight bytes", cost.weight_bytes, counters.weight_load_bytes);
  compare("parameter bytes", cost.parameter_bytes, counters.accumulator_load_bytes);
  compare("output bytes", cost.output_bytes, counters.output_store_bytes);
  compare("GEMM micro-ops", cost.gemm_uops, counters.gemm_uops);
  compare("reset micro-ops", cost.reset_uops, counters.gemm_reset_uops);
  compare("ALU micro-ops", cost.alu_uops, counters.alu_uops);
  return text;
}

// Why the overlay holds no tile of `layer`; empty if it holds one.
std::string lacks_tile(const OverlayLayer& layer, const OverlayHardware& hardware) {
  try {
    overlay::require_tile(layer, hardware);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

overlay::ProgramImage image_of(const overlay::OverlayProgram& program) {
  const auto uops = std::span(program.memory).subspan(program.uop_address, program.uop_bytes);
  return {program.instruction_bytes(), uops, program.uop_address, program.memory.size()};
}

Result run_case(uint64_t seed, const std::string& hardware_folder) {
  Result result;
  const bool tokens = works_on_tokens(Kind(seed % uint64_t(kKinds)));
  const OverlayHardware hardware = tokens ? pick_token_hardware(seed, hardware_folder, &result.hardware)
                                          : pick_hardware(seed, hardware_folder, &result.hardware);
  result.kind = pick_kind(seed, hardware);
  // An operator that this overlay cannot express exactly (a bias that would wrap, say), or of which it holds
  // no tile, is drawn again.
  for (uint64_t attempt = 0;; ++attempt) {
    std::optional<Case> drawn;
    try {
      drawn = make_case(seed * 1000003 + attempt, result.kind, hardware);
    } catch (const Error& error) {
      // The reference kernels refuse a window that does not fit.
      result.problem = error.what();
      if (attempt < 50) continue;
      return result;
    }
    result.problem.clear();
    Case& test = *drawn;
    const Node& node = test.graph.nodes.back();
    std::string reason;
    if (!overlay::supports(test.graph, node, hardware, &reason)) {
      if (attempt < 50) continue;
      result.problem = "no supported operator: " + reason;
      return result;
    }
    try {
      const NodeId nodes[] = {NodeId(test.graph.nodes.size()) - 1};
      OverlayLayer layer = overlay::extract_layer(test.graph, node, hardware);
      if (const std::string lack = lacks_tile(layer, hardware); !lack.empty()) {
        result.problem = lack;
        if (attempt < 50) continue;
        return result;
      }
      layer.foldable = layer.sources[0].channels < hardware.block_in && layer.sources[0].planes == 1;
      std::map<std::string, Schedule> schedules;
      Random random(seed * 31 + 7);
      result.default_schedule = random.chance(0.15);
      if (!result.default_schedule) schedules[node.name] = pick_schedule(seed, layer, hardware);
      result.description =
          fmt::format("{} {} -> {} {}", node.op, to_string(test.inputs.begin()->second.shape()),
                      to_string(test.expected.shape()),
                      result.default_schedule ? "default" : overlay::print_schedule(schedules[node.name]));
      overlay::OverlayProgram program = overlay::compile_overlay(test.graph, nodes, hardware, schedules);
      const Schedule used = program.layers[0].schedule;
      result.tiled_in_two_dimensions = used.rows < layer.out_height && used.cols < layer.out_width;
      result.overflows_cache = program.statistics.evictions > 0;
      result.wide = layer.out_plane > 0 || layer.sources[0].planes > 1;
      result.folded = used.fold_y * used.fold_x > 1;
      result.two_threads = used.virtual_threads == 2;
      Diagnostics diagnostics;
      overlay::check_program(hardware, image_of(program), diagnostics);
      if (!diagnostics.ok()) result.problem = "checker: " + to_string(diagnostics.errors()[0]);
      if (diagnostics.ok() && !diagnostics.warnings().empty()) {
        result.problem = "checker: " + to_string(diagnostics.warnings()[0]);
      }
      overlay::FunctionalSimulator simulator(hardware);
      RunCounters counters;
      const auto outputs = overlay::run_overlay(program, test.inputs, simulator, &counters);
      result.estimate_problem = compare_estimate(program.layers[0].cost, counters);
      const Tensor& actual = outputs.at(test.graph.outputs[0]);
      if (!actual.identical(test.expected)) {
        int64_t at = 0, wrong = 0, first = -1;
        for (; at < actual.size(); ++at) {
          if (actual.integer_at(at) == test.expected.integer_at(at)) continue;
          if (first < 0) first = at;
          ++wrong;
        }
        result.problem =
            fmt::format("{} of {} outputs differ, first at {}: {} instead of {}", wrong, actual.size(), first,
                        actual.integer_at(first), test.expected.integer_at(first));
      }
    } catch (const Error& error) {
      result.problem = error.what();
    }
    return result;
  }
}

Summary run_cases(uint64_t first_seed, int64_t count, const std::string& hardware_folder) {
  Summary summary;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t seed = first_seed + uint64_t(i);
    const Result result = run_case(seed, hardware_folder);
    ++summary.cases;
    ++summary.by_kind[kind_name(result.kind)];
    ++summary.by_hardware[result.hardware];
    summary.tiled += result.tiled_in_two_dimensions;
    summary.overflowing += result.overflows_cache;
    summary.two_threads += result.two_threads;
    summary.folded += result.folded;
    summary.wide += result.wide;
    if (!result.estimate_problem.empty()) {
      if (++summary.estimate_differences <= 3) {
        summary.first_estimate_problem += fmt::format("seed {}: {} on {}: {}\n", seed, result.description,
                                                      result.hardware, result.estimate_problem);
      }
    }
    summary.default_schedules += result.default_schedule;
    if (result.problem.empty()) continue;
    ++summary.mismatches;
    const std::string line =
        fmt::format("seed {}: {} on {}: {}", seed, result.description, result.hardware, result.problem);
    if (summary.mismatches <= 20) summary.first_problem += line + "\n";
  }
  return summary;
}

// The shares are far enough below the expected ones for 200 cases of any seed.
bool Summary::covers_every_category() const {
  bool every = by_hardware.size() >= 6 && wide * 30 >= cases && tiled * 5 >= cases &&
               overflowing * 12 >= cases && int(by_kind.size()) == kKinds;
  for (const auto& [kind, count] : by_kind)
    every = every && count * 100 >= cases;  // some overlays multiply nothing
  return every;
}

std::string describe(const Summary& summary) {
  std::string text = fmt::format(
      "cases {}, mismatches {}, tiled in two dimensions {}, overflowing the micro-op cache {}, two threads "
      "{}, "
      "default schedules {}, folded inputs {}, activations of 16 bits {}, estimates that differ {}\n",
      summary.cases, summary.mismatches, summary.tiled, summary.overflowing, summary.two_threads,
      summary.default_schedules, summary.folded, summary.wide, summary.estimate_differences);
  for (const auto& [name, count] : summary.by_kind) text += fmt::format("  {} {}\n", name, count);
  for (const auto& [name, count] : summary.by_hardware)
    text += fmt::format("  hardware/{}.yaml {}\n", name, count);
  return text;
}

}  // namespace tilewright::random_layers
