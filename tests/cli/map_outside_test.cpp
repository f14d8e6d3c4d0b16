// `tilewright map` on the files of the mapper comparisons.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "support/outside_testing.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

// The files of Timeloop as they are. The optimum of this layer per MAC is known from its own model.
TEST(Map, TimeloopFilesAreTakenUnchanged) {
  const std::string specs = outside_folder().string() + "/reference/timeloop-specs";
  const Json report = json_of("map --timeloop " + specs + "/arch_unified.yaml " + specs + "/ert.yaml " +
                              specs + "/space_keep.yaml " + specs + "/prob/res18_56.yaml");
  const Json& layer = report["runs"][0]["layers"][0];
  EXPECT_EQ(layer["status"], "optimal");
  EXPECT_NEAR(layer["energy_per_mac"].get<double>(), 5.8094, 5e-5);
  EXPECT_EQ(report["rules"], "timeloop");
  expect_failure("map --timeloop " + specs + "/prob/res18_56.yaml", 1, {"contain no architecture"});
  expect_failure("map --timeloop " + specs + "/arch_unified.yaml", 1, {"contain no problem definition"});
}

}  // namespace
}  // namespace tilewright
