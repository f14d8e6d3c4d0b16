// Exploration through the command: a study is made, taken up, shown, and looked at for changes; and what is
// refused how.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "command.h"
#include "tilewright/base/file.h"
#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

CommandResult expect_success(const std::string& arguments) {
  CommandResult result = command(arguments);
  EXPECT_EQ(result.exit_code, 0) << arguments << "\n" << result.output;
  return result;
}

void expect_failure(const std::string& arguments, int exit_code, const std::vector<std::string>& texts) {
  const CommandResult result = command(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << arguments << "\n" << result.output;
  for (const std::string& text : texts) {
    EXPECT_NE(result.output.find(text), std::string::npos) << arguments << "\n" << result.output;
  }
}

std::string model() { return demo_files().model.string(); }

size_t lines_of(const fs::path& file) {
  const std::string text = read_text_file(file);
  return size_t(std::count(text.begin(), text.end(), '\n'));
}

TEST(Explore, MakesAStudyAndTakesItUp) {
  const fs::path study = fresh_folder("study") / "study";
  const std::string call =
      "explore " + model() + " --device xc7z020 --precision 8 --trials 2 -o " + study.string();
  expect_success(call + " --candidates 8");
  EXPECT_EQ(lines_of(study / "w8a8/candidates.jsonl"), 8u);
  const std::string first = read_text_file(study / "w8a8/candidates.jsonl");
  expect_success(call + " --candidates 12");
  const std::string second = read_text_file(study / "w8a8/candidates.jsonl");
  EXPECT_EQ(second.substr(0, first.size()), first);
  EXPECT_EQ(lines_of(study / "w8a8/candidates.jsonl"), 12u);

  const CommandResult shown = expect_success("study show " + study.string());
  EXPECT_NE(shown.output.find("w8a8:"), std::string::npos) << shown.output;
  const nlohmann::json report =
      nlohmann::json::parse(expect_success("study show --json " + study.string()).output);
  EXPECT_EQ(report["device"], "xc7z020");
  const nlohmann::json& width = report["widths"][0];
  EXPECT_EQ(width["evaluated"], 12);
  EXPECT_EQ(width["known"], 8);
  EXPECT_EQ(
      width["fitting"].get<int64_t>(),
      width["evaluated"].get<int64_t>() + width["alive"].get<int64_t>() + width["pruned"].get<int64_t>());
  for (const nlohmann::json& c : width["candidates"]) {
    EXPECT_GE(c["latency_s"].get<double>(), c["bound_s"].get<double>());
    EXPECT_LE(c["utilisation"].get<double>(), 1);
  }
  // The front's overlays as descriptions, the list of what was written (.tilewright), and nothing else.
  std::set<std::string> members, described;
  for (const nlohmann::json& c : width["candidates"]) {
    if (c["on_front"].get<bool>()) members.insert(c["hardware"].get<std::string>());
  }
  for (const auto& entry : std::filesystem::directory_iterator(study / "w8a8/front")) {
    if (entry.path().filename() == ".tilewright") continue;
    described.insert(entry.path().stem().string());
    EXPECT_EQ(read_overlay_hardware(entry.path()).clock_mhz, 100);
  }
  EXPECT_EQ(described, members);
  expect_success("study front " + study.string() + " -o " + (study / "front.svg").string());
  EXPECT_NE(read_text_file(study / "front.svg").find("<svg"), std::string::npos);
  EXPECT_NE(read_text_file(study / "page.html").find("w8a8"), std::string::npos);

  // Nothing has changed: nothing is tuned again.
  const CommandResult unchanged = expect_success(call + " --changed-only");
  EXPECT_NE(unchanged.output.find("w8a8: 0 of 12 candidates had changed"), std::string::npos)
      << unchanged.output;
  EXPECT_EQ(read_text_file(study / "w8a8/candidates.jsonl"), second);
  // One candidate was tuned on another RTL.
  std::string other = second;
  const size_t content = other.find("\"content\":\"") + 11;
  other[content] = other[content] == '0' ? '1' : '0';
  write_text_file(study / "w8a8/candidates.jsonl", other);
  const CommandResult changed = expect_success(call + " --changed-only");
  EXPECT_NE(changed.output.find("w8a8: 1 of 12 candidates had changed"), std::string::npos) << changed.output;
  EXPECT_EQ(lines_of(study / "w8a8/candidates.jsonl"), 13u);

  expect_failure("explore " + model() + " --device xc7z020 --precision 8 --trials 3 -o " + study.string(), 1,
                 {"(trials): it was made with 2, not with 3"});
}

// The script of the step `explore` in the workflow that docs/guides/explore.md shows.
std::string documented_script() {
  const std::string page = read_text_file(fs::path(TILEWRIGHT_SOURCE_DIR) / "docs/guides/explore.md");
  const std::string open = "```yaml\n";
  const size_t begin = page.find(open) + open.size();
  const YAML::Node workflow = YAML::Load(page.substr(begin, page.find("```", begin) - begin));
  for (const YAML::Node& step : workflow["jobs"]["explore"]["steps"]) {
    if (step["name"] && step["name"].as<std::string>() == "explore") return step["run"].as<std::string>();
  }
  return {};
}

// A checkout as the workflow has it after its build: the command, the shared files, the network.
fs::path checkout_of_the_workflow() {
  const fs::path folder = fresh_folder("workflow"), share = folder / "build/share/tilewright";
  fs::create_directories(folder / "build/release");
  fs::copy_file(TILEWRIGHT_COMMAND, folder / "build/release/tilewright");
  fs::create_directories(share / "rtl");
  fs::copy(fs::path(TILEWRIGHT_SOURCE_DIR) / "rtl/overlay", share / "rtl/overlay");
  fs::create_directory_symlink(fs::path(TILEWRIGHT_SOURCE_DIR) / "hardware", share / "hardware");
  fs::copy_file(model(), folder / "resnet18.onnx");
  return folder;
}

TEST(Explore, TheDocumentedWorkflowTunesWhatChanged) {
  std::string script = documented_script();
  const std::string budget = "--budget 2h";
  ASSERT_NE(script.find(budget), std::string::npos) << script;
  script.replace(script.find(budget), budget.size(), "--budget 10m --candidates 8 --trials 2");
  const fs::path folder = checkout_of_the_workflow();
  write_text_file(folder / "step.sh", script);
  const auto night = [&] {
    const int status =
        std::system(("cd " + folder.string() + " && bash -eo pipefail step.sh > night.log 2>&1").c_str());
    EXPECT_EQ(status, 0);
    return read_text_file(folder / "front.txt");
  };
  const std::string first = night();
  EXPECT_NE(first.find("w8a8: "), std::string::npos) << first;
  EXPECT_NE(first.find("w4a4: "), std::string::npos) << first;
  const size_t w8 = lines_of(folder / "study/w8a8/candidates.jsonl"),
               w4 = lines_of(folder / "study/w4a4/candidates.jsonl");
  const auto tuned_again = [&](size_t of_w8, size_t of_w4) {
    const std::string text = night();
    for (const std::string& line : {fmt::format("w8a8: {} of {} candidates had changed", of_w8, w8),
                                    fmt::format("w4a4: {} of {} candidates had changed", of_w4, w4)}) {
      EXPECT_NE(text.find(line), std::string::npos) << text;
    }
  };
  tuned_again(0, 0);
  const fs::path source = folder / "build/share/tilewright/rtl/overlay/tw_overlay_tokens.sv";
  write_text_file(source, read_text_file(source) + "// changed\n");
  tuned_again(w8, w4);
  EXPECT_EQ(lines_of(folder / "study/w8a8/candidates.jsonl"), 2 * w8);
  EXPECT_NE(read_text_file(folder / "front.svg").find("<svg"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder / "study/page.html"));
}

TEST(Explore, RefusesWhatItCannotExplore) {
  const fs::path folder = fresh_folder("refused");
  const std::string call = "explore " + model() + " -o " + (folder / "study").string();
  expect_failure(call + " --device xc9", 1, {"xc9", "xc7z020"});
  expect_failure(call + " --device xc7z020 --precision 3", 1, {"--precision"});
  expect_failure(call + " --device xc7z020 --budget soon", 1,
                 {"'soon' is not a time like 500ms, 10s, 2m or 1h"});
  expect_failure(call + " --device ice40-hx8k --precision 8", 2, {"overlays have no area model"});
  expect_failure(call + " --device xc7z020 --precision 8 --changed-only", 1, {"holds no study"});
  write_text_file(folder / "small.yaml",
                  "kind: device\nname: small\nfamily: xc7\npart: small\npackage: p\nspeed_grade: \"-1\"\n"
                  "lut: 2000\nff: 4000\ndsp: 8\nbram: 10\n");
  expect_failure(call + " --precision 8 --device " + (folder / "small.yaml").string(), 3,
                 {"device 'small' (LUT): the smallest of", "too few", "(BRAM)"});
  expect_failure("study show " + folder.string(), 1, {"holds no study"});
  expect_failure("study importance " + folder.string(), 1, {"holds no study"});
}

}  // namespace
}  // namespace tilewright
