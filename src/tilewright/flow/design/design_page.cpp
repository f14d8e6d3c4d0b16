// Facts, how far the estimate was off, resources, the lanes of the engines over time, the roofline, then the
// tables of layers and queues.
#include "tilewright/flow/design/design_page.h"

#include <fmt/format.h>

#include "tilewright/flow/design/design_plots.h"
#include "tilewright/report/html_page.h"

namespace tilewright {
namespace {

std::string facts(const DesignReport& report) {
  const bool simulated = report.simulated_cycles > 0;
  std::string text = "<dl>\n";
  text +=
      html_fact(simulated ? "cycles, simulated" : "cycles, estimated", fmt::format("{}", report.cycles()));
  text += html_fact("latency", fmt::format("{:.4g} ms", report.milliseconds()));
  text += html_fact("images per second", fmt::format("{:.4g}", report.images_per_second()));
  text += html_fact("products per cycle", fmt::format("{}", report.multipliers));
  text += html_fact("share of peak", fmt::format("{:.1f} %", 100 * report.share_of_peak()));
  text += html_fact("memory traffic per image", fmt::format("{} bytes", report.dram_bytes));
  return text + "</dl>\n";
}

std::string estimate_text(const DesignReport& report) {
  if (report.simulated_cycles == 0) {
    return "<p>Cycles are estimated by closed forms; the design was not simulated.</p>\n";
  }
  const double error =
      100 * double(report.estimated_cycles - report.simulated_cycles) / double(report.simulated_cycles);
  return fmt::format(
      "<p>Cycles are those of the cycle simulation of the design, from the start bit to the end of an image; "
      "its memory ports carried {} beats in and {} beats out per image. The closed form had estimated {} "
      "cycles ({:+.1f} %).</p>\n",
      report.read_beats, report.write_beats, report.estimated_cycles, error);
}

std::string design_layer_table(const DesignReport& report) {
  HtmlTable table({">#", "layer", "kind", report.streaming ? "" : "engine", "array", ">MACs", ">multipliers",
                   ">array cycles", ">cycles", ">of peak", "bound by", ">weight bytes fetched"});
  for (size_t l = 0; l < report.layers.size(); ++l) {
    const DesignLayer& layer = report.layers[l];
    table.row({std::to_string(l + 1), layer.name, layer.kind, report.streaming ? "" : layer.place,
               layer.array, std::to_string(layer.macs), std::to_string(layer.multipliers),
               std::to_string(layer.work_cycles), std::to_string(layer.cycles),
               layer.multipliers == 0 ? "" : fmt::format("{:.1f} %", 100 * layer.share_of_peak), layer.bound,
               layer.weight_bytes == 0 ? "" : std::to_string(layer.weight_bytes)});
  }
  for (const HostLayer& layer : report.host_layers) {
    table.row({"", layer.name, layer.op, "host", "", "", "", "", "", "", "", ""});
  }
  return table.html();
}

std::string queue_table(const DesignReport& report) {
  if (report.queues.empty()) return "";
  HtmlTable table({"queue", ">depth", ">highest level"});
  for (const DesignQueue& queue : report.queues) {
    table.row({queue.name, std::to_string(queue.depth), queue.level < 0 ? "" : std::to_string(queue.level)});
  }
  return html_heading("Queues") + table.html();
}

}  // namespace

std::string design_page(const DesignReport& report) {
  const std::string title = report.network + " on " + report.device;
  const std::string shape = report.streaming ? "a stage for every layer" : "processors";
  std::string page = fmt::format("<p class=\"soft\">{}, {}, {:g} MHz, {} memory {} of {} bytes</p>\n",
                                 escaped_xml(report.number_type), shape, report.clock_mhz, report.channels,
                                 report.channels == 1 ? "port" : "ports", report.port_bytes);
  page += facts(report) + estimate_text(report);
  if (!report.host_layers.empty()) {
    page += fmt::format(
        "<p>The hardware covers part of the network: {} layers with weights of other number types stay on "
        "the host (at the end of the table), and none of these numbers includes their time.</p>\n",
        report.host_layers.size());
  }
  page += html_heading("Resources") + html_figure(draw_utilisation(report), "Resources",
                                                  "Front: the estimated need; behind it: the device; line: "
                                                  "the budget. Block memories count 18 Kb each.");
  page += html_heading("Activity over time") +
          html_figure(draw_lanes(report), "Engines over time",
                      report.simulated_cycles > 0
                          ? "One image, simulated. Thick: at most this long doing its own work; thin: "
                            "waiting for data, weights or space. Numbers are those of the table of layers."
                          : "One image, estimated. Numbers are those of the table of layers.");
  page += html_heading("Roofline") +
          html_figure(draw_design_roofline(report), "Roofline",
                      "Layers whose weights stay on chip cause no traffic of their own and have no mark.");
  page += html_heading("Layers") + design_layer_table(report) + queue_table(report);
  return html_page(title, page);
}

}  // namespace tilewright
