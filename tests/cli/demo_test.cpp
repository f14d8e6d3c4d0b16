// `demo` does what it says: the commands that it shows make the same files, and what it suggests works.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "command.h"
#include "tilewright/base/file.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

// A shell in `folder` that finds the command by its bare name.
std::string in(const fs::path& folder) {
  return "cd \"" + folder.string() + "\"; PATH=" + fs::path(TILEWRIGHT_COMMAND).parent_path().string() +
         ":$PATH; ";
}

// A folder whose name needs quotes in a shell.
fs::path folder_of_demo() { return fresh_folder("it's a demo"); }

TEST(Demo, TheCommandsItShowsMakeTheSameFiles) {
  const fs::path folder = folder_of_demo();
  const CommandResult demo = command("demo --images 12 --threads 2 -o 'the files' --json", in(folder));
  ASSERT_EQ(demo.exit_code, 0) << demo.output;
  const nlohmann::json report = nlohmann::json::parse(demo.output);
  EXPECT_EQ(report["outputs"], 24);
  ASSERT_EQ(report["steps"].size(), 7U);
  const fs::path by_hand = folder_of_demo();
  fs::create_directory(by_hand / "the files");
  for (const auto& step : report["steps"]) {
    const std::string line = step["command"];
    ASSERT_TRUE(line.starts_with("tilewright ")) << line;
    const CommandResult result = command(line.substr(11) + " --json", in(by_hand));
    ASSERT_EQ(result.exit_code, 0) << line << "\n" << result.output;
    nlohmann::json again = nlohmann::json::parse(result.output);
    for (const auto& [name, value] : step["report"].items()) {
      if (name == "seconds") continue;
      EXPECT_EQ(again[name], value) << line << ": " << name;
    }
  }
  for (const char* scales : {"real", "power-of-two"}) {
    for (const char* kind : {"onnx", "twb"}) {
      const fs::path name = fs::path("the files") / (std::string("lenet_") + scales + "." + kind);
      EXPECT_EQ(read_text_file(folder / name), read_text_file(by_hand / name)) << name;
    }
  }
}

TEST(Demo, WhatItSuggestsWorks) {
  const fs::path folder = folder_of_demo();
  const CommandResult demo = command("demo --images 5", in(folder));
  ASSERT_EQ(demo.exit_code, 0) << demo.output;
  EXPECT_TRUE(contains(demo, "10 simulated outputs, each bit-identical to the integer reference"));
  const size_t begin = demo.output.find("Try next:\n");
  ASSERT_NE(begin, std::string::npos) << demo.output;
  const std::string rest = demo.output.substr(begin);
  const std::regex line("\n  tilewright (.*)");
  int count = 0;
  for (std::sregex_iterator at(rest.begin(), rest.end(), line), end; at != end; ++at, ++count) {
    const CommandResult result = command((*at)[1], in(folder));
    EXPECT_EQ(result.exit_code, 0) << (*at)[1] << "\n" << result.output;
  }
  EXPECT_GE(count, 4);
  EXPECT_TRUE(fs::exists(folder / "tilewright-demo-verilog"));
}

// Without the command in PATH, it is shown by the path that starts it.
TEST(Demo, ShowsACommandThatStarts) {
  const fs::path folder = folder_of_demo();
  const CommandResult demo = command("demo --images 1", "cd \"" + folder.string() + "\"; ");
  EXPECT_TRUE(contains(demo, std::string("$ ") + TILEWRIGHT_COMMAND + " inspect ")) << demo.output;
}

TEST(Demo, SaysWhatIsMissing) {
  const fs::path folder = folder_of_demo();
  expect_failure("demo --data /nowhere", 1,
                 {"'/nowhere/train-images-idx3-ubyte.gz' is not there",
                  "'/nowhere/t10k-labels-idx1-ubyte.gz'", "dataset-fashion-mnist"});
  fs::create_directory(folder / "mine");
  write_text_file(folder / "mine/thesis.txt", "years of work");
  const CommandResult refused = command("demo --images 1 -o mine", in(folder));
  EXPECT_EQ(refused.exit_code, 1) << refused.output;
  EXPECT_TRUE(contains(refused, "mine")) << refused.output;
  EXPECT_EQ(read_text_file(folder / "mine/thesis.txt"), "years of work");
}

}  // namespace
}  // namespace tilewright
