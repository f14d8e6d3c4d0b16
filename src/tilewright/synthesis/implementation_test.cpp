#include "tilewright/synthesis/implementation.h"

#include <gtest/gtest.h>

#include "tilewright/synthesis/nextpnr.h"

namespace tilewright::synthesis {
namespace {

TEST(ImplementationOptions, PrintsAndParsesBack) {
  ImplementationOptions options;
  EXPECT_EQ(parse_implementation(print_implementation(options), "test"), options);
  EXPECT_EQ(parse_implementation("{}", "test"), options);
  options.synthesis_mhz = 33.25;
  options.flatten = options.clock_enables = false;
  options.mapper = LutMapper::kAbc9;
  options.place_mhz = 47.5;
  options.placer = Placer::kAnnealing;
  options.heap_beta = 0.8;
  options.router = Router::kRouter2;
  options.timing_ripup = true;
  options.seed = 7;
  const std::string line = print_implementation(options);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(parse_implementation(line, "test"), options);
}

TEST(ImplementationOptions, ReportsEveryWrongFieldAtOnce) {
  try {
    parse_implementation(R"({"mapper": "hope", "seed": -1, "heap_beta": "much", "colour": 1})", "file.json");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().size(), 4u) << error.what();
    EXPECT_NE(std::string(error.what()).find("'hope' is none of them; usual, abc, abc2, abc9"),
              std::string::npos)
        << error.what();
  }
}

std::string first_problem(const ImplementationOptions& options, DeviceFamily family) {
  Diagnostics diagnostics;
  options.verify(family, diagnostics);
  return diagnostics.ok() ? "" : to_string(diagnostics.errors().front());
}

TEST(ImplementationOptions, NamesTheRange) {
  ImplementationOptions options;
  options.heap_beta = 1.25;
  EXPECT_NE(
      first_problem(options, DeviceFamily::kIce40).find("1.25 is not in 0.1..1; take a value in this range"),
      std::string::npos)
      << first_problem(options, DeviceFamily::kIce40);
}

TEST(ImplementationOptions, KnowsWhatEachFlowTakes) {
  ImplementationOptions options;
  EXPECT_EQ(first_problem(options, DeviceFamily::kIce40), "");
  options.synthesis_mhz = 50;
  EXPECT_EQ(first_problem(options, DeviceFamily::kIce40), "");
  EXPECT_NE(first_problem(options, DeviceFamily::kXc7).find("only ABC9 takes a delay target"),
            std::string::npos);
  options = {};
  options.retime = true;
  EXPECT_NE(first_problem(options, DeviceFamily::kIce40).find("ABC9 does not retime"), std::string::npos);
  EXPECT_EQ(first_problem(options, DeviceFamily::kXc7), "");
  options = {};
  options.mapper = LutMapper::kAbc2;
  EXPECT_NE(first_problem(options, DeviceFamily::kXc7).find("only for iCE40 and ECP5"), std::string::npos);
  options = {};
  options.heap_alpha = 0;
  EXPECT_NE(first_problem(options, DeviceFamily::kIce40).find("heap_alpha"), std::string::npos);
}

TEST(Nextpnr, ReadsTheTableOfPackedCells) {
  const auto cells = parse_device_utilisation(
      "Info: Packing carries..\nInfo: Device utilisation:\nInfo: \t         ICESTORM_LC:  2668/ 7680    34%\n"
      "Info: \t        ICESTORM_RAM:    10/   32    31%\n\n1 warning, 0 errors\n");
  EXPECT_EQ(cells, (std::map<std::string, int64_t>{{"ICESTORM_LC", 2668}, {"ICESTORM_RAM", 10}}));
  EXPECT_THROW(parse_device_utilisation("Info: nothing\n"), Error);
}

}  // namespace
}  // namespace tilewright::synthesis
