// Configurations that are well formed and cannot run, each with the fault that names why; and limits.
#include <gtest/gtest.h>

#include "tilewright/cgra/simulate/fabric_simulator.h"

namespace tilewright::cgra {
namespace {

// Tile 0 counts threads (latency 3); what the other tiles do with its result is the test's.
Configuration counting(const std::string& fabric, const std::string& spoke_of_0,
                       const std::string& more_tiles) {
  return parse_configuration(R"({"kind":"fabric configuration","name":"t","fabric":)" + fabric +
                                 R"(,"ii":1,"flows":[{"start":0}],"tiles":[
    {"tile":0,"instructions":[{"name":"count","op":"copy","operands":["thread"]}],
     "spoke":[{"slot":0,"instruction":0,"flow":0,"clock":0)" +
                                 spoke_of_0 + "}]}" + more_tiles + "]}",
                             "test");
}

Configuration on_line(const std::string& spoke_of_0, const std::string& more_tiles) {
  return counting(R"({"columns":5,"operation_latency_cycles":3,"cycles_per_distance":1,"pass_through":1})",
                  spoke_of_0, more_tiles);
}

// A tile whose only instruction copies `source` at `clock`.
std::string reader(int tile, const std::string& source, int clock, const std::string& more = "") {
  return ",{\"tile\":" + std::to_string(tile) + R"(,"instructions":[{"name":"n)" + std::to_string(tile) +
         R"(","op":"copy","operands":["input"]}],"spoke":[{"slot":0,"instruction":0,"flow":0,"clock":)" +
         std::to_string(clock) + ",\"inputs\":[\"" + source + "\"]" + more + "}]}";
}

const std::string kTo1 = R"(,"outputs":[{"to":1,"from":"result"}])";

FabricSimulationResult run(const Configuration& configuration,
                           FabricSimulationOptions options = {.threads = 3}) {
  options.values = true;
  return simulate_fabric(configuration, {}, options);
}

std::string fault(const FabricSimulationResult& result) {
  return result.fault ? fault_name(result.fault->kind) + (": " + result.fault->text) : "none";
}

TEST(Faults, ARunWithout) {
  const FabricSimulationResult result = run(on_line(kTo1, reader(1, "link 0", 4)));
  EXPECT_EQ(fault(result), "none");
  EXPECT_EQ(result.values.at("n1"), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(result.cycles, 4 + 3 + 2);
  EXPECT_EQ(result.flows[0].waited_cycles, 0);
  EXPECT_EQ(result.started[1][0], 3);
  EXPECT_DOUBLE_EQ(result.utilisation, 6.0 / (9 * 5));
}

TEST(Faults, MissingOperand) {
  EXPECT_EQ(fault(run(on_line(kTo1, reader(1, "link 0", 3)))),
            "missing operand: 'n1' of thread 0 finds nothing in operand 0");
  // At the end of the threads, too.
  const FabricSimulationResult result = run(on_line(kTo1, reader(1, "link 0", 5)));
  EXPECT_EQ(fault(result), "missing operand: 'n1' of thread 2 finds nothing in operand 0");
  EXPECT_EQ(result.fault->clock, 7);
  EXPECT_EQ(result.fault->tile, 1);
}

TEST(Faults, HopsWithinTheClock) {
  const auto mesh = [](int hops) {
    return counting(
        R"({"columns":4,"hops_per_cycle":)" + std::to_string(hops) + "}", kTo1,
        R"(,{"tile":1,"spoke":[{"slot":0,"outputs":[{"to":2,"from":"link 0"}]}]})" + reader(2, "link 1", 1));
  };
  EXPECT_EQ(fault(run(mesh(2))), "none");
  EXPECT_EQ(fault(run(mesh(1))),
            "too many hops: a value of tile 0 crosses 2 links within the clock, at most 1");
  const Configuration circle =
      counting(R"({"columns":4,"hops_per_cycle":2})", "",
               R"(,{"tile":1,"spoke":[{"slot":0,"outputs":[{"to":2,"from":"link 2"}]}]},
                   {"tile":2,"spoke":[{"slot":0,"outputs":[{"to":1,"from":"link 1"}]}]})");
  EXPECT_EQ(fault(run(circle)),
            "too many hops: routes within the clock form a cycle over the link from tile 1 to 2");
}

TEST(Faults, PassingValues) {
  const auto passing = [](int most) {
    return counting(
        R"({"columns":3,"operation_latency_cycles":3,"cycles_per_distance":1,"pass_through":)" +
            std::to_string(most) + "}",
        kTo1,
        R"(,{"tile":1,"spoke":[{"slot":0,"outputs":[{"to":2,"from":"link 0"},{"to":0,"from":"link 2"}]}]})" +
            reader(2, "link 1", 5, R"(,"outputs":[{"to":1,"from":"result"}])"));
  };
  EXPECT_EQ(fault(run(passing(2), {.threads = 9})), "none");
  EXPECT_EQ(fault(run(passing(1), {.threads = 9})),
            "too many passing values: 2 values pass tile 1, at most 1");
  // Few threads: the two never meet.
  EXPECT_EQ(fault(run(passing(1), {.threads = 2})), "none");
}

TEST(Faults, DeadlockSaysWhoWaitsForWhom) {
  const Configuration configuration = parse_configuration(R"({"kind":"fabric configuration","name":"t",
    "fabric":{"columns":2,"tile_memories":1,"tile_memory_entries":32,"memory_interfaces":1},"ii":2,
    "flows":[{"start":0,"waits_for":["y"],"fills":["x"]},{"start":1,"waits_for":["x"],"fills":["y"]}],
    "tiles":[
    {"tile":0,"variables":[{"name":"y","reads":1}],
     "instructions":[{"name":"a","op":"neg","operands":[{"variable":"y"}],"sends":{"tile":1,"variable":"x"}}],
     "spoke":[{"slot":0,"instruction":0,"flow":0,"clock":0}]},
    {"tile":1,"variables":[{"name":"x","reads":1}],
     "instructions":[{"name":"b","op":"neg","operands":[{"variable":"x"}],"sends":{"tile":0,"variable":"y"}}],
     "spoke":[{"slot":1,"instruction":0,"flow":1,"clock":0}]}]})",
                                                          "test");
  EXPECT_EQ(fault(run(configuration)),
            "deadlock: flow 0 ('a', ...) waits at thread 0, for 'y' from 'b' of flow 1 (entry 0 is free); "
            "flow 1 ('b', ...) waits at thread 0, for 'x' from 'a' of flow 0 (entry 0 is free)");
}

TEST(Faults, LimitsOfTheRun) {
  const Configuration configuration = on_line(kTo1, reader(1, "link 0", 4));
  EXPECT_EQ(fault(run(configuration, {.threads = 100, .most_cycles = 50})),
            "clock limit: not done after 50 clocks");
  EXPECT_THROW(run(configuration, {.threads = 0}), Error);
  EXPECT_THROW(run(configuration, {.latency = {0, 3, 1, 1}}), Error);
  EXPECT_THROW(run(configuration, {.latency = {1, 3, 9, 8}}), Error);
}

// A producer that waits for its argument, and a consumer four times as slow to get its own.
TEST(Faults, AFullVariableHoldsItsProducerBack) {
  const auto with = [](int entries) {
    return parse_configuration(R"({"kind":"fabric configuration","name":"t",
    "fabric":{"columns":2,"tile_memories":1,"tile_memory_entries":64,"memory_interfaces":1},"ii":1,
    "flows":[{"start":0,"fills":["x"]},{"start":0,"waits_for":["x"]}],
    "tiles":[
    {"tile":0,"instructions":[{"name":"a","op":"neg","operands":["thread"],"sends":{"tile":1,"variable":"x"}}],
     "spoke":[{"slot":0,"instruction":0,"flow":0,"clock":0}]},
    {"tile":1,"variables":[{"name":"x","reads":1,"entries":)" +
                                   std::to_string(entries) + R"(}],
     "instructions":[{"name":"b","op":"add","operands":[{"variable":"x"},1]}],
     "spoke":[{"slot":0,"instruction":0,"flow":1,"clock":0}]}]})",
                               "test");
  };
  FabricSimulationOptions options{.threads = 50, .latency = {5, 5, 1, 1}};
  const FabricSimulationResult narrow = run(with(1), options), wide = run(with(16), options);
  EXPECT_EQ(fault(narrow), "none");
  EXPECT_EQ(narrow.values.at("b"), wide.values.at("b"));
  EXPECT_EQ(wide.flows[0].waited_cycles, 0);
  // A value of latency 1 takes 5 clocks to x; the entry is free in the clock after it was read.
  EXPECT_EQ(narrow.flows[0].last_start - narrow.flows[0].first_start, 49 * 7);
  EXPECT_DOUBLE_EQ(narrow.threads_per_cycle, 1.0 / 7);
}

}  // namespace
}  // namespace tilewright::cgra
