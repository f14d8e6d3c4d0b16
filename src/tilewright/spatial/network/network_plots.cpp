// Which bars a report becomes.
#include "tilewright/spatial/network/network_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tilewright/report/bar_chart.h"
#include "tilewright/report/number_text.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

struct Unit {
  double divisor = 1;
  std::string name;
};

// A unit in which `highest` is between 1 and 1000.
Unit unit_for(double highest, const std::string& energy_unit) {
  if (highest <= 0) return {1, energy_unit};
  const double power = std::max(0.0, std::floor(std::log10(highest) / 3) * 3);
  // "1.00 mJ" or "1.00 G": what stands after the number.
  const std::string text = energy_text(std::pow(10, power), energy_unit);
  const size_t blank = text.find(' ');
  std::string name = blank == std::string::npos ? "" : text.substr(blank + 1);
  if (energy_unit == "mac") {
    name = power == 0 ? "multiples of one MAC" : fmt::format("10^{:.0f} MAC energies", power);
  } else if (name.empty() || name.back() != 'J') {
    name += (name.empty() ? "" : " ") + energy_unit;
  }
  return {std::pow(10, power), name};
}

struct Parts {
  std::string label, missing;
  bool known = false;
  double arithmetic = 0;
  std::vector<std::array<double, kDataRoles>> parts;
};

// Bars by place and by role of the same parts. Places of all bars are the same.
std::vector<BarChart> two_charts(const std::vector<std::string>& places, const std::vector<Parts>& all,
                                 double divisor, const std::string& y_label) {
  BarChart by_place{"By memory", y_label, {"arithmetic"}, {}, true, 1};
  BarChart by_role{"By data type", y_label, {"arithmetic", "input", "weight", "output"}, {}, true, 2};
  std::vector<size_t> used;
  for (size_t p = 0; p < places.size(); ++p) {
    const bool any = std::any_of(all.begin(), all.end(), [&](const Parts& bar) {
      return bar.known && bar.parts[p][0] + bar.parts[p][1] + bar.parts[p][2] > 0;
    });
    if (any) used.push_back(p);
  }
  // Innermost first, so that what is far from the arithmetic lies on top.
  std::reverse(used.begin(), used.end());
  for (const size_t p : used) by_place.series.push_back(places[p]);
  for (const Parts& bar : all) {
    BarGroup place{bar.label, {}, bar.missing}, role = place;
    if (bar.known) {
      place.values.push_back(bar.arithmetic / divisor);
      for (const size_t p : used) {
        place.values.push_back((bar.parts[p][0] + bar.parts[p][1] + bar.parts[p][2]) / divisor);
      }
      role.values.push_back(bar.arithmetic / divisor);
      for (int r = 0; r < kDataRoles; ++r) {
        role.values.push_back(NetworkReport::role_energy(bar.parts, DataRole(r)) / divisor);
      }
    }
    by_place.groups.push_back(std::move(place));
    by_role.groups.push_back(std::move(role));
  }
  return {by_place, by_role};
}

std::string heading(const NetworkReport& report) {
  return fmt::format("{} on {}, {}", report.network.name, report.hardware, batch_text(report));
}

std::string layers_svg(const NetworkReport& report, const DataflowRun& run) {
  std::vector<Parts> bars;
  double highest = 0;
  for (const NetworkLayer& layer : report.network.layers) {
    const LayerCost& cost = report.cost(run, layer);
    bars.push_back({shortened_middle(layer.name, 24), name(cost.status), cost.has_cost(),
                    cost.arithmetic_energy, cost.parts});
    if (cost.has_cost()) highest = std::max(highest, cost.energy);
  }
  const Unit unit = unit_for(highest, report.energy_unit);
  return draw_bars(heading(report) + (run.dataflow == "free" ? "" : ", dataflow " + run.dataflow),
                   two_charts(run.places, bars, unit.divisor, "energy, " + unit.name))
      .document();
}

std::string dataflows_svg(const NetworkReport& report) {
  std::vector<std::string> places;
  for (const DataflowRun& run : report.runs) {
    for (const std::string& place : run.places) {
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
  }
  std::vector<Parts> bars;
  for (const DataflowRun& run : report.runs) {
    const RunTotals total = report.totals(run);
    Parts bar{run.dataflow,
              fmt::format("cannot run {} of {} layers", total.missing, report.network.layers.size()),
              total.missing == 0 && total.macs > 0};
    const double macs = double(std::max<int64_t>(total.macs, 1));
    bar.arithmetic = total.arithmetic_energy / macs;
    bar.parts.resize(places.size());
    for (size_t p = 0; p < run.places.size(); ++p) {
      const size_t to = size_t(std::find(places.begin(), places.end(), run.places[p]) - places.begin());
      for (size_t r = 0; r < size_t(kDataRoles); ++r) bar.parts[to][r] = total.parts[p][r] / macs;
    }
    bars.push_back(std::move(bar));
  }
  const std::string unit = report.energy_unit == "mac" ? "energy per MAC, multiples of one MAC"
                                                       : "energy per MAC, " + report.energy_unit;
  return draw_bars(heading(report) + (report.equal_area ? ", equal storage area" : ""),
                   two_charts(places, bars, 1, unit))
      .document();
}

}  // namespace

std::string report_svg(const NetworkReport& report) {
  return report.runs.size() == 1 ? layers_svg(report, report.runs.front()) : dataflows_svg(report);
}

}  // namespace tilewright
