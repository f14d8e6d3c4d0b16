// One broken design per diagnostic, each from a design that is right.
#include "tilewright/netlist/verifier.h"

#include <gtest/gtest.h>

#include <functional>

#include "tilewright/netlist/netlist_testing.h"

namespace tilewright::netlist {
namespace {

// Every primitive once; `inner` passes `a` on within the cycle.
Netlist good_design() {
  Module inner("inner");
  const NetId inner_a = inner.add_port("a", Direction::kInput, 4);
  const NetId inner_b = inner.add_port("b", Direction::kOutput, 4);
  inner.connect(inner_b, inner_a);

  Module top("top");
  const NetId a = top.add_port("a", Direction::kInput, 4);
  const NetId go = top.add_port("go", Direction::kInput, 1);
  const NetId y = top.add_port("y", Direction::kOutput, 4);
  const NetId sum = top.add_assign(Operation::kAdd, {a, a}, 4, 0, "sum");
  const NetId q = top.add_net("q", 4);
  top.registers.push_back({q, sum, go, 3});
  const NetId word = top.add_net("word", 8);
  const NetId wide = top.add_assign(Operation::kConcatenate, {q, a}, 8, 0, "wide");
  Memory memory{"store", 16, 8, 4, MemoryKind::kBlockRam, {{go, a, word}}, {{go, a, wide}}, ""};
  top.memories.push_back(memory);
  const NetId ready = top.add_net("ready", 1), valid = top.add_net("valid", 1), head = top.add_net("head", 8);
  top.fifos.push_back({"queue", 8, 3, go, ready, word, valid, go, head});
  const NetId late = top.add_net("late", 8);
  top.pipelines.push_back({"delay", 2, 1, go, head, late});
  const NetId state = top.add_net("state", 2);
  top.state_machines.push_back(
      {"control", {state}, {{"idle", {0}, {{go, 1}}}, {"busy", {3}, {{kNoNet, 0}}}}});
  const NetId passed = top.add_net("passed", 4);
  top.add_instance("inside", "inner", {}, {{"a", a}, {"b", passed}});
  const NetId out = top.add_net("out", 4);
  top.add_instance("outside", "box", {{"WIDTH", int64_t{4}}},
                   {{"in", passed}, {"out", out}, {"ready_in", go}});
  top.connect(y, out);
  return {"top", {inner, top}};
}

Diagnostics check(const Netlist& design) {
  Diagnostics diagnostics;
  verify(design, BoxLibrary(), diagnostics);
  return diagnostics;
}

TEST(Verifier, AcceptsEveryPrimitive) {
  const Diagnostics diagnostics = check(good_design());
  for (const Diagnostic& diagnostic : diagnostics.errors()) ADD_FAILURE() << to_string(diagnostic);
}

struct Fault {
  const char* name;
  std::function<void(Netlist&, Module&)> plant;  // the top
  const char* expected;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class VerifierFaults : public testing::TestWithParam<Fault> {};

TEST_P(VerifierFaults, IsNamed) {
  Netlist design = good_design();
  GetParam().plant(design, design.modules[1]);
  const Diagnostics diagnostics = check(design);
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics.errors()) all += to_string(diagnostic) + "\n";
  EXPECT_NE(all.find(GetParam().expected), std::string::npos) << "found only:\n" << all;
}

INSTANTIATE_TEST_SUITE_P(
    All, VerifierFaults,
    testing::Values(
        Fault{"TopMissing", [](Netlist& d, Module&) { d.top = "other"; }, "the top is not among the modules"},
        Fault{"ModuleTwice", [](Netlist& d, Module&) { d.modules.push_back(Module(d.modules[0])); },
              "two modules have this name"},
        Fault{"ModuleUnnamed", [](Netlist& d, Module&) { d.modules.push_back(Module("")); },
              "a module without a name"},
        Fault{"NetTwice", [](Netlist&, Module& m) { m.nets[3].name = "a"; }, "(net 'a'): the name is missing"},
        Fault{"NetEmpty", [](Netlist&, Module& m) { m.nets[3].width = 0; }, "a width of 0 bits"},
        Fault{"PortClock", [](Netlist&, Module& m) { m.add_port("clk", Direction::kInput, 1); },
              "every module has clk and rst"},
        Fault{"PortWithoutNet", [](Netlist&, Module& m) { m.ports.push_back({"z", Direction::kInput, 1}); },
              "no net of this name and width"},
        Fault{"OperandWidth", [](Netlist&, Module& m) { m.add_assign(Operation::kAnd, {0, 1}, 4); },
              "operand 1 has 1 bits, 4 are needed"},
        Fault{"OperandCount", [](Netlist&, Module& m) { m.add_assign(Operation::kAnd, {0}, 4); },
              "1 operands, 2 are needed"},
        Fault{"OperandAbsent", [](Netlist&, Module& m) { m.add_assign(Operation::kNot, {99}, 4); },
              "an operand is not a net"},
        Fault{"ProductWidth", [](Netlist&, Module& m) { m.add_assign(Operation::kMultiply, {0, 0}, 4); },
              "the product has 8 bits, the result 4"},
        Fault{"ComparisonWidth", [](Netlist&, Module& m) { m.add_assign(Operation::kEqual, {0, 0}, 2); },
              "the result has 2 bits, 1 is needed"},
        Fault{"ReductionWidth", [](Netlist&, Module& m) { m.add_assign(Operation::kReduceOr, {0}, 2); },
              "the result has 2 bits, 1 is needed"},
        Fault{"ConcatenateWidth", [](Netlist&, Module& m) { m.add_assign(Operation::kConcatenate, {0, 0}, 9); },
              "the operands have 8 bits, the result 9"},
        Fault{"SliceOutside", [](Netlist&, Module& m) { m.add_assign(Operation::kSlice, {0}, 3, 2); },
              "bits 2 to 4 of an operand of 4"},
        Fault{"ExtendDown", [](Netlist&, Module& m) { m.add_assign(Operation::kSignExtend, {0}, 3); },
              "the operand has 4 bits, the result only 3"},
        Fault{"ConstantTooLarge", [](Netlist&, Module& m) { m.add_constant(3, 8); }, "the value 8 does not fit"},
        Fault{"ResetTooLarge", [](Netlist&, Module& m) { m.registers[0].reset_value = 16; },
              "the reset value 16 does not fit"},
        Fault{"EnableWidth", [](Netlist&, Module& m) { m.registers[0].enable = 0; },
              "enable 'a' has 4 bits, 1 are needed"},
        Fault{"NoDriver", [](Netlist&, Module& m) { m.add_net("alone", 1); }, "'alone'): nothing drives it"},
        Fault{"TwoDrivers", [](Netlist&, Module& m) { m.connect(m.net("q"), 0); }, "2 drivers"},
        Fault{"MemoryEmpty", [](Netlist&, Module& m) { m.memories[0].words = 0; }, "0 words of 8 bits"},
        Fault{"MemoryOfNoBits", [](Netlist&, Module& m) { m.memories[0].width = 0; }, "16 words of 0 bits"},
        Fault{"MemoryWithoutBanks", [](Netlist&, Module& m) { m.memories[0].banks = 0; }, "0 banks for 16 words"},
        Fault{"MemoryBanksThatDoNotDivide",
              [](Netlist&, Module& m) { m.memories[0].words = 14, m.memories[0].banks = 4; },
              "4 banks for 14 words"},
        Fault{"MuxCondition", [](Netlist&, Module& m) { m.add_assign(Operation::kMux, {0, 0, 0}, 4); },
              "operand 0 has 4 bits, 1 are needed"},
        Fault{"MuxWidths", [](Netlist&, Module& m) { m.add_assign(Operation::kMux, {1, 0, 1}, 4); },
              "operand 2 has 1 bits, 4 are needed"},
        Fault{"MemoryBanks", [](Netlist&, Module& m) { m.memories[0].banks = 3; }, "3 banks for 16 words"},
        Fault{"MemoryWrites",
              [](Netlist&, Module& m) { m.memories[0].writes.push_back(m.memories[0].writes[0]); },
              "2 write ports"},
        Fault{"MemoryAddress", [](Netlist&, Module& m) { m.memories[0].words = 32; },
              "address 'a' has 4 bits, 5 are needed"},
        Fault{"FifoShape", [](Netlist&, Module& m) { m.fifos[0].depth = 0; }, "0 words of 8 bits"},
        Fault{"FifoWidth", [](Netlist&, Module& m) { m.fifos[0].width = 7; },
              "in_data 'word' has 8 bits, 7 are needed"},
        Fault{"PipelineShape", [](Netlist&, Module& m) { m.pipelines[0].latency = 0; }, "latency 0, interval 1"},
        Fault{"MachineEmpty", [](Netlist&, Module& m) { m.state_machines[0].states.clear(); }, "no states"},
        Fault{"MachineOutputs", [](Netlist&, Module& m) { m.state_machines[0].states[0].outputs.clear(); },
              "0 values for 1 outputs"},
        Fault{"MachineValue", [](Netlist&, Module& m) { m.state_machines[0].states[0].outputs[0] = 4; },
              "a value that does not fit"},
        Fault{"MachineTarget", [](Netlist&, Module& m) { m.state_machines[0].states[0].transitions[0].target = 2; },
              "goes to a state that does not exist"},
        Fault{"MachineState", [](Netlist&, Module& m) { m.state_machines[0].states[1].name = "idle"; },
              "the state name 'idle' is missing or taken"},
        Fault{"InstanceTwice", [](Netlist&, Module& m) { m.instances[1].name = "inside"; },
              "'inside'): the name is missing or taken"},
        Fault{"UnknownModule", [](Netlist&, Module& m) { m.instances[0].module = "nothing"; },
              "no module or component 'nothing'"},
        Fault{"UnknownPort", [](Netlist&, Module& m) { m.instances[0].connections["c"] = 0; },
              "'inner' has no port 'c'"},
        Fault{"UnknownParameter", [](Netlist&, Module& m) { m.instances[0].parameters["P"] = int64_t{1}; },
              "module 'inner' has no parameter 'P'"},
        Fault{"TextOfNoParameter",
              [](Netlist&, Module& m) { m.instances[1].parameters["FILE"] = ParameterText{"FOLDER", "/a"}; },
              "the parameter 'FOLDER', which the module lacks"},
        Fault{"RefusedParameter", [](Netlist&, Module& m) { m.instances[1].parameters["WIDTH"] = int64_t{0}; },
              "WIDTH is too small"},
        Fault{"InputOpen", [](Netlist&, Module& m) { m.instances[0].connections.erase("a"); },
              "the input 'a' is not connected"},
        Fault{"PortWidth", [](Netlist&, Module& m) { m.instances[0].connections["a"] = 1; },
              "port 'a' 'go' has 1 bits, 4 are needed"},
        Fault{"Recursion",
              [](Netlist& d, Module&) {
                Module& inner = d.modules[0];
                inner.add_instance("again", "top", {}, {{"a", 0}, {"go", inner.add_constant(1, 0)}});
              },
              "the module contains itself"},
        Fault{"LoopOfOperators",
              [](Netlist&, Module& m) {
                const NetId x = m.add_net("x", 4);
                m.connect(x, m.add_assign(Operation::kNot, {x}, 4, 0, "not_x"));
              },
              "a combinational loop: 'x' -> 'not_x'"},
        Fault{"LoopThroughModule",
              [](Netlist&, Module& m) { m.instances[0].connections["a"] = m.net("passed"), m.instances[0].connections["b"] = m.net("passed"); },
              "a combinational loop: 'passed'"},
        Fault{"LoopThroughComponent",
              [](Netlist&, Module& m) {
                const NetId ring = m.add_net("ring", 1);
                m.instances[1].connections["ready_in"] = m.instances[1].connections["ready_out"] = ring;
              },
              "a combinational loop: 'ring'"}),
    [](const testing::TestParamInfo<Fault>& fault) { return fault.param.name; });

// Values of 64 bits are those that no shift can check.
TEST(Verifier, StatesGiveOutputsOfAllWidths) {
  for (const int bits : {1, 2, 31, 32, 63, 64}) {
    Netlist design = good_design();
    Module& top = design.modules[1];
    const NetId wide = top.add_net("wide_output", bits);
    StateMachine& machine = top.state_machines[0];
    machine.outputs.push_back(wide);
    const uint64_t highest = ~uint64_t{0} >> (64 - bits);
    for (auto& state : machine.states) state.outputs.push_back(highest);
    EXPECT_TRUE(check(design).ok()) << bits;
    if (bits == 64) continue;
    machine.states[1].outputs.back() = highest + 1;
    ASSERT_EQ(check(design).errors().size(), 1u) << bits;
  }
}

// A path through registers only is no loop.
TEST(Verifier, RegistersBreakLoops) {
  Netlist design = good_design();
  Module& top = design.modules[1];
  const NetId count = top.add_net("count", 4);
  const NetId next = top.add_assign(Operation::kAdd, {count, top.net("a")}, 4);
  top.registers.push_back({count, next, kNoNet, 0});
  EXPECT_TRUE(check(design).ok());
}

}  // namespace
}  // namespace tilewright::netlist
