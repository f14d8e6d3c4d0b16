#include "row_stationary_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "alexnet_on_chip.h"
#include "row_stationary_reference.h"
#include "support/spatial/chip_model_testing.h"
#include "support/spatial/value_reuse_testing.h"
#include "tilewright/base/file.h"

namespace tilewright::claims {
namespace {

using namespace study;

constexpr double kKib = 1024, kMegabyte = 1e6;
constexpr const char* kLevelNames[] = {"DRAM", "buffer", "array", "RF"};
constexpr const char* kTypeNames[] = {"pixels", "weights", "psums"};

LayerShape shape_of(const RowStationaryLayer& layer) {
  return square_layer(layer.name, layer.groups, layer.batch, layer.height, layer.kernel_height,
                      layer.channels, layer.filters, layer.stride);
}

PassMapping pass_of(const RowStationaryMapping& m) { return {m.m, m.n, m.e, m.p, m.q, m.r, m.t}; }

void add_energy_rows(const EnergyRow (&rows)[6], const char* what, size_t first, size_t last,
                     const Study& study, const std::vector<TaxonomyPoint>& points,
                     std::vector<Check>& checks) {
  constexpr double kTolerance = 1e-4;
  for (size_t d = 0; d < 6; ++d) {
    const EnergyRow& row = rows[d];
    const TaxonomySummary sum = summarise(points[d], study.machine.energy, first, last);
    const std::string head = fmt::format("{} {}", what, row.dataflow);
    checks.push_back({head + " energy", row.total, sum.energy, kTolerance});
    for (size_t k = 0; k < kLevels; ++k) {
      checks.push_back(
          {fmt::format("{} {}", head, kLevelNames[k]), row.by_level[k], sum.by_level[k], kTolerance});
    }
    for (size_t k = 0; k < kDataTypes; ++k) {
      checks.push_back(
          {fmt::format("{} {}", head, kTypeNames[k]), row.by_type[k], sum.by_type[k], kTolerance});
    }
    checks.push_back({head + " DRAM words", row.dram_words, sum.dram_accesses, 1e-6});
  }
}

// Chip mappings cost `percent` more than the optimum of `dataflow`.
void add_optimum_checks(const Study& study, const Dataflow& dataflow, bool reported_objective,
                        const double (&percent)[kConvLayers], const char* what, std::vector<Check>& checks) {
  const Storage storage = equal_area_storage(study.chip, dataflow.register_file_bytes);
  SearchOptions options;
  options.reported_objective = reported_objective;
  const std::vector<LayerShape> layers = alexnet(4);
  for (size_t k = 0; k < kConvLayers; ++k) {
    const std::vector<int64_t> printed(kTableThree[k].begin(), kTableThree[k].end());
    const MappingEvaluation given =
        evaluate_mapping(study.chip_dataflow, layers[k], study.chip, storage, printed);
    const DataflowResult best = best_mapping(dataflow, layers[k], study.chip, storage, options);
    const double macs = double(layers[k].macs());
    const double above = (access_energy(given.counts, study.chip.energy) + macs) /
                         (access_energy(best.counts, study.chip.energy) + macs);
    // A mapping that breaks a limit, or a search without proof, fails the check.
    const bool sound = given.broken.empty() && best.status == BoxSearchStatus::kOptimal;
    checks.push_back({fmt::format("chip {} Table III above {} optimum, percent", layers[k].name, what),
                      percent[k], sound ? 100 * (above - 1) : -1e9, 0.05});
  }
}

}  // namespace

Study read_study(const std::filesystem::path& source_folder) {
  Study study;
  study.source_folder = source_folder;
  study.dataflows = read_dataflows(source_folder / "dataflows", taxonomy_names());
  study.machine = study_machine(read_array_hardware(source_folder / "hardware/eyeriss-256.yaml"));
  study.chip = study_machine(read_array_hardware(source_folder / "hardware/eyeriss-chip.yaml"));
  study.chip_dataflow = read_dataflow(source_folder / "dataflows/rs-chip.yaml");
  return study;
}

std::vector<TaxonomyPoint> taxonomy_at(const Study& study, int64_t batch, int64_t pes) {
  TaxonomyOptions options;
  options.array_sizes = {pes};
  return evaluate_taxonomy(study.dataflows, alexnet(batch), study.machine, options);
}

std::vector<Check> reuse_checks() {
  const AccessEnergy energy;
  return {{"toy pixel", 248, input_accesses({1, 2, 3, 4}).energy(energy), 0},
          {"toy psum", 708, output_accesses({2, 3, 3, 2}).energy(energy), 0}};
}

std::vector<Check> storage_checks(const Study& study) {
  std::vector<Check> checks = {{"area of 256 PEs", kArea256, storage_area(study.machine.area, 256), 1}};
  for (size_t d = 0; d < 6; ++d) {
    const Dataflow& dataflow = study.dataflows[d];
    const int64_t bytes = dataflow.register_file_bytes;
    checks.push_back({dataflow.name + " RF bytes", double(kRegisterFileBytes[d]), double(bytes), 0});
    StudyMachine machine = study.machine;
    for (const StorageRow& row : kBuffers) {
      machine.pes = row.pes;
      checks.push_back({fmt::format("{} buffer KiB of {} PEs", dataflow.name, row.pes), row.buffer_kib[d],
                        equal_area_storage(machine, bytes).buffer_bytes / kKib, 0.051});
    }
    const Storage storage = equal_area_storage(study.machine, bytes);
    checks.push_back(
        {dataflow.name + " buffer KiB, plotted", kPlottedBufferKib[d], storage.buffer_bytes / kKib, 0.01});
    checks.push_back({dataflow.name + " total KiB", kTotalKib256[d], storage.total_bytes / kKib, 0.051});
    checks.push_back({dataflow.name + " buffer bytes", kBufferBytes256[d], storage.buffer_bytes, 0.6});
  }
  return checks;
}

std::vector<Check> energy_checks(const Study& study, const std::vector<TaxonomyPoint>& points) {
  std::vector<Check> checks;
  add_energy_rows(kConvEnergy, "CONV", 0, kConvLayers, study, points, checks);
  add_energy_rows(kDenseEnergy, "FC", kConvLayers, kLayers, study, points, checks);
  return checks;
}

std::vector<Check> ratio_checks(const Study& study, const std::vector<TaxonomyPoint>& points) {
  std::vector<Check> checks;
  for (const bool dense : {false, true}) {
    const size_t first = dense ? kConvLayers : 0, last = dense ? kLayers : kConvLayers;
    const double rs = summarise(points[5], study.machine.energy, first, last).energy;
    for (size_t d = 0; d < 6; ++d) {
      const double ratio = summarise(points[d], study.machine.energy, first, last).energy / rs;
      checks.push_back({fmt::format("{} {} / rs", dense ? "FC" : "CONV", study.dataflows[d].name),
                        dense ? kDenseRatios[d] : kConvRatios[d], ratio, 0.00051});
    }
  }
  return checks;
}

std::vector<Check> bar_checks(const Study& study, const std::vector<TaxonomyPoint>& points) {
  constexpr double kSegment = 0.01, kTotal = 0.005;
  std::vector<Check> checks;
  const AccessEnergy& energy = study.machine.energy;
  const double conv = summarise(points[5], energy, 0, kConvLayers).energy;
  const double dense = summarise(points[5], energy, kConvLayers, kLayers).energy;
  for (size_t d = 0; d < 6; ++d) {
    const std::string& name = study.dataflows[d].name;
    const TaxonomySummary sum = summarise(points[d], energy, 0, kConvLayers);
    const TaxonomySummary fc = summarise(points[d], energy, kConvLayers, kLayers);
    checks.push_back({"TP Fig. 10a " + name + " ALU", kFigure10a[d][0], sum.alu / conv, kSegment});
    for (size_t k = 0; k < kLevels; ++k) {
      checks.push_back({fmt::format("TP Fig. 10a {} {}", name, kLevelNames[k]), kFigure10a[d][k + 1],
                        sum.by_level[k] / conv, kSegment});
    }
    checks.push_back({"TP Fig. 10a " + name + " total", kFigure10a[d][5], sum.energy / conv, kTotal});
    for (size_t k = 0; k < kDataTypes; ++k) {
      checks.push_back({fmt::format("TP Fig. 10b {} {}", name, kTypeNames[k]), kFigure10b[d][k],
                        sum.type_with_alu(DataType(k)) / conv, kSegment});
      checks.push_back({fmt::format("TP Fig. 11 {} {}", name, kTypeNames[k]), kFigure11[d][k],
                        fc.type_with_alu(DataType(k)) / dense, kSegment});
    }
  }
  return checks;
}

std::vector<Check> row_stationary_layer_checks(const Study& study, const std::vector<TaxonomyPoint>& points) {
  // Units of 1e9 MACs. Listed with four decimals; one value of 14 is one unit off what its listed mapping
  // gives.
  const auto tolerance = [](double value) { return std::max(1e-4, 1e-5 * value); };
  std::vector<Check> checks;
  const AccessEnergy& energy = study.machine.energy;
  const double cost[] = {energy.dram, energy.buffer, energy.array, energy.register_file};
  const std::vector<LayerShape> layers = alexnet(1);
  for (size_t k = 0; k < kLayers; ++k) {
    const LayerEnergyRow& row = kRowStationaryLayers[k];
    const std::string head = fmt::format("rs {}", row.layer);
    checks.push_back({head + " MACs per image", double(kMacsPerImage[k]), double(layers[k].macs()), 0});
    const TaxonomyPoint& point = points[5];
    checks.push_back({head + " ALU", row.alu, double(point.layers[k].macs()) / 1e9, tolerance(row.alu)});
    for (size_t level = 0; level < kLevels; ++level) {
      double sum = 0;
      for (const double count : point.results[k].counts[level]) sum += count * cost[level];
      checks.push_back({fmt::format("{} {}", head, kLevelNames[level]), row.by_level[level], sum / 1e9,
                        tolerance(row.by_level[level])});
    }
    checks.push_back({head + " active PEs", row.active_pes, point.results[k].active_pes, 0});
    const std::vector<int64_t> listed(row.mapping.begin(), row.mapping.end());
    const MappingEvaluation given =
        evaluate_mapping(study.dataflows[5], point.layers[k], study.machine, point.storage, listed);
    const double optimum = point.results[k].proof.value;
    checks.push_back({head + " listed mapping, energy the search charges", optimum,
                      given.broken.empty() ? given.objective : -1, 1e-9 * optimum});
  }
  return checks;
}

std::vector<Check> chip_storage_checks(const Study& study) {
  std::vector<Check> checks;
  for (const ChipLayer& layer : kAlexnetOnChip) {
    const ChipCost cost = chip_cost(study.chip, shape_of(layer.layer), pass_of(layer.mapping));
    const std::string head = fmt::format("chip {} ", layer.layer.name);
    checks.push_back({head + "stored pixel kB", layer.pixel_kilobytes, cost.buffer_input_bytes / kKib, 0.1});
    checks.push_back({head + "stored psum kB", layer.psum_kilobytes, cost.buffer_output_bytes / kKib, 0.1});
  }
  return checks;
}

std::vector<Check> chip_traffic_checks(const Study& study) {
  constexpr double kTolerance = 0.005;
  std::vector<Check> checks;
  for (const ChipLayer& layer : kAlexnetOnChip) {
    const ChipCost cost = chip_cost(study.chip, shape_of(layer.layer), pass_of(layer.mapping));
    const std::string head = fmt::format("chip {} ", layer.layer.name);
    checks.push_back({head + "active PEs", double(layer.active_pes), cost.active_pes, 0});
    checks.push_back({head + "buffer traffic MB", layer.measured_buffer_megabytes,
                      cost.buffer_traffic_bytes / kMegabyte, kTolerance * layer.measured_buffer_megabytes});
    checks.push_back({head + "DRAM MB before compression", layer.plotted_dram_megabytes,
                      cost.dram_bytes() / kMegabyte, kTolerance * layer.plotted_dram_megabytes});
  }
  return checks;
}

std::vector<Check> compression_checks(const Study& study, double independent_values) {
  std::vector<Check> checks;
  for (size_t k = 0; k < kConvLayers; ++k) {
    const ChipLayer& layer = kAlexnetOnChip[k];
    const ChipCost cost = chip_cost(study.chip, shape_of(layer.layer), pass_of(layer.mapping));
    double written_zeros = kChipDram[k].input_zeros;
    if (k + 1 < kConvLayers) {
      const LayerShape next = shape_of(kAlexnetOnChip[k + 1].layer);
      written_zeros = zeros_without_padding(kChipDram[k + 1].input_zeros, next, (next.R - 1) / 2);
      if (kChipDram[k].pooled) written_zeros = zeros_before_pool(written_zeros, independent_values);
    }
    // The image itself is not compressed.
    const double input_ratio = k == 0 ? 1 : run_length_ratio(study.chip, kChipDram[k].input_zeros);
    const double bytes = cost.compressed_dram_bytes(input_ratio, run_length_ratio(study.chip, written_zeros));
    checks.push_back({fmt::format("chip {} DRAM MB", layer.layer.name), kChipDram[k].compressed_megabytes,
                      bytes / kMegabyte, 0.1 * kChipDram[k].compressed_megabytes});
  }
  return checks;
}

std::vector<Check> chip_optimum_checks(const Study& study) {
  std::vector<Check> checks;
  add_optimum_checks(study, study.chip_dataflow, true, kAboveOptimum, "the", checks);
  std::string text = read_text_file(study.source_folder / "dataflows/rs-chip.yaml");
  text.insert(text.find("  channels_of_a_pass"),
              "  lanes: mod(p, 4) == 0\n  filters: mod(m, p*t) == 0\n  whole: mod(M, m) == 0\n"
              "  channels: mod(C, q*r) == 0\n");
  add_optimum_checks(study, parse_dataflow(text, "rs-chip.yaml, dividing"), false, kAboveDividingOptimum,
                     "the dividing", checks);
  return checks;
}

}  // namespace tilewright::claims
