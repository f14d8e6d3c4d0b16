// Runs of samples on threads, whatever executes them, and their report.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tilewright/flow/samples/input_samples.h"
#include "tilewright/flow/target/target.h"
#include "tilewright/graph/graph.h"

namespace tilewright {

// The outputs of all inputs, stacked along axis 0, and what was checked along the way.
struct SampleRuns {
  std::vector<Tensor> outputs;
  std::vector<int64_t> classes;  // by sample of output 0; empty where it has no elements
  int64_t count = 0;             // of inputs, the first ones if the run was ended early
  Ending ending = Ending::kNone;
  int64_t mismatches = 0;  // outputs that differ from the integer reference
  double seconds = 0;
};

// Gives the outputs for input number `index`.
using SampleWorker = std::function<std::vector<Tensor>(int64_t index)>;
// What ends a run early, and who hears of every input that is done.
struct SampleWatch {
  const Deadline* deadline = nullptr;
  std::function<void(int64_t done, int64_t count)> progress = {};
};
SampleWatch watch_of(const RunRequest& request);
// Each thread gets a worker of its own and takes one input after the other. When the deadline is over, the
// outputs of the first inputs are returned, up to one that was not done. Errors: the worker's;
// InterruptedError: not even the first one was done.
SampleRuns run_samples(const Graph& graph, int64_t count, int threads,
                       const std::function<SampleWorker()>& make_worker, const SampleWatch& watch);

// Additions to the report: what ran the samples, further lines for people (each with its newline), and
// further facts, each the text of a JSON value.
struct SampleFacts {
  std::string engine;
  std::string lines;
  std::map<std::string, std::string> facts;
};
RunReport sample_report(const RunRequest& request, const Graph& graph, const InputSamples& samples,
                        SampleRuns runs, const SampleFacts& more);

// The samples of request.input for `graph`. Errors: those of InputSamples::read.
inline const std::string kInputOption = "--input";
InputSamples input_samples(const RunRequest& request, const Graph& graph);

}  // namespace tilewright
