// The verbs of `study`: each reads a folder of an exploration, or implementation data, and prints or draws
// it. `study rules` needs neither: it counts what the rules of a device's family leave.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/page_files.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/explore/exploration_plots.h"
#include "tilewright/flow/explore/study_tables.h"

namespace tilewright::cli {

void study_show(const StudyOptions& options, std::ostream& out) {
  const ExplorationReport report = read_exploration(options.path);
  write_page(options.page, [&] { return exploration_page(report); });
  out << (options.json ? to_json(report) + "\n" : to_string(report));
}

void study_front(const StudyOptions& options, std::ostream& out) {
  write_text_file(options.output, draw_front(read_exploration(options.path)).document());
  if (options.json) {
    out << json_text(nlohmann::json{{"output", options.output}}, 2) << "\n";
  } else {
    out << "the fronts are in " << options.output << "\n";
  }
}

void study_importance(const StudyOptions& options, std::ostream& out) {
  const auto table = read_sample_table(options.path);
  const ImportanceReport report = tilewright::study_importance(
      table, options.targets.empty() ? learnable_targets(table) : options.targets, options.seed);
  write_page(options.page, [&] {
    return importance_page(
        table, report,
        "Importance of design choices: " + std::filesystem::path(options.path).filename().string());
  });
  out << (options.json ? to_json(table, report) + "\n" : to_string(table, report));
}

void study_rules(const RulesOptions& options, std::ostream& out) {
  const Answer answer = implementation_rules(options.device, shared_folders());
  out << (options.json ? answer.json : answer.text);
}

}  // namespace tilewright::cli
