// Every number of row_stationary_reference.h beside what the study cost model finds: the list that the claim
// tests and bench/figures/row_stationary_figures both go through.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "support/spatial/taxonomy_testing.h"

namespace tilewright::claims {

struct Check {
  std::string name;
  double expected = 0, actual = 0, tolerance = 0;
  double error() const { return std::abs(actual - expected); }
  double relative_error() const { return expected == 0 ? error() : error() / std::abs(expected); }
  bool holds() const { return error() <= tolerance; }
};

// The files of the source tree.
struct Study {
  std::filesystem::path source_folder;
  std::vector<study::Dataflow> dataflows;  // in the order of taxonomy_names()
  study::StudyMachine machine;             // 256 PEs
  study::StudyMachine chip;
  study::Dataflow chip_dataflow;
};
Study read_study(const std::filesystem::path& source_folder);

// Six points, one per dataflow.
std::vector<study::TaxonomyPoint> taxonomy_at(const Study& study, int64_t batch, int64_t pes);

std::vector<Check> reuse_checks();
std::vector<Check> storage_checks(const Study& study);
// `points` = taxonomy_at(study, 16, 256).
std::vector<Check> energy_checks(const Study& study, const std::vector<study::TaxonomyPoint>& points);
std::vector<Check> ratio_checks(const Study& study, const std::vector<study::TaxonomyPoint>& points);
std::vector<Check> bar_checks(const Study& study, const std::vector<study::TaxonomyPoint>& points);
std::vector<Check> row_stationary_layer_checks(const Study& study,
                                               const std::vector<study::TaxonomyPoint>& points);
// Closed forms of the chip: stored bytes; active PEs, buffer traffic, DRAM traffic before compression.
std::vector<Check> chip_storage_checks(const Study& study);
std::vector<Check> chip_traffic_checks(const Study& study);
// DRAM traffic after compression, from the shares of zeros alone. What a layer writes has the share of the
// next layer's inputs without their padding; before a max pool, whose windows count as this many independent
// values; the last layer's outputs are taken to be as sparse as its inputs.
std::vector<Check> compression_checks(const Study& study, double independent_values);
// Percent by which Table III's mappings lie above the optimum under the chip's limits.
std::vector<Check> chip_optimum_checks(const Study& study);

}  // namespace tilewright::claims
