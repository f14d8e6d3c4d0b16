// The study's dataflows through the network report: the figures of the row-stationary paper, section 5 of the
// reference, come out of a model's worth of layers.
#include "tilewright/spatial/network/study_network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/flow/map/map_report.h"

namespace tilewright {
namespace {

Workload alexnet_layer(const std::string& name, int64_t groups, int64_t input, int64_t filter,
                       int64_t channels, int64_t filters, int64_t stride) {
  ConvShape shape;
  shape.batch = 16;
  shape.group = groups;
  shape.input_channels = groups * channels;
  shape.output_channels = groups * filters;
  shape.height.input = input;
  shape.height.kernel = filter;
  shape.height.stride = stride;
  shape.height.output = (input - filter) / stride + 1;
  shape.width = shape.height;
  return conv2d_workload(name, shape);
}

WorkloadNetwork alexnet_convolutions() {
  WorkloadNetwork network;
  network.name = "alexnet";
  network.add("CONV1", "Conv", alexnet_layer("", 1, 227, 11, 3, 96, 4));
  network.add("CONV2", "Conv", alexnet_layer("", 2, 31, 5, 48, 128, 1));
  network.add("CONV3", "Conv", alexnet_layer("", 1, 15, 3, 256, 384, 1));
  network.add("CONV4", "Conv", alexnet_layer("", 2, 15, 3, 192, 192, 1));
  network.add("CONV5", "Conv", alexnet_layer("", 2, 15, 3, 192, 128, 1));
  return network;
}

MapRequest study_request() {
  MapRequest request;
  request.hardware = find_array_hardware("eyeriss-256", std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware");
  request.batch = 16;
  return request;
}

TEST(StudyNetwork, ReportsThePublishedEnergies) {
  const auto dataflows = find_dataflows({"all"}, std::string(TILEWRIGHT_SOURCE_DIR) + "/dataflows");
  const NetworkReport report = map_dataflows(alexnet_convolutions(), study_request(), dataflows, true);
  const std::map<std::string, double> expected = {{"ws", 11.5829},  {"osa", 8.5316},  {"osb", 8.7135},
                                                  {"osc", 10.5268}, {"nlr", 12.9927}, {"rs", 6.0272}};
  for (const DataflowRun& run : report.runs) {
    const RunTotals total = report.totals(run);
    EXPECT_NEAR(total.energy_per_mac(), expected.at(run.dataflow), 1e-4) << run.dataflow;
    double sum = total.arithmetic_energy;
    for (const auto& part : total.parts) sum += part[0] + part[1] + part[2];
    EXPECT_NEAR(sum / total.energy, 1, 1e-12);
  }
}

TEST(StudyNetwork, ThreadsChangeNothing) {
  const auto dataflows = find_dataflows({"rs"}, std::string(TILEWRIGHT_SOURCE_DIR) + "/dataflows");
  MapRequest request = study_request();
  const NetworkReport one = map_dataflows(alexnet_convolutions(), request, dataflows, true);
  request.mapper.threads = 3;
  const NetworkReport three = map_dataflows(alexnet_convolutions(), request, dataflows, true);
  for (size_t shape = 0; shape < one.network.shapes.size(); ++shape) {
    EXPECT_EQ(one.runs[0].costs[shape].energy, three.runs[0].costs[shape].energy);
    EXPECT_EQ(one.runs[0].costs[shape].variables, three.runs[0].costs[shape].variables);
    EXPECT_EQ(one.runs[0].costs[shape].nodes, three.runs[0].costs[shape].nodes);
  }
}

// The union of all members costs what the best of them costs on shared storage: each choice is re-checked
// against runs made here.
TEST(StudyNetwork, UnionsAreTheBestOfTheirMembersOnSharedStorage) {
  const auto dataflows = find_dataflows({"all"}, std::string(TILEWRIGHT_SOURCE_DIR) + "/dataflows");
  const MapRequest request = study_request();
  const NetworkReport report = map_dataflows(alexnet_convolutions(), request, dataflows, true);
  const UnionTable table = map_unions(report, request, dataflows);
  ASSERT_EQ(table.shared.size(), 41u);
  const study::StudyMachine machine = study::study_machine(request.hardware);
  for (const UnionChoice& choice : table.shared) {
    if (choice.dataflows.size() != 2) continue;  // every pair; larger unions follow the same code
    int64_t register_file = 0;
    for (const int member : choice.dataflows) {
      register_file = std::max(register_file, dataflows[size_t(member)].register_file_bytes);
    }
    const study::Storage storage = study::equal_area_storage(machine, register_file);
    double energy = 0;
    for (const NetworkLayer& layer : report.network.layers) {
      double least = INFINITY;
      for (const int member : choice.dataflows) {
        const study::LayerShape shape = study::layer_shape(report.network.workload(layer));
        const study::DataflowResult result =
            study::best_mapping(dataflows[size_t(member)], shape, machine, storage);
        if (result.status != study::BoxSearchStatus::kOptimal) continue;
        least = std::min(least, double(shape.macs()) * machine.energy.alu +
                                    study::access_energy(result.counts, machine.energy));
      }
      energy += least;
    }
    EXPECT_NEAR(choice.energy / energy, 1, 1e-12);
  }
}

}  // namespace
}  // namespace tilewright
