// What `compile` does: a quantised model and an overlay in, a bundle and its raw programs out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/flow/run/bundle.h"
#include "tilewright/flow/target/target.h"

namespace tilewright {

struct CompileRequest {
  std::string hardware;                        // an overlay: a preset's name or a file
  std::vector<std::filesystem::path> records;  // besides those that come with Tilewright
  bool no_records = false;                     // default schedules only
  std::string memory = "fixed";                // that the records were measured behind
  std::vector<StatePair> states;               // besides those of find_states
  bool decode = false;                         // one token in a run (transform/token_step.h)
  SharedFolders folders;
};

// Errors: those of load_model; (invalid input) the model is not quantised.
Graph load_quantized(const ModelFile& file);
// Errors (invalid input): no such overlay, memory or records; those of compile().
Compilation compile_model(Graph quantized, const CompileRequest& request);

// Where the overlay programs of a bundle are written; more than one get numbered files and folders. Empty:
// not.
struct ProgramFiles {
  std::string assembly;  // text; "-": returned instead
  std::string raw;       // folder of images and a program.yaml
};
// Errors (unsupported): the bundle has no overlay program.
std::string write_programs(const Bundle& bundle, const ProgramFiles& files);

}  // namespace tilewright
