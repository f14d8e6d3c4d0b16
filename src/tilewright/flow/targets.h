// The table of targets and the calls that go through it: a verb names a file, and the file's target does the
// work.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tilewright/flow/target/target.h"

namespace tilewright {

// All targets; the host, which takes what no other recognises, is last.
std::span<const Target* const> targets();
// The target that made the file or folder.
const Target& target_of(const std::filesystem::path& path);
// The engines of all targets, each once.
std::vector<std::string> engine_names();

// Runs what request.model names on its target. Errors: those of Target::run; (invalid input) an engine that
// only another target has.
RunReport run(const RunRequest& request);

// How many samples of a run have the class of their label.
struct RunAccuracy {
  int64_t right = 0, count = 0;
  std::vector<int64_t> labels;  // by sample

  double share() const { return double(right) / double(count); }
};
std::string to_string(const RunAccuracy& accuracy);  // one line
// Of request.labels. Errors (invalid input): those of Samples::labels; a first output without elements.
RunAccuracy run_accuracy(const RunReport& report, const RunRequest& request);

// What a machine takes of a model, and why not the rest. `machine`: "TARGET=NAME", where NAME is a preset's
// name or a file. A float model is quantised on random inputs. Errors (invalid input): no such target or
// machine, or a target that takes no models; those of load_model and hardware_form.
Answer taken_by(const ModelFile& model, const std::string& machine, const SharedFolders& folders);

// A generated design where request.hardware is the folder of one, otherwise an overlay.
SynthesisAnswer synthesize(const SynthesisRequest& request);

}  // namespace tilewright
