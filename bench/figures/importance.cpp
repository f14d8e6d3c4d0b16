// How well results of implementations can be predicted from the choices behind them, and which choices matter
// at which precision, on the data that comes with the project (models/tune): boosted trees per target beside
// a linear model and the mean, on a fifth of the configurations that nothing was learned from. A target that
// the data has no values of is an error.
//
//   importance [--quick] [FILE...]
//
// --quick: two of the ten splits that choose the trees' settings.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/flow/study_tables.h"

namespace {

using namespace tilewright;
namespace fs = std::filesystem;

constexpr const char* kTargets[] = {"gops", "fmax", "lut", "ff", "dsp", "bram"};

std::vector<fs::path> shipped_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(TILEWRIGHT_SOURCE_DIR) / "models/tune")) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("implementation", 0) == 0 && name.find(".jsonl") != std::string::npos) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string accuracy(const tune::Accuracy& a) {
  return fmt::format("{{\"within_10_percent\": {:.4f}, \"right_class\": {:.4f}, \"median_error\": {:.4f}}}",
                     a.within, a.same_class, a.median_error);
}

int run(const std::vector<fs::path>& files, bool quick) {
  std::vector<overlay::ImplementationRow> rows;
  for (const fs::path& file : files) {
    const std::vector<overlay::ImplementationRow> more = overlay::read_implementation_data(file);
    std::printf("%s: %zu rows\n", file.filename().c_str(), more.size());
    rows.insert(rows.end(), more.begin(), more.end());
  }
  const tune::SampleTable table = implementation_table(rows);
  ImportanceReport report;
  std::string json, missing;
  for (const char* target : kTargets) {
    tune::PredictionOptions options;
    if (quick) options.splits = 2;
    // Of precisions and parts that have the resource at all.
    const std::vector<double>& values = table.targets.at(target);
    const bool there = std::any_of(values.begin(), values.end(), [](double v) { return v > 0; });
    if (!there) {
      missing += std::string(missing.empty() ? "" : ", ") + target;
      continue;
    }
    report.predictions.push_back(tune::predict_target(table, target, options));
    const tune::PredictionReport& p = report.predictions.back();
    for (auto& one : tune::feature_importance(table, {target}, p.chosen)) report.importance.push_back(one);
    json += fmt::format(
        ", \"{}\": {{\"rows\": {}, \"configurations\": {}, \"test_rows\": {}, \"classes\": {}, "
        "\"trees\": {}, \"linear\": {}, \"mean\": {}}}",
        target, p.rows, p.configurations, p.test_rows, p.classes, accuracy(p.boosted), accuracy(p.linear),
        accuracy(p.mean));
  }
  std::printf("%s\n", to_string(table, report).c_str());
  std::printf("{\"figure\": \"importance\", \"rows\": %zu%s}\n", rows.size(), json.c_str());
  if (missing.empty()) return 0;
  std::fprintf(stderr, "importance: the data has no values above 0 of: %s\n", missing.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fs::path> files;
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else {
      files.emplace_back(argv[i]);
    }
  }
  try {
    return run(files.empty() ? shipped_files() : files, quick);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "importance: %s\n", error.what());
    return 1;
  }
}
