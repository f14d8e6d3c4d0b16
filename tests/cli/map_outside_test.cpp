// `tilewright map` on the files of the mapper comparisons.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "outside.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Notes on standard error come before the document.
Json json_of(const std::string& arguments) {
  const CommandResult result = command(arguments + " --json");
  const size_t begin = result.output.starts_with('{') ? 0 : result.output.find("\n{") + 1;
  const Json document = Json::parse(result.output.substr(begin), nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << arguments << "\n" << result.output;
  return document;
}

void expect_failure(const std::string& arguments, int exit_code, const std::vector<std::string>& parts) {
  const CommandResult result = command(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << arguments << "\n" << result.output;
  for (const std::string& part : parts)
    EXPECT_TRUE(contains(result.output, part)) << part << "\n" << result.output;
}

// The files of the field's mapper as they are. The optimum of this layer per MAC is known from its own model.
TEST(Map, TimeloopFilesAreTakenUnchanged) {
  const std::string specs = outside_folder().string() + "/reference/timeloop-specs";
  const Json report = json_of("map --timeloop " + specs + "/arch_unified.yaml " + specs + "/ert.yaml " +
                              specs + "/space_keep.yaml " + specs + "/prob/res18_56.yaml");
  const Json& layer = report["runs"][0]["layers"][0];
  EXPECT_EQ(layer["status"], "optimal");
  EXPECT_NEAR(layer["energy_per_mac"].get<double>(), 5.8094, 5e-5);
  EXPECT_EQ(report["rules"], "timeloop");
  expect_failure("map --timeloop " + specs + "/prob/res18_56.yaml", 1, {"have no architecture"});
  expect_failure("map --timeloop " + specs + "/arch_unified.yaml", 1, {"have no problem"});
}

}  // namespace
}  // namespace tilewright
