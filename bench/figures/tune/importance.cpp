// How well results of implementations can be predicted from the choices behind them, and which choices matter
// at which precision, on the data that comes with the project (models/tune): per part and target, boosted
// trees beside a linear model and the mean, on a fifth of the configurations that nothing was learned from.
// The classes that the tuning paper states accuracies for stand at the end; one that no part has values of is
// an error.
//
//   importance [--quick] [--svg PREFIX] [FILE...]
//
// --quick: two of the ten splits that choose the trees' settings. --svg: bars of importance,
// PREFIX_PART_TARGET.svg.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "figure_arguments.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/explore/study_tables.h"

namespace {

using namespace tilewright;
namespace fs = std::filesystem;

// Fewer say nothing: a fifth of 40 configurations.
constexpr double kLeastTestRows = 8;

// What the tuning paper (section IV.A) predicts, its accuracy, and the targets that stand for it here.
struct PublishedClass {
  const char* name;
  double accuracy;
  std::vector<std::string> targets;
};
const PublishedClass kPublished[] = {{"performance", 0.87, {"gops"}},
                                     {"dsp", 0.72, {"dsp"}},
                                     {"bram", 0.77, {"bram"}},
                                     {"logic", 0.68, {"lut", "ff"}}};

struct Arguments {
  std::vector<fs::path> files;
  std::string svg;
  bool quick = false;
};

// What was learned from the rows of one part.
struct Part {
  std::string name;
  size_t rows = 0;
  ImportanceReport report;
};

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

Part study(const std::string& name, const std::vector<overlay::ImplementationRow>& rows,
           const Arguments& arguments) {
  const tune::SampleTable table = implementation_table(rows);
  Part part{name, rows.size(), {}};
  for (const std::string& target : learnable_targets(table)) {
    tune::PredictionOptions options;
    if (arguments.quick) options.splits = 2;
    part.report.predictions.push_back(tune::predict_target(table, target, options));
    const BoostingOptions& chosen = part.report.predictions.back().chosen;
    for (auto& one : tune::feature_importance(table, {target}, chosen)) {
      part.report.importance.push_back(std::move(one));
    }
    if (arguments.svg.empty()) continue;
    write_text_file(fmt::format("{}_{}_{}.svg", arguments.svg, name, target),
                    importance_bars(table, part.report.importance, target).document());
  }
  std::printf("\n%s, %zu rows\n%s\n", name.c_str(), rows.size(), to_string(table, part.report).c_str());
  return part;
}

// How far apart what matters lies between two precisions, mean of all pairs: 0 the same, 1 nothing in common.
double distance_of_precisions(const std::vector<tune::FeatureImportance>& importance,
                              const std::string& target) {
  double sum = 0;
  int pairs = 0;
  for (size_t a = 0; a < importance.size(); ++a) {
    for (size_t b = a + 1; b < importance.size(); ++b) {
      const tune::FeatureImportance &x = importance[a], &y = importance[b];
      if (x.target != target || y.target != target || x.precision == 0 || y.precision == 0) continue;
      sum += tune::importance_distance(x, y);
      ++pairs;
    }
  }
  return pairs == 0 ? 0 : sum / pairs;
}

std::string part_json(const Part& part) {
  std::string json = fmt::format("\"{}\": {{\"rows\": {}", part.name, part.rows);
  for (const tune::PredictionReport& p : part.report.predictions) {
    json += fmt::format(
        ", \"{}\": {{\"rows\": {}, \"configurations\": {}, \"test_rows\": {}, \"classes\": {}, "
        "\"trees\": {}, \"linear\": {}, \"mean\": {}, \"distance_of_precisions\": {:.3f}}}",
        p.target, p.rows, p.configurations, p.test_rows, p.classes, accuracy(p.boosted), accuracy(p.linear),
        accuracy(p.mean), distance_of_precisions(part.report.importance, p.target));
  }
  return json + "}";
}

// Test rows of all parts and targets together that fell into the right class; empty when there are too few.
std::string class_json(const PublishedClass& published, const std::vector<Part>& parts) {
  double right = 0, within = 0, rows = 0;
  for (const Part& part : parts) {
    for (const tune::PredictionReport& p : part.report.predictions) {
      const auto& targets = published.targets;
      if (std::find(targets.begin(), targets.end(), p.target) == targets.end()) continue;
      right += p.boosted.same_class * double(p.test_rows);
      within += p.boosted.within * double(p.test_rows);
      rows += double(p.test_rows);
    }
  }
  if (rows < kLeastTestRows) return "";
  std::printf(
      "%s: %.1f %% of %.0f test rows in the right class, %.1f %% within 10 %% (published accuracy %.0f %%)\n",
      published.name, 100 * right / rows, rows, 100 * within / rows, 100 * published.accuracy);
  return fmt::format("\"{}\": {{\"right_class\": {:.4f}, \"within_10_percent\": {:.4f}, \"published\": {}}}",
                     published.name, right / rows, within / rows, published.accuracy);
}

int run(const Arguments& arguments) {
  std::map<std::string, std::vector<overlay::ImplementationRow>> rows_of;
  size_t rows = 0;
  for (const fs::path& file : arguments.files) {
    const std::vector<overlay::ImplementationRow> more = overlay::read_implementation_data(file);
    std::printf("%s: %zu rows\n", file.filename().c_str(), more.size());
    for (const overlay::ImplementationRow& row : more) rows_of[row.device].push_back(row);
    rows += more.size();
  }
  std::vector<Part> parts;
  for (const auto& [name, of_part] : rows_of) parts.push_back(study(name, of_part, arguments));
  std::string classes, json, missing;
  for (const PublishedClass& published : kPublished) {
    const std::string one = class_json(published, parts);
    if (one.empty()) missing += std::string(missing.empty() ? "" : ", ") + published.name;
    if (!one.empty()) classes += (classes.empty() ? "" : ", ") + one;
  }
  for (const Part& part : parts) json += ", " + part_json(part);
  std::printf("{\"figure\": \"importance\", \"rows\": %zu, \"classes\": {%s}%s}\n", rows, classes.c_str(),
              json.c_str());
  if (missing.empty()) return 0;
  std::fprintf(stderr, "importance: too few configurations to judge by: %s\n", missing.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const FigureArguments given = figure_arguments(argc, argv, {"--svg"});
    Arguments arguments{{given.files.begin(), given.files.end()}, given.value("--svg"), given.quick};
    if (arguments.files.empty()) arguments.files = shipped_files();
    return run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "importance: %s\n", error.what());
    return 1;
  }
}
