// Elements of a rank are values of an affine form, so the tile of an instance is a sum of progressions. Where
// the tiles before and after are single progressions of the same step and no instance is cut off, what moves
// is the same run of elements for every instance, and the union over the instances is a count of distinct
// sums (nest/footprint.h). Otherwise the elements are listed as intervals in the residue classes of one
// coefficient: the longest axis is never enumerated.
#include "tilewright/nest/reuse.h"

#include <algorithm>
#include <array>
#include <set>

#include "tilewright/base/integer_math.h"
#include "tilewright/nest/footprint.h"

namespace tilewright {
namespace {

int64_t magnitude(int64_t a) { return a < 0 ? -a : a; }

int64_t reach_of(std::span<const Stride> loops) {
  int64_t reach = 0;
  for (const Stride& loop : loops) reach += (loop.count - 1) * loop.step;
  return reach;
}

bool advance_index(std::span<const Stride* const> loops, std::span<int64_t> index) {
  for (size_t i = loops.size(); i-- > 0;) {
    if (++index[i] < loops[i]->count) return true;
    index[i] = 0;
  }
  return false;
}

}  // namespace

std::vector<NestLoop> nest_loops(const Workload& workload, const Mapping& mapping) {
  std::vector<NestLoop> loops;
  std::vector<int64_t> covered(workload.dimensions.size(), 1);
  for_each_loop_inside_out(mapping, mapping.level_count(), [&](int level, const auto& loop) {
    if (loop.factor == 1) return;
    int64_t& inner = covered[size_t(loop.dimension)];
    loops.push_back({loop.dimension, loop.factor, inner, level, is_temporal(loop), is_along_y(loop)});
    if (__builtin_mul_overflow(inner, loop.factor, &inner)) {
      throw Error(ErrorKind::kInvalidInput, "the loops of a dimension multiply to more than 2^63");
    }
  });
  std::reverse(loops.begin(), loops.end());
  return loops;
}

void positions_by_room(int64_t size, std::span<const Stride> loops, int64_t reach, std::vector<Room>& out) {
  int64_t reach_inside = reach + reach_of(loops);
  std::vector<Room> next;
  out.assign(1, {std::min(size, reach_inside), 1});
  for (const Stride& loop : loops) {
    reach_inside -= (loop.count - 1) * loop.step;
    next.clear();
    for (const Room& at : out) {
      int64_t full = 0;
      if (at.room >= reach_inside) full = std::min(loop.count, (at.room - reach_inside) / loop.step + 1);
      if (full > 0) next.push_back({reach_inside, at.count * full});
      for (int64_t k = full; k < loop.count && k * loop.step < at.room; ++k) {
        next.push_back({at.room - k * loop.step, at.count});
      }
    }
    std::sort(next.begin(), next.end(), [](const Room& a, const Room& b) { return a.room > b.room; });
    out.clear();
    for (const Room& room : next) {
      if (!out.empty() && out.back().room == room.room) {
        out.back().count += room.count;
      } else {
        out.push_back(room);
      }
    }
  }
}

// The tile without the instances' offsets, as one progression; false if it is none.
bool RankCounter::as_run(std::span<const RankAxis> axes, bool old, bool boxed, Run& run) {
  run = {0, 1, 1};
  std::array<Stride, 8> parts;
  size_t used = 0;
  for (const RankAxis& axis : axes) {
    const int64_t begin = old ? axis.old_offset : axis.new_offset;
    const int64_t extent = std::min(axis.tile, axis.room - begin);
    if (extent <= 0) {
      run = {0, 1, 0};
      return true;
    }
    run.first += axis.coefficient * (axis.coefficient < 0 ? begin + extent - 1 : begin);
    if (extent == 1) continue;
    if (used == parts.size()) return false;
    size_t at = used++;
    for (; at > 0 && parts[at - 1].step > magnitude(axis.coefficient); --at) parts[at] = parts[at - 1];
    parts[at] = {magnitude(axis.coefficient), extent};
  }
  if (boxed) {
    for (size_t i = 0; i < used; ++i) run.count += parts[i].step * (parts[i].count - 1);
    return true;
  }
  for (size_t i = 0; i < used; ++i) {
    if (i == 0) run.step = parts[0].step;
    if (parts[i].step % run.step != 0 || parts[i].step / run.step > run.count) return false;
    run.count += (parts[i].count - 1) * (parts[i].step / run.step);
  }
  return true;
}

// Distinct values of the instances' offsets plus step * [0, count).
int64_t RankCounter::spread(std::span<const RankAxis> axes, int64_t step, int64_t count) {
  if (count == 0) return 0;
  scratch_rank_.terms.clear();
  scratch_extents_.clear();
  const auto add = [&](int64_t coefficient, int64_t extent) {
    if (extent == 1) return;
    scratch_rank_.terms.push_back({int(scratch_extents_.size()), coefficient});
    scratch_extents_.push_back(extent);
  };
  add(step, count);
  for (const RankAxis& axis : axes) {
    for (const Stride& loop : axis.instances) add(magnitude(axis.coefficient) * loop.step, loop.count);
  }
  return scratch_extents_.empty() ? 1 : rank_footprint(scratch_rank_, scratch_extents_);
}

// Instances that no loop tells apart hold the same tile; loops of different levels are told apart by
// themselves.
int64_t RankCounter::different_tiles(std::span<const RankAxis> axes) {
  list_levels(axes);
  int64_t tiles = 1;
  for (const int level : levels_) {
    scratch_rank_.terms.clear();
    scratch_extents_.clear();
    for (const RankAxis& axis : axes) {
      for (const Stride& loop : axis.instances) {
        if (loop.level != level) continue;
        scratch_rank_.terms.push_back(
            {int(scratch_extents_.size()), magnitude(axis.coefficient) * loop.step});
        scratch_extents_.push_back(loop.count);
      }
    }
    tiles *= rank_footprint(scratch_rank_, scratch_extents_);
  }
  return tiles;
}

void RankCounter::list_levels(std::span<const RankAxis> axes) {
  levels_.clear();
  for (const RankAxis& axis : axes) {
    for (const Stride& loop : axis.instances) {
      if (std::find(levels_.begin(), levels_.end(), loop.level) == levels_.end())
        levels_.push_back(loop.level);
    }
  }
}

bool RankCounter::short_cut(std::span<const RankAxis> axes, RankRules rules, RankMoves& moves) {
  bool several = false;
  for (const RankAxis& axis : axes) {
    if (reach_of(axis.instances) == 0) continue;
    several = true;
    const int64_t reach = std::max(axis.old_offset, axis.new_offset) + reach_of(axis.instances) + axis.tile;
    if (axis.room < reach) return false;
  }
  Run now, before;
  if (!as_run(axes, false, rules.boxed, now) || !as_run(axes, true, rules.boxed, before)) return false;
  if (now.count > 1 && before.count > 1 && now.step != before.step) return false;
  const int64_t step = now.count > 1 ? now.step : before.count > 1 ? before.step : 1;
  const int64_t shift = before.first - now.first;
  int64_t low = 0, high = 0;  // what stays, by its position in `now`
  if (shift % step == 0) {
    low = std::max<int64_t>(0, shift / step);
    high = std::min(now.count, shift / step + before.count);
  }
  const int64_t kept = std::max<int64_t>(0, high - low);
  if (several && kept > 0) {
    const int64_t old_low = low - shift / step, old_high = high - shift / step;
    const bool new_split = low > 0 && high<now.count, old_split = old_low> 0 && old_high < before.count;
    if (new_split || old_split) return false;
  }
  if (rules.same_tile_only) {
    const int64_t tiles = different_tiles(axes);
    moves = {tiles * now.count, tiles * (now.count - kept), tiles * before.count,
             tiles * (before.count - kept)};
  } else {
    moves = {spread(axes, step, now.count), spread(axes, step, now.count - kept),
             spread(axes, step, before.count), spread(axes, step, before.count - kept)};
  }
  return true;
}

// One axis whose instances hold ranges that do not overlap: every instance counts for itself.
bool RankCounter::count_apart(std::span<const RankAxis> axes, RankMoves& moves) {
  if (axes.size() != 1) return false;
  const RankAxis& axis = axes[0];
  int64_t reach = axis.tile;
  for (size_t i = axis.instances.size(); i-- > 0;) {
    if (axis.instances[i].step < reach) return false;
    reach += (axis.instances[i].count - 1) * axis.instances[i].step;
  }
  moves = {0, 0, 0, 0};
  index_.assign(axis.instances.size(), 0);
  bool more = true;
  while (more) {
    int64_t now = axis.new_offset, before = axis.old_offset;
    for (size_t i = 0; i < index_.size(); ++i) {
      now += index_[i] * axis.instances[i].step;
      before += index_[i] * axis.instances[i].step;
    }
    const int64_t now_end = std::min(now + axis.tile, axis.room);
    const int64_t before_end = std::min(before + axis.tile, axis.room);
    const int64_t held = std::max<int64_t>(0, now_end - now), was = std::max<int64_t>(0, before_end - before);
    const int64_t kept = std::max<int64_t>(0, std::min(now_end, before_end) - std::max(now, before));
    moves.new_all += held;
    moves.new_part += held - kept;
    moves.old_all += was;
    moves.old_part += was - kept;
    more = false;
    for (size_t i = index_.size(); i-- > 0 && !more;) {
      more = ++index_[i] < axis.instances[i].count;
      if (!more) index_[i] = 0;
    }
  }
  return true;
}

RankMoves RankCounter::moves(std::span<const RankAxis> axes, RankRules rules) {
  RankMoves moves;
  if (short_cut(axes, rules, moves)) return moves;
  if (!rules.boxed && !rules.same_tile_only && count_apart(axes, moves)) return moves;
  return listed_moves(axes, rules);
}

void RankCounter::list_values(std::span<const RankAxis> axes, size_t main, std::span<const Range> ranges,
                              std::vector<Piece>& out) {
  for (const Range& range : ranges) {
    if (range.begin >= range.end) return;
  }
  const int64_t sign = axes[main].coefficient < 0 ? -1 : 1, modulus = magnitude(axes[main].coefficient);
  point_.clear();
  for (const Range& range : ranges) point_.push_back(range.begin);
  while (true) {
    int64_t value = 0;
    for (size_t a = 0; a < axes.size(); ++a) {
      if (a != main) value += sign * axes[a].coefficient * point_[a];
    }
    const int64_t quotient = floor_div(value, modulus);
    out.push_back({value - quotient * modulus, ranges[main].begin + quotient, ranges[main].end + quotient});
    size_t a = axes.size();
    while (a-- > 0) {
      if (a == main) continue;
      if (++point_[a] < ranges[a].end) break;
      point_[a] = ranges[a].begin;
    }
    if (a == size_t(-1)) return;
  }
}

void RankCounter::normalize(std::vector<Piece>& pieces) {
  std::sort(pieces.begin(), pieces.end());
  size_t used = 0;
  for (const Piece& piece : pieces) {
    if (used > 0 && pieces[used - 1].residue == piece.residue && piece.begin <= pieces[used - 1].end) {
      pieces[used - 1].end = std::max(pieces[used - 1].end, piece.end);
    } else {
      pieces[used++] = piece;
    }
  }
  pieces.resize(used);
}

int64_t RankCounter::size(const std::vector<Piece>& pieces) {
  int64_t total = 0;
  for (const Piece& piece : pieces) total += piece.end - piece.begin;
  return total;
}

// Appends from \ what; both normalised.
void RankCounter::subtract(const std::vector<Piece>& from, const std::vector<Piece>& what,
                           std::vector<Piece>& out) {
  size_t at = 0;
  for (const Piece& piece : from) {
    int64_t begin = piece.begin;
    while (at < what.size() && (what[at].residue < piece.residue ||
                                (what[at].residue == piece.residue && what[at].end <= begin))) {
      ++at;
    }
    for (size_t i = at; i < what.size() && what[i].residue == piece.residue && what[i].begin < piece.end;
         ++i) {
      if (begin < what[i].begin) out.push_back({piece.residue, begin, what[i].begin});
      begin = std::max(begin, what[i].end);
    }
    if (begin < piece.end) out.push_back({piece.residue, begin, piece.end});
  }
}

void RankCounter::list_box(std::span<const RankAxis> axes, std::span<const Range> ranges,
                           std::vector<Piece>& out) {
  Piece box{0, 0, 1};
  for (size_t a = 0; a < axes.size(); ++a) {
    if (ranges[a].begin >= ranges[a].end) return;
    const int64_t c = axes[a].coefficient, first = c * ranges[a].begin, last = c * (ranges[a].end - 1);
    box.begin += std::min(first, last);
    box.end += std::max(first, last);
  }
  out.push_back(box);
}

RankMoves RankCounter::listed_moves(std::span<const RankAxis> axes, RankRules rules) {
  if (axes.empty()) return {};
  size_t main = 0;
  std::vector<const Stride*> loops;
  std::vector<size_t> loop_axes;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].tile > axes[main].tile) main = a;
    for (const Stride& loop : axes[a].instances) {
      loops.push_back(&loop);
      loop_axes.push_back(a);
    }
  }
  index_.assign(loops.size(), 0);
  // New elements, those that came, old elements, those that went: the union, or the different ones.
  std::array<std::vector<Piece>, 4> all;
  std::array<std::set<std::pair<std::vector<int64_t>, std::vector<Piece>>>, 4> different;
  std::array<std::vector<Piece>, 4> one;
  list_levels(axes);
  std::vector<int64_t> moved_by(levels_.size());  // how far the loops of each level move the tile
  do {
    std::fill(moved_by.begin(), moved_by.end(), 0);
    for (size_t i = 0; i < loops.size(); ++i) {
      const auto level = std::find(levels_.begin(), levels_.end(), loops[i]->level) - levels_.begin();
      moved_by[size_t(level)] += axes[loop_axes[i]].coefficient * index_[i] * loops[i]->step;
    }
    new_ranges_.clear();
    old_ranges_.clear();
    for (size_t a = 0; a < axes.size(); ++a) {
      int64_t offset = 0;
      for (size_t i = 0; i < loops.size(); ++i) offset += loop_axes[i] == a ? index_[i] * loops[i]->step : 0;
      const int64_t now = offset + axes[a].new_offset, before = offset + axes[a].old_offset;
      new_ranges_.push_back({now, std::min(now + axes[a].tile, axes[a].room)});
      old_ranges_.push_back({before, std::min(before + axes[a].tile, axes[a].room)});
    }
    for (std::vector<Piece>& pieces : one) pieces.clear();
    if (rules.boxed) {
      list_box(axes, new_ranges_, one[0]);
      list_box(axes, old_ranges_, one[2]);
    } else {
      list_values(axes, main, new_ranges_, one[0]);
      list_values(axes, main, old_ranges_, one[2]);
      normalize(one[0]);
      normalize(one[2]);
    }
    subtract(one[0], one[2], one[1]);
    subtract(one[2], one[0], one[3]);
    for (size_t i = 0; i < 4; ++i) {
      if (rules.same_tile_only) {
        different[i].insert({moved_by, one[i]});
      } else {
        all[i].insert(all[i].end(), one[i].begin(), one[i].end());
      }
    }
  } while (advance_index(loops, index_));
  std::array<int64_t, 4> sums{};
  for (size_t i = 0; i < 4; ++i) {
    for (const auto& entry : different[i]) sums[i] += size(entry.second);
    normalize(all[i]);
    sums[i] += size(all[i]);
  }
  return {sums[0], sums[1], sums[2], sums[3]};
}

}  // namespace tilewright
