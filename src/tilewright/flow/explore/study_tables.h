// What explorations and implementations found, as tables to learn from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/flow/explore/exploration.h"
#include "tilewright/flow/model/answer.h"
#include "tilewright/flow/target/shared_folders.h"
#include "tilewright/overlay/implement/implementation_data.h"
#include "tilewright/report/page.h"
#include "tilewright/report/plot_drawing.h"
#include "tilewright/tune/learn/importance.h"
#include "tilewright/tune/learn/prediction.h"

namespace tilewright {

// The candidates of an exploration: knobs as features; targets gops (achieved), fmax, lut, ff, dsp and bram,
// of which only the cycles in gops are measured.
tune::SampleTable exploration_table(const ExplorationReport& report);

// Implemented overlays: choices of the description and of the tools as features, and closed forms of the
// description behind them (derived); targets gops and fmax
// (achieved after routing), lut, ff, dsp and bram. A row has no value for steps that its flow did not reach.
tune::SampleTable implementation_table(const std::vector<overlay::ImplementationRow>& rows);
// The table of a folder of an exploration, or of a file of implementation data. Errors (invalid input):
// neither; those of the readers.
tune::SampleTable read_sample_table(const std::filesystem::path& path);

// Which implementations of overlays there are to sample for a device: what every rule of its family leaves of
// the combinations of all knobs, and why. Errors (invalid input): no such device.
Answer implementation_rules(const std::string& device, const SharedFolders& folders);

struct ImportanceReport {
  std::vector<tune::PredictionReport> predictions;
  std::vector<tune::FeatureImportance> importance;
};
// The targets that can be learned: those with values above 0, of at least ten configurations.
std::vector<std::string> learnable_targets(const tune::SampleTable& table);
// Of each target. Errors: those of tune::predict_target.
ImportanceReport study_importance(const tune::SampleTable& table, const std::vector<std::string>& targets,
                                  uint64_t seed);
std::string to_json(const tune::SampleTable& table, const ImportanceReport& report);
// Accuracies next to those of the baselines, then the shares.
std::string to_string(const tune::SampleTable& table, const ImportanceReport& report);
// Bars of a target: the choices that are among the most important of some precision, a bar per precision from
// which something was learned.
PlotDrawing importance_bars(const tune::SampleTable& table,
                            const std::vector<tune::FeatureImportance>& importance,
                            const std::string& target);
// Accuracies, then a section of bars for each target.
Page importance_page(const tune::SampleTable& table, const ImportanceReport& report,
                     const std::string& title);

}  // namespace tilewright
