// Claim: row stationary needs 1.4 to 2.5 times less energy than the other dataflows in convolutions and at
// least 1.3 times less in dense layers (ISCA 2016, Top Picks 2017), over batch and array sizes.
#include <algorithm>

#include "row_stationary_checks_testing.h"
#include "row_stationary_reference.h"

namespace tilewright::claims {
namespace {

using namespace study;

struct Grid {
  std::vector<TaxonomyPoint> points;
  // nullptr when the dataflow cannot run a layer.
  const TaxonomyPoint* at(size_t dataflow, int64_t batch, int64_t pes) const {
    for (const TaxonomyPoint& point : points) {
      if (point.dataflow == dataflow && point.batch == batch && point.pes == pes) return &point;
    }
    return nullptr;
  }
};

const Grid& grid() {
  static const Grid kGrid = [] {
    TaxonomyOptions options;
    options.batches = {1, 4, 16, 64, 256};
    options.array_sizes = {256, 512, 1024};
    options.threads = 2;
    const Study& study = shared_study();
    return Grid{evaluate_taxonomy(study.dataflows, alexnet(1), study.machine, options)};
  }();
  return kGrid;
}

// Energies over those of row stationary, for all settings in which a dataflow runs.
std::vector<double> ratios(const std::vector<int64_t>& batches, size_t first, size_t last) {
  const AccessEnergy& energy = shared_study().machine.energy;
  std::vector<double> result;
  for (size_t d = 0; d < 5; ++d) {
    for (const int64_t batch : batches) {
      for (const int64_t pes : {256, 512, 1024}) {
        const TaxonomySummary other = summarise(*grid().at(d, batch, pes), energy, first, last);
        const TaxonomySummary rs = summarise(*grid().at(5, batch, pes), energy, first, last);
        EXPECT_TRUE(rs.proven);
        if (other.feasible) result.push_back(other.energy / rs.energy);
      }
    }
  }
  return result;
}

TEST(RowStationaryRatios, Convolutions) {
  const std::vector<double> all = ratios({1, 16, 64}, 0, kConvLayers);
  EXPECT_EQ(all.size(), 5u * 9 - 1);  // WS with 64 images and 256 PEs
  EXPECT_NEAR(*std::min_element(all.begin(), all.end()), 1.39, 0.005);
  EXPECT_NEAR(*std::max_element(all.begin(), all.end()), 2.53, 0.005);
}

TEST(RowStationaryRatios, DenseLayers) {
  const std::vector<double> all = ratios({16, 64, 256}, kConvLayers, kLayers);
  EXPECT_EQ(all.size(), 5u * 9);
  EXPECT_NEAR(*std::min_element(all.begin(), all.end()), 1.27, 0.005);
}

TEST(RowStationaryRatios, WeightStationaryCannotRunLargeBatches) {
  const TaxonomyPoint& point = *grid().at(0, 64, 256);
  EXPECT_EQ(point.results[0].status, BoxSearchStatus::kInfeasible);
  ASSERT_EQ(point.results[0].reasons.size(), 1u);
  EXPECT_EQ(
      point.results[0].reasons[0],
      "buffer_capacity (N*t*E*F + r*t*(w - S)*(R - 1) <= Q): needs at least 193600, has at most 171143");
  for (size_t k = 1; k < kLayers; ++k) EXPECT_EQ(point.results[k].status, BoxSearchStatus::kOptimal);
}

TEST(RowStationaryRatios, TextClaims) {
  const AccessEnergy& energy = shared_study().machine.energy;
  std::vector<TaxonomySummary> conv;
  for (size_t d = 0; d < 6; ++d) conv.push_back(summarise(*grid().at(d, 16, 256), energy, 0, kConvLayers));
  // No local reuse has the lowest DRAM energy.
  for (size_t d = 0; d < 6; ++d) {
    if (d != 4) {
      EXPECT_LT(conv[4].by_level[0], conv[d].by_level[0]);
    }
  }
  // Shares of the ALU.
  EXPECT_NEAR(conv[5].alu / conv[5].energy, 0.166, 0.0005);
  EXPECT_NEAR(conv[0].alu / conv[0].energy, 0.086, 0.0005);
  EXPECT_NEAR(conv[4].alu / conv[4].energy, 0.077, 0.0005);
  // Register files against the rest without DRAM.
  EXPECT_NEAR(conv[5].by_level[3] / (conv[5].alu + conv[5].by_level[1] + conv[5].by_level[2]), 3.03, 0.005);
  // Share of the dense layers in AlexNet's energy, with and without the ALU, and with 64 images.
  const auto dense_share = [&](int64_t batch, double alu) {
    const TaxonomySummary c = summarise(*grid().at(5, batch, 256), energy, 0, kConvLayers);
    const TaxonomySummary f = summarise(*grid().at(5, batch, 256), energy, kConvLayers, kLayers);
    const double fc = (f.energy - 1 + alu) * f.macs;
    return fc / (fc + (c.energy - 1 + alu) * c.macs);
  };
  EXPECT_NEAR(dense_share(16, 1), 0.208, 0.0005);
  EXPECT_NEAR(dense_share(16, 0), 0.229, 0.0005);
  EXPECT_NEAR(dense_share(64, 1), 0.112, 0.0005);
}

// The papers' 512 bytes are not where this model has its minimum at 256 PEs and a fixed area: less register
// file and more buffer costs up to 2 % less (bench/figures/row_stationary_figures goes through all sizes).
TEST(RowStationaryRatios, RegisterFileOfLeastEnergy) {
  const Study& study = shared_study();
  std::vector<Dataflow> sizes;
  for (const int64_t bytes : {128, 178, 512, 768}) {
    sizes.push_back(study.dataflows[5]);
    sizes.back().register_file_bytes = bytes;
  }
  const std::vector<TaxonomyPoint> points = evaluate_taxonomy(sizes, alexnet(16), study.machine);
  std::vector<double> energy;
  for (const TaxonomyPoint& point : points) {
    energy.push_back(summarise(point, study.machine.energy, 0, kConvLayers).energy);
  }
  EXPECT_LT(energy[1], energy[0]);
  EXPECT_LT(energy[1], 0.985 * energy[2]);
  EXPECT_LT(energy[2], energy[3]);
}

}  // namespace
}  // namespace tilewright::claims
