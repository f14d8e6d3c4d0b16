// A compiled model: the integer graph, the overlay it was compiled for, and for every node where it runs,
// why, and with which schedule. No instructions: they are generated when the bundle is loaded, so a bundle
// also runs on another overlay that its schedules fit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tilewright/flow/model/network_state.h"
#include "tilewright/flow/run/partition.h"
#include "tilewright/flow/target/shared_folders.h"
#include "tilewright/graph/graph.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/overlay/program/program.h"
#include "tilewright/overlay/schedule/schedule.h"
#include "tilewright/quantize/integerize/integerize.h"

namespace tilewright {

struct BundleNode {
  std::string target = kHost;
  std::string reason;

  bool on_host() const { return target == kHost; }
  bool operator==(const BundleNode&) const = default;
};

struct Bundle {
  Graph graph;
  OverlayHardware hardware;
  std::vector<BundleNode> nodes;                       // indexed by node
  std::map<std::string, overlay::Schedule> schedules;  // by name of an overlay node
  std::vector<IntegerMeaning> meanings;                // what integer values stand for; may be empty
  std::vector<StatePair> states;                       // what a run hands to the next

  std::vector<PartitionStep> steps() const;
};

std::vector<std::byte> format_bundle(const Bundle& bundle);
// Errors (invalid input): damaged container, missing section, a graph or hardware description that does not
// verify, nodes that do not match, schedules that do not fit; all problems of a section at once.
Bundle parse_bundle(std::span<const std::byte> bytes);
void write_bundle(const std::filesystem::path& path, const Bundle& bundle);
Bundle read_bundle(const std::filesystem::path& path);

// The bundle for another overlay: nodes stay where they are, except that what is illegal or does not fit
// there goes to the host; schedules are chosen anew. Errors (invalid input): `hardware` does not verify;
// (infeasible) the layers fit one by one, but not together.
Bundle retarget(Bundle bundle, const OverlayHardware& hardware);

// The bundle of a file, for another overlay where one is named. Errors: those of both.
Bundle read_bundle(const std::filesystem::path& path, const std::string& hardware,
                   const SharedFolders& folders);

// A bundle and what its overlay layers are estimated to cost.
struct Compilation {
  Bundle bundle;
  std::vector<overlay::LayerReport> layers;
  std::set<std::string> recorded;  // names of the overlay nodes whose schedules the source gave
};

// A schedule for a layer that is better than the default one, where one is known (recorded_schedules.h).
using ScheduleSource = std::function<std::optional<overlay::Schedule>(const overlay::OverlayLayer&)>;

// Compiles an integer graph (quantize/integerize/integerize.h): places every node and gives every overlay
// node a schedule, that of `source` where it knows one that fits; a layer too large for the overlay stays on
// the host. Errors (invalid input): `hardware` does not verify; (infeasible) the layers fit one by one, but
// not together.
Compilation compile(Graph integer_graph, const OverlayHardware& hardware, const HostModel& host = {},
                    const ScheduleSource& source = {});

}  // namespace tilewright
