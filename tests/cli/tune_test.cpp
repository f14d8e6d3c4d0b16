// `tune` as a user would call it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "command.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/run/bundle.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::string tune_demo(const std::string& options) {
  return "tune " + demo_files().bundle.string() + " --trials 40 " + options;
}

std::map<std::string, overlay::Schedule> schedules_of(const fs::path& bundle) {
  return read_bundle(bundle).schedules;
}

TEST(CliTune, HelpsWithAnExample) {
  const CommandResult result = command("tune --help");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result, "Example:\n  tilewright tune ")) << result.output;
}

TEST(CliTune, TunedBundlesAreFasterAndExact) {
  const fs::path folder = fresh_folder("tune_exact");
  const fs::path tuned = folder / "tuned.twb", page = folder / "page.html";
  const CommandResult result =
      command(tune_demo("--json -o " + tuned.string() + " --html " + page.string() + " 2>/dev/null"));
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_LE(json.at("after_cycles"), json.at("before_cycles"));
  for (const auto& layer : json.at("layers")) {
    EXPECT_GE(layer.at("after").at("cycles"), layer.at("bound_cycles"));
    EXPECT_LE(layer.at("trials"), 40);
  }
  const CommandResult report = command("report " + tuned.string() + " --json 2>/dev/null");
  EXPECT_EQ(nlohmann::json::parse(report.output).at("cycles"), json.at("after_cycles"));
  const CommandResult run = command("run " + tuned.string() + " --input " + demo_files().images.string() +
                                    " --input-count 2 --verify");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(read_text_file(page).find("Best schedule so far"), std::string::npos);
}

// One line that is written over on a terminal, which `script` is; what it says of the best is possible.
TEST(CliTune, ATerminalSeesHowFarItIs) {
  const std::string arguments = "tune " + demo_files().bundle.string() + " --trials 300 --search gbt";
  const CommandResult result =
      command(arguments + "' /dev/null < /dev/null", "script --quiet --return --command '");
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const std::regex line(R"(layer (\d+) of (\d+), \S+: (\d+) of 300 trials, (\d+)/s, at most (\d+) s left)"
                        R"((, best (\d+) cycles \((\d+\.\d+)x, (\d+\.\d) % of the bound\))?( *, model.*)?)");
  int lines = 0;
  for (std::sregex_iterator at(result.output.begin(), result.output.end(), line), end; at != end;
       ++at, ++lines) {
    const auto number = [&](int part) { return std::stod((*at)[part]); };
    EXPECT_LE(number(1), number(2));
    // What is left of this layer and of those behind it, at the rate so far, to a second.
    const double left = (300 * (number(2) - number(1) + 1) - number(3)) / number(4);
    EXPECT_NEAR(number(5), left, 1 + 0.01 * left) << at->str();
    if (!(*at)[6].matched) continue;
    EXPECT_GT(number(8), 0.2);
    EXPECT_GT(number(9), 5);
    EXPECT_LE(number(9), 100);
  }
  EXPECT_GT(lines, 0) << result.output;
}

TEST(CliTune, OneAnswerWithThreadsRecordsAndWorkers) {
  const fs::path folder = fresh_folder("tune_same");
  const auto tuned = [&](const std::string& name, const std::string& options) {
    const fs::path bundle = folder / (name + ".twb");
    const CommandResult result = command(tune_demo(options + " -o " + bundle.string()));
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return schedules_of(bundle);
  };
  const auto one = tuned("one", "--threads 1");
  EXPECT_EQ(tuned("two", "--threads 2"), one);
  const std::string records = " --records " + (folder / "tune.db").string();
  EXPECT_EQ(tuned("recorded", records), one);
  EXPECT_EQ(tuned("local", "--executor local --jobs 2 --job-folder " + (folder / "jobs").string()), one);
  const CommandResult again = command(tune_demo(records + " --json 2>/dev/null"));
  ASSERT_EQ(again.exit_code, 0) << again.output;
  const auto json = nlohmann::json::parse(again.output);
  for (const auto& layer : json.at("layers")) EXPECT_EQ(layer.at("from_records"), layer.at("trials"));
}

TEST(CliTune, EverySearchRuns) {
  for (const char* search : {"random", "annealing", "evolution", "treegru"}) {
    const bool learns = std::string(search) == "treegru";  // in batches
    const CommandResult result =
        command(tune_demo(std::string("--search ") + search + (learns ? " --batch 8" : "")));
    EXPECT_EQ(result.exit_code, 0) << search << ": " << result.output;
    EXPECT_TRUE(contains(result, "cycles before")) << result.output;
  }
}

TEST(CliTune, BadInput) {
  CommandResult result = command(tune_demo("--layer nosuch --layer neither"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result, "nosuch") && contains(result, "neither")) << result.output;
  result = command(tune_demo("--executor local"));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result, "--job-folder")) << result.output;
  EXPECT_EQ(command(tune_demo("--search bogus")).exit_code, 1);
  EXPECT_EQ(command("tune nosuch.twb").exit_code, 1);
}

}  // namespace
}  // namespace tilewright
