// The residual and the depthwise network on every kind of machine, the gated one on the overlay.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>

#include "facts.h"
#include "model/own_networks/own_networks.h"
#include "tilewright/flow/design/design_run.h"
#include "tilewright/flow/design/generate.h"
#include "tilewright/flow/explore/candidate_job.h"
#include "tilewright/flow/explore/exploration.h"
#include "tilewright/flow/explore/exploration_network.h"
#include "tilewright/flow/explore/study_tables.h"
#include "tilewright/flow/map/map.h"
#include "tilewright/flow/map/map_report.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/tune/tuning.h"
#include "tilewright/pipeline/simulate/design_values.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"
#include "tilewright/tune/fleet/thread_executor.h"

namespace tilewright {
namespace {

const std::filesystem::path kHardware = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";

class FashionMachines : public FashionNetworks {
 protected:
  Graph integer(const QuantizeOptions& options = {}) const {
    return integerize(optimize(quantized_network(GetParam().name, options)));
  }
  Bundle bundle(const char* overlay = "overlay-16x16", const QuantizeOptions& options = {}) const {
    return compile(integer(options), find_overlay_hardware(overlay, kHardware)).bundle;
  }
};

struct OverlayCase {
  const char* hardware;
  ScaleKind scales;
  int bits;
};

TEST_P(FashionMachines, EveryOverlayGivesTheBitsOfTheReferenceOnBothSimulators) {
  const FashionImages set = fashion_test_images(4);
  for (const OverlayCase& overlay :
       {OverlayCase{"overlay-16x16", ScaleKind::kReal, 8},
        OverlayCase{"vta-default", ScaleKind::kPowerOfTwo, 8},
        OverlayCase{"overlay-w4a4", ScaleKind::kReal, 4}, OverlayCase{"overlay-w2a2", ScaleKind::kReal, 2}}) {
    SCOPED_TRACE(overlay.hardware);
    QuantizeOptions options;
    options.scales = overlay.scales;
    options.weight_bits = options.activation_bits = overlay.bits;
    const Bundle compiled = bundle(overlay.hardware, options);
    const auto placed = std::make_shared<const Engine>(compiled, Execution::kAsPlaced);
    Session host(std::make_shared<const Engine>(compiled, Execution::kOnHost)), functional(placed),
        cycle(placed, {.kind = overlay::ProgramEngineKind::kCycle});
    for (int64_t i = 0; i < 4; ++i) {
      const Tensor expected = host.run({image_of(set, i)})[0];
      EXPECT_TRUE(functional.run({image_of(set, i)})[0].identical(expected)) << i;
      EXPECT_TRUE(cycle.run({image_of(set, i)})[0].identical(expected)) << i;
    }
    if (overlay.hardware == std::string("overlay-16x16")) {
      EXPECT_EQ(cycle.cycles().cycles, 4 * GetParam().cycles);
    }
  }
}

TEST_P(FashionMachines, TuningKeepsTheBitsAndIsNeverSlower) {
  NetworkTuneOptions options;
  options.search = "evolution";
  options.trials = 3;
  const NetworkTuning tuned = tune_network(bundle(), options);
  EXPECT_LE(tuned.after.cycles(), tuned.before.cycles());
  EXPECT_EQ(uint64_t(tuned.before.cycles()), GetParam().cycles);
  const Tensor image = image_of(fashion_test_images(1), 0);
  Session before(std::make_shared<const Engine>(bundle(), Execution::kOnHost)),
      after(std::make_shared<const Engine>(tuned.bundle, Execution::kAsPlaced));
  EXPECT_TRUE(after.run({image})[0].identical(before.run({image})[0]));
}

// A stage for every layer and shared engines: the netlist's values, and its time without a stall for ever.
TEST_P(FashionMachines, GeneratedDesignsComputeTheNetwork) {
  const Graph graph = integer();
  const Tensor image = image_of(fashion_test_images(1), 0);
  const Tensor expected = Executor(graph).run({image})[0];
  for (const bool streaming : {true, false}) {
    GenerateRequest request{find_device("xc7z020", kHardware / "devices")};
    request.budget = pipeline::device_budget(request.device);
    request.allocate.streaming = streaming;
    request.allocate.processors = !streaming;
    const GeneratedDesign made = generate(graph, request);
    EXPECT_EQ(int64_t(made.network.layers.size()), GetParam().pipeline_layers);
    const HostBorder border(made.network);
    const auto result = pipeline::evaluate_design(made.design, border.image({image}));
    EXPECT_TRUE(border.outputs(result)[0].identical(expected));
    ASSERT_TRUE(made.simulation.has_value());
    EXPECT_GT(made.simulation->cycles, 0u);
  }
}

TEST_P(FashionMachines, EveryLayerHasAProvenMappingOfEveryDataflow) {
  const WorkloadNetwork network = network_of(trained_network(GetParam().name));
  EXPECT_EQ(network.unmapped_macs(), 0);
  EXPECT_EQ(network.layers.size(), GetParam().table().layers.size() + 1);
  MapRequest request;
  request.hardware = find_array_hardware("eyeriss-256", kHardware);
  request.rules = MapRules::kStudy;
  const NetworkReport report = map_dataflows(
      network, request, find_dataflows({"all"}, std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "dataflows"),
      false);
  ASSERT_EQ(report.runs.size(), 6u);
  for (const DataflowRun& run : report.runs) {
    EXPECT_TRUE(report.totals(run).proven) << run.dataflow;
    EXPECT_EQ(report.totals(run).missing, 0) << run.dataflow;
  }
}

// Those whose search ends within a moment: the first, depthwise, 1x1 and dense layers of the residual
// network.
TEST_P(FashionMachines, FreeMappingsOfSmallLayersAreProven) {
  const WorkloadNetwork all = network_of(trained_network(GetParam().name));
  WorkloadNetwork small;
  for (const NetworkLayer& layer : all.layers) {
    const Workload& workload = all.workload(layer);
    if (workload.operation_count() < 200'000) small.add(layer.name, layer.op, workload);
  }
  EXPECT_GE(small.layers.size(), 4u);
  MapRequest request;
  request.hardware = find_array_hardware("diannao-like", kHardware);
  const NetworkReport report = map_network(small, request);
  EXPECT_TRUE(report.totals(report.runs.at(0)).proven);
  EXPECT_EQ(report.totals(report.runs[0]).missing, 0);
}

// Twenty overlays for a device, each tuned a little, and what can be learned from them.
TEST_P(FashionMachines, ExplorationsFindAFrontAndWhatMatters) {
  ExplorationRequest request;
  request.network = exploration_bundle(trained_network(GetParam().name), 1);
  request.model_name = GetParam().name;
  request.device = find_device("xc7z020", kHardware / "devices");
  request.operand_bits = {8};
  request.folder = std::filesystem::path(testing::TempDir()) /
                   (std::string("study_of_") + GetParam().name + std::to_string(::getpid()));
  request.rtl_folder = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "rtl";
  request.trials = 1;
  request.candidates = 20;
  const ExplorationReport report =
      explore_overlays(request, [](const auto&) { return tune::make_thread_executor({candidate_job()}, 1); });
  std::filesystem::remove_all(request.folder);
  const WidthReport& width = report.widths.at(0);
  EXPECT_EQ(width.evaluated, 20);
  for (const ExploredCandidate& candidate : width.candidates) {
    EXPECT_GE(candidate.latency_s, candidate.bound_s);
    EXPECT_LE(candidate.utilisation, 1);
  }
  EXPECT_TRUE(std::ranges::any_of(width.candidates, &ExploredCandidate::on_front));
  const tune::SampleTable table = exploration_table(report);
  const ImportanceReport importance = study_importance(table, {"gops"}, 1);
  ASSERT_EQ(importance.importance.size(), 2u);  // of 8 bits, and of all
  for (const tune::FeatureImportance& one : importance.importance) {
    EXPECT_EQ(one.share.size(), table.features.size());
    EXPECT_NEAR(std::accumulate(one.share.begin(), one.share.end(), 0.0), 1, 1e-6);
  }
}

TEST_P(FashionMachines, LayersFormChainsWhereOnlyTheNextOneReadsThem) {
  const Graph graph = trained_network(GetParam().name);
  size_t longest = 0;
  for (const auto& chain : layer_chains(graph, network_of(graph))) longest = std::max(longest, chain.size());
  EXPECT_EQ(longest, GetParam().longest_chain);
}

// Gates and SiLU; 8-bit weights, and 4 bits in every other layer.
TEST(GatedNetwork, RunsOnTheOverlayBitForBitInMixedWidths) {
  const Graph real = trained_network("gated");
  const FashionImages set = fashion_test_images(3);
  for (const bool mixed : {false, true}) {
    QuantizeOptions options;
    int layers = 0;
    for (const Node& node : real.nodes) {
      if (mixed && (node.is("Conv") || node.is("Gemm")) && ++layers % 2 == 0)
        options.layer_bits[node.name] = 4;
    }
    IntegerizeReport report;
    const Graph integer = integerize(optimize(quantized_network("gated", options)), &report);
    EXPECT_EQ(report.integer_mac_share(), 1.0) << to_string(report);
    const Bundle compiled = compile(integer, find_overlay_hardware("overlay-16x16", kHardware)).bundle;
    const auto placed = std::make_shared<const Engine>(compiled, Execution::kAsPlaced);
    Session host(std::make_shared<const Engine>(compiled, Execution::kOnHost)), functional(placed),
        cycle(placed, {.kind = overlay::ProgramEngineKind::kCycle});
    for (int64_t i = 0; i < 3; ++i) {
      const Tensor expected = host.run({image_of(set, i)})[0];
      EXPECT_TRUE(functional.run({image_of(set, i)})[0].identical(expected)) << i;
      EXPECT_TRUE(cycle.run({image_of(set, i)})[0].identical(expected)) << i;
    }
  }
}

}  // namespace

TILEWRIGHT_ON_BOTH(FashionMachines);

}  // namespace tilewright
