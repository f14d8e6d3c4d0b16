// Plots of a report: any text gives well-formed XML.
#include "tilewright/spatial/network/network_plots.h"

#include <gtest/gtest.h>

#include "support/xml_testing.h"
#include "tilewright/spatial/network/report_testing.h"

namespace tilewright {
namespace {

TEST(NetworkPlots, AnyNameIsEscaped) {
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

}  // namespace
}  // namespace tilewright
