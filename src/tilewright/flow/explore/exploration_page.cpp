// The page of a study: the fronts of all operand widths and how they were approached, the machines on them,
// the layers on the fastest machine of each width, and how much each knob matters.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/flow/explore/exploration_plots.h"
#include "tilewright/report/line_chart.h"

namespace tilewright {
namespace {

std::string width_title(const WidthReport& w) { return fmt::format("w{0}a{0}", w.operand_bits); }

PageSection candidate_section(const ExplorationReport& report) {
  PageSection section{
      .id = "candidates",
      .title = "Overlays",
      .note =
          "Every overlay that was tuned. Those on the front are beaten by none that is known, in latency "
          "and size at once.",
      .subject = "overlay",
      .subject_column = "overlay",
      .columns = {{"overlay", "overlay"},
                  {"width", "operands"},
                  {"front", "on the front"},
                  {"latency_ms", "latency", "ms", PageBetter::kLess},
                  {"of_bound", "of its bound", "%", PageBetter::kMore},
                  {"gops", "GOPS", "", PageBetter::kMore},
                  {"of_device", "of the device", "%", PageBetter::kLess},
                  {"clock_mhz", "clock, estimated", "MHz"},
                  {"lut", "LUT", "", PageBetter::kLess},
                  {"dsp", "DSP", "", PageBetter::kLess},
                  {"bram", "BRAM", "", PageBetter::kLess},
                  {"ff", "FF", "", PageBetter::kLess, true},
                  {"cycles", "cycles", "cycles", PageBetter::kLess, true}}};
  const std::vector<std::string> knobs =
      report.widths.empty() ? std::vector<std::string>{} : report.widths.front().knobs;
  for (const std::string& knob : knobs) {
    section.columns.push_back({"knob_" + knob, knob, "", PageBetter::kNeither, true});
  }
  for (const WidthReport& w : report.widths) {
    for (const ExploredCandidate& c : w.candidates) {
      std::vector<PageValue> row = {c.hardware,
                                    width_title(w),
                                    c.on_front ? 1 : 0,
                                    1e3 * c.latency_s,
                                    c.bound_s / c.latency_s,
                                    2e-9 * double(w.macs) / c.latency_s,
                                    c.utilisation,
                                    c.clock_mhz,
                                    c.lut,
                                    c.dsp,
                                    c.bram,
                                    c.ff,
                                    c.cycles};
      for (size_t k = 0; k < knobs.size(); ++k) {
        row.push_back(k < c.values.size() ? PageValue(c.values[k]) : PageValue());
      }
      section.rows.push_back(std::move(row));
    }
  }
  section.charts = {
      {.kind = PageChartKind::kStairs,
       .title = "Latency against the scarcest resource",
       .caption = "What a front reaches with so much of the device. Faint marks: tuned, but beaten.",
       .columns = {{"x", "of_device"}, {"y", "latency_ms"}, {"group", "width"}, {"front", "front"}}}};
  return section;
}

PageSection width_section(const ExplorationReport& report) {
  PageSection section{
      .id = "widths",
      .title = "What the search did",
      .note =
          "An overlay whose bound another one beats is excluded without tuning. Open ones may still hold "
          "something better.",
      .subject = "operands",
      .subject_column = "width",
      .columns = {{"width", "operands"},
                  {"fitting", "overlays that fit"},
                  {"tuned", "tuned"},
                  {"excluded", "excluded by their bound"},
                  {"open", "still open", "", PageBetter::kLess},
                  {"excluded_share", "excluded, of those that fit", "%", PageBetter::kMore},
                  {"best_ms", "fastest", "ms", PageBetter::kLess},
                  {"complete", "front"},
                  {"trials", "schedules tried", "", PageBetter::kNeither, true},
                  {"worker_s", "time of workers", "s", PageBetter::kNeither, true},
                  {"failure", "why there is none", "", PageBetter::kNeither, true}}};
  for (const WidthReport& w : report.widths) {
    section.rows.push_back(
        {width_title(w), w.fitting, w.evaluated, w.pruned, w.alive,
         w.fitting > 0 ? PageValue(double(w.pruned) / double(w.fitting)) : PageValue(),
         w.candidates.empty() ? PageValue() : PageValue(1e3 * w.candidates.front().latency_s),
         w.candidates.empty() ? "none"
         : w.exhausted        ? "complete"
                              : "so far",
         w.trials, w.worker_s, w.failure});
  }
  return section;
}

// Steps of the best: only candidates that were faster than all before them, and the last.
PageSection approach_section(const ExplorationReport& report) {
  PageSection section{.id = "approach",
                      .title = "How the search went",
                      .subject = "operands",
                      .subject_column = "width",
                      .columns = {{"width", "operands"},
                                  {"tuned", "overlays tuned"},
                                  {"best_ms", "latency of the fastest so far", "ms", PageBetter::kLess}}};
  for (const WidthReport& w : report.widths) {
    double best = 0;
    for (size_t i = 0; i < w.best_so_far_s.size(); ++i) {
      const double now = w.best_so_far_s[i];
      if (now <= 0 || (now == best && i + 1 < w.best_so_far_s.size())) continue;
      best = now;
      section.rows.push_back({width_title(w), i + 1, 1e3 * now});
    }
  }
  section.charts = {{.kind = PageChartKind::kStairs,
                     .title = "Best latency so far",
                     .columns = {{"x", "tuned"}, {"y", "best_ms"}, {"group", "width"}}}};
  return section;
}

PageSection fastest_section(const WidthReport& w) {
  const CandidateRoofline& fastest = w.fastest;
  PageSection section{
      .id = "fastest_" + width_title(w),
      .title = fmt::format("Layers on the fastest overlay, {}", width_title(w)),
      .note = fastest.hardware + ": each distinct layer alone, with default schedules and tuned.",
      .subject = "layer",
      .subject_column = "layer",
      .columns = {{"number", "#"},
                  {"layer", "layer"},
                  {"before", "cycles before", "cycles", PageBetter::kLess},
                  {"after", "cycles tuned", "cycles", PageBetter::kLess},
                  {"of_peak", "of peak", "%", PageBetter::kMore},
                  {"macs", "MACs", "MACs"},
                  {"intensity", "MACs per byte, busier direction", "", PageBetter::kNeither, true},
                  {"rate", "MACs per cycle", "", PageBetter::kMore, true},
                  {"intensity_before", "MACs per byte before", "", PageBetter::kNeither, true},
                  {"rate_before", "MACs per cycle before", "", PageBetter::kNeither, true}}};
  for (size_t l = 0; l < fastest.layers.size(); ++l) {
    const OperatingPoint& layer = fastest.layers[l];
    std::vector<PageValue> row = {l + 1, layer.name, layer.before_cycles, layer.cycles};
    const auto macs = double(layer.macs);
    if (layer.macs == 0 || layer.bytes == 0 || layer.cycles == 0 || layer.before_cycles == 0) {
      row.resize(section.columns.size());
    } else {
      row.insert(row.end(), {macs / double(layer.cycles) / fastest.macs_per_cycle, layer.macs,
                             macs / layer.bytes, macs / double(layer.cycles), macs / layer.before_bytes,
                             macs / double(layer.before_cycles)});
    }
    section.rows.push_back(std::move(row));
  }
  section.charts = {{.kind = PageChartKind::kRoofline,
                     .title = "Roofline of the fastest overlay",
                     .caption = "Small marks: default schedules.",
                     .columns = {{"x", "intensity"},
                                 {"y", "rate"},
                                 {"before_x", "intensity_before"},
                                 {"before_y", "rate_before"}},
                     .values = {{"macs_per_cycle", fastest.macs_per_cycle},
                                {"bytes_per_cycle", fastest.bytes_per_cycle},
                                {"clock_mhz", fastest.clock_mhz}}}};
  return section;
}

// Widths from which nothing was learned have no column.
PageSection knob_section(const ExplorationReport& report) {
  PageSection section{.id = "knobs",
                      .title = "What decides how far latency lies above its bound",
                      .note = "Share of each knob in the gain of the model's trees.",
                      .subject = "knob",
                      .subject_column = "knob",
                      .columns = {{"knob", "knob"}}};
  std::vector<const WidthReport*> learned;
  for (const WidthReport& w : report.widths) {
    if (std::any_of(w.importance.begin(), w.importance.end(), [](double share) { return share > 0; })) {
      learned.push_back(&w);
      section.columns.push_back({width_title(w), width_title(w), "%"});
    }
  }
  if (learned.empty()) return section;
  PageChart chart{.kind = PageChartKind::kGrouped, .title = "Importance of the knobs"};
  for (const WidthReport* w : learned) chart.series.push_back(width_title(*w));
  const std::vector<std::string>& knobs = report.widths.front().knobs;
  for (size_t k = 0; k < knobs.size(); ++k) {
    std::vector<PageValue> row = {knobs[k]};
    for (const WidthReport* w : learned) row.emplace_back(w->importance[k]);
    section.rows.push_back(std::move(row));
  }
  section.charts = {chart};
  return section;
}

}  // namespace

PlotDrawing draw_front(const ExplorationReport& report) {
  LinePanel panel;
  panel.title = "front: latency against the scarcest resource";
  panel.x_label = "% of the device";
  panel.y_label = "latency, ms";
  panel.x_from_zero = false;
  for (const WidthReport& w : report.widths) {
    LineSeries series{width_title(w), {}, LineStyle::kFront};
    PlotLine steps;
    for (const ExploredCandidate& c : w.candidates) {
      if (c.on_front) steps.emplace_back(100 * c.utilisation, 1e3 * c.latency_s);
    }
    std::sort(steps.begin(), steps.end());
    if (steps.empty()) continue;
    series.lines.push_back(std::move(steps));
    panel.series.push_back(std::move(series));
  }
  return draw_lines(fmt::format("{} on {}", report.model, report.device), {panel});
}

Page exploration_page(const ExplorationReport& report) {
  Page page{.verb = "explore", .title = report.model + " on " + report.device};
  page.subtitle = "overlays and schedules explored together";
  page.notes = {
      fmt::format("Latency is that of the cycle simulator at an estimated clock (within {:.0f} %); areas are "
                  "those of the area model.",
                  100 * report.clock_error)};
  int64_t fitting = 0, tuned = 0, excluded = 0, open = 0;
  for (const WidthReport& w : report.widths) {
    fitting += w.fitting;
    tuned += w.evaluated;
    excluded += w.pruned;
    open += w.alive;
    if (w.candidates.empty()) continue;
    page.facts.push_back({"best_ms_" + width_title(w), "fastest at " + width_title(w),
                          1e3 * w.candidates.front().latency_s, "ms", PageBetter::kLess});
  }
  page.facts.push_back({"fitting", "overlays that fit", fitting});
  page.facts.push_back({"tuned", "tuned", tuned});
  page.facts.push_back({"excluded", "excluded by their bound", excluded});
  page.facts.push_back({"open", "still open", open, "", PageBetter::kLess});
  page.sections = {candidate_section(report), width_section(report), approach_section(report)};
  for (const WidthReport& w : report.widths) {
    if (!w.fastest.layers.empty()) page.sections.push_back(fastest_section(w));
  }
  PageSection knobs = knob_section(report);
  if (knobs.columns.size() > 1) page.sections.push_back(std::move(knobs));
  return page;
}

}  // namespace tilewright
