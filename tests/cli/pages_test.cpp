// --html and --data of every verb that reports: the same data in both, what they were made from, and no page
// on failure.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "tilewright/base/file.h"

namespace tilewright {
namespace {

nlohmann::json data_of(const std::string& html) {
  const std::string opening = "id=\"tilewright-data\">";
  const size_t at = html.find(opening) + opening.size();
  return nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
}

// The page of a command, with everything that holds for all of them.
nlohmann::json page_of(const std::string& verb, const std::string& arguments) {
  const auto folder = fresh_folder("page_" + verb);
  const auto html = folder / "page.html", data = folder / "page.json";
  const CommandResult result =
      command(arguments + " --html " + html.string() + " --data " + data.string() + " 2>/dev/null");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const std::string text = read_text_file(html);
  const nlohmann::json page = nlohmann::json::parse(read_text_file(data));
  EXPECT_EQ(data_of(text), page);
  EXPECT_EQ(page.at("format"), "tilewright page 1");
  EXPECT_EQ(page.at("verb"), verb);
  EXPECT_LT(text.size(), 400'000u);
  EXPECT_NE(text.find("d3js.org"), std::string::npos) << "the library with its copyright";
  EXPECT_NE(text.find("Redistributions in binary form"), std::string::npos) << "and its licence";
  EXPECT_EQ(page.at("origin").at("command").get<std::string>().rfind("tilewright ", 0), 0u);
  EXPECT_FALSE(page.at("origin").at("version").get<std::string>().empty());
  EXPECT_FALSE(page.at("facts").empty());
  for (const auto& section : page.at("sections")) {
    for (const auto& row : section.at("rows")) EXPECT_EQ(row.size(), section.at("columns").size());
  }
  return page;
}

TEST(Pages, EveryVerbThatReportsWritesOne) {
  const std::string bundle = demo_files().bundle.string();
  const nlohmann::json report = page_of("report", "report " + bundle);
  ASSERT_EQ(report.at("origin").at("inputs").size(), 1u);
  const nlohmann::json& input = report.at("origin").at("inputs").at(0);
  EXPECT_EQ(input.at("path"), bundle);
  const std::string sum = command("--version > /dev/null; sha256sum " + bundle).output.substr(0, 64);
  EXPECT_EQ(input.at("sha256"), sum);
  EXPECT_EQ(report.at("facts").at(0).at("value"), json_of("report " + bundle).at("cycles"));
  EXPECT_GT(page_of("explain", "explain " + bundle).at("sections").size(), report.at("sections").size());
  page_of("tune", "tune " + bundle + " --trials 4 --search random");
  const std::string model = demo_files().model.string();
  const nlohmann::json map = page_of("map", "map " + model + " --hardware eyeriss-256 --time 5s");
  EXPECT_EQ(map.at("sections").at(1).at("id"), "array");
  page_of("map", "map " + model + " --hardware eyeriss-256 --dataflow all");
  page_of("place", "place --expr 'd = (x-x0)*(x-x0) + (y-y0)*(y-y0)' --fabric streaming-engine --ii 3");
}

TEST(Pages, TheCommandCanBeTypedAgain) {
  const nlohmann::json page =
      page_of("place", "place --expr 'd = x*x + y' --fabric streaming-engine --ii 3 --places-only");
  const std::string line = page.at("origin").at("command");
  EXPECT_EQ(
      line.rfind(
          "tilewright place --expr 'd = x*x + y' --fabric streaming-engine --ii 3 --places-only --html ", 0),
      0u)
      << line;
}

TEST(Pages, AFileThatCannotBeWrittenFails) {
  expect_failure("report " + demo_files().bundle.string() + " --html /nowhere/p.html", 1,
                 {"cannot write '/nowhere/p.html'"});
}

}  // namespace
}  // namespace tilewright
