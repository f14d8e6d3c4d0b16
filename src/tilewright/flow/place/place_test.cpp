// Graphs with names that are no files' and no UTF-8: proofs lie in their folder, reports can be printed.
#include "tilewright/flow/place/place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

// One operation on a mesh, mapped with its proof.
PlaceRequest one_operation(const std::string& graph, const std::string& node) {
  PlaceRequest request;
  request.problem.graph.name = graph;
  request.problem.graph.nodes.push_back({.name = node});
  for (int i = 0; i < 2; ++i)
    request.problem.graph.nodes[0].operands.push_back({.kind = cgra::OperandKind::kConstant, .value = i});
  request.problem.fabric = find_fabric("mesh-2x2", fs::path(TILEWRIGHT_SOURCE_DIR) / "hardware");
  request.problem.rules = cgra::usual_rules(request.problem.fabric);
  request.iis = {1};
  request.method = place_methods().front();
  return request;
}

TEST(Place, ProofsLieInTheirFolderWhateverTheGraphsName) {
  const fs::path above = fs::path(testing::TempDir()) / ("place_proofs" + std::to_string(::getpid()));
  fs::remove_all(above);
  fs::create_directories(above);
  for (const char* name : {"fir 3/4", "../../escaped", "caf\xe9"}) {
    PlaceRequest request = one_operation(name, "a");
    request.proof_folder = above / "proofs";
    const PlaceReport report = place(request);
    ASSERT_EQ(report.best, 0);
    EXPECT_EQ(report.points[0].result.makespan, 1);
    // That no schedule is shorter than a clock is a proof like any other.
    EXPECT_NE(report.points[0].proof.find("-ii1-0.drat ("), std::string::npos) << report.points[0].proof;
    EXPECT_NE(report.points[0].proof.find("accepted"), std::string::npos) << report.points[0].proof;
    EXPECT_EQ(std::distance(fs::directory_iterator(above), {}), 1) << name;
  }
  fs::remove_all(above);
}

TEST(Place, ReportsNamesThatAreNoUtf8) {
  const PlaceRequest request = one_operation("caf\xe9", "na\xefve");
  const nlohmann::json report = parse_json(place_json(request, place(request)), "the report");
  EXPECT_EQ(report.at("best").at("places").at(0).at("node"), "na\xef\xbf\xbdve");
}

}  // namespace
}  // namespace tilewright
