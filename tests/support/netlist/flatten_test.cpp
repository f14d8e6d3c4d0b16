#include <gtest/gtest.h>

#include <algorithm>

#include "support/netlist/flatten_testing.h"

namespace tilewright::netlist {
namespace {

// y = not a, and z = y, which nobody outside has to take.
Module inverter() {
  Module inner("inverter");
  const NetId a = inner.add_port("a", Direction::kInput, 4);
  const NetId y = inner.add_port("y", Direction::kOutput, 4);
  const NetId z = inner.add_port("z", Direction::kOutput, 4);
  inner.connect(y, inner.add_assign(Operation::kNot, {a}, 4));
  inner.connect(z, y);
  return inner;
}

const Assign& driver_of(const Module& module, NetId net) {
  const auto found = std::find_if(module.assigns.begin(), module.assigns.end(),
                                  [&](const Assign& assign) { return assign.result == net; });
  EXPECT_NE(found, module.assigns.end());
  return *found;
}

TEST(Flatten, PortsAreTheNetsThatTheyAreConnectedTo) {
  Module top("top");
  const NetId in = top.add_port("in", Direction::kInput, 4);
  const NetId out = top.add_port("out", Direction::kOutput, 4);
  const NetId between = top.add_net("between", 4);
  // An output may be left open by name or by not being named.
  top.add_instance("one", "inverter", {}, {{"a", in}, {"y", between}, {"z", kNoNet}});
  top.add_instance("two", "inverter", {}, {{"a", between}, {"z", out}});
  const Module flat = flatten({"top", {top, inverter()}});
  EXPECT_TRUE(flat.instances.empty());
  for (const char* net : {"in", "out", "between", "one.z", "two.y"}) EXPECT_NE(flat.net(net), kNoNet) << net;
  for (const char* net : {"one.a", "one.y", "two.a", "two.z"}) EXPECT_EQ(flat.net(net), kNoNet) << net;
  ASSERT_EQ(flat.assigns.size(), 6u);
  for (const Assign& assign : flat.assigns) {
    EXPECT_NE(assign.result, kNoNet);
    for (const NetId operand : assign.operands) EXPECT_NE(operand, kNoNet);
  }
  EXPECT_EQ(driver_of(flat, flat.net("one.z")).operands, std::vector<NetId>{flat.net("between")});
  EXPECT_EQ(driver_of(flat, flat.net("out")).operands, std::vector<NetId>{flat.net("two.y")});
}

}  // namespace
}  // namespace tilewright::netlist
