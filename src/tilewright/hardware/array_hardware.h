// A spatial architecture: a hierarchy of memories around an array of processing elements, outermost level
// first, with what each access costs. Words are the unit of storage, traffic and bandwidth: one element of
// any data space takes one word of `word_bits`. Energies are in the file's own unit (`energy_unit`), for
// example one multiply-accumulate ("mac") or "pj"; areas in um2.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright {

// The role of a data space for the hardware; also its index in every three-part array below and the order of
// the workload builders (kInputSpace, kWeightSpace, kOutputSpace).
enum class DataRole : uint8_t { kInput, kWeight, kOutput };
inline constexpr int kDataRoles = 3;
inline constexpr std::array<const char*, kDataRoles> kDataRoleNames{"input", "weight", "output"};
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
  // Whether transfers into this level overlap with work on its contents.
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
  // Sections of the file that other modules read, by name ("study", "row_stationary"), each as YAML text.
  std::map<std::string, std::string> sections;
  bool operator==(const ArrayHardware&) const = default;

  // Instances of one level; levels.size() gives the multipliers of the whole array.
  int64_t instances(int level) const;
  int64_t pe_count() const { return instances(int(levels.size())); }
  // Everything that has an area: all instances of all levels and the multipliers.
  double area_um2() const;
  // Every rule the description breaks: 1 to 16 levels with names of their own (letters, digits, underscores),
  // the outermost unlimited and keeping everything; capacities, costs and bandwidths not negative; what must
  // be kept may be kept and has space; fan-outs of at least 1, at most 2^30 instances.
  void verify(Diagnostics& diagnostics) const;
};

// The YAML form (docs/reference/arrays.md). Energies and areas may come from size-dependent curves in the
// file and numbers from its parameters; a printed description holds the resulting numbers. parse(print(h)) ==
// h. Errors (invalid input): all problems at once, each with its line.
ArrayHardware read_array_hardware(const std::filesystem::path& path);
ArrayHardware parse_array_hardware(const std::string& text, const std::string& source_name);
std::string print_array_hardware(const ArrayHardware& hardware);

// `name_or_path`: the name of a preset (NAME.yaml in `preset_folder` with `kind: array`) or a file. Errors
// (invalid input): neither of them, listing the known presets; whatever reading reports.
ArrayHardware find_array_hardware(const std::string& name_or_path,
                                  const std::filesystem::path& preset_folder);
// The names of the array presets in `preset_folder`, sorted; none when there is no such folder.
std::vector<std::string> array_preset_names(const std::filesystem::path& preset_folder);

}  // namespace tilewright
