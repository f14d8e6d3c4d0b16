// The building blocks of the closed forms in nest/access_counts.h: the loops outside a tile, the positions
// along a dimension that look alike, and how many elements of one rank move when a loop advances.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/nest/access_counts.h"

namespace tilewright {

// A loop of a mapping with the iterations of its dimension that one of its steps covers.
struct NestLoop {
  int dimension = 0;
  int64_t factor = 1, step = 1;
  int level = 0;
  bool temporal = true;
  bool along_y = false;
};

// Every loop of more than one iteration, outermost first.
std::vector<NestLoop> nest_loops(const Workload& workload, const Mapping& mapping);

// `count` positions, `step` apart, the first at 0.
struct Stride {
  int64_t step = 1, count = 1;
  int level = 0;  // of the mapping; matters to RankRules::same_tile_only
};

// Positions that look alike: `count` of them have `room` iterations left up to the dimension's end.
struct Room {
  int64_t room = 0, count = 0;
};

// The positions of nested loops (outermost first) that begin inside a dimension of `size`, gathered by the
// room they leave; rooms of `reach` and more look alike and are returned as `reach`. Takes time by the number
// of different rooms: two, unless loops that are not among `loops` lie between them.
void positions_by_room(int64_t size, std::span<const Stride> loops, int64_t reach, std::vector<Room>& out);

// One dimension of a rank around the moment when a loop advances. Several instances (one per combination of
// `instances`) hold tiles of `tile` iterations: instance offset + old_offset before, + new_offset after,
// cut off at `room`.
struct RankAxis {
  int64_t coefficient = 1;
  int64_t room = 0, tile = 1;
  int64_t old_offset = 0, new_offset = 0;
  std::span<const Stride> instances;
};

// How the elements that several instances hold are counted.
struct RankRules {
  // Summed over the instances that differ in their tile, or in how far the loops of one level move it,
  // instead of their union.
  bool same_tile_only = false;
  bool boxed = false;  // the elements between those of a tile belong to it
};

// Elements of one rank, all instances together; new is after the loop has advanced, old before.
// all: held then; part: held then, but not by the same instance at the other time.
struct RankMoves {
  int64_t new_all = 1, new_part = 0, old_all = 1, old_part = 0;
  bool operator==(const RankMoves&) const = default;
};

// Counts the moves of one rank; keeps its buffers between calls.
class RankCounter {
 public:
  RankMoves moves(std::span<const RankAxis> axes, RankRules rules);
  // The same by listing every instance's elements, which `moves` does where its shortcuts do not apply.
  RankMoves listed_moves(std::span<const RankAxis> axes, RankRules rules);

 private:
  // Values of one residue class: residue + modulus * [begin, end).
  struct Piece {
    int64_t residue, begin, end;
    auto operator<=>(const Piece&) const = default;
  };
  // first + step * [0, count).
  struct Run {
    int64_t first = 0, step = 1, count = 0;
  };
  struct Range {
    int64_t begin, end;
  };

  bool short_cut(std::span<const RankAxis> axes, RankRules rules, RankMoves& moves);
  bool count_apart(std::span<const RankAxis> axes, RankMoves& moves);
  bool as_run(std::span<const RankAxis> axes, bool old, bool boxed, Run& run);
  int64_t spread(std::span<const RankAxis> axes, int64_t step, int64_t count);
  int64_t different_tiles(std::span<const RankAxis> axes);
  void list_levels(std::span<const RankAxis> axes);
  void list_values(std::span<const RankAxis> axes, size_t main, std::span<const Range> ranges,
                   std::vector<Piece>& out);
  static void normalize(std::vector<Piece>& pieces);
  static int64_t size(const std::vector<Piece>& pieces);
  static void subtract(const std::vector<Piece>& from, const std::vector<Piece>& what,
                       std::vector<Piece>& out);
  static void list_box(std::span<const RankAxis> axes, std::span<const Range> ranges,
                       std::vector<Piece>& out);

  Rank scratch_rank_;
  std::vector<int64_t> scratch_extents_, index_, point_;
  std::vector<int> levels_;
  std::vector<Range> new_ranges_, old_ranges_;
};

}  // namespace tilewright
