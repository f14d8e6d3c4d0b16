// `tilewright map` as a user runs it: networks of the zoo, layers in YAML, and bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "command.h"
#include "network_files.h"
#include "spatial/timeloop_files/flat_files.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_writer.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

std::string alexnet() { return zoo_file("alexnet"); }
std::string resnet18() { return zoo_file("resnet18"); }

// A small layer that the free mapper proves quickly, and a machine of two memories for it.
const char* const kLayer = "name: small\ndense: {batch: 2, inputs: 4, outputs: 4}\n";
const char* const kMachine =
    "kind: array\nname: tiny\nclock_mhz: 100\narithmetic: {energy: 1}\nlevels:\n"
    "- {name: dram, energy: 200}\n"
    "- {name: buffer, capacity_words: 24, energy: 6, fanout: {x: 2, y: 2}}\n";

TEST(Map, HelpShowsAnExample) {
  const CommandResult result = command("map --help");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.output, "Example:\n  tilewright map"));
}

TEST(Map, AllDataflowsOfAlexNetWithPlotCsvAndUnions) {
  const auto folder = fresh_folder("map_taxonomy");
  const std::string plot = (folder / "taxonomy.svg").string(), csv = (folder / "taxonomy.csv").string();
  const Json report =
      json_of("map " + alexnet() + " --hardware eyeriss-256 --dataflow all --equal-area --batch 16 " +
              "--union --plot " + plot + " --csv " + csv);
  ASSERT_EQ(report["runs"].size(), 6u);
  double rs = 0, least = 1e300;
  for (const Json& run : report["runs"]) {
    EXPECT_TRUE(run["complete"]) << run["dataflow"];
    EXPECT_TRUE(run["proven"]) << run["dataflow"];
    EXPECT_EQ(run["layers"].size(), 8u);
    if (run["dataflow"] == "rs") rs = run["energy"];
    least = std::min(least, run["energy"].get<double>());
    // Parts, layers and totals agree.
    double sum = 0, parts = run["arithmetic_energy"];
    for (const Json& layer : run["layers"]) sum += layer["energy"].get<double>();
    for (const Json& place : run["energy_by_place"]) {
      for (const Json& role : place) parts += role.get<double>();
    }
    EXPECT_NEAR(sum / run["energy"].get<double>(), 1, 1e-12);
    EXPECT_NEAR(parts / run["energy"].get<double>(), 1, 1e-12);
  }
  EXPECT_EQ(rs, least) << "row stationary needs least energy";
  EXPECT_EQ(report["unions"].size(), 6u + 15u + 20u);
  for (const Json& choice : report["unions"]) EXPECT_GE(choice["energy"].get<double>() * (1 + 1e-12), least);
  EXPECT_TRUE(contains(read_text_file(plot), "register file"));
  const std::string lines = read_text_file(csv);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1 + 6 * 8);
}

TEST(Map, EqualLayersOfResNet18AreMappedOnce) {
  const CommandResult result =
      command("map " + resnet18() + " --hardware eyeriss-256 --dataflow rs --equal-area");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "as Conv_5")) << result.output;
  EXPECT_TRUE(contains(result.output, "total of 21")) << result.output;
  EXPECT_TRUE(contains(result.output, "all optimal")) << result.output;
}

TEST(Map, ADataflowOfTheUsersOwnIsAFile) {
  const Json report = json_of("map " + alexnet() + " --hardware eyeriss-256 --equal-area --dataflow rs," +
                              std::string(TILEWRIGHT_SOURCE_DIR) + "/dataflows/example-output-rows.yaml");
  ASSERT_EQ(report["runs"].size(), 2u);
  EXPECT_NE(report["runs"][1]["dataflow"], "rs");
  EXPECT_TRUE(report["runs"][1]["proven"]);
}

TEST(Map, BatchMultipliesTheWork) {
  const Json one = json_of("map " + alexnet() + " --hardware eyeriss-256 --dataflow rs");
  const Json four = json_of("map " + alexnet() + " --hardware eyeriss-256 --dataflow rs --batch 4");
  EXPECT_EQ(four["runs"][0]["macs"].get<int64_t>(), 4 * one["runs"][0]["macs"].get<int64_t>());
  EXPECT_LT(four["runs"][0]["energy_per_mac"], one["runs"][0]["energy_per_mac"])
      << "weights are shared by images";
}

TEST(Map, FreeMappingRoundTripsThroughItsFileAndTheCache) {
  const auto folder = fresh_folder("map_free");
  const std::string layer = text_file(folder, "layer.yaml", kLayer),
                    machine = text_file(folder, "tiny.yaml", kMachine);
  const std::string base = "map --workload " + layer + " --hardware " + machine,
                    mappings = (folder / "m.yaml").string();
  const std::string cache = (folder / "cache").string();
  const Json found = json_of(base + " --cache " + cache + " -o " + mappings);
  const Json& first = found["runs"][0]["layers"][0];
  EXPECT_EQ(first["status"], "optimal");
  EXPECT_EQ(first["lower_bound"], first["energy"]);
  EXPECT_GT(first["seconds"], 0);
  const Json given = json_of(base + " --mapping " + mappings);
  EXPECT_EQ(given["runs"][0]["layers"][0]["energy"], first["energy"]);
  EXPECT_EQ(given["runs"][0]["layers"][0]["cycles"], first["cycles"]);

  const CommandResult again = command(base + " --cache " + cache);
  EXPECT_TRUE(contains(again.output, "1 of 1 mappings came from the cache")) << again.output;
  // Another thread count asks the same question, another objective does not.
  EXPECT_TRUE(contains(command(base + " --threads 2 --cache " + cache).output, "1 of 1 mappings came"));
  EXPECT_TRUE(contains(command(base + " --objective edp --cache " + cache).output, "0 of 1 mappings came"));
  // A damaged entry is ignored with a warning, written anew and then used.
  for (const auto& entry : std::filesystem::directory_iterator(cache)) {
    std::string text = read_text_file(entry.path());
    text[text.size() / 2] ^= 1;
    write_text_file(entry.path(), text);
  }
  const CommandResult damaged = command(base + " --cache " + cache);
  EXPECT_EQ(damaged.exit_code, 0) << damaged.output;
  EXPECT_TRUE(contains(damaged.output, "is ignored")) << damaged.output;
  EXPECT_TRUE(contains(command(base + " --cache " + cache).output, "1 of 1 mappings came from the cache"));
}

TEST(Map, CompareGivesRatiosOfOneAgainstItself) {
  const auto folder = fresh_folder("map_compare");
  const std::string base = "map " + alexnet() + " --hardware eyeriss-256 --dataflow rs,ws";
  const std::string saved = text_file(folder, "old.json", json_of(base).dump());
  const Json report = json_of(base + " --compare " + saved);
  ASSERT_EQ(report["comparison"]["totals"].size(), 2u);
  for (const Json& total : report["comparison"]["totals"]) EXPECT_EQ(total["energy_ratio"], 1);
  const CommandResult text =
      command("map " + alexnet() + " --hardware eyeriss-512 --dataflow rs --compare " + saved);
  EXPECT_EQ(text.exit_code, 0) << text.output;
  EXPECT_TRUE(contains(text.output, "note: only in the baseline: ws")) << text.output;
}

TEST(Map, FrontsEndAtTheLeastEnergyAndTheLeastLatency) {
  const auto folder = fresh_folder("map_front");
  const std::string layer = text_file(folder, "layer.yaml", kLayer),
                    machine = text_file(folder, "tiny.yaml", kMachine);
  const std::string base = "map --workload " + layer + " --hardware " + machine;
  const std::string plot = (folder / "front.svg").string();
  const Json front = json_of(base + " --pareto --plot " + plot)["front"];
  EXPECT_TRUE(front["proven"]);
  EXPECT_EQ(front["energy_slack"], 0);
  const Json fast = json_of(base + " --objective latency"), frugal = json_of(base);
  EXPECT_EQ(front["points"].front()["cycles"], fast["runs"][0]["cycles"]);
  EXPECT_EQ(front["points"].front()["energy"], fast["runs"][0]["energy"]);
  EXPECT_EQ(front["points"].back()["cycles"], frugal["runs"][0]["cycles"]);
  EXPECT_EQ(front["points"].back()["energy"], frugal["runs"][0]["energy"]);
  EXPECT_TRUE(contains(read_text_file(plot), "latency, ms"));
}

// With the words of a level as a third cost the front holds that of two, and more.
TEST(Map, BufferFrontsHoldTheFrontOfEnergyAndLatency) {
  const auto folder = fresh_folder("map_buffer_front");
  const std::string layer = text_file(folder, "layer.yaml", kLayer),
                    machine = text_file(folder, "tiny.yaml", kMachine);
  const std::string base = "map --workload " + layer + " --hardware " + machine + " --pareto";
  const Json report = json_of(base + " --pareto-buffer buffer");
  const Json& fronts = report["buffer_fronts"];
  EXPECT_EQ(fronts["level"], "buffer");
  EXPECT_TRUE(fronts["proven"]);
  ASSERT_EQ(fronts["distinct_layers"].size(), 1u);
  const Json& points = fronts["distinct_layers"][0]["points"];
  EXPECT_GE(points.size(), report["front"]["points"].size());
  for (const Json& point : report["front"]["points"]) {
    EXPECT_TRUE(std::any_of(points.begin(), points.end(), [&](const Json& with_words) {
      return with_words["cycles"] == point["cycles"] &&
             with_words["energy"].get<double>() <= point["energy"].get<double>() * (1 + 1e-9);
    })) << point;
  }
  for (const Json& point : points) EXPECT_LE(point["words"], 24);
  EXPECT_TRUE(contains(command(base + " --pareto-buffer buffer").output, "words of 'buffer'"));
  expect_failure(base + " --pareto-buffer cache", 1, {"'tiny' has no level 'cache'", "dram, buffer"});
}

TEST(Map, RowStationaryMappingsRunOnTheSimulatedChip) {
  const auto folder = fresh_folder("map_simulate");
  const std::string layer =
      text_file(folder, "layer.yaml",
                "name: small\nconvolution: {input_channels: 8, output_channels: 16, input: 9, kernel: 3}\n");
  const std::string base = "map --workload " + layer + " --hardware eyeriss-chip --dataflow ";
  const Json report = json_of(base + "rs-chip --simulate");
  const Json& simulation = report["simulation"];
  EXPECT_EQ(simulation["chip"], "eyeriss-chip");
  ASSERT_EQ(simulation["layers"].size(), 1u);
  const Json& time = simulation["layers"][0];
  ASSERT_TRUE(time.contains("cycles")) << report;
  EXPECT_GE(time["cycles"], time["ideal_cycles"]);
  EXPECT_GE(time["cycles"].get<double>(), report["runs"][0]["layers"][0]["cycles"].get<double>());
  EXPECT_TRUE(contains(command(base + "rs-chip --simulate").output, "Simulated on 'eyeriss-chip'"));
  expect_failure(base + "ws --simulate", 1, {"no variable", "rs-chip.yaml"});
  expect_failure(base + "all --simulate", 1, {"one dataflow"});
  expect_failure("map --workload " + layer + " --hardware eyeriss-256 --dataflow rs-chip --simulate", 1,
                 {"row_stationary"});
  expect_failure("map --workload " + layer + " --hardware eyeriss-chip --simulate", 1, {"one dataflow"});
}

TEST(Map, ThreadsChangeNoFile) {
  const auto folder = fresh_folder("map_threads");
  const std::string layer = text_file(folder, "layer.yaml", kLayer),
                    machine = text_file(folder, "tiny.yaml", kMachine);
  std::vector<std::string> written;
  for (const std::string threads : {"1", "2"}) {
    const std::string base = (folder / threads).string();
    ASSERT_EQ(command("map --workload " + layer + " --hardware " + machine + " --imperfect --threads " +
                      threads + " -o " + base + ".yaml --plot " + base + ".svg")
                  .exit_code,
              0);
    ASSERT_EQ(command("map " + resnet18() + " --hardware eyeriss-256 --dataflow all --threads " + threads +
                      " -o " + base + "r.yaml --plot " + base + "r.svg")
                  .exit_code,
              0);
    written.push_back(read_text_file(base + ".yaml") + read_text_file(base + ".svg") +
                      read_text_file(base + "r.yaml") + read_text_file(base + "r.svg"));
  }
  EXPECT_EQ(written[0], written[1]);
}

// Two layers whose intermediate fits the buffer: it need not go to main memory and back.
TEST(Map, FusedLayersSaveTheWayToMainMemory) {
  const auto folder = fresh_folder("map_fused");
  const std::string layers =
      text_file(folder, "layers.yaml",
                "- {name: a, convolution: {input_channels: 2, output_channels: 4, input: 6, kernel: 1}}\n"
                "- {name: b, convolution: {input_channels: 4, output_channels: 2, input: 6, kernel: 1}}\n");
  const std::string machine = text_file(folder, "tiny.yaml", kMachine);
  const Json report = json_of("map --workload " + layers + " --hardware " + machine + " --fuse");
  const Json& fusion = report["fusion"];
  EXPECT_EQ(fusion["chains"], 1);
  ASSERT_EQ(fusion["segments"].size(), 1u) << report.dump(1);
  EXPECT_LT(fusion["fused_energy"], fusion["separate_energy"]);
  EXPECT_EQ(fusion["separate_energy"], report["runs"][0]["energy"]);
  EXPECT_LT(fusion["segments"][0]["tile"][3], 6)
      << "the buffer holds 24 words: the tensor does not fit whole";
}

TEST(Map, ConstraintFilesNarrowTheFreeSpace) {
  const auto folder = fresh_folder("map_constraints");
  const std::string layer = text_file(folder, "layer.yaml", kLayer),
                    machine = text_file(folder, "tiny.yaml", kMachine);
  const std::string rules = text_file(folder, "rules.yaml", "levels:\n- {level: buffer, bypass: weight}\n");
  const std::string base = "map --workload " + layer + " --hardware " + machine;
  const Json bound = json_of(base + " --dataflow " + rules), open = json_of(base);
  EXPECT_EQ(bound["runs"][0]["dataflow"], "rules");
  EXPECT_GE(bound["runs"][0]["energy"].get<double>(), open["runs"][0]["energy"].get<double>());
  EXPECT_TRUE(contains(bound["runs"][0]["layers"][0]["mapping"], "keeps: input output"));
}

// Files of Timeloop: the flat machine, its energies, constraints and layer.
TEST(Map, TimeloopFilesAreTakenAsTheyAre) {
  const auto folder = fresh_folder("map_timeloop");
  const std::string machine = text_file(folder, "arch.yaml", kFlatMachine),
                    layer = text_file(folder, "layer.yaml", kFlatProblem);
  const Json report =
      json_of("map --timeloop " + machine + " " + text_file(folder, "ert.yaml", kFlatEnergies) + " " +
              text_file(folder, "space.yaml", kFlatConstraints) + " " + layer);
  EXPECT_EQ(report["runs"][0]["layers"][0]["status"], "optimal");
  EXPECT_EQ(report["rules"], "timeloop");
  expect_failure("map --timeloop " + layer, 1, {"contain no architecture"});
  expect_failure("map --timeloop " + machine, 1, {"contain no problem definition"});
}

TEST(MapBadInput, WhatIsUnknownComesWithWhatIsKnown) {
  expect_failure("map " + alexnet() + " --hardware nowhere", 1, {"'nowhere'", "eyeriss-256", "arch-unified"});
  expect_failure("map " + alexnet() + " --hardware eyeriss-256 --dataflow xs", 1, {"'xs'", "nlr, rs, all"});
  expect_failure("map " + alexnet() + " --hardware arch-unified --dataflow rs", 1, {"no 'study' section"});
  expect_failure("map " + alexnet() + " --hardware eyeriss-256 --rules study", 1,
                 {"name one with --dataflow"});
  expect_failure("map " + alexnet(), 1, {"no hardware given"});
  expect_failure("map --hardware eyeriss-256", 1, {"give a model or --workload"});
  expect_failure("map absent.onnx --hardware eyeriss-256", 1, {"absent.onnx"});
  expect_failure("map " + alexnet() + " --hardware eyeriss-256 --batch 0", 1, {"--batch"});
  expect_failure("map " + alexnet() + " --hardware eyeriss-256 --time 5x", 1, {"'5x' is not a time"});
  expect_failure("map " + alexnet() + " --hardware eyeriss-256 --dataflow rs --objective edp --max-cycles 4",
                 1, {"--max-cycles"});
}

TEST(MapBadInput, EveryRuleThatAMappingBreaks) {
  const auto folder = fresh_folder("map_broken");
  const std::string layer = text_file(folder, "layer.yaml", kLayer),
                    machine = text_file(folder, "tiny.yaml", kMachine);
  const std::string mapping = text_file(folder, "m.yaml",
                                        "- {level: dram, temporal: C=2, keeps: input}\n"
                                        "- {level: buffer, temporal: C=4 N=2 M=2, spatial: x:M=4}\n");
  expect_failure("map --workload " + layer + " --hardware " + machine + " --mapping " + mapping, 1,
                 {"level 'dram'", "level 'buffer'"});
  expect_failure("map --workload " + layer + " --hardware " + machine + " --mapping absent.yaml", 1,
                 {"absent.yaml"});
  const std::string elsewhere = text_file(folder, "other.yaml", "layers:\n- layer: x\n  mapping: []\n");
  expect_failure("map --workload " + layer + " --hardware " + machine + " --mapping " + elsewhere, 1,
                 {"no mapping for any of the layers"});
}

TEST(MapBadInput, NoMappingAtAllIsInfeasible) {
  const auto folder = fresh_folder("map_infeasible");
  const std::string layer = text_file(folder, "layer.yaml", kLayer),
                    machine = text_file(folder, "tiny.yaml", kMachine);
  expect_failure("map --workload " + layer + " --hardware " + machine + " --max-cycles 1", 3,
                 {"1 of 1 layers have no mapping", "cycles"});
}

TEST(MapBadInput, FilesAndFoldersThatCannotBe) {
  const std::string base = "map " + alexnet() + " --hardware eyeriss-256 --dataflow rs";
  expect_failure(base + " --cache /proc/nowhere", 1, {"/proc/nowhere"});
  expect_failure(base + " --cache " + alexnet(), 1, {alexnet()});
  expect_failure(base + " --plot /nowhere/a.svg", 1, {"/nowhere/a.svg"});
  expect_failure(base + " --csv /dev/full", 1, {"No space left"});
  expect_failure(base + " > /dev/full", 1, {});
  const auto folder = fresh_folder("map_files");
  expect_failure(base + " --compare " + text_file(folder, "b.json", "[]"), 1,
                 {"is not the JSON of a mapping report"});
}

TEST(MapBadInput, AModelWithoutLayersNamesItsOperators) {
  Graph graph;
  graph.name = "activations";
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 3});
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, 3});
  graph.add_node("act", "Relu", {x}, {y});
  graph.outputs = {y};
  const auto folder = fresh_folder("map_none");
  write_onnx(folder / "m.onnx", graph);
  expect_failure("map " + (folder / "m.onnx").string() + " --hardware eyeriss-256 --dataflow rs", 2,
                 {"no layer to map", "Relu"});
}

// A convolution of three axes is left out by name; the dense layer beside it is mapped.
TEST(MapBadInput, NodesLeftOutAreListedWithTheirShareOfTheWork) {
  Graph graph;
  graph.name = "volume";
  const ValueId x = graph.add_input("x", ElementType::kF32, {1, 2, 4, 4, 4});
  const ValueId v = graph.add_input("v", ElementType::kF32, {1, 8});
  const ValueId w = graph.add_constant("w", Tensor(ElementType::kF32, {2, 2, 3, 3, 3}));
  const ValueId u = graph.add_constant("u", Tensor(ElementType::kF32, {8, 16}));
  const ValueId y = graph.add_value("y", ElementType::kF32, {1, 2, 2, 2, 2});
  const ValueId z = graph.add_value("z", ElementType::kF32, {1, 16});
  graph.add_node("cube", "Conv", {x, w}, {y});
  graph.add_node("fc", "MatMul", {v, u}, {z});
  graph.outputs = {y, z};
  const auto folder = fresh_folder("map_partial");
  write_onnx(folder / "m.onnx", graph);
  const CommandResult result =
      command("map " + (folder / "m.onnx").string() + " --hardware eyeriss-256 --dataflow rs");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "node 'cube' (Conv) is left out, 864 MACs")) << result.output;
  EXPECT_TRUE(contains(result.output, "hold 12.90 % of the model's MACs")) << result.output;
}

}  // namespace
}  // namespace tilewright
