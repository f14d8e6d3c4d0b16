// The coordinates of a mapspace: which factors every loop of a mapping may take, given what the loops inside
// it cover, and which data spaces every level may keep. Enumeration, sampling and the mapper all walk these.
//
// The loops of one dimension are in slots, from the innermost to the outermost: of every level, innermost
// level first, the loop along x, along y, and the temporal one. A slot of factor 1 is no loop.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tilewright/spatial/mapspace/mapspace.h"

namespace tilewright {

class Deadline;

// Array sizes of the searches; larger mapspaces do not verify.
inline constexpr int kMaxMapperDimensions = 16, kMaxMapperLevels = 10;

enum class SlotKind : uint8_t { kX, kY, kTemporal };
inline constexpr int kSlotsPerLevel = 3;

// A mapping by slots. `factors` has one entry per slot and dimension: factors[slot * dimension_count +
// dimension]. `orders`: of each level (outermost first) the dimensions with a temporal factor above 1,
// outermost loop first.
struct SlotMapping {
  std::vector<int64_t> factors;
  std::vector<uint32_t> keeps;
  std::vector<std::vector<int>> orders;
  bool operator==(const SlotMapping&) const = default;
};

class MapspaceChoices {
 public:
  // The mapspace must outlive this object and have constraints that refer to existing dimensions. Errors
  // (unsupported): imperfect dimensions with more than 4 million (slot, cover, factor) combinations. Listing
  // so many takes a second: `deadline` (may be null) is checked meanwhile.
  explicit MapspaceChoices(const Mapspace& mapspace, const Deadline* deadline = nullptr);

  int levels() const { return levels_; }
  int dimensions() const { return dimensions_; }
  int slots() const { return levels_ * kSlotsPerLevel; }
  int slot_of(int level, SlotKind kind) const { return (levels_ - 1 - level) * kSlotsPerLevel + int(kind); }
  int level_of(int slot) const { return levels_ - 1 - slot / kSlotsPerLevel; }
  SlotKind kind_of(int slot) const { return SlotKind(slot % kSlotsPerLevel); }

  // Factors, ascending, that the slot may take when the slots inside it cover `covered` iterations, and that
  // leave a way to complete the dimension. Ignores that the factors of an axis share its fan-out.
  std::span<const int64_t> factors(int slot, int dimension, int64_t covered) const;
  // Every cover with which factors() of the slot can be asked, ascending.
  std::vector<int64_t> covers(int slot, int dimension) const;
  // What level `level` may keep, ascending.
  const std::vector<uint32_t>& keeps(int level) const { return keeps_[size_t(level)]; }
  const LevelConstraints& constraints(int level) const { return constraints_[size_t(level)]; }

  // Puts the dimensions of the constraint `innermost` in their place (at the end), keeps the others in order.
  std::vector<int> constrained_order(int level, const std::vector<int>& free_dimensions) const;
  Mapping build(const SlotMapping& flat) const;
  // The reverse, for a mapping of the mapspace.
  SlotMapping flatten(const Mapping& mapping) const;

 private:
  bool allowed(int slot, int dimension, int64_t covered, int64_t factor) const;
  bool complete(int slot, int dimension, int64_t covered, const Deadline* deadline);

  struct Choices {
    bool completes = false;
    std::vector<int64_t> factors;
  };

  const Mapspace& mapspace_;
  int levels_, dimensions_;
  std::vector<LevelConstraints> constraints_;
  std::vector<std::vector<uint32_t>> keeps_;
  // [slot * dimensions_ + dimension]: by cover.
  std::vector<std::unordered_map<int64_t, Choices>> choices_;
  int64_t entries_ = 0;
};

}  // namespace tilewright
