// Exploration through the command: a study is made, taken up, shown, and looked at for changes; and what is
// refused how.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.h"
#include "tilewright/base/file.h"

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
