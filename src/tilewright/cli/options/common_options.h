// Groups of options that several verbs share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tilewright/cli/options/verb_options.h"
#include "tilewright/cli/options/verbs.h"

namespace tilewright::cli {

// The model file and how it is read; `what` describes the file.
void add_model(CLI::App* verb, ModelOptions& model,
               const std::string& what = "ONNX, TensorFlow or TFLite file, or SavedModel folder",
               bool required = true);
// FLAG, FLAG-count and FLAG-scale.
void add_data(Verb* verb, DataOptions& data, const std::string& flag, const std::string& description);
// --preprocess, which has no effect where none of `data` is given; `flags` names their options.
void add_preprocess(Verb* verb, std::string& preprocess, const std::vector<const DataOptions*>& data,
                    const std::string& flags);
// --state INPUT=OUTPUT.
void add_states(Verb* verb, StateOptions& states);
void add_json(CLI::App* verb, bool& json);
// The default is all cores that the process may use.
void add_threads(CLI::App* verb, int& threads);
// What verbs that time a bundle take.
void add_timing(CLI::App* verb, TimingOptions& timing);
// What executes overlay programs.
void add_engine(Verb* verb, TimedEngineOptions& engine, const std::vector<std::string>& engines);
// What their energy is taken from; `run` alone has it.
void add_energy(Verb* verb, TimedEngineOptions& engine);

}  // namespace tilewright::cli
