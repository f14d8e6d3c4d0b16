// Fabrics: links, transfer times, the YAML form and its rejects.
#include "tilewright/hardware/fabric.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

const std::string kFabricPresets = std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware";

std::string reject(const std::string& text) {
  try {
    parse_fabric(text, "f.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Fabric, StreamingEngineTakesAClockPerTile) {
  const Fabric fabric = find_fabric("streaming-engine", kFabricPresets);
  EXPECT_EQ(fabric.tiles(), 16);
  EXPECT_EQ(fabric_links(fabric).size(), 2u * (15 + 14));
  const auto cycles = transfer_cycles(fabric);
  for (int a = 0; a < 16; ++a) {
    for (int b = 0; b < 16; ++b) EXPECT_EQ(cycles[a][b], std::abs(a - b));
  }
}

TEST(Fabric, HopsWithinAClock) {
  const auto mesh = transfer_cycles(find_fabric("mesh-4x4", kFabricPresets));
  const auto hycube = transfer_cycles(find_fabric("hycube-4x4", kFabricPresets));
  const auto torus = transfer_cycles(find_fabric("torus-4x4", kFabricPresets));
  EXPECT_EQ(mesh[0][0], 0);
  EXPECT_EQ(mesh[0][1], 0);
  EXPECT_EQ(mesh[0][15], 5);  // six links, the last one in the consumer's clock
  EXPECT_EQ(hycube[0][15], 1);
  EXPECT_EQ(hycube[0][10], 0);
  EXPECT_EQ(torus[0][15], 1);  // two links, around the corner
}

TEST(Fabric, RingGoesBothWays) {
  const auto cycles = transfer_cycles(find_fabric("ring-10", kFabricPresets));
  EXPECT_EQ(cycles[0][9], 1);
  EXPECT_EQ(cycles[2][7], 5);
}

TEST(Fabric, PresetsEqualTheirShortForms) {
  for (const char* name : {"mesh-4x4", "hycube-4x4"}) {
    const Fabric preset = find_fabric(name, kFabricPresets);
    EXPECT_EQ(parse_fabric(print_fabric(find_fabric(name, "/nowhere")), "x"), preset);
  }
  Fabric line = find_fabric("line-16", kFabricPresets);
  line.name = "streaming-engine";
  EXPECT_EQ(line, find_fabric("streaming-engine", kFabricPresets));
}

TEST(Fabric, TextRoundTrips) {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    Fabric fabric;
    fabric.name = "random";
    fabric.rows = int(random.between(1, 5));
    fabric.columns = int(random.between(2, 6));
    fabric.wrap = random.chance(0.5);
    fabric.cycles_per_distance = int(random.between(0, 2));
    fabric.delay_registers = int(random.between(0, 4));
    fabric.siblings_apart = random.chance(0.5);
    fabric.starters_apart = StarterRule(random.between(0, 2));
    EXPECT_EQ(parse_fabric(print_fabric(fabric), "x"), fabric) << print_fabric(fabric);
  }
}

// Too many tiles are refused before anything is computed over pairs of them.
TEST(Fabric, LimitsTheTiles) {
  EXPECT_EQ(find_fabric("mesh-64x64", kFabricPresets).tiles(), 4096);
  for (const char* name : {"torus-100x100", "mesh-999x999", "line-4097", "hycube-5x820"}) {
    try {
      find_fabric(name, kFabricPresets);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("tiles; at most 4096"), std::string::npos) << error.what();
    }
  }
  EXPECT_NE(reject("rows: 4096\ncolumns: 4096\n").find("4096 x 4096 tiles"), std::string::npos);
}

// Shortest ways against relaxation until nothing changes, an algorithm of its own.
TEST(FabricClass, TransferTimesAreShortest) {
  const uint64_t seed = test_seed();
  const int64_t cases = test_cases(150);
  Random random(seed);
  for (int64_t i = 0; i < cases; ++i) {
    Fabric fabric;
    fabric.rows = int(random.between(1, 4));
    fabric.columns = int(random.between(2, 6));
    fabric.wrap = random.chance(0.5);
    fabric.spans = random.chance(0.5) ? std::vector<int>{1, 2} : std::vector<int>{1};
    fabric.cycles_per_distance = int(random.between(0, 3));
    fabric.hops_per_cycle = int(random.between(1, 4));
    const int tiles = fabric.tiles(), far = 1 << 20;
    const bool within = fabric.cycles_per_distance == 0;
    std::vector<std::vector<int>> least(size_t(tiles), std::vector<int>(size_t(tiles), far));
    for (int tile = 0; tile < tiles; ++tile) least[size_t(tile)][size_t(tile)] = 0;
    for (int round = 0; round < tiles; ++round) {
      for (const FabricLink& link : fabric_links(fabric)) {
        for (auto& row : least)
          row[size_t(link.to)] =
              std::min(row[size_t(link.to)], row[size_t(link.from)] + (within ? 1 : link.cycles));
      }
    }
    const auto cycles = transfer_cycles(fabric);
    for (int a = 0; a < tiles; ++a) {
      for (int b = 0; b < tiles; ++b) {
        const int way = least[size_t(a)][size_t(b)];
        const int expected = within ? std::max(0, way - 1) / fabric.hops_per_cycle : way;
        ASSERT_EQ(cycles[size_t(a)][size_t(b)], expected) << "seed " << seed << " case " << i << "\n"
                                                          << print_fabric(fabric);
      }
    }
  }
  RecordProperty("cases", int(cases));
}

struct Field {
  const char* name;
  int64_t low, high;
  int Fabric::*member;
};
constexpr Field kFields[] = {{"operation_latency_cycles", 1, 64, &Fabric::operation_latency_cycles},
                             {"cycles_per_distance", 0, 64, &Fabric::cycles_per_distance},
                             {"hops_per_cycle", 1, 64, &Fabric::hops_per_cycle},
                             {"pass_through", 0, 64, &Fabric::pass_through},
                             {"delay_registers", 0, 64, &Fabric::delay_registers},
                             {"operands", 1, 16, &Fabric::operands},
                             {"instructions", 1, 65536, &Fabric::instructions},
                             {"max_ii", 1, 65536, &Fabric::max_ii},
                             {"tile_memories", 0, 16, &Fabric::tile_memories},
                             {"tile_memory_entries", 0, 1 << 20, &Fabric::tile_memory_entries},
                             {"memory_interfaces", 0, 64, &Fabric::memory_interfaces}};

TEST(FabricClass, EveryNumberIsTakenInItsRangeAndPrintedUnderItsOwnName) {
  for (const Field& field : kFields) {
    for (const int64_t value : {field.low, field.high}) {
      const Fabric fabric = parse_fabric(fmt::format("columns: 4\n{}: {}\n", field.name, value), "f.yaml");
      EXPECT_EQ(fabric.*field.member, value) << field.name;
      EXPECT_EQ(parse_fabric(print_fabric(fabric), "f.yaml"), fabric) << field.name;
      EXPECT_NE(print_fabric(fabric).find(fmt::format("\n{}: {}\n", field.name, value)), std::string::npos);
    }
    for (const int64_t value : {field.low - 1, field.high + 1}) {
      EXPECT_NE(reject(fmt::format("columns: 4\n{}: {}\n", field.name, value))
                    .find(fmt::format("'{}' is not an integer in {}..{}", value, field.low, field.high)),
                std::string::npos)
          << field.name;
    }
  }
}

// A span that is named again and again adds no link and takes no time.
TEST(Fabric, SpansCountOnce) {
  std::string spans = "2, 1";
  for (int i = 0; i < 60000; ++i) spans += i % 2 == 0 ? ", 1" : ", 2";
  const Fabric fabric = parse_fabric(fmt::format("rows: 16\ncolumns: 16\nspans: [{}]\n", spans), "f.yaml");
  EXPECT_EQ(fabric.spans, (std::vector<int>{1, 2}));
  EXPECT_EQ(fabric_links(fabric).size(), 4u * 16 * (15 + 14));
}

// Against asking of every pair of tiles.
TEST(FabricClass, LinksAreThePairsThatASpanJoins) {
  const int64_t cases = test_cases(100);
  RecordProperty("cases", int(cases));
  Random random(test_seed());
  for (int64_t i = 0; i < cases; ++i) {
    Fabric fabric;
    fabric.rows = int(random.between(1, 5));
    fabric.columns = int(random.between(2, 6));
    fabric.wrap = random.chance(0.5);
    fabric.cycles_per_distance = 1;
    fabric.spans.clear();
    for (int64_t n = random.between(1, 4); n > 0; --n) fabric.spans.push_back(int(random.between(1, 5)));
    std::vector<std::pair<int, int>> expected, found;
    const auto joined = [&](int distance, int size) {
      for (const int span : fabric.spans) {
        if (distance == span) return true;
        if (fabric.wrap && ((distance + span) % size == 0 || (distance - span) % size == 0)) return true;
      }
      return false;
    };
    for (int a = 0; a < fabric.tiles(); ++a) {
      for (int b = 0; b < fabric.tiles(); ++b) {
        const int rows = std::abs(a / fabric.columns - b / fabric.columns);
        const int columns = std::abs(a % fabric.columns - b % fabric.columns);
        if (a == b || (rows != 0 && columns != 0)) continue;
        const bool linked = rows == 0 ? joined(columns, fabric.columns) : joined(rows, fabric.rows);
        if (linked) expected.emplace_back(a, b);
      }
    }
    for (const FabricLink& link : fabric_links(fabric)) found.emplace_back(link.from, link.to);
    ASSERT_EQ(found, expected) << "case " << i << "\n" << print_fabric(fabric);
  }
}

TEST(Fabric, Rejects) {
  EXPECT_NE(reject("name: \"a\xff\"\ncolumns: 4\n").find("(name): is not UTF-8"), std::string::npos);
  EXPECT_NE(reject("kind: fabric\ncolumns: 0\n").find("columns"), std::string::npos);
  const std::string many = reject("columns: 4\nspans: [9]\nstarters_apart: some\nhops_per_cycle: 0\n");
  EXPECT_NE(many.find("not a variant of the rule"), std::string::npos) << many;
  EXPECT_NE(many.find("hops_per_cycle"), std::string::npos) << many;
  EXPECT_NE(reject("columns: 4\nspans: [9]\n").find("outside 1..3"), std::string::npos);
  EXPECT_NE(reject("columns: 5\nspans: [2]\n").find("no links lead from tile 0 to tiles 1, 3"),
            std::string::npos);
  for (const char* spans : {"far", "{a: 1}", "[[1]]", "[1, two]", "[{}]"}) {
    EXPECT_NE(reject(std::string("columns: 4\nspans: ") + spans).find("list of whole numbers"),
              std::string::npos)
        << spans;
  }
  EXPECT_NE(reject("columns: 4\ntiles: 4\n").find("tiles"), std::string::npos);
  EXPECT_THROW(find_fabric("nothing", kFabricPresets), Error);
}

}  // namespace
}  // namespace tilewright
