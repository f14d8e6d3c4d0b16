// A spatial architecture: a hierarchy of memories around an array of processing elements, outermost level
// first, with what each access costs. Words are the unit of storage, traffic and bandwidth: one element of
// any data space takes one word of `word_bits`. Energies are in the file's own unit (`energy_unit`), for
// example one multiply-accumulate ("mac") or "pj"; areas in um2.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright {

// What a data space is to the hardware; also its index in every three-part array below and the order of the
// workload builders (kInputSpace, kWeightSpace, kOutputSpace).
enum class DataRole : uint8_t { kInput, kWeight, kOutput };
inline constexpr int kDataRoles = 3;
inline constexpr int64_t kUnlimitedWords = -1;

// The wires from one instance of a level to the instances of the next level below it.
struct ArrayNetwork {
  // A word that several children need in the same step is read once (else once per child).
  bool multicast = true;
  // Partial sums of several children for one element are added on their way up (else each is an update).
  bool reduction = true;
  // Energy of a word for every child that receives it, or that sends it up.
  double delivery_energy = 0;
  // Energy per hop: a word travels once along each row (y) that has a receiver and once to each receiver.
  double hop_energy = 0;
  // Words per cycle into all children of one instance together, by role; 0: no limit.
  std::array<double, kDataRoles> words_per_cycle{};
  bool operator==(const ArrayNetwork&) const = default;
};

// One memory. A level of capacity 0 stores nothing: it only fans out.
struct ArrayLevel {
  std::string name;  // "dram"
  // Words of one instance shared by all roles without a reservation; kUnlimitedWords for main memory.
  int64_t capacity_words = kUnlimitedWords;
  // Words reserved for one role; kUnlimitedWords: it lives in the shared capacity.
  std::array<int64_t, kDataRoles> role_capacity_words{kUnlimitedWords, kUnlimitedWords, kUnlimitedWords};
  // Which roles may be kept here, a bit for each; and which must be.
  uint32_t may_keep = 7;
  uint32_t must_keep = 0;
  // Copies of each tile held at the same time: 2 when the next tile is loaded while this one is used.
  int64_t copies = 1;
  // Whether transfers into this level overlap with work on what it holds.
  bool overlaps_transfers = true;
  // Energy of a word: read; written by a fill from above; written by a partial sum from below.
  double read_energy = 0, fill_energy = 0, update_energy = 0;
  // Words per cycle of one instance; 0: no limit.
  double read_words_per_cycle = 0, write_words_per_cycle = 0;
  double area_um2 = 0;  // of one instance
  // Instances of the next level (of the arithmetic, for the innermost) below one instance of this one.
  int64_t fanout_x = 1, fanout_y = 1;
  ArrayNetwork network;  // to the next level
  bool operator==(const ArrayLevel&) const = default;
};

struct ArrayHardware {
  std::string name;
  std::string energy_unit = "mac";
  int64_t word_bits = 16;
  double mac_energy = 1;
  double mac_area_um2 = 0;
  double clock_mhz = 0;            // 0: not stated, times are in cycles only
  std::vector<ArrayLevel> levels;  // outermost first
  bool operator==(const ArrayHardware&) const = default;

  // Product of the fan-outs: multipliers of the whole array.
  int64_t pe_count() const;
  double area_um2() const;
  // Names unique, capacities and costs not negative, the outermost level unlimited and keeping everything,
  // at most 2^30 instances...; every problem is reported.
  void verify(Diagnostics& diagnostics) const;
};

}  // namespace tilewright
