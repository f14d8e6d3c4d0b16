// What several verbs share: reading the model and the data that their options name.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/model/samples.h"
#include "tilewright/graph/graph.h"
#include "tilewright/hardware/overlay_hardware.h"

namespace tilewright::cli {

// Warnings of the reader go to standard error. `shapes_only`: absent weight files are tolerated.
Graph read_model(const ModelOptions& options, bool shapes_only = false);
// What load_model takes of the options, and the warnings it gave, on standard error.
LoadOptions load_options(const ModelOptions& options, bool shapes_only);
void show_warnings(const Diagnostics& warnings);
Samples read_samples(const DataOptions& options);

// The inputs number `index` of a model: a graph with several inputs takes them from one array per input only
// when it has one input; further inputs are an error that names them.
std::vector<Tensor> cut_inputs(const Graph& graph, const Samples& samples, int64_t index);
// How many inputs of the model's first input shape there are. Errors: a model with several inputs.
int64_t count_inputs(const Graph& graph, const Samples& samples);

// A folder of files that come with the command ("hardware", "dataflows"): beside the installed command, or in
// the source tree it was built from.
std::filesystem::path shared_folder(const std::string& name);

// The library that trains placement policies: beside the installed command's libraries, or in the build
// folder.
std::filesystem::path training_library();

// An overlay by a preset's name or a file. Errors (invalid input): unknown; lists the presets.
OverlayHardware find_hardware(const std::string& name_or_path);

}  // namespace tilewright::cli
