// The drawings have the colours of paper; the page's style sheet turns those of text, grid and ground into
// the reader's.
#include "tilewright/flow/design_page.h"

#include <fmt/format.h>

#include "tilewright/flow/design_plots.h"

namespace tilewright {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1d2226; --ground: #ffffff; --soft: #5c666e; --grid: #e4e4e4; --fine: #f3f3f3; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9eb; --ground: #14181b; --soft: #9aa5ad; --grid: #39434a; --fine: #252c31; }
}
body { font: 15px/1.5 Helvetica, Arial, 'DejaVu Sans', sans-serif; color: var(--text); background: var(--ground);
  max-width: 1120px; margin: 2em auto; padding: 0 1.2em; }
h1 { font-size: 1.6em; margin-bottom: 0.1em; }
h2 { font-size: 1.15em; margin: 2em 0 0.5em; }
p.soft, figcaption, dt { color: var(--soft); }
dl { display: flex; flex-wrap: wrap; gap: 0.6em 2.4em; margin: 1.2em 0; }
dd { margin: 0; font-size: 1.3em; }
figure { margin: 0.8em 0; overflow-x: auto; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.87em; }
th, td { padding: 0.25em 0.7em; border-bottom: 1px solid var(--grid); text-align: left; white-space: nowrap; }
th { color: var(--soft); font-weight: normal; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { font-family: Helvetica, Arial, 'DejaVu Sans', sans-serif; }
svg text[fill="#222222"] { fill: var(--text); }
svg [fill="#e4e4e4"] { fill: var(--grid); }
svg [stroke="#e4e4e4"] { stroke: var(--grid); }
svg [stroke="#f3f3f3"] { stroke: var(--fine); }
svg [stroke="#333333"] { stroke: var(--text); }
)";

// Cells in turn; a heading that begins with '>' stands over numbers.
class HtmlTable {
 public:
  explicit HtmlTable(const std::vector<std::string>& headings) {
    rows_ = "<thead><tr>";
    for (const std::string& heading : headings) {
      right_.push_back(!heading.empty() && heading[0] == '>');
      rows_ += cell("th", heading.substr(right_.back() ? 1 : 0), right_.back());
    }
    rows_ += "</tr></thead>\n<tbody>\n";
  }
  void row(const std::vector<std::string>& cells) {
    rows_ += "<tr>";
    for (size_t c = 0; c < cells.size(); ++c) rows_ += cell("td", cells[c], right_[c]);
    rows_ += "</tr>\n";
  }
  std::string html() const { return "<div class=\"wide\"><table>\n" + rows_ + "</tbody>\n</table></div>\n"; }

 private:
  static std::string cell(const char* tag, const std::string& text, bool right) {
    return fmt::format("<{0}{1}>{2}</{0}>", tag, right ? " class=\"n\"" : "", escaped_xml(text));
  }
  std::vector<bool> right_;
  std::string rows_;
};

std::string figure(const PlotDrawing& plot, const std::string& title, const std::string& caption) {
  return "<figure>\n" + plot.drawing.element(plot.width, plot.height, title) + "<figcaption>" +
         escaped_xml(caption) + "</figcaption>\n</figure>\n";
}

std::string heading(const char* text) { return fmt::format("<h2>{}</h2>\n", text); }

std::string fact(const char* name, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, escaped_xml(value));
}

std::string facts(const DesignReport& report) {
  const bool simulated = report.simulated_cycles > 0;
  std::string text = "<dl>\n";
  text += fact(simulated ? "cycles, simulated" : "cycles, estimated", fmt::format("{}", report.cycles()));
  text += fact("latency", fmt::format("{:.4g} ms", report.milliseconds()));
  text += fact("images per second", fmt::format("{:.4g}", report.images_per_second()));
  text += fact("products per cycle", fmt::format("{}", report.multipliers));
  text += fact("share of peak", fmt::format("{:.1f} %", 100 * report.share_of_peak()));
  text += fact("memory traffic per image", fmt::format("{} bytes", report.dram_bytes));
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

std::string layer_table(const DesignReport& report) {
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
  return table.html();
}

std::string queue_table(const DesignReport& report) {
  if (report.queues.empty()) return "";
  HtmlTable table({"queue", ">depth", ">highest level"});
  for (const DesignQueue& queue : report.queues) {
    table.row({queue.name, std::to_string(queue.depth), queue.level < 0 ? "" : std::to_string(queue.level)});
  }
  return heading("Queues") + table.html();
}

}  // namespace

std::string design_page(const DesignReport& report) {
  const std::string title = escaped_xml(report.network + " on " + report.device);
  const std::string shape = report.streaming ? "a stage for every layer" : "processors";
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\" />\n<meta name=\"viewport\" content=\"width=device-width\" />\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      title, kStyle);
  page += fmt::format("<h1>{}</h1>\n<p class=\"soft\">{}, {}, {:g} MHz, {} memory {} of {} bytes</p>\n",
                      title, escaped_xml(report.number_type), shape, report.clock_mhz, report.channels,
                      report.channels == 1 ? "port" : "ports", report.port_bytes);
  page += facts(report) + estimate_text(report);
  page += heading("Resources") +
          figure(draw_utilisation(report), "Resources",
                 "Estimated need in front, the device behind it, the budget as a line. Block memories count "
                 "18 Kb each.");
  page += heading("Who works when") +
          figure(draw_lanes(report), "Engines over time",
                 report.simulated_cycles > 0
                     ? "One image, simulated. Thick: at most this long at its own work; thin: waiting for "
                       "data, weights or room. Numbers are those of the table of layers."
                     : "One image, estimated. Numbers are those of the table of layers.");
  page += heading("Roofline") +
          figure(draw_design_roofline(report), "Roofline",
                 "Layers whose weights stay on chip cause no traffic of their own and have no mark.");
  page += heading("Layers") + layer_table(report) + queue_table(report);
  return page + "</body>\n</html>\n";
}

}  // namespace tilewright
