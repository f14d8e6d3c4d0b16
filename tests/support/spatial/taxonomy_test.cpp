#include <gtest/gtest.h>

#include "support/spatial/taxonomy_testing.h"

namespace tilewright::study {
namespace {

const std::filesystem::path kRoot = TILEWRIGHT_SOURCE_DIR;

TEST(Taxonomy, ThreadsDoNotChangeAnything) {
  const std::vector<Dataflow> flows = read_dataflows(kRoot / "dataflows", taxonomy_names());
  const StudyMachine machine = study_machine(read_array_hardware(kRoot / "hardware/eyeriss-256.yaml"));
  const std::vector<LayerShape> layers = {square_layer("a", 1, 1, 15, 3, 64, 96, 1),
                                          square_layer("b", 1, 1, 1, 1, 512, 256, 1)};
  TaxonomyOptions options;
  options.batches = {1, 8};
  options.array_sizes = {64, 256};
  const std::vector<TaxonomyPoint> one = evaluate_taxonomy(flows, layers, machine, options);
  options.threads = 2;
  const std::vector<TaxonomyPoint> two = evaluate_taxonomy(flows, layers, machine, options);
  ASSERT_EQ(one.size(), flows.size() * 4);
  ASSERT_EQ(two.size(), one.size());
  for (size_t k = 0; k < one.size(); ++k) {
    EXPECT_EQ(one[k].pes, two[k].pes);
    EXPECT_EQ(one[k].batch, two[k].batch);
    for (size_t l = 0; l < layers.size(); ++l) {
      EXPECT_EQ(one[k].results[l].variables, two[k].results[l].variables);
      EXPECT_EQ(one[k].results[l].counts, two[k].results[l].counts);
      EXPECT_EQ(one[k].results[l].proof.nodes, two[k].results[l].proof.nodes);
    }
  }
}

TEST(Taxonomy, SummaryAddsUp) {
  const std::vector<Dataflow> flows = read_dataflows(kRoot / "dataflows", {"rs"});
  const StudyMachine machine = study_machine(read_array_hardware(kRoot / "hardware/eyeriss-256.yaml"));
  const std::vector<LayerShape> layers = {square_layer("a", 1, 4, 15, 3, 64, 96, 1),
                                          square_layer("b", 1, 4, 1, 1, 512, 256, 1)};
  const std::vector<TaxonomyPoint> points = evaluate_taxonomy(flows, layers, machine);
  ASSERT_EQ(points.size(), 1u);
  const TaxonomySummary all = summarise(points[0], machine.energy);
  ASSERT_TRUE(all.feasible);
  EXPECT_TRUE(all.proven);
  EXPECT_EQ(all.macs, double(layers[0].macs() + layers[1].macs()));
  double types = 0;
  for (int type = 0; type < kDataTypes; ++type) types += all.type_with_alu(DataType(type));
  EXPECT_NEAR(types, all.energy, 1e-12 * all.energy);
  const TaxonomySummary a = summarise(points[0], machine.energy, 0, 1);
  const TaxonomySummary b = summarise(points[0], machine.energy, 1, 2);
  EXPECT_NEAR(a.energy * a.macs + b.energy * b.macs, all.energy * all.macs, 1e-9 * all.energy * all.macs);
  EXPECT_NEAR(a.delay, 1 / points[0].results[0].active_pes, 1e-15);
  EXPECT_EQ(all.energy_delay, all.energy * all.delay);
}

TEST(Taxonomy, BaselineBufferWithoutEqualArea) {
  const std::vector<Dataflow> flows = read_dataflows(kRoot / "dataflows", {"ws"});
  const StudyMachine machine = study_machine(read_array_hardware(kRoot / "hardware/eyeriss-256.yaml"));
  const std::vector<LayerShape> layers = {square_layer("a", 1, 1, 15, 3, 64, 96, 1)};
  TaxonomyOptions options;
  options.equal_area = false;
  EXPECT_EQ(evaluate_taxonomy(flows, layers, machine, options)[0].storage.buffer_bytes, 131072);
  EXPECT_GT(evaluate_taxonomy(flows, layers, machine)[0].storage.buffer_bytes, 300000);
}

}  // namespace
}  // namespace tilewright::study
