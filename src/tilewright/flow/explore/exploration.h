// Exploration of overlays and schedules together for one network and one device (tune/explore/exploration.h
// does it, flow/explore/overlay_candidates.h is what it works on): one study per operand width in one folder,
// results that a page shows.
//
//   FOLDER/network.twb                      what is explored
//   FOLDER/w8a8/{study.json,candidates.jsonl}   the question, and every candidate that was worked on
//   FOLDER/front.json, page.html            what came out, written anew after every round
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/flow/explore/candidate_roofline.h"
#include "tilewright/flow/run/bundle.h"
#include "tilewright/hardware/device.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/report/page.h"
#include "tilewright/tune/explore/exploration.h"

namespace tilewright {

struct ExplorationRequest {
  Bundle network;  // of 8-bit operands (exploration_reference())
  std::string model_name;
  Device device;
  MemoryModel memory;
  std::vector<int> operand_bits = {8, 4, 2, 1};
  std::filesystem::path folder, rtl_folder;
  int64_t trials = 24;                 // per layer and candidate
  int64_t candidates = 0;              // per operand width; 0: no limit
  double budget_s = 0;                 // of all operand widths; 0: no limit
  const Deadline* deadline = nullptr;  // of the work that this is a part of
  uint64_t seed = 1;
  int threads = 1;  // of closed forms
  int round = 8;
  std::vector<double> importance;  // by knob; empty: nothing is known before
  PageOrigin origin;               // of page.html
};

// One candidate with all that is known of it.
struct ExploredCandidate {
  KnobSpace::Point point = 0;
  std::string hardware;         // its name
  std::vector<int64_t> values;  // of the knobs
  int64_t cycles = 0;
  double latency_s = 0, bound_s = 0, utilisation = 0, clock_mhz = 0, peak_gops = 0;
  int64_t lut = 0, ff = 0, dsp = 0, bram = 0;
  bool on_front = false;
};

struct WidthReport {
  int operand_bits = 8;
  std::vector<std::string> knobs;
  std::vector<double> importance;  // of the knobs, for latency above its bound
  int64_t points = 0, valid = 0, fitting = 0;
  int64_t evaluated = 0, failed = 0, known = 0, alive = 0, pruned = 0, trials = 0;
  int64_t macs = 0;
  double seconds = 0;   // of this run
  double worker_s = 0;  // that workers took for all candidates, earlier runs included
  bool exhausted = false;
  std::string failure;                        // why there are no candidates, where an error ended the width
  std::vector<ExploredCandidate> candidates;  // that run the network; the front's by rising latency first
  std::vector<double> best_so_far_s;          // by candidates tuned: latency of the fastest; 0: none yet
  CandidateRoofline fastest;
  std::vector<std::string> left_out;  // of the network
  // Candidates that are neither beaten nor tuned, and the share of fitting ones that were not tuned: 0 if
  // there was no time to see which fit.
  int64_t surviving() const { return evaluated + alive; }
  double work_saved() const { return fitting <= evaluated ? 0 : 1 - double(evaluated) / double(fitting); }
};

struct ExplorationReport {
  std::string model, device;
  double clock_error = 0;  // half width of the clock's error band, relative; 0: measured
  std::vector<WidthReport> widths;
  Ending ending = Ending::kNone;  // what ended it before it was done
};

struct ExplorationWatcher {
  // Of the operand width under way, after every round. False ends the exploration.
  std::function<bool(int operand_bits, const tune::ExplorationProgress&)> progress;
};

// Continues from what the folder holds. `executor` makes executors, given the folder for their files. Errors:
// those of Study, OverlayCandidates and tune::explore; (infeasible) the device is too small for every
// candidate: which resource, and by how much. Where that is so for some of the widths only, their reports say
// it.
ExplorationReport explore_overlays(
    const ExplorationRequest& request,
    const std::function<std::unique_ptr<tune::JobExecutor>(const std::filesystem::path&)>& executor,
    const ExplorationWatcher& watcher = {});

// Retunes exactly those candidates of the folder's studies whose content - configuration package and sources
// of the RTL, version of the simulator - has changed; evaluated and known of the report's widths say how many
// (known: taken over unchanged). Other widths of the folder's report, and those without candidates, stay as
// they were. Errors besides: (invalid input) the folder holds no candidates of any of the widths.
ExplorationReport explore_changed(
    const ExplorationRequest& request,
    const std::function<std::unique_ptr<tune::JobExecutor>(const std::filesystem::path&)>& executor,
    const ExplorationWatcher& watcher = {});

// front.json; beside it a folder w8a8/front (by width) has the descriptions of the front's overlays.
std::string to_json(const ExplorationReport& report);
// Errors (invalid input): no such file, another form.
ExplorationReport read_exploration(const std::filesystem::path& folder);
// One line per member of the fronts, what was pruned and what it cost.
std::string to_string(const ExplorationReport& report);
Page exploration_page(const ExplorationReport& report);

}  // namespace tilewright
