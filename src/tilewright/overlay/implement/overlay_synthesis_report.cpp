// The report of a synthesis run, for machines and for readers.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/overlay/implement/overlay_synthesis.h"

namespace tilewright::overlay {
namespace {

using nlohmann::ordered_json;

ordered_json placed_json(const SynthesisReport& report) {
  const synthesis::NextpnrResult& placed = *report.placed;
  ordered_json clocks, cells, paths = ordered_json::array();
  for (const auto& clock : placed.fmax_mhz) clocks[clock.first] = clock.second;
  for (const auto& cell : placed.utilisation) {
    cells[cell.first] = {{"used", cell.second.first}, {"available", cell.second.second}};
  }
  for (const synthesis::CriticalPath& path : placed.critical) {
    paths.push_back({{"from", path.from},
                     {"to", path.to},
                     {"first_cell", path.first_cell},
                     {"last_cell", path.last_cell},
                     {"logic_ns", path.logic_ns},
                     {"routing_ns", path.routing_ns}});
  }
  return {{"fmax_mhz", *report.fmax_mhz()},
          {"timing_met", report.timing_met()},
          {"clocks", clocks},
          {"cells", cells},
          {"critical_paths", paths},
          {"seconds", placed.seconds}};
}

}  // namespace

std::string to_json(const SynthesisReport& report) {
  const synthesis::Resources& r = report.yosys.count.resources;
  ordered_json fits, cells, sources = ordered_json::array();
  for (const ResourceFit& item : report.fit) {
    fits[item.resource] = {{"need", item.need}, {"have", item.have}, {"fits", item.fits()}};
  }
  for (const auto& cell : report.yosys.cells) cells[cell.first] = cell.second;
  for (const auto& source : report.sources) sources.push_back(source.filename().string());
  ordered_json json{{"hardware", report.hardware.name},
                    {"device", report.device.name},
                    {"part", report.device.part},
                    {"family", synthesis::family_name(report.device.family)},
                    {"top", report.top},
                    {"clock_mhz", report.clock_mhz},
                    {"resources",
                     {{"lut", r.lut},
                      {"ff", r.ff},
                      {"carry", r.carry},
                      {"dsp", r.dsp},
                      {"bram", r.bram},
                      {"uram", r.uram}}},
                    {"fits", report.fits()},
                    {"fit", fits},
                    {"cells", cells},
                    {"seconds", report.seconds()},
                    {"yosys", report.yosys_version},
                    {"sources", sources}};
  if (report.placed) {
    json["nextpnr"] = report.nextpnr_version;
    json["placed"] = placed_json(report);
  }
  if (!report.bitstream.empty()) {
    json["bitstream"] = {{"file", report.bitstream.filename().string()}, {"bytes", report.bitstream_bytes}};
  }
  return json_text(json, 2) + "\n";
}

std::string to_string(const SynthesisReport& report) {
  std::string text = fmt::format("{} on {} ({}), top {}\n", report.hardware.name, report.device.name,
                                 report.device.part, report.top);
  text += fmt::format("  {:<6}{:>10}{:>12}{:>9}\n", "", "needs", "has", "used");
  for (const ResourceFit& item : report.fit) {
    if (item.need == 0 && item.have == 0) continue;
    const std::string used =
        item.have == 0 ? "-" : fmt::format("{:.1f}%", 100.0 * double(item.need) / double(item.have));
    text += fmt::format("  {:<6}{:>10}{:>12}{:>9}{}\n", item.resource, item.need, item.have, used,
                        item.fits() ? "" : "  does not fit");
  }
  for (const auto& cell : report.yosys.count.other) {
    text += fmt::format("  not counted: {} cells {}\n", cell.second, cell.first);
  }
  if (report.placed) {
    text += fmt::format("  after routing {:.2f} MHz: {} MHz {}\n", *report.fmax_mhz(), report.clock_mhz,
                        report.timing_met() ? "met" : "MISSED");
    for (const synthesis::CriticalPath& path : report.placed->critical) {
      if (path.from != path.to) continue;
      text += fmt::format("  slowest path {} to {}: {:.1f} ns logic, {:.1f} ns routing\n", path.first_cell,
                          path.last_cell, path.logic_ns, path.routing_ns);
    }
  } else {
    text += report.interrupted ? "  interrupted before it was placed: no clock rate\n"
                               : "  not placed: no clock rate\n";
  }
  if (!report.bitstream.empty()) {
    text += fmt::format("  bitstream {} ({} bytes)\n", report.bitstream.string(), report.bitstream_bytes);
  }
  text += fmt::format("  {:.0f} s\n", report.seconds());
  return text;
}

}  // namespace tilewright::overlay
