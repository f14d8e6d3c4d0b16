// The YAML form of array descriptions: fields and units, curves, parameters, round trips, messages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tilewright/base/random.h"
#include "tilewright/hardware/array_hardware.h"

namespace tilewright {
namespace {

constexpr int64_t kMostWords = int64_t{1} << 40;

std::string failure(const std::string& text) {
  try {
    parse_array_hardware(text, "a.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "";
}

const char kFull[] = R"(kind: array
name: full
energy_unit: pj
word_bits: 16
clock_mhz: 250
parameters: {words: 8 * side, side: 2 * half, half: 4}
arithmetic: {energy: 0.5, area_um2: 20}
curves:
  energy: {points: [[128, 1], [512, 2], [2048, 4]]}
  area: {interpolation: linear, per_byte: true, points: [[0.5, 10], [128, 4], [4096, 2]]}
levels:
- name: dram
  energy: 100
  bandwidth: {read: 4, write: 4}
- name: buffer
  capacity_kib: 1
  energy: energy
  area_um2: area
  copies: 2
  overlaps_transfers: false
  fanout: {x: side, y: half}
  network: {multicast: false, reduction: false, delivery_energy: 2, hop_energy: 0.25, words_per_cycle: 4}
- name: spads
  role_capacity_words: {input: 12, weight: 64}
  role_capacity_bytes: {output: 48}
  must_keep: weight
  energy: {curve: energy, fill: 3}
  area_um2: area
  fanout: 2
  network: {words_per_cycle: {weight: 1}}
study: {pes: 32, table: [1, 2]}
)";

TEST(ArrayText, EveryField) {
  const ArrayHardware h = parse_array_hardware(kFull, "a.yaml");
  EXPECT_EQ(h.name, "full");
  EXPECT_EQ(h.energy_unit, "pj");
  EXPECT_EQ(h.clock_mhz, 250);
  EXPECT_EQ(h.mac_energy, 0.5);
  ASSERT_EQ(h.levels.size(), 3u);
  EXPECT_EQ(h.levels[0].capacity_words, kUnlimitedWords);
  EXPECT_EQ(h.levels[0].read_words_per_cycle, 4);
  const ArrayLevel& buffer = h.levels[1];
  EXPECT_EQ(buffer.capacity_words, 512);
  EXPECT_DOUBLE_EQ(buffer.read_energy, 2 * std::sqrt(2));  // 1024 lies half way from 512 to 2048
  EXPECT_DOUBLE_EQ(buffer.area_um2, 1024 * (4 - 2.0 * (1024 - 128) / (4096 - 128)));
  EXPECT_EQ(buffer.fanout_x, 8);
  EXPECT_EQ(buffer.fanout_y, 4);
  EXPECT_EQ(buffer.copies, 2);
  EXPECT_FALSE(buffer.overlaps_transfers);
  EXPECT_FALSE(buffer.network.multicast);
  EXPECT_EQ(buffer.network.words_per_cycle, (std::array<double, kDataRoles>{4, 4, 4}));
  const ArrayLevel& spads = h.levels[2];
  EXPECT_EQ(spads.capacity_words, 0);
  EXPECT_EQ(spads.role_capacity_words, (std::array<int64_t, kDataRoles>{12, 64, 24}));
  EXPECT_EQ(spads.may_keep, 7u);
  EXPECT_EQ(spads.must_keep, 2u);
  EXPECT_EQ(spads.read_energy, 1);  // 128 bytes, the largest of the three
  EXPECT_EQ(spads.fill_energy, 3);
  EXPECT_EQ(spads.fanout_x, 2);
  EXPECT_EQ(spads.network.words_per_cycle, (std::array<double, kDataRoles>{0, 1, 0}));
  EXPECT_EQ(h.sections.size(), 1u);
  EXPECT_EQ(h.sections.at("study"), "{pes: 32, table: [1, 2]}");
  EXPECT_EQ(parse_array_hardware(print_array_hardware(h), "b.yaml"), h);
}

TEST(ArrayText, RolesWithoutRoomAreNotKept) {
  const ArrayHardware h = parse_array_hardware(
      "levels:\n- {name: dram, energy: 1}\n- {name: net, capacity_words: 0, fanout: 4}\n"
      "- {name: rf, role_capacity_words: {weight: 4}, energy: 1}\n",
      "dir/small.yaml");
  EXPECT_EQ(h.name, "small");
  EXPECT_EQ(h.levels[1].may_keep, 0u);
  EXPECT_EQ(h.levels[2].may_keep, 2u);
}

TEST(ArrayText, EveryProblemInOneRun) {
  EXPECT_EQ(failure("kind: overlay\n"
                    "word_bits: 0\n"
                    "clock: 5\n"
                    "arithmetic: {energy: -1, volume: 2}\n"
                    "levels:\n"
                    "- {name: dram, capacity_words: 7, energy: 1}\n"
                    "- name: dram\n"
                    "  capacity_words: -5\n"
                    "  energy: sram\n"
                    "  must_keep: inputs\n"
                    "- name: rf\n"
                    "  capacity_words: 0\n"
                    "  must_keep: output\n"
                    "  may_keep: output\n"
                    "  fanout: {x: 0, z: 3}\n"
                    "- {name: x, energy: {read: 1}}\n"
                    "name: n\n"
                    "name: m\n"),
            "17 problems\n"
            "  a.yaml:1 (kind): 'overlay' is not an array; write 'kind: array'\n"
            "  a.yaml:2 (word_bits): '0' is not an integer in 1..64\n"
            "  a.yaml:4 (energy): '-1' is not a number in 0..1000000000000000\n"
            "  a.yaml:4 (volume): unknown field; known fields: area_um2, energy\n"
            "  a.yaml:8 (capacity_words): '-5' is not an integer in 0..1099511627776\n"
            "  a.yaml:10 (must_keep): 'inputs' is not a data role; input, weight and output\n"
            "  a.yaml:9 (energy): 'sram' is neither a number nor a curve; the file has no curves\n"
            "  a.yaml:15 (x): '0' is not an integer in 1..1073741824\n"
            "  a.yaml:15 (z): unknown field; known fields: x, y\n"
            "  a.yaml:16 (capacity_words): missing field; give capacity_words, capacity_bytes, "
            "capacity_kib or role_capacity_words\n"
            "  a.yaml:16 (fill): missing field; give a number in 0..1000000000000000\n"
            "  a.yaml:16 (update): missing field; give a number in 0..1000000000000000\n"
            "  a.yaml:3 (clock): unknown field; did you mean 'clock_mhz'? known fields: arithmetic, "
            "clock_mhz, curves, "
            "energy_unit, kind, levels, name, parameters, row_stationary, study, word_bits\n"
            "  a.yaml:18 (name): it is given twice; leave one out\n"
            "  a.yaml:6 (capacity_words): the outermost level is main memory and must be unlimited; "
            "add a level for it outside of this one\n"
            "  a.yaml:7 (name): a second level 'dram'; level names must differ\n"
            "  a.yaml:13 (must_keep): output must be kept, but there are 0 words for it");
}

TEST(ArrayText, Parameters) {
  const std::string levels = "levels:\n- {name: dram, energy: a}\n";
  EXPECT_EQ(failure("parameters: {a: b + 1, b: 2 * c, c: a}\n" + levels),
            "a.yaml:1 (a): has no value, its definition is a cycle: a -> b -> c -> a");
  EXPECT_EQ(failure("parameters: {a: 0 - 3}\n" + levels),
            "a.yaml:3 (energy): '-3' is not a number in 0..1000000000000000");
  EXPECT_EQ(failure("parameters: {a: 1 / 0, b: d, 3x: 1, e: [1]}\n" + levels),
            "4 problems\n"
            "  a.yaml:1 (3x): a parameter's name has letters, digits and underscores\n"
            "  a.yaml:1 (e): a number or an expression is expected\n"
            "  a.yaml:1 (a): division by zero\n"
            "  a.yaml:1 (b): there is no parameter 'd'");
  EXPECT_EQ(failure("parameters: {a: 2}\nlevels:\n- {name: dram, energy: a * (1 + b)}\n"),
            "a.yaml:3 (a * (1 + b)): there is no parameter 'b'");
  EXPECT_EQ(failure("parameters: 7\n" + levels),
            "2 problems\n"
            "  a.yaml:1 (parameters): a map of 'name: number' lines is expected\n"
            "  a.yaml:3 (energy): 'a' is neither a number nor a curve; the file has no curves");
}

TEST(ArrayText, Curves) {
  const auto with = [](const std::string& curve, const std::string& level) {
    return failure("curves:\n  c: " + curve + "\nlevels:\n- {name: dram, energy: 1}\n- {name: b, " + level +
                   "}\n");
  };
  const std::string level = "capacity_bytes: 64, energy: c";
  EXPECT_EQ(with("{points: [[64, 1]]}", level), "");
  EXPECT_EQ(parse_array_hardware("word_bits: 8\ncurves: {c: {access_bits: 64, points: [[2, 24]]}}\nlevels:\n"
                                 "- {name: dram, energy: 1}\n- {name: b, capacity_words: 2, energy: c}\n",
                                 "a.yaml")
                .levels[1]
                .read_energy,
            3);
  EXPECT_EQ(with("{points: []}", level), "a.yaml:2 (c): a curve needs at least one point");
  EXPECT_EQ(with("{points: [[1, 2], [1, 3]]}", level),
            "a.yaml:2 (c): the size 1 does not follow 1: sizes are positive and increase");
  EXPECT_EQ(with("{points: [[1, -2]]}", level), "a.yaml:2 (c): the value -2 is negative or not a number");
  EXPECT_EQ(with("{points: [[1, 0], [2, 2]]}", level),
            "a.yaml:2 (c): a value of 0 has no logarithm; say 'interpolation: linear'");
  EXPECT_EQ(with("{points: 3}", level), "a.yaml:2 (c): points must be a list of [bytes, value]");
  EXPECT_EQ(with("{points: [[1, 2, 3]]}", level), "a.yaml:2 (c): points must be a list of [bytes, value]");
  EXPECT_EQ(with("{points: [[1, 1], [32, 2]]}", level),
            "a.yaml:5 (energy): curve 'c' reaches from 1 to 32 bytes, the memory has 64; give a "
            "number or more points");
  EXPECT_EQ(with("{points: [[1, 1], [32, 2]]}", "capacity_words: unlimited, energy: c"),
            "a.yaml:5 (energy): curve 'c' gives no cost of an unlimited memory; give a number or "
            "more points");
  EXPECT_EQ(
      with("{points: [[1, 1], [32, 2]], interpolation: cubic, points2: 1}", "capacity_words: 1, energy: d"),
      "3 problems\n"
      "  a.yaml:2 (interpolation): 'cubic' is not an interpolation; log or linear\n"
      "  a.yaml:2 (points2): unknown field; did you mean 'points'? known fields: access_bits, interpolation, "
      "per_byte, points\n"
      "  a.yaml:5 (energy): 'd' is neither a number nor a curve; curves: c");
}

TEST(ArrayText, StructureThatIsNoArray) {
  EXPECT_EQ(failure(""), "a.yaml: a map of 'field: value' lines is expected");
  EXPECT_EQ(failure("[1, 2]"), "a.yaml:1: a map of 'field: value' lines is expected");
  EXPECT_EQ(failure("levels: 3"), "a.yaml:1 (levels): a list of levels, outermost first, is expected");
  EXPECT_EQ(failure("levels: [3, x]"),
            "2 problems\n"
            "  a.yaml:1: a map of 'field: value' lines is expected\n"
            "  a.yaml:1: a map of 'field: value' lines is expected");
  EXPECT_EQ(failure("levels:\n- &a {name: dram, energy: *a}\nparameters: {q: 1}\n"),
            "a.yaml:2:27: an alias inside the node that it refers to; write it out");
}

TEST(ArrayText, RandomDescriptionsRoundTrip) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const auto value = [&] {
      return random.chance(0.3) ? 0 : random.uniform() * double(random.between(1, 1000));
    };
    const auto capacity = [&] {
      return random.chance(0.2) ? kUnlimitedWords : random.between(0, random.chance(0.3) ? 2 : kMostWords);
    };
    ArrayHardware h;
    h.name = random.chance(0.1) ? "null" : fmt::format("a b: {}", seed);
    h.energy_unit = random.chance(0.5) ? "pj" : "#\"x\"\n";
    h.word_bits = random.between(1, 64);
    h.mac_energy = value();
    h.mac_area_um2 = value();
    h.clock_mhz = value();
    h.levels.resize(size_t(random.between(1, 6)));
    for (size_t l = 0; l < h.levels.size(); ++l) {
      ArrayLevel& level = h.levels[l];
      level.name = fmt::format("level{}", l);
      if (l > 0) {
        level.capacity_words = capacity();
        for (int64_t& words : level.role_capacity_words) words = random.chance(0.6) ? -1 : capacity();
        level.may_keep = uint32_t(random.between(0, 7));
        for (uint32_t role = 0; role < kDataRoles; ++role) {
          const int64_t own = level.role_capacity_words[role];
          const bool room = (own == kUnlimitedWords ? level.capacity_words : own) != 0;
          if (room && random.chance(0.5)) level.must_keep |= level.may_keep & 1u << role;
        }
      }
      level.copies = random.between(1, 3);
      level.overlaps_transfers = random.chance(0.5);
      level.read_energy = value();
      level.fill_energy = value();
      level.update_energy = value();
      level.read_words_per_cycle = value();
      level.write_words_per_cycle = value();
      level.area_um2 = value();
      level.fanout_x = random.between(1, 5);
      level.fanout_y = random.between(1, 5);
      level.network = {random.chance(0.5), random.chance(0.5), value(), value(), {value(), value(), value()}};
    }
    if (random.chance(0.5)) h.sections["study"] = "a: 1\nb:\n  - x\n  - {c: \"# no\"}";
    if (random.chance(0.5)) h.sections["row_stationary"] = "[1, 2]";
    const std::string printed = print_array_hardware(h);
    EXPECT_EQ(parse_array_hardware(printed, "printed.yaml"), h) << printed;
    EXPECT_EQ(print_array_hardware(parse_array_hardware(printed, "printed.yaml")), printed);
  }
}

}  // namespace
}  // namespace tilewright
