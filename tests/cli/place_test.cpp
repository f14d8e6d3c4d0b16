// `tilewright place` as a user runs it: the paper's graphs, expressions, kernels, files, and bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "command.h"
#include "support/cgra/generated_graphs_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/cgra/configure/configuration.h"
#include "tilewright/cgra/graph/graph_file.h"
#include "tilewright/cgra/learn/policy_network.h"
#include "tilewright/cgra/problem/check.h"
#include "tilewright/cgra/problem/mapping_file.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

const std::string kGraphs = TILEWRIGHT_SOURCE_DIR "/models/cgra/";

Json placed(const std::string& arguments, int exit_code = 0) {
  return json_of("place " + arguments, exit_code);
}

void expect_refusal(const std::string& arguments, int exit_code, const std::vector<std::string>& parts) {
  expect_failure("place " + arguments, exit_code, parts);
}

TEST(Place, HelpShowsAnExample) {
  const CommandResult result = command("place --help");
  EXPECT_EQ(result.exit_code, 0);
  for (const char* part :
       {"Example:\n  tilewright place", "--fabric", "--ii", "--method", "branch-and-bound", "--fix"})
    EXPECT_TRUE(contains(result.output, part)) << part;
}

TEST(Place, SamplesOfThePolicy) {
  const Json report = placed(kGraphs + "ifft.json --fabric streaming-engine --ii 6 --method rl --seed 1");
  ASSERT_EQ(report["points"].size(), 1u);
  EXPECT_GE(report["points"][0]["makespan_cycles"].get<int>(), 18);
  expect_refusal(
      kGraphs + "ifft.json --fabric streaming-engine --ii 6 --method rl --policy " + kGraphs + "ifft.json", 1,
      {"not a policy file"});
}

TEST(Place, TrainingNamesWhatIsWrongWithItsGraphs) {
  const auto folder = fresh_folder("place_train");
  const std::string fixed = "train --fabric streaming-engine -o " + (folder / "p.json").string();
  expect_refusal(fixed + " --graphs " + folder.string(), 1, {"no graphs in"});
  text_file(folder, "a.dot", "digraph { a -> b }");
  expect_refusal(fixed + " --graphs " + folder.string(), 1, {"a.dot says no II"});
}

// No method is below the proven optimum, whose own run has no gap; the files say what was printed.
TEST(Place, BenchComparesAllMethodsWithTheProvenOptimum) {
  const auto folder = fresh_folder("place_bench");
  const Json report = placed("bench " + kGraphs + "ifft.json " + kGraphs +
                             "distance.json --ii 6 --seeds 2 --time 5ms -o " + folder.string());
  ASSERT_EQ(report["graphs"].size(), 2u);
  EXPECT_EQ(report["graphs"][0]["makespan_cycles"], 18);
  EXPECT_EQ(report["graphs"][1]["makespan_cycles"], 13);
  std::set<std::string> methods;
  for (const Json& row : report["methods"]) {
    methods.insert(row["method"]);
    EXPECT_GE(row["mean_gap"].get<double>(), 0) << row;
    if (row["method"] != "exact") continue;
    EXPECT_EQ(row["mean_gap"], 0);
    EXPECT_EQ(row["at_optimum"], 2);
  }
  EXPECT_EQ(methods, (std::set<std::string>{"annealing", "branch-and-bound", "evolution", "exact", "list",
                                            "random", "rl"}));
  const Json written = Json::parse(read_text_file(folder / "methods.json"));
  for (const auto& [name, value] : written.items()) EXPECT_EQ(value, report[name]) << name;
  const std::string csv = read_text_file(folder / "methods.csv");
  // A head; exact; random, annealing, evolution, rl by seed and budget; list, branch-and-bound by budget.
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * (1 + 4 * 2 * 3 + 2 * 3));
  EXPECT_TRUE(contains(read_text_file(folder / "methods.svg"), "equal processor time"));
}

TEST(Place, BenchDrawsLearningCurves) {
  const auto folder = fresh_folder("place_curves");
  const std::string arguments = "bench " + kGraphs + "ifft.json --experiment curves --ii 6 --seeds 2 " +
                                "--episodes 120 -o " + folder.string();
  const CommandResult probe = command("place " + arguments);
  if (contains(probe.output, "the training library cannot be loaded"))
    GTEST_SKIP() << "the training library is not built";
  const Json report = placed(arguments);
  ASSERT_EQ(report["training"].size(), 6u);
  for (const Json& row : report["training"]) {
    EXPECT_EQ(row["seeds"], 2);
    const bool masked = row["variant"] != "without mask";
    if (masked) {
      EXPECT_GE(row["best_makespan_ratio"].get<double>(), 1) << row;
    }
    EXPECT_EQ(row["complete"].get<double>() > 0.5, masked) << row;
  }
  const std::string csv = read_text_file(folder / "curves.csv");
  // A head; six variants, two seeds, updates of 50, 50 and 20 episodes.
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 6 * 2 * 3);
  EXPECT_TRUE(contains(read_text_file(folder / "curves_rewards.svg"), "published reward"));
  EXPECT_TRUE(contains(read_text_file(folder / "curves_networks.svg"), "plain perceptron"));
  EXPECT_TRUE(contains(read_text_file(folder / "curves_masks.svg"), "without mask"));
}

TEST(Place, BenchNamesEveryBadGraph) {
  const auto folder = fresh_folder("place_bench_bad");
  const std::string to = " -o " + (folder / "out").string();
  expect_refusal("bench " + text_file(folder, "a.dot", "digraph { a -> b }") + to, 1, {"a.dot says no II"});
  expect_refusal("bench --ii 2 " + kGraphs + "ifft.json " + kGraphs + "ifft.json" + to, 1,
                 {"two graphs are named ifft"});
  expect_refusal("bench --ii 1 " + kGraphs + "ifft.json " + kGraphs + "distance.json" + to, 3,
                 {"ifft: no mapping exists at an II of 1"});
}

TEST(Place, FrontOfTheButterflyWithFilePictureAndProofs) {
  const auto folder = fresh_folder("place_ifft");
  const std::string mapped = (folder / "mapped.json").string(), svg = (folder / "p.svg").string();
  const Json report =
      placed(kGraphs + "ifft.json --fabric streaming-engine --ii 1..6 -o " + mapped + " --svg " + svg +
             " --configuration " + (folder / "c.json").string() + " --proof " + (folder / "proofs").string());
  const std::vector<int> makespans = {0, 18, 19, 17, 17, 18};
  ASSERT_EQ(report["points"].size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    const Json& point = report["points"][i];
    EXPECT_EQ(point["status"], i == 0 ? "infeasible" : "optimal");
    EXPECT_EQ(point["makespan_cycles"], i == 0 ? Json() : Json(makespans[i]));
    EXPECT_EQ(point["on_front"], i == 1 || i == 3);
    EXPECT_TRUE(contains(point["proof"], "accepted")) << point;
  }
  EXPECT_EQ(report["best"]["ii"], 4);
  const cgra::MappedProgram program = cgra::read_mapped_program(mapped);
  EXPECT_EQ(program.problem.ii, 4);
  EXPECT_TRUE(program.problem.rules.routed);
  EXPECT_EQ(program.lower_bound_cycles, 17);
  EXPECT_TRUE(contains(read_text_file(svg), "load_bottom"));
  EXPECT_EQ(cgra::parse_configuration(read_text_file(folder / "c.json"), "c.json").name, "ifft");
  EXPECT_TRUE(std::filesystem::exists(folder / "proofs/ifft-ii4-16.drat"));
}

// Far too large for the time: what there is by then is told, with what ended the search.
TEST(Place, LimitsEndTheSearchAndAreNamed) {
  const auto folder = fresh_folder("place_limits");
  const cgra::GraphFile graph{.graph = cgra::generate_flow_graph(400, 64, 1).graph};
  const std::string problem =
      text_file(folder, "large.json", cgra::print_graph_json(graph)) + " --fabric streaming-engine-64 ";
  const CommandResult late = command("place " + problem + "--ii 40 --method random --time 300ms");
  EXPECT_EQ(late.exit_code, 0) << late.output;
  EXPECT_TRUE(contains(late.output, "note: time ran out before the search was done; this is the best so far"))
      << late.output;
  const CommandResult nothing = command("place " + problem + "--ii 8..9 --routed --time 1ms");
  EXPECT_EQ(nothing.exit_code, 3) << nothing.output;
  EXPECT_TRUE(contains(nothing.output, "no mapping found, but it is not proven that none exists"))
      << nothing.output;
  expect_refusal(problem + "--ii 40 --memory-limit 1M", 1, {"'1M' is too small: at least 64M is needed"});
  expect_refusal(problem + "--ii 40 --memory-limit lots", 1,
                 {"'lots' is not a size; give one like 800M, 16G or 2.5GiB"});
  expect_refusal(problem + "--ii 40 --routed --places-only", 1,
                 {"--routed and --places-only exclude each other"});
}

TEST(Place, AutomaticIiStopsWhereLongerOnesCannotHelp) {
  const Json report = placed(kGraphs + "distance.json --fabric streaming-engine");
  ASSERT_GE(report["points"].size(), 2u);
  EXPECT_LT(report["points"].size(), 16u);
  EXPECT_EQ(report["best"]["ii"], 2);
  EXPECT_EQ(report["best"]["makespan_cycles"], 13);
}

TEST(Place, EveryMethodFindsAValidMapping) {
  for (const char* method :
       {"exact", "branch-and-bound", "large", "annealing", "evolution", "random", "list"}) {
    const Json report = placed(
        kGraphs + "distance.json --fabric streaming-engine --ii 4 --evaluations 2000 --method " + method);
    EXPECT_GE(report["best"]["makespan_cycles"], 13) << method;
    EXPECT_LE(report["best"]["makespan_cycles"], 24) << method;
  }
}

// A bound comes with the mapping, however large the graph.
TEST(Place, LargeGraphsHaveABound) {
  const Json report = placed(kGraphs +
                             "ifft.json --fabric streaming-engine --ii 6 --evaluations 500 "
                             "--method large --time 5s");
  const Json& point = report["points"][0];
  EXPECT_GE(point["lower_bound_cycles"], 14);
  EXPECT_LE(point["lower_bound_cycles"], 18);  // the proven optimum
  EXPECT_GE(report["best"]["makespan_cycles"], 18);
}

TEST(Place, APolicyPlaces) {
  const auto folder = fresh_folder("place_rl");
  const std::string policy = text_file(folder, "p.json", cgra::print_policy(cgra::random_policy(1)));
  const std::string graph = kGraphs + "distance.json --fabric streaming-engine --ii 4 --method rl";
  const Json samples = placed(graph + " --samples 32 --policy " + policy);
  EXPECT_GE(samples["best"]["makespan_cycles"], 13);
  EXPECT_EQ(samples["points"][0]["evaluations"], 32);
  EXPECT_GE(placed(graph + " --beam 8 --policy " + policy)["best"]["makespan_cycles"], 13);
  EXPECT_GE(placed(graph)["best"]["makespan_cycles"], 13);  // the policy that comes with the command
  expect_refusal(graph + " --policy " + kGraphs + "distance.json", 1, {"distance.json"});
}

TEST(Place, ExpressionsKernelsAndFixedNodes) {
  const Json sum = placed("--expr 's = s + x[i] * y[i]' --fabric streaming-engine --ii 4");
  EXPECT_EQ(sum["best"]["makespan_cycles"], 3);  // loads and the sum are flows of one operation each
  const Json array = placed("--expr 's = s + x[i] * y[i]' --fabric mesh-4x4 --objective ii");
  EXPECT_EQ(array["best"]["ii"], 1);
  const Json fixed =
      placed(kGraphs + "multiply_add.json --fabric streaming-engine --ii 4 --fix product=9 --fix keep=11@20");
  EXPECT_EQ(fixed["best"]["places"][0]["tile"], 9);
  EXPECT_EQ(fixed["best"]["places"][2]["tile"], 11);
  EXPECT_EQ(fixed["best"]["places"][2]["time"], 20);
  const Json waits = placed(kGraphs + "ifft.json --fabric streaming-engine --ii 4 --delay none");
  EXPECT_GE(waits["best"]["makespan_cycles"], 17);
}

TEST(Place, AConflictIsProvenAndNamed) {
  const Json report = placed(kGraphs + "ifft_conflict.json --fabric streaming-engine --ii 6", 3);
  EXPECT_EQ(report["points"][0]["status"], "infeasible");
  EXPECT_EQ(report["points"][0]["conflict"]["nodes"], (Json{"store_upper", "magnitude"}));
  EXPECT_EQ(report["points"][0]["conflict"]["rules"], (Json{"variable", "siblings"}));
  expect_refusal(kGraphs + "ifft_conflict.json --fabric streaming-engine", 3,
                 {"no mapping exists", "'store_upper' and 'magnitude' share a variable"});
}

TEST(Place, BadInputIsReportedInOneRun) {
  const auto folder = fresh_folder("place_bad");
  const std::string graph =
      text_file(folder, "g.json", R"({"variables": [{"name": "v", "tile": 1}], "nodes": [
    {"name": "a", "op": "add", "operands": ["b", 1]}, {"name": "b", "op": "add", "operands": ["a", "gone"]},
    {"name": "c", "op": "add", "operands": [1, 2, 3, 4]}, {"name": "d", "op": "copy", "operands": ["v"], "tile": 2}]})");
  const std::string fabric = text_file(folder, "f.yaml", "kind: fabric\nname: none\ncolumns: 0\n");
  expect_refusal(graph + " --fabric " + fabric + " --ii 0 --delay some --fix a --fix zz=3", 1,
                 {"a cycle without distance", "'gone' is not defined", "4 operands, an instruction takes 3",
                  "variable 'v' is bound to tiles 1 and 2", "columns", "'0' is not an II",
                  "'some' is not a delay", "'a' is not NODE=TILE", "the graph has no node 'zz'"});
  expect_refusal("", 1, {"no fabric given", "give a file or --expr"});
  expect_refusal(kGraphs + "ifft.json --fabric streaming-engine --ii 99", 1, {"99 is outside 1..64"});
  expect_refusal(kGraphs + "ifft.json --fabric mesh-4x4", 1, {"the tiles have no memories"});
  expect_refusal(kGraphs + "ifft.json --fabric streaming-engine --method magic", 1, {"magic"});
  expect_refusal(kGraphs + "multiply_add.json --fabric streaming-engine --fix product=16", 1,
                 {"tile 16 does not exist"});
  expect_refusal("--expr 'a = ' --fabric mesh-4x4", 1, {"expression:1:5"});
  expect_refusal((folder / "absent.json").string() + " --fabric mesh-4x4", 1, {"absent.json"});
}

}  // namespace
}  // namespace tilewright
