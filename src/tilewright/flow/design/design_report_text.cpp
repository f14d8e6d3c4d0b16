// The report as a table for the terminal and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/flow/design/design_report.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

// Four digits, and all digits of what is larger.
std::string rate_text(double rate) {
  return rate < 1000 ? fmt::format("{:.4g}", rate) : fmt::format("{:.0f}", rate);
}

std::string cycles_line(const DesignReport& report) {
  std::string text = fmt::format(
      "{} cycles, {:.4g} ms at {:g} MHz; {} images per second (one every {} cycles)\n", report.cycles(),
      report.milliseconds(), report.clock_mhz, rate_text(report.images_per_second()), report.interval());
  if (report.simulated_cycles == 0) return "estimated: " + text;
  const double error =
      double(report.estimated_cycles - report.simulated_cycles) / double(report.simulated_cycles);
  return "simulated: " + text +
         fmt::format("estimated: {} cycles ({:+.1f} %), one every {}\n", report.estimated_cycles, 100 * error,
                     report.estimated_interval);
}

constexpr const char* kErrorLine =
    "error up to: for nine in ten components, against synthesis (Yosys) of components left out of the fit\n";

std::string batch_line(const DesignReport& report) {
  if (report.batch == 1) return "";
  return fmt::format("the model's batch of {} is a loop: the design takes one image, and so do the numbers\n",
                     report.batch);
}

std::string host_line(const DesignReport& report) {
  if (report.host_layers.empty() && report.left_out.empty()) return "";
  std::string text = "the numbers below do not include the time of the host's part";
  for (const std::string& reason : report.left_out) text += "\n  " + reason;
  return text + "\n";
}

}  // namespace

std::string to_string(const DesignReport& report) {
  TextTable layers({"layer", "kind", report.streaming ? "" : "engine", "array", ">MACs", ">multipliers",
                    ">array cycles", ">cycles", ">of peak", "bound by"});
  for (const DesignLayer& layer : report.layers) {
    layers.row({shortened_middle(layer.name, 32), layer.kind, report.streaming ? "" : layer.place,
                layer.array, std::to_string(layer.macs), std::to_string(layer.multipliers),
                std::to_string(layer.work_cycles), std::to_string(layer.cycles),
                layer.multipliers == 0 ? "" : share_text(layer.share_of_peak), layer.bound});
  }
  for (const HostLayer& layer : report.host_layers) {
    layers.row({shortened_middle(layer.name, 32), layer.op, "host", "", "", "", "", "", "", ""});
  }
  TextTable needs({"", ">needs", ">budget", ">", ">device", ">error up to"});
  for (const DesignNeed& need : report.needs) {
    if (need.need == 0 && need.have == 0) continue;
    needs.row({need.resource, std::to_string(need.need), std::to_string(need.budget),
               need.budget > 0 ? share_text(double(need.need) / double(need.budget)) : "",
               std::to_string(need.have),
               need.error_percent < 0 ? "" : share_text(need.error_percent / 100)});
  }
  const std::string part = report.host_layers.empty() && report.left_out.empty()
                               ? ""
                               : fmt::format("; {} of the network's products, the rest on the host",
                                             share_text(report.share_of_products));
  return fmt::format("{} on {}: {}, {}{}\n\n", report.network, report.device,
                     report.streaming ? "a stage for every layer" : "processors", report.number_type, part) +
         layers.to_string() + "\n" + batch_line(report) + host_line(report) + cycles_line(report) +
         fmt::format("{} products per cycle, {} of them used; {} bytes of memory traffic per image\n\n",
                     report.multipliers, share_text(report.share_of_peak()), report.dram_bytes) +
         needs.to_string() + kErrorLine;
}

std::string to_json(const DesignReport& report) {
  using nlohmann::json;
  json layers = json::array(), needs = json::array(), queues = json::array(), bars = json::array();
  for (const DesignLayer& l : report.layers) {
    layers.push_back({{"layer", l.name},
                      {"kind", l.kind},
                      {"place", l.place},
                      {"array", l.array},
                      {"macs", l.macs},
                      {"multipliers", l.multipliers},
                      {"array_cycles", l.work_cycles},
                      {"cycles", l.cycles},
                      {"share_of_peak", l.share_of_peak},
                      {"weight_bytes", l.weight_bytes},
                      {"bound_by", l.bound},
                      {"input_fifo", l.input_fifo},
                      {"residual_fifo", l.residual_fifo}});
  }
  for (const DesignNeed& n : report.needs) {
    needs.push_back({{"resource", n.resource}, {"need", n.need}, {"budget", n.budget}, {"device", n.have}});
    if (n.error_percent >= 0) needs.back()["error_percent"] = n.error_percent;
  }
  for (const DesignQueue& q : report.queues) {
    queues.push_back({{"name", q.name}, {"depth", q.depth}});
    if (q.level >= 0) queues.back()["highest_level"] = q.level;
  }
  for (const DesignBar& b : report.bars) {
    bars.push_back({{"lane", report.lanes[size_t(b.lane)]},
                    {"layer", b.layer},
                    {"first_row", b.first_row},
                    {"rows", b.rows},
                    {"begin", b.begin},
                    {"end", b.end},
                    {"work", b.work}});
  }
  json host = json::array();
  for (const HostLayer& layer : report.host_layers) host.push_back({{"layer", layer.name}, {"op", layer.op}});
  json all = {{"network", report.network},
              {"device", report.device},
              {"number_type", report.number_type},
              {"shape", report.streaming ? "streaming" : "processors"},
              {"clock_mhz", report.clock_mhz},
              {"port_bytes", report.port_bytes},
              {"channels", report.channels},
              {"macs", report.macs},
              {"multipliers", report.multipliers},
              {"cycles", report.cycles()},
              {"interval", report.interval()},
              {"milliseconds", report.milliseconds()},
              {"images_per_second", report.images_per_second()},
              {"share_of_peak", report.share_of_peak()},
              {"simulated", report.simulated_cycles > 0},
              {"estimated_cycles", report.estimated_cycles},
              {"estimated_interval", report.estimated_interval},
              {"dram_bytes", report.dram_bytes},
              {"read_beats", report.read_beats},
              {"write_beats", report.write_beats},
              {"resources", needs},
              {"layers", layers},
              {"host_layers", host},
              {"batch", report.batch},
              {"share_of_products", report.share_of_products},
              {"left_out", report.left_out},
              {"tasks", bars},
              {"queues", queues}};
  return json_text(all, 2) + "\n";
}

}  // namespace tilewright
