// Plots: numbers of the axis, geometry of bars and fronts, well-formed XML.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/xml_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/report/bar_chart.h"
#include "tilewright/report/line_chart.h"
#include "tilewright/report/plot_style.h"

namespace tilewright {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

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

TEST(LinearAxes, EdgesAreTheOuterTicks) {
  const LinearAxes axes{10, 20, 100, 50, {2, 3, 4}, {0, 5}};
  EXPECT_EQ(axes.x(2), 10);
  EXPECT_EQ(axes.x(4), axes.right());
  EXPECT_EQ(axes.y(0), axes.bottom());
  EXPECT_EQ(axes.y(5), 20);
  EXPECT_EQ(enclosing_ticks(3, 3, false), axis_ticks(3));
  EXPECT_EQ(enclosing_ticks(1, 3, true).front(), 0);
  EXPECT_EQ(enclosing_ticks(1, 3, false).front(), 1);
}

TEST(BarCharts, ABarHasTheHeightOfItsValue) {
  for (const bool stacked : {true, false}) {
    const BarChart chart{
        "t", "y", {"s"}, {{"full", {8}, ""}, {"half", {4}, ""}, {"none", {}, "cannot run"}}, stacked};
    const std::string svg = draw_bars("h", {chart}).document();
    EXPECT_NE(svg.find("height=\"260\""), std::string::npos) << svg;
    EXPECT_NE(svg.find("height=\"130\""), std::string::npos) << svg;
    EXPECT_NE(svg.find("cannot run"), std::string::npos);
    EXPECT_TRUE(well_formed(svg));
  }
}

// Stacked, 3 and 5 reach the axis' end of 8; beside each other, 5 does.
TEST(BarCharts, StackedBarsAddUp) {
  BarChart chart{"", "", {"a", "b"}, {{"g", {3, 5}, ""}}, true};
  const std::string stacked = draw_bars("h", {chart}).document();
  EXPECT_EQ(occurrences(stacked, "height=\"97.5\""), 1u) << stacked;
  EXPECT_EQ(occurrences(stacked, "height=\"162.5\""), 1u) << stacked;
  chart.stacked = false;
  const std::string beside = draw_bars("h", {chart}).document();
  EXPECT_EQ(occurrences(beside, "height=\"156\""), 1u) << beside;
  EXPECT_EQ(occurrences(beside, "height=\"260\""), 1u) << beside;
}

TEST(BarCharts, AValueThatIsMissingHasNoBar) {
  const BarChart chart{"", "", {"a", "b"}, {{"g", {kNothing, 5}, ""}}};
  const std::string svg = draw_bars("h", {chart}).document();
  EXPECT_EQ(occurrences(svg, "nan"), 0u);
  EXPECT_EQ(occurrences(svg, "g, a"), 0u);
  EXPECT_EQ(occurrences(svg, "g, b: 5"), 1u);
}

TEST(Fronts, OnePointAndNonePlot) {
  for (const PlotLine& points : {PlotLine{}, PlotLine{{0, 0}}, PlotLine{{1, 5}, {2, 3}, {4, 1}}}) {
    LinePanel panel{"title", "x", "y", {{"front", {points}, LineStyle::kFront}}};
    panel.x_from_zero = false;
    const std::string svg = draw_lines("h", {panel}).document();
    EXPECT_TRUE(well_formed(svg));
    EXPECT_EQ(occurrences(svg, "nan") + occurrences(svg, "inf"), 0u) << svg;
    EXPECT_EQ(occurrences(svg, "<circle"), points.size());
  }
}

// Of two points a front has the worse y until the second begins.
TEST(Fronts, AreStaircases) {
  LinePanel panel{"", "", "", {{"front", {{{0, 4}, {4, 0}}}, LineStyle::kFront}}};
  panel.y_from_zero = true;
  const std::string svg = draw_lines("h", {panel}).document();
  EXPECT_NE(svg.find("points=\"76,60 696,60 696,460 \""), std::string::npos) << svg;
}

TEST(Lines, SeveralHaveAMeanAndGapsStayGaps) {
  const LinePanel panel{
      "", "", "", {{"s", {{{0, 1}, {1, 2}, {2, kNothing}}, {{0, 3}, {1, 4}, {2, kNothing}}}}}, true};
  const std::string svg = draw_lines("h", {panel, panel}).document();
  EXPECT_EQ(occurrences(svg, "stroke-width=\"0.6\""), 4u) << svg;
  EXPECT_EQ(occurrences(svg, "stroke-width=\"2.5\""), 2u) << svg;
  EXPECT_EQ(occurrences(svg, "nan"), 0u);
}

}  // namespace
}  // namespace tilewright
