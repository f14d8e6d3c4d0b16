// The verbs that time a bundle on the cycle simulator.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "tilewright/base/file.h"
#include "tilewright/flow/run/bundle.h"

namespace tilewright {
namespace {

TEST(Report, LayersAddUpAndKeepTheirBounds) {
  const nlohmann::json report = json_of("report " + demo_files().bundle.string());
  uint64_t cycles = 0;
  for (const auto& layer : report.at("layers")) {
    cycles += layer.at("cycles").get<uint64_t>();
    uint64_t caused = 0;
    for (const auto& cause : layer.at("cycles_by_cause")) caused += cause.get<uint64_t>();
    EXPECT_EQ(caused, layer.at("cycles").get<uint64_t>()) << layer;
    EXPECT_LE(layer.at("ideal_cycles").get<double>(), layer.at("roofline_cycles").get<double>()) << layer;
    EXPECT_LE(layer.at("roofline_cycles").get<double>(), layer.at("cycles").get<double>()) << layer;
  }
  EXPECT_EQ(cycles, report.at("cycles").get<uint64_t>());
  EXPECT_GE(report.at("layers").size(), 4u);
  const CommandResult text = command("report " + demo_files().bundle.string());
  EXPECT_NE(text.output.find(std::to_string(cycles) + " cycles"), std::string::npos) << text.output;
}

TEST(Report, MemoriesDifferAndTheRooflineIsDrawn) {
  const std::string bundle = demo_files().bundle.string();
  const auto svg = fresh_folder("roofline") / "r.svg";
  const uint64_t ideal = json_of("report --memory ideal " + bundle).at("cycles");
  const uint64_t fixed = json_of("report --memory fixed " + bundle).at("cycles");
  const uint64_t slow = json_of("report --memory fixed:200 " + bundle).at("cycles");
  const uint64_t ddr = json_of("report --memory ddr --svg " + svg.string() + " " + bundle).at("cycles");
  EXPECT_LT(ideal, fixed);
  EXPECT_LT(fixed, slow);
  EXPECT_NE(fixed, ddr);
  EXPECT_NE(read_text_file(svg).find("</svg>"), std::string::npos);
}

TEST(Report, ABundleIsTimedOnOtherHardware) {
  const std::string bundle = demo_files().bundle.string();
  const nlohmann::json small = json_of("report --hardware overlay-8x8 " + bundle);
  EXPECT_EQ(small.at("hardware"), "overlay-8x8");
  EXPECT_EQ(small.at("macs_per_cycle"), 64);
  EXPECT_GT(small.at("cycles"), json_of("report " + bundle).at("cycles"));
}

TEST(Explain, EveryNamedChangeWasMeasured) {
  const nlohmann::json result = json_of("explain " + demo_files().bundle.string());
  size_t tried = 0;
  for (const auto& trial : result.at("trials")) tried += trial.contains("saved");
  EXPECT_GE(tried, 8u) << result.at("trials").dump(1);
  for (const auto& layer : result.at("layers")) {
    for (const auto& help : layer.at("helps")) {
      EXPECT_EQ(help.at("cycles").get<int64_t>() + help.at("saved").get<int64_t>(),
                layer.at("cycles").get<int64_t>())
          << layer;
      EXPECT_GT(help.at("saved").get<int64_t>(), 0) << layer;
    }
  }
  // The demo's dense layers read every weight once: the port bounds them, and a wider one must help.
  const CommandResult text = command("explain " + demo_files().bundle.string());
  EXPECT_NE(text.output.find("memory port of 128 bits: -"), std::string::npos) << text.output;
}

TEST(Explain, ThreadsDoNotChangeTheAnswer) {
  const std::string verb = "explain --json " + demo_files().bundle.string();
  EXPECT_EQ(command(verb + " --threads 4").output, command(verb).output);
}

TEST(Explain, WithoutTrialsOnlyTheCauses) {
  const nlohmann::json result = json_of("explain --no-trials " + demo_files().bundle.string());
  EXPECT_TRUE(result.at("trials").empty());
  EXPECT_FALSE(result.at("layers").empty());
}

TEST(Report, BadInput) {
  const std::string bundle = demo_files().bundle.string();
  std::vector<std::byte> bytes = read_file(demo_files().bundle);
  bytes.resize(bytes.size() / 2);
  const auto half = fresh_folder("half_report") / "m.twb";
  write_file(half, bytes);
  for (const char* verb : {"report ", "explain "}) {
    expect_failure(verb + half.string(), 1, {"m.twb", "truncated"});
    expect_failure(std::string(verb) + "/nowhere/m.twb", 1, {"cannot open '/nowhere/m.twb'"});
    expect_failure(verb + demo_files().model.string(), 1, {"lenet_fashion.onnx", "not a Tilewright bundle"});
    expect_failure(verb + bundle + " --memory treacle", 1, {"treacle"});
    expect_failure(verb + bundle + " --hardware no-such-overlay", 1, {"overlay-16x16", "vta-default"});
  }
  expect_failure("report " + bundle + " --svg /nowhere/r.svg", 1, {"cannot write '/nowhere/r.svg'"});
  Bundle host_only = read_bundle(demo_files().bundle);
  for (BundleNode& node : host_only.nodes) node.target = kHost;
  const auto path = fresh_folder("host_only") / "h.twb";
  write_bundle(path, host_only);
  expect_failure("report " + path.string(), 2, {"no layer of the bundle runs on the overlay"});
}

}  // namespace
}  // namespace tilewright
