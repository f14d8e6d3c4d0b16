// Shared by several verbs: the requests to the flow that their options stand for, and the location of the
// files that come with the command.
#pragma once

#include <filesystem>

#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/model/network_state.h"
#include "tilewright/flow/target/target.h"

namespace tilewright::cli {

// Warnings of the reader go to standard error.
ModelFile model_file(const ModelOptions& options);
SampleRequest sample_request(const DataOptions& options, const std::string& preprocess);
// Compiled RTL lies in the user's cache unless a folder is given.
std::vector<StatePair> state_pairs(const StateOptions& options);
EngineRequest engine_request(const TimedEngineOptions& options);

// The folders of files that come with the command: next to the installed command, or in the source tree it
// was built from.
SharedFolders shared_folders();

// The library that trains placement policies: beside the installed command's libraries, or in the build
// folder.
std::filesystem::path training_library();

}  // namespace tilewright::cli
