// Graph nodes joined with the compiler's report by name. Cycles, traffic and micro-ops are those of the
// overlay's estimate, not measured.
#include "tilewright/flow/run/layer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/graph/inference/statistics.h"

namespace tilewright {

LayerTable layer_table(const Compilation& compilation, const HostModel& host) {
  const Bundle& bundle = compilation.bundle;
  std::map<std::string, const overlay::LayerReport*> reports;
  for (const overlay::LayerReport& layer : compilation.layers) reports[layer.name] = &layer;
  LayerTable table;
  table.hardware = bundle.hardware.name;
  for (size_t n = 0; n < bundle.graph.nodes.size(); ++n) {
    const Node& node = bundle.graph.nodes[n];
    LayerRow row{node.name, node.op, bundle.nodes[n].target, bundle.nodes[n].reason};
    row.macs = multiply_accumulates(bundle.graph, node);
    table.total_macs += row.macs;
    if (!row.on_host()) table.overlay_macs += row.macs;
    const auto found = reports.find(node.name);
    if (found != reports.end()) {
      const overlay::TilingEstimate& cost = found->second->cost;
      row.bytes_moved =
          cost.input_bytes + cost.weight_bytes + cost.parameter_bytes + cost.output_bytes + cost.uop_bytes;
      row.uops = cost.gemm_uops + cost.reset_uops + cost.alu_uops;
      row.cycles = cost.cycles;
      row.share_of_peak = cost.share_of_peak;
      row.recorded = compilation.recorded.count(node.name) != 0;
      table.total_cycles += cost.cycles;
    }
    if (row.on_host()) {
      row.seconds = host_seconds(bundle.graph, node, host);
    } else {
      row.seconds = row.cycles / (bundle.hardware.clock_mhz * 1e6);
      table.overlay_seconds += row.seconds;
    }
    table.rows.push_back(std::move(row));
  }
  table.host = host_work(bundle, host);
  return table;
}

std::string to_string(const LayerTable& table) {
  std::string text =
      fmt::format("{:<28} {:<18} {:<8} {:>12} {:>11} {:>11} {:>11} {:>6} {:>8}  {}\n", "node", "operator",
                  "runs on", "MACs", "bytes", "micro-ops", "cycles", "peak", "ms", "why");
  std::string recorded;
  size_t recorded_count = 0, scheduled_count = 0;
  for (const LayerRow& row : table.rows) {
    scheduled_count += row.cycles > 0;
    if (row.recorded) recorded += (recorded_count++ == 0 ? "" : ", ") + row.name;
    const std::string name = row.name.size() > 28
                                 ? row.name.substr(0, 13) + ".." + row.name.substr(row.name.size() - 13)
                                 : row.name;
    text +=
        !row.on_host()
            ? fmt::format("{:<28} {:<18} {:<8} {:>12} {:>11} {:>11} {:>11.0f} {:>5.1f}% {:>8.3g}  {}\n", name,
                          row.op, row.target, row.macs, row.bytes_moved, row.uops, row.cycles,
                          100 * row.share_of_peak, 1e3 * row.seconds, row.reason)
            : fmt::format("{:<28} {:<18} {:<8} {:>12} {:>11} {:>11} {:>11} {:>6} {:>8.3g}  {}\n", name,
                          row.op, row.target, row.macs, "-", "-", "-", "-", 1e3 * row.seconds, row.reason);
  }
  text += fmt::format(
      "estimated {:.3g} ms per run: {:.3g} ms on the overlay, {:.3g} ms on the host ({:.1f} %; {} node{}), "
      "{:.3g} ms to hand over {} bytes in {} turn{} ({:.1f} %)\n",
      1e3 * table.total_seconds(), 1e3 * table.overlay_seconds, 1e3 * table.host.node_seconds,
      100 * table.host_time_share(), table.host.nodes, table.host.nodes == 1 ? "" : "s",
      1e3 * table.host.crossing_seconds, table.host.crossing_bytes, table.host.turns,
      table.host.turns == 1 ? "" : "s", 100 * table.crossing_time_share());
  text += fmt::format("{} MACs, {:.2f} % of them on the overlay; estimated {:.0f} cycles\n", table.total_macs,
                      100 * table.overlay_mac_share(), table.total_cycles);
  if (recorded_count > 0) {
    text += fmt::format("{} of {} layers have the schedule of a record: {}\n", recorded_count,
                        scheduled_count, recorded);
  }
  return text;
}

std::string to_json(const LayerTable& table) {
  nlohmann::json rows = nlohmann::json::array();
  for (const LayerRow& row : table.rows) {
    rows.push_back({{"node", row.name},
                    {"op", row.op},
                    {"on", row.target},
                    {"reason", row.reason},
                    {"macs", row.macs},
                    {"bytes_moved", row.bytes_moved},
                    {"uops", row.uops},
                    {"cycles", row.cycles},
                    {"share_of_peak", row.share_of_peak},
                    {"seconds", row.seconds},
                    {"schedule_from", row.on_host()  ? ""
                                      : row.recorded ? "record"
                                                     : "default"}});
  }
  const nlohmann::json facts = {{"hardware", table.hardware},
                                {"total_macs", table.total_macs},
                                {"overlay_mac_share", table.overlay_mac_share()},
                                {"cycles", table.total_cycles},
                                {"seconds", table.total_seconds()},
                                {"overlay_seconds", table.overlay_seconds},
                                {"host_seconds", table.host.node_seconds},
                                {"crossing_bytes", table.host.crossing_bytes},
                                {"turns", table.host.turns},
                                {"crossing_seconds", table.host.crossing_seconds},
                                {"host_nodes", table.host.nodes},
                                {"host_time_share", table.host_time_share()},
                                {"crossing_time_share", table.crossing_time_share()},
                                {"layers", rows}};
  return json_text(facts, 2) + "\n";
}

}  // namespace tilewright
