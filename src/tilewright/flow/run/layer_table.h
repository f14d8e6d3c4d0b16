// What `compile` shows for each operator: where it runs and why, its work, traffic and estimated time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/flow/run/bundle.h"
#include "tilewright/flow/run/host_work.h"

namespace tilewright {

struct LayerRow {
  std::string name, op;
  std::string target = kHost;
  std::string reason;
  int64_t macs = 0;
  // Of the target, by its estimate; 0 on the host.
  int64_t bytes_moved = 0;  // between DRAM and the scratchpads, all memories
  int64_t uops = 0;         // executed GEMM and ALU micro-op iterations
  double cycles = 0;
  double share_of_peak = 0;  // useful MACs per cycle over MACs of one micro-op
  double seconds = 0;        // estimated, on either side
  bool recorded = false;     // the schedule is that of a record, not the default one

  bool on_host() const { return target == kHost; }
};

struct LayerTable {
  std::string hardware;        // its name
  std::vector<LayerRow> rows;  // in graph order
  int64_t total_macs = 0, overlay_macs = 0;
  double total_cycles = 0;
  // Of one run, estimated: the overlay's cycles at its clock, the host's nodes, and what is handed over.
  double overlay_seconds = 0;
  HostWork host;
  double total_seconds() const { return overlay_seconds + host.seconds(); }
  double host_time_share() const { return share(host.node_seconds); }
  double crossing_time_share() const { return share(host.crossing_seconds); }
  double overlay_mac_share() const { return total_macs == 0 ? 0 : double(overlay_macs) / double(total_macs); }

 private:
  double share(double seconds) const { return total_seconds() == 0 ? 0 : seconds / total_seconds(); }
};

LayerTable layer_table(const Compilation& compilation, const HostModel& host = {});
std::string to_string(const LayerTable& table);
std::string to_json(const LayerTable& table);  // ends with a newline

}  // namespace tilewright
