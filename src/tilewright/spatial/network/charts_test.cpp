// Plots: numbers of the axis, geometry of bars, and that any text gives well-formed XML.
#include "tilewright/report/charts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/base/random.h"
#include "tilewright/report/svg.h"
#include "tilewright/spatial/network/network_plots.h"
#include "tilewright/spatial/network/report_test_support.h"

namespace tilewright {
namespace {

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Tags nest and every text is escaped: enough of XML for what we write.
bool well_formed(const std::string& text) {
  std::vector<std::string> open;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const size_t end = text.find('>', at);
    if (end == std::string::npos || text.find('<', at + 1) < end) return false;
    const std::string tag = text.substr(at + 1, end - at - 1);
    if (tag.front() == '?' || tag.back() == '/') continue;
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty();
}

TEST(AxisTicks, AreRoundAndCoverTheRange) {
  EXPECT_EQ(axis_ticks(0), (std::vector<double>{0, 1}));
  EXPECT_EQ(axis_ticks(4), (std::vector<double>{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4}));
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    const double high = std::pow(10, random.uniform() * 20 - 8);
    const std::vector<double> ticks = axis_ticks(high);
    EXPECT_GE(ticks.back(), high * (1 - 1e-9)) << high;
    EXPECT_GE(ticks.size(), 4u) << high;
    EXPECT_LE(ticks.size(), 10u) << high;
    const double low = high * random.uniform();
    const std::vector<double> range = range_ticks(low, high);
    EXPECT_LE(range.front(), low * (1 + 1e-9));
    EXPECT_GE(range.back(), high * (1 - 1e-9));
    EXPECT_LE(range.size(), 12u);
  }
  EXPECT_EQ(tick_text(0.25, 0.25), "0.25");
  EXPECT_EQ(tick_text(20, 10), "20");
  EXPECT_EQ(tick_text(2.5, 2.5), "2.5");
}

TEST(BarCharts, ABarHasTheHeightOfItsValue) {
  BarChart chart{"t", "y", {"s"}, {{"full", {8}, ""}, {"half", {4}, ""}, {"none", {}, "cannot run"}}, 0};
  const std::string svg = bar_chart_svg("h", {chart});
  EXPECT_NE(svg.find("height=\"260\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("height=\"130\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("cannot run"), std::string::npos);
  EXPECT_TRUE(well_formed(svg));
}

TEST(BarCharts, AnyNameIsEscaped) {
  NetworkReport report = small_report();
  report.network.name = "<&\">\x01 model";
  report.network.layers[0].name = "</svg>";
  for (const bool one : {true, false}) {
    if (!one) report.runs.resize(2, report.runs[0]);
    const std::string svg = report_svg(report);
    EXPECT_TRUE(well_formed(svg)) << svg;
    EXPECT_EQ(occurrences(svg, "</svg>"), 1u);
    report.runs.resize(1);
  }
}

TEST(Fronts, OnePointAndNonePlot) {
  for (const auto& points : {std::vector<FrontPoint>{}, std::vector<FrontPoint>{{0, 0}},
                             std::vector<FrontPoint>{{1, 5}, {2, 3}, {4, 1}}}) {
    const std::string svg = front_chart_svg({"title", "x", "y", {{"front", points, true}}});
    EXPECT_TRUE(well_formed(svg));
    EXPECT_EQ(occurrences(svg, "nan"), 0u) << svg;
    EXPECT_EQ(occurrences(svg, "<circle"), points.size() + 1);
  }
}

}  // namespace
}  // namespace tilewright
