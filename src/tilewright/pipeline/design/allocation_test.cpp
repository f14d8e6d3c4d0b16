#include "tilewright/pipeline/design/allocation.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/pipeline/network_testing.h"

namespace tilewright::pipeline {
namespace {

ArrayShape random_shape(Random& random) {
  return {random.between(1, 64), random.between(1, 64), random.between(1, 64),
          Multiplier(random.between(0, 2)), Feeder(random.between(0, 1))};
}

Allocation random_allocation(uint64_t seed) {
  Random random(seed);
  Allocation a;
  a.streaming = random.chance(0.5);
  a.units = random.between(1, 16);
  a.weights_on_chip = random.chance(0.5);
  a.ring_words = random.between(0, 100000);
  a.tensor_memory = netlist::MemoryKind(random.between(0, 3));
  a.weight_memory = netlist::MemoryKind(random.between(0, 3));
  a.port_bytes = int64_t{1} << random.between(0, 7);
  a.weight_channels = random.between(1, 16);
  a.max_burst_beats = random.between(1, 256);
  a.tight_memory = random.chance(0.5);
  a.clock_mhz = 0.1 + random.uniform() * 500;
  const std::string letters = "az\"\\/:#{}[],&*! \n\t-_.";
  const auto name = [&] {
    std::string text;
    for (int64_t n = random.between(1, 9); n > 0; --n) {
      text += letters[size_t(random.between(0, int64_t(letters.size()) - 1))];
    }
    return text;
  };
  for (int64_t n = random.between(0, 3); n > 0; --n) {
    a.engines.push_back(
        {name(), random.chance(0.5), random_shape(random), random.between(1, 7), random.between(1, 7)});
  }
  for (int64_t n = random.between(0, 4); n > 0; --n) {
    a.layers.push_back({name(), random.chance(0.5) ? random_shape(random) : ArrayShape{},
                        int(random.between(0, 5)), random.between(0, 50), random.chance(0.5),
                        random.between(0, 3), random.between(0, 3)});
    a.tensor_unit.push_back(int(random.between(0, 15)));
  }
  return a;
}

TEST(AllocationText, RandomAllocationsRoundTrip) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    const Allocation a = random_allocation(seed);
    EXPECT_EQ(parse_allocation(print_allocation(a), "a.yaml"), a) << print_allocation(a);
  }
}

std::string parse_message(const std::string& text) {
  try {
    parse_allocation(text, "a.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "";
}

TEST(AllocationText, EveryProblemWithItsLine) {
  EXPECT_EQ(parse_message("kind: fabric\nshape: round\nclock_mhz: fast\nlayers:\n  - {layer: a, pi: 0}\n"
                          "  - {layer: b, size: 3}\n  - word\ntensor_unit: [0, x, 77]\nengines: none\n"),
            "10 problems\n"
            "  a.yaml:1 (kind): 'fabric' is not 'allocation'\n"
            "  a.yaml:2 (shape): 'round' is none of streaming, processors; choose one of them\n"
            "  a.yaml:3 (clock_mhz): 'fast' is not a number in 0.001..10000\n"
            "  a.yaml:8 (tensor_unit): 'x' is not a unit in 0..15\n"
            "  a.yaml:8 (tensor_unit): '77' is not a unit in 0..15\n"
            "  a.yaml:9 (engines): a list is expected\n"
            "  a.yaml:5 (pi): '0' is not an integer in 1..65536\n"
            "  a.yaml:6 (size): unknown field; known fields: band_rows, engine, feeder, input_fifo, layer, "
            "multiplier, pf, pi, po, residual_fifo, unroll\n"
            "  a.yaml:7: a map of 'field: value' lines is expected\n"
            "  a.yaml (layer): missing field; give a text");
  EXPECT_NE(parse_message("kind: allocation\n").find("(shape): missing field"), std::string::npos);
  EXPECT_NE(parse_message("kind: allocation\n").find("(layers): missing field"), std::string::npos);
  EXPECT_NE(parse_message("shape: streaming\ntensor_unit: 3\nlayers: []\n").find("a list of unit numbers"),
            std::string::npos);
  EXPECT_NE(parse_message("shape: [").find("a.yaml:1"), std::string::npos);
}

TEST(AllocationText, DamagedTextIsReportedOrRead) {
  const std::string text = print_allocation(random_allocation(7));
  Random random(3);
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    std::string damaged = text;
    damaged[size_t(random.between(0, int64_t(text.size()) - 1))] = char(random.between(32, 126));
    try {
      parse_allocation(damaged, "a.yaml");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

// A small network and an allocation of each shape that keeps all rules.
Network small_network() {
  NetworkBuilder builder("small", {8, 8, 4});
  const int first = builder.convolution(0, 8, 3);
  const int second = builder.residual(builder.convolution(first, 8, 3), first);
  return builder.finish(builder.dense(builder.max_pool(second, 2, 2), 4));
}

Allocation streaming_allocation() {
  Allocation a;
  a.streaming = true;
  a.layers = {{"layer1", {4, 8, 4}}, {"layer2", {8, 4, 4}}, {"layer3", {4, 4, 4}}, {"layer4", {8, 2, 1}}};
  return a;
}

Allocation processor_allocation() {
  Allocation a;
  a.engines = {{"mac", false, {4, 8, 4}}, {"lanes", true, {4, 4, 2}}};
  a.layers = {{"layer1", {}, 0, 4}, {"layer2", {}, 0}, {"layer3", {}, 1}, {"layer4", {}, 0}};
  a.units = 2;
  a.tensor_unit = {0, 1, 0, 1, 0};
  return a;
}

std::string problems(const Allocation& allocation, const Network& network = small_network()) {
  Diagnostics diagnostics;
  allocation.verify(network, diagnostics);
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.errors()) text += to_string(diagnostic) + "\n";
  return text;
}

TEST(AllocationRules, LegalOnesPass) {
  EXPECT_EQ(problems(streaming_allocation()), "");
  EXPECT_EQ(problems(processor_allocation()), "");
}

struct Case {
  const char* text;
  std::function<void(Allocation&)> damage;
};

void expect_each_refused(const Allocation& good, const std::vector<Case>& cases) {
  for (const Case& item : cases) {
    Allocation bad = good;
    item.damage(bad);
    EXPECT_NE(problems(bad).find(item.text), std::string::npos) << item.text << "\n  got: " << problems(bad);
  }
}

TEST(AllocationRules, OfBothShapes) {
  expect_each_refused(
      streaming_allocation(),
      {{"(clock_mhz): is not positive", [](Allocation& a) { a.clock_mhz = 0; }},
       {"(port_bytes): 12 is not a power of two", [](Allocation& a) { a.port_bytes = 12; }},
       {"(max_burst_beats): 128 is not a power of two in 1..64",
        [](Allocation& a) {
          a.port_bytes = 64;
          a.max_burst_beats = 128;
        }},
       {"(weight_channels): 3 is not 1, 2 or 4", [](Allocation& a) { a.weight_channels = 3; }},
       {"(weight_memory): UltraRAM has no contents",
        [](Allocation& a) { a.weight_memory = netlist::MemoryKind::kUltraRam; }},
       {"(weights): a streaming design keeps", [](Allocation& a) { a.weights_on_chip = false; }},
       {"(layers): 3 entries for 4 layers", [](Allocation& a) { a.layers.pop_back(); }},
       {"entry 1 (layer): 'x' is listed where the network has 'layer2'",
        [](Allocation& a) { a.layers[1].layer = "x"; }},
       {"layer 'layer2' (unroll): only a convolution", [](Allocation& a) { a.layers[1].unroll = true; }},
       {"layer 'layer1' (po): 0 is not in 1..65536", [](Allocation& a) { a.layers[0].stage.po = 0; }},
       {"layer 'layer1' (pf): 3 does not divide po, 8", [](Allocation& a) { a.layers[0].stage.pf = 3; }},
       {"layer 'layer3' (po): 2 results of 4 lanes", [](Allocation& a) { a.layers[2].stage.po = 2; }},
       {"layer 'layer3' (multiplier): the products of lanes",
        [](Allocation& a) { a.layers[2].stage.multiplier = Multiplier::kPair; }},
       {"layer 'layer4' (multiplier): po, 1, is odd",
        [](Allocation& a) {
          a.layers[3].stage = {8, 1, 1, Multiplier::kPair};
        }},
       {"layer 'layer1' (multiplier): 3 products of 8 x 8 bits do not fit a block",
        [](Allocation& a) { a.layers[0].stage.multiplier = Multiplier::kPacked3; }},
       {"layer 'layer1' (pi): 3 does not divide 4 channels", [](Allocation& a) { a.layers[0].stage.pi = 3; }},
       {"layer 'layer4' (pf): 3 does not divide 4 channels",
        [](Allocation& a) {
          a.layers[3].stage = {8, 3, 3};
        }},
       {"layer 'layer4' (po): 5 for 4 channels",
        [](Allocation& a) {
          a.layers[3].stage = {8, 5, 1};
        }},
       {"layer 'layer2' (feeder): a row-major stage",
        [](Allocation& a) {
          a.layers[1].stage = {4, 4, 4, Multiplier::kDsp, Feeder::kRowMajor};
        }},
       {"layer 'layer1' (input_fifo): a depth is negative",
        [](Allocation& a) { a.layers[0].input_fifo = -1; }}});
}

TEST(AllocationRules, OfPackedProducts) {
  NetworkBuilder builder("packed", {4, 4, 4});
  Network network = builder.finish(builder.convolution(0, 8, 1));
  Allocation a;
  a.streaming = true;
  a.layers = {{"layer1", {4, 8, 1, Multiplier::kPacked2}}};
  EXPECT_EQ(problems(a, network), "");
  network.layers[0].weights[5] = -128;
  EXPECT_NE(problems(a, network).find("(multiplier): packed products take no weight of -128"),
            std::string::npos)
      << problems(a, network);
}

TEST(AllocationRules, OfStreams) {
  NetworkBuilder builder("twelve", {4, 4, 4});
  const Network network = builder.finish(builder.convolution(builder.convolution(0, 12, 1), 4, 1));
  Allocation a;
  a.streaming = true;
  a.layers = {{"layer1", {4, 12, 3}}, {"layer2", {2, 4, 4}}};
  EXPECT_NE(
      problems(a, network).find("layer 'layer2' (pi): 2 elements per beat meet 3 of tensor 'layer1_out'"),
      std::string::npos)
      << problems(a, network);
  a.layers[1].stage.pi = 6;
  EXPECT_EQ(problems(a, network), "");
}

TEST(AllocationRules, OfProcessors) {
  expect_each_refused(
      processor_allocation(),
      {{"(engines): none", [](Allocation& a) { a.engines.clear(); }},
       {"(engines): more than 7", [](Allocation& a) { a.engines.resize(8); }},
       {"(name): is empty or taken", [](Allocation& a) { a.engines[1].name = "mac"; }},
       {"(units): 0 is not in 1..16", [](Allocation& a) { a.units = 0; }},
       {"(tensor_unit): 1 entries for 5 tensors", [](Allocation& a) { a.tensor_unit = {0}; }},
       {"(tensor_unit): unit 5 of 2", [](Allocation& a) { a.tensor_unit[2] = 5; }},
       {"engine 'lanes' (pi): 2 where the first engine has 4",
        [](Allocation& a) {
          a.engines[1].shape = {2, 2, 1};
        }},
       {"engine 'mac' (po): pi, 4, does not divide 6",
        [](Allocation& a) {
          a.engines[0].shape = {4, 6, 2};
        }},
       {"engine 'mac' (pf): 8 does not divide pi, 4", [](Allocation& a) { a.engines[0].shape.pf = 8; }},
       {"engine 'mac' (feeder): only lanes",
        [](Allocation& a) { a.engines[0].shape.feeder = Feeder::kRowMajor; }},
       {"engine 'lanes' (taps_y): a window has", [](Allocation& a) { a.engines[1].taps_y = 0; }},
       {"layer 'layer2' (engine): there is no engine 7", [](Allocation& a) { a.layers[1].engine = 7; }},
       {"layer 'layer2' (engine): a convolution layer on engine 'lanes'",
        [](Allocation& a) { a.layers[1].engine = 1; }},
       {"layer 'layer3' (engine): a window of 2 x 2 on engine 'lanes' for 3 x 3",
        [](Allocation& a) {
          a.engines[1].shape.feeder = Feeder::kRowMajor;
          a.engines[1].taps_y = a.engines[1].taps_x = 3;
        }},
       {"layer 'layer1' (band_rows): 9 of 8 rows", [](Allocation& a) { a.layers[0].band_rows = 9; }},
       {"(weights): 2 engines would share",
        [](Allocation& a) {
          a.weights_on_chip = false;
          a.engines.push_back({"mac2", false, {4, 8, 4}});
        }},
       {"layer 'layer1' (ring_words): 8 where 9 are used by every band",
        [](Allocation& a) {
          a.weights_on_chip = false;
          a.ring_words = 8;
        }},
       {"layer 'layer1' (weight_channels): 64 bits of the memory ports and 288 of the array",
        [](Allocation& a) {
          a.weights_on_chip = false;
          a.ring_words = 100;
          a.engines[0].shape = {6, 6, 6};
          a.engines[1].shape = {6, 6, 6};
        }}});
}

TEST(AllocationRules, OfElementsAndTheirPort) {
  Network network = small_network();
  for (NetworkTensor& tensor : network.tensors) tensor.bits = 32;
  for (Allocation a : {streaming_allocation(), processor_allocation()}) {
    a.port_bytes = 2;
    EXPECT_NE(problems(a, network).find("(port_bytes): 2 holds no element of 32 bits; at least 4"),
              std::string::npos)
        << problems(a, network);
    a.port_bytes = 4;
    EXPECT_EQ(problems(a, network), "");
  }
}

TEST(AllocationRules, OfPairsAndFields) {
  Network network = small_network();
  network.layers[1].weight_bipolar = true;
  Allocation a = streaming_allocation();
  a.layers[1].stage.multiplier = Multiplier::kPair;
  EXPECT_NE(problems(a, network).find("layer 'layer2' (multiplier): two products share"), std::string::npos);

  NetworkBuilder wide("wide", {1, 70000, 4}, 1, false);
  const Network far = wide.finish(wide.convolution(0, 4, 1));
  Allocation p = processor_allocation();
  p.layers = {{"layer1", {}, 0}};
  p.tensor_unit = {0, 1};
  EXPECT_NE(problems(p, far).find("layer 'layer1' (columns): 70000 does not fit"), std::string::npos);

  NetworkBuilder tall("tall", {65535, 1, 4}, 1, false);
  const Network rows = tall.finish(tall.convolution(tall.convolution(0, 4, 1), 4, 1));
  p.layers = {{"layer1", {}, 0, 1}, {"layer2", {}, 0, 2}};
  p.tensor_unit = {0, 1, 0};
  EXPECT_NE(problems(p, rows).find("engine 'mac' (band_rows): 98303 tasks per image"), std::string::npos);

  NetworkBuilder vector("vector", {1, 1, 2}, 1, false);
  p.layers = {{"layer1", {}, 0}};
  p.tensor_unit = {0, 1};
  p.engines = {{"mac", false, {1, 1, 1}}};
  EXPECT_NE(problems(p, vector.finish(vector.convolution(0, 70000, 1)))
                .find("layer 'layer1' (words per pixel): 70000 does not fit its field, at most 65535"),
            std::string::npos);
  // Rows that fit in pixels and in words per pixel: the storer and the loader walk them word by word.
  NetworkBuilder output("output", {1, 1200, 1}, 1, false), input("input", {1, 1200, 64}, 1, false);
  for (const Network& long_rows :
       {output.finish(output.convolution(0, 64, 1)), input.finish(input.convolution(0, 1, 1))}) {
    EXPECT_EQ(
        problems(p, long_rows),
        "layer 'layer1' (words per row): 76800 does not fit its field, at most 65535; this layer is too "
        "large for processors\n");
  }

  NetworkBuilder twice("twice", {8, 8, 4});
  const int first = twice.convolution(0, 4, 3);
  const Network shared = twice.finish(twice.residual(first, 0));
  Allocation u;
  u.streaming = true;
  u.layers = {{"layer1", {36, 4, 4}}};
  u.layers[0].unroll = true;
  EXPECT_NE(problems(u, shared).find("(unroll): layer 'layer1' reads the input as well"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::pipeline
