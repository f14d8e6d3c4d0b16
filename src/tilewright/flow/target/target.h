// What a backend offers the rest of the flow, and what its functions take and return: data in, pages out. The
// table of all targets is in flow/targets.h. A new backend is a module of its own, a room of flow with its
// NAME_target.cpp, and one line in that table.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/flow/model/answer.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/samples/sample_request.h"
#include "tilewright/flow/target/shared_folders.h"
#include "tilewright/graph/graph.h"
#include "tilewright/search/deadline.h"
#include "tilewright/synthesis/activity.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/tensor/tensor.h"

namespace tilewright {

// Which of a target's engines to run, and its options.
struct EngineRequest {
  std::string name = "functional";
  std::string memory;                  // of a timed engine, as find_memory_model takes it; empty: the usual
  std::string trace, wave;             // files to write; empty: none
  std::filesystem::path cache_folder;  // of compiled RTL
  bool counters = false;               // reports what every module did in how many cycles
  bool energy = false;                 // of the rtl engine: reports what switched, and its energy by a model
  EnergyCosts costs;                   // of that model
  Deadline* deadline = nullptr;        // ends the run with the inputs that were done by then; null: none

  // Whether it reports cycles.
  bool is_timed() const { return name == "cycle" || name == "rtl"; }
};

struct RunRequest {
  ModelFile model;  // what a target has compiled, or a model file
  SampleRequest input;
  std::filesystem::path labels;  // run_accuracy() reads them
  std::filesystem::path state;   // of a bundle with states: where they come from and go to; empty: nowhere
  EngineRequest engine;
  std::string hardware;  // of a bundle: an overlay other than the one it was compiled for; empty: that one
  bool verify = false;   // compares with the reference
  int threads = 1;
  std::function<void(int64_t done, int64_t count)> progress = {};  // of the inputs; from any thread
  SharedFolders folders;
};

struct RunReport {
  std::vector<std::pair<std::string, Tensor>> outputs;  // by name; of all inputs, stacked along axis 0
  Ending ending = Ending::kNone;                        // what ended the run before all inputs were done
  std::vector<int64_t> classes;  // by sample: the largest of output 0; empty where that has no elements
  std::string summary, verdict;  // for people: what ran; how it compares with the reference
  std::string facts;             // the same for machines: a JSON object
  // The results are wrong, which is our bug: to be thrown after the report is shown.
  std::optional<Error> disagreement;
};

struct SynthesisRequest {
  std::string hardware;             // a machine's name or file, or the folder of a generated design
  std::string device;               // empty: the design's own
  std::filesystem::path output;     // folder; empty: none, or the design's own
  std::filesystem::path temporary;  // folder for temporary files
  double clock_mhz = 0;             // for the timing; 0: the description's
  int seed = 1;                     // of the placer
  double timeout_s = 3600;          // of each tool
  bool rtl_only = false, no_dsp = false, allow_misfit = false;
  const Deadline* deadline = nullptr;  // ends the tools; null: only timeout_s does
  SharedFolders folders;
};

// Whether the request's deadline is over.
synthesis::StopRequest stop_of(const SynthesisRequest& request);

struct SynthesisAnswer {
  Answer page;
  Diagnostics misfits;  // resources that the device lacks: to be raised after the page is shown
};

// One backend. Null: not offered.
struct Target {
  std::string name;
  std::string artifact;              // "bundle": what its compiler makes and `run` takes
  std::string made_by;               // how to make one
  std::vector<std::string> engines;  // names that run() takes

  // Whether a file or folder is such an artifact, by its content. False if it cannot be read.
  bool (*recognizes)(const std::filesystem::path&) = nullptr;
  // Errors: those of reading the artifact and the input; (invalid input) the first option that the artifact
  // or its engine does not use.
  RunReport (*run)(const RunRequest&) = nullptr;
  SynthesisAnswer (*synthesize)(const SynthesisRequest&) = nullptr;
  // Every reason why a machine (a preset's name or a file) does not take a graph in integer operators, naming
  // the node; empty: it takes all of it. Errors (invalid input): no such machine.
  Diagnostics (*refusals)(const Graph&, const std::string& machine, const SharedFolders&) = nullptr;
};

// Errors (invalid input): the target has no such engine, naming those that it has.
void check_engine(const Target& target, const std::string& engine);

}  // namespace tilewright
