// Whole netlists of components and glue against their Verilog, cycle by cycle.
#include "tilewright/pipeline/simulate/cycle_netlist.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/pipeline/rtl_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/random.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/pipeline/design/wiring.h"

namespace tilewright::pipeline {
namespace {

using netlist::Direction;
using netlist::Module;
using netlist::NetId;
using netlist::Operation;

// Streams with random components between them; every handshake is a port of the top.
class RandomStreams {
 public:
  RandomStreams(uint64_t seed, const std::string& prefix, Module& top, MemoryImages& images)
      : random_(seed), prefix_(prefix), top_(top), wiring_(top, images) {}

  void build() {
    Stream stream;
    stream.elements = int64_t{1} << random_.between(0, 3);
    stream.element_bits = 4;
    stream.width = int(stream.elements * 4);
    stream.valid = top_.add_port(prefix_ + "in_valid", Direction::kInput, 1);
    stream.data = top_.add_port(prefix_ + "in_data", Direction::kInput, stream.width);
    stream.ready = top_.add_net(prefix_ + "in_ready_net", 1);
    show(stream.ready, prefix_ + "in_ready");
    for (int i = 0; i < 6; ++i) stream = component(stream, fmt::format("{}part{}", prefix_, i));
    // Glue of operators and a register in front of the sink: taken only in every other permitted cycle.
    const NetId permit = top_.add_port(prefix_ + "permit", Direction::kInput, 1);
    const NetId toggle = top_.add_net(prefix_ + "toggle", 1);
    const NetId flipped = top_.add_assign(Operation::kNot, {toggle}, 1, 0, prefix_ + "flipped");
    top_.registers.push_back({toggle, flipped, permit, 0});
    top_.assigns.push_back({stream.ready, Operation::kAnd, {permit, toggle}, 0});
    show(stream.valid, prefix_ + "out_valid");
  }

 private:
  void show(NetId net, const std::string& name) {
    top_.connect(top_.add_port(name, Direction::kOutput, 1), net);
  }

  Stream component(Stream in, const std::string& name) {
    switch (random_.between(0, 3)) {
      case 0: {
        const Stream out = wiring_.queued(name, in, random_.between(1, 9));
        show(out.valid, name + "_shown");
        return out;
      }
      case 1:
        return wiring_.resized(name, in, int64_t{1} << random_.between(0, 3), 1);
      case 2:
        return wiring_.framed(name, in, random_.between(1, 4), random_.between(0, 2), random_.between(0, 2));
      default: {
        // Two ways of different depth that meet again.
        Stream left = wiring_.stream(name + "_left", in.elements, in.element_bits);
        Stream right = wiring_.stream(name + "_right", in.elements, in.element_bits);
        Stream out = wiring_.stream(name + "_join", 2 * in.elements, in.element_bits);
        wiring_.add(name + "_fork", "stream_fork", {{"WIDTH", in.width}},
                    {{"in", &in}, {"out0", &left}, {"out1", &right}});
        right = wiring_.queued(name + "_way", right, random_.between(1, 4));
        wiring_.add(name + "_join", "stream_join", {{"WIDTH", in.width}},
                    {{"in0", &left}, {"in1", &right}, {"out", &out}});
        return wiring_.resized(name + "_narrow", out, in.elements, 1);
      }
    }
  }

  Random random_;
  const std::string prefix_;
  Module& top_;
  Wiring wiring_;
};

TEST(CycleNetlist, EqualsTheVerilogUnderRandomStalls) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  Module top("streams");
  MemoryImages images;
  constexpr int kChains = 12;
  for (int i = 0; i < kChains; ++i)
    RandomStreams(uint64_t(100 + i), fmt::format("s{}_", i), top, images).build();
  const netlist::Netlist design{"streams", {top}};
  Diagnostics diagnostics;
  netlist::verify(design, component_library(), diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.errors()) ADD_FAILURE() << to_string(diagnostic);
  RtlModel rtl(design, images, rtl_options());
  CycleNetlist model(design, images);
  rtl.reset();
  Random random(9);
  std::vector<bool> offered(kChains);
  uint64_t beats = 0;
  for (int cycle = 0; cycle < 5000; ++cycle) {
    const double chance = cycle % 1000 < 300 ? 1 : 0.5;
    for (int i = 0; i < kChains; ++i) {
      const auto set = [&](const char* name, uint64_t value) {
        rtl.set(rtl.port(fmt::format("s{}_{}", i, name)), value);
        model.set(model.port(fmt::format("s{}_{}", i, name)), value);
      };
      offered[size_t(i)] = offered[size_t(i)] || random.chance(chance);
      set("in_valid", offered[size_t(i)] ? 1 : 0);
      set("permit", random.chance(chance) ? 1 : 0);
    }
    rtl.settle();
    model.settle();
    for (const netlist::Port& port : top.ports) {
      if (port.direction != Direction::kOutput) continue;
      ASSERT_EQ(model.get(model.port(port.name)), rtl.get(rtl.port(port.name)))
          << "cycle " << cycle << ", " << port.name;
    }
    for (int i = 0; i < kChains; ++i) {
      if (model.get(model.port(fmt::format("s{}_in_ready", i))) == 0 || !offered[size_t(i)]) continue;
      offered[size_t(i)] = false;
      ++beats;
    }
    rtl.edge();
    model.edge();
  }
  EXPECT_GT(beats, uint64_t{kChains} * 100);
  EXPECT_EQ(model.streams().empty(), false);
}

TEST(CycleNetlist, NamesComponentsInALoop) {
  Module top("ring");
  MemoryImages images;
  Wiring wiring(top, images);
  // Two forks whose outputs feed each other: each ready waits for the other's.
  Stream a = wiring.stream("a", 1, 8), b = wiring.stream("b", 1, 8);
  wiring.add("first", "stream_join", {{"WIDTH", int64_t{4}}}, {{"in0", &a}, {"in1", &b}, {"out", &a}});
  wiring.add("second", "stream_join", {{"WIDTH", int64_t{4}}}, {{"in0", &b}, {"in1", &a}, {"out", &b}});
  try {
    CycleNetlist model({"ring", {top}}, images);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("wait for each other within a cycle"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("'first'"), std::string::npos);
  }
}

TEST(CycleNetlist, RefusesWhatIsNoComponent) {
  Module top("top");
  top.add_instance("one", "nothing", {}, {});
  EXPECT_THROW(CycleNetlist({"top", {top}}, {}), Error);
  Module queue("queue");
  queue.fifos.push_back({});
  EXPECT_THROW(CycleNetlist({"queue", {queue}}, {}), Error);
}

}  // namespace
}  // namespace tilewright::pipeline
