// One walk per data space and pair of keepers. The clock is the odometer of the temporal loops outside the
// child's tile; at each tick every instance of the child looks at its tile, point by point, and what it holds
// changes by the rules of nest/access_counts.h. Nothing here is clever: it is what the closed forms are held
// against, so it shares no code with them.
#include "support/nest/count_walker_testing.h"

#include <algorithm>
#include <map>
#include <set>

namespace tilewright {
namespace {

using Words = std::vector<int64_t>;  // numbers of elements, ascending

struct Loop {
  size_t dimension;
  int64_t factor, step;
  int level;
  bool temporal, along_y;
};

std::vector<Loop> all_loops(const Workload& workload, const Mapping& mapping) {
  std::vector<Loop> loops;
  std::vector<int64_t> covered(workload.dimensions.size(), 1);
  for_each_loop_inside_out(mapping, mapping.level_count(), [&](int level, const auto& loop) {
    int64_t& inner = covered[size_t(loop.dimension)];
    loops.push_back({size_t(loop.dimension), loop.factor, inner, level, is_temporal(loop), is_along_y(loop)});
    inner *= loop.factor;
  });
  std::reverse(loops.begin(), loops.end());
  return loops;
}

// Advances `index` like an odometer, the last loop fastest. Returns the position that went up by one, -1 at
// the end.
int turn(const std::vector<Loop>& loops, std::vector<int64_t>& index) {
  for (size_t i = loops.size(); i-- > 0;) {
    if (++index[i] < loops[i].factor) return int(i);
    index[i] = 0;
  }
  return -1;
}

void add_begins(const std::vector<Loop>& loops, const std::vector<int64_t>& index, Words& begins) {
  for (size_t i = 0; i < loops.size(); ++i) begins[loops[i].dimension] += index[i] * loops[i].step;
}

// Calls body(point) for every point of the iteration space in [begins, ends).
template <typename Body>
void for_each_point(const Words& begins, const Words& ends, Body&& body) {
  for (size_t d = 0; d < begins.size(); ++d) {
    if (begins[d] >= ends[d]) return;
  }
  Words point = begins;
  while (true) {
    body(point);
    size_t d = point.size();
    while (d-- > 0) {
      if (++point[d] < ends[d]) break;
      point[d] = begins[d];
    }
    if (d == size_t(-1)) return;
  }
}

// Numbers the elements of a data space, padding included.
class Elements {
 public:
  Elements(const Workload& workload, const DataSpace& space) : space_(space) {
    for (const Rank& rank : space.ranks) {
      int64_t low = rank.offset, high = rank.offset;
      for (const ProjectionTerm& term : rank.terms) {
        const int64_t end = term.coefficient * (workload.dimensions[size_t(term.dimension)].size - 1);
        low += std::min<int64_t>(end, 0);
        high += std::max<int64_t>(end, 0);
      }
      low_.push_back(low);
      width_.push_back(high - low + 1);
    }
  }

  Words coordinates(const Words& point) const {
    Words at;
    for (const Rank& rank : space_.ranks) {
      int64_t index = rank.offset;
      for (const ProjectionTerm& term : rank.terms) index += term.coefficient * point[size_t(term.dimension)];
      at.push_back(index);
    }
    return at;
  }
  int64_t number(const Words& at) const {
    int64_t n = 0;
    for (size_t r = 0; r < at.size(); ++r) n = n * width_[r] + at[r] - low_[r];
    return n;
  }

  // The elements of the points in [begins, ends); `boxed`: those between them too.
  Words tile(const Words& begins, const Words& ends, bool boxed) const {
    Words words;
    Words first, last;
    for_each_point(begins, ends, [&](const Words& point) {
      const Words at = coordinates(point);
      words.push_back(number(at));
      if (first.empty()) first = last = at;
      for (size_t r = 0; r < at.size(); ++r) {
        first[r] = std::min(first[r], at[r]);
        last[r] = std::max(last[r], at[r]);
      }
    });
    if (boxed && !words.empty()) {
      words.clear();
      for (int64_t& end : last) ++end;
      for_each_point(first, last, [&](const Words& at) { words.push_back(number(at)); });
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
  }

 private:
  const DataSpace& space_;
  Words low_, width_;
};

Words without(const Words& a, const Words& b) {
  Words out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

// Words that move in one step between a parent instance (or a row of its children) and several children.
class Gathering {
 public:
  // `place`: how far the spatial loops of each level move the child's tile.
  void add(int64_t group, const Words& place, const Words& words) {
    if (!words.empty()) moved_[group].push_back({place, words});
  }
  // Each word once per group; `same_tile_only`: only children in the same place that move the same words
  // share.
  int64_t count(bool same_tile_only) const {
    int64_t total = 0;
    for (const auto& entry : moved_) {
      if (same_tile_only) {
        const std::set<std::pair<Words, Words>> different(entry.second.begin(), entry.second.end());
        for (const auto& moved : different) total += int64_t(moved.second.size());
      } else {
        std::set<int64_t> all;
        for (const auto& moved : entry.second) all.insert(moved.second.begin(), moved.second.end());
        total += int64_t(all.size());
      }
    }
    return total;
  }
  void clear() { moved_.clear(); }

 private:
  std::map<int64_t, std::vector<std::pair<Words, Words>>> moved_;
};

class BoundaryWalk {
 public:
  BoundaryWalk(const Workload& workload, const Mapping& mapping, int space, int parent, int child,
               std::span<const CountingNetwork> networks, Accounting accounting)
      : workload_(workload),
        elements_(workload, workload.data_spaces[size_t(space)]),
        timeloop_(accounting == Accounting::kTimeloop),
        arithmetic_(child == mapping.level_count()),
        output_(workload.data_spaces[size_t(space)].is_output),
        full_(workload.dimensions.size(), 1) {
    traffic_.space = space;
    traffic_.parent = parent;
    traffic_.child = child;
    for (int d = 0; d < workload.dimension_count(); ++d) depends_.push_back(workload.depends_on(space, d));
    for (const Loop& loop : all_loops(workload, mapping)) {
      if (loop.level >= child) {
        full_[loop.dimension] *= loop.factor;
      } else if (loop.temporal) {
        if (depends_[loop.dimension] && loop.factor > 1) innermost_mover_ = int(clock_.size());
        clock_.push_back(loop);
      } else {
        spatial_.push_back(loop);
      }
    }
    Words index(spatial_.size(), 0);
    do {
      Instance instance;
      instance.index = index;
      for (size_t i = 0; i < spatial_.size(); ++i) {
        const Loop& loop = spatial_[i];
        const bool outside = loop.level < parent;
        const CountingNetwork& network = networks[size_t(loop.level)];
        const auto tell_apart = [&](bool apart, int64_t& group) {
          if (apart) group = group * loop.factor + index[i];
        };
        tell_apart(outside, instance.parent);
        tell_apart(outside || loop.along_y, instance.row);
        tell_apart(outside || !network.multicast, instance.read_group);
        tell_apart(outside || !network.reduction, instance.update_group);
      }
      for (int level = parent; level < child; ++level) {
        Words begins(full_.size(), 0);
        for (size_t i = 0; i < spatial_.size(); ++i) {
          if (spatial_[i].level == level) begins[spatial_[i].dimension] += index[i] * spatial_[i].step;
        }
        const Words at = elements_.coordinates(begins);
        instance.place.insert(instance.place.end(), at.begin(), at.end());
      }
      instances_.push_back(instance);
    } while (turn(spatial_, index) >= 0);
  }

  SpaceTraffic run() {
    Words time(clock_.size(), 0);
    int advanced = -1;
    do {
      for (Instance& instance : instances_) tick(instance, time, advanced);
      end_step();
      advanced = turn(clock_, time);
    } while (advanced >= 0);
    for (Instance& instance : instances_) move(instance, {}, {}, Words(instance.held));
    end_step();
    finish();
    return traffic_;
  }
  int64_t largest_tile() const { return largest_tile_; }

 private:
  struct Instance {
    Words index;
    // Instances with the same number: children of one parent, of one of its rows, of those that share reads,
    // of those that share updates.
    int64_t parent = 0, row = 0, read_group = 0, update_group = 0;
    Words place;  // coordinates to which the spatial loops of each level below the parent lead
    Words held;
    std::set<int64_t> ever;
  };

  // `advanced`: the outermost loop of the clock that moved since the last tick; -1 at the first.
  void tick(Instance& instance, const Words& time, int advanced) {
    Words begins(full_.size(), 0), ends;
    add_begins(clock_, time, begins);
    add_begins(spatial_, instance.index, begins);
    bool works = true, has_tile = true;
    for (size_t d = 0; d < begins.size(); ++d) {
      ends.push_back(std::min(begins[d] + full_[d], workload_.dimensions[d].size));
      if (begins[d] < ends[d]) continue;
      works = false;
      if (depends_[d]) has_tile = false;
    }
    if (!has_tile) {
      move(instance, {}, {}, Words(instance.held));
      return;
    }
    if (!works) return;
    largest_tile_ = std::max(largest_tile_, int64_t(elements_.tile(begins, ends, timeloop_).size()));
    const Words tile = elements_.tile(begins, ends, timeloop_ && !output_);
    if (arithmetic_) {
      move(instance, {}, tile, tile);
    } else if (!timeloop_ || advanced == innermost_mover_) {
      move(instance, tile, without(tile, instance.held), without(instance.held, tile));
    } else if (advanced < innermost_mover_ || advanced < 0) {
      move(instance, tile, tile, Words(instance.held));
    }
  }

  void move(Instance& instance, const Words& now, const Words& fetched, const Words& drained) {
    traffic_.fills += int64_t(fetched.size());
    traffic_.drains += int64_t(drained.size());
    reads_.add(instance.read_group, instance.place, fetched);
    row_fills_.add(instance.row, instance.place, fetched);
    updates_.add(instance.update_group, instance.place, drained);
    row_drains_.add(instance.row, instance.place, drained);
    instance.ever.insert(fetched.begin(), fetched.end());
    instance.held = now;
  }

  void end_step() {
    traffic_.reads += reads_.count(timeloop_);
    traffic_.updates += updates_.count(timeloop_);
    traffic_.row_fills += row_fills_.count(timeloop_);
    traffic_.row_drains += row_drains_.count(timeloop_);
    for (Gathering* g : {&reads_, &updates_, &row_fills_, &row_drains_}) g->clear();
  }

  // What the first visits leave of the words that moved.
  void finish() {
    if (!output_) {
      traffic_.updates = traffic_.drains = traffic_.row_drains = 0;
      return;
    }
    std::map<int64_t, std::set<int64_t>> by_parent, by_row;
    int64_t children = 0, parents = 0, rows = 0;
    for (const Instance& instance : instances_) {
      children += int64_t(instance.ever.size());
      by_parent[instance.parent].insert(instance.ever.begin(), instance.ever.end());
      by_row[instance.row].insert(instance.ever.begin(), instance.ever.end());
    }
    for (const auto& entry : by_parent) parents += int64_t(entry.second.size());
    for (const auto& entry : by_row) rows += int64_t(entry.second.size());
    traffic_.reads = (arithmetic_ ? traffic_.updates : traffic_.reads) - parents;
    traffic_.fills = arithmetic_ ? 0 : traffic_.fills - children;
    traffic_.row_fills = arithmetic_ ? 0 : traffic_.row_fills - rows;
  }

  const Workload& workload_;
  Elements elements_;
  bool timeloop_, arithmetic_, output_;
  std::vector<bool> depends_;
  Words full_;
  std::vector<Loop> clock_, spatial_;
  int innermost_mover_ = -1;
  std::vector<Instance> instances_;
  Gathering reads_, updates_, row_fills_, row_drains_;
  SpaceTraffic traffic_;
  int64_t largest_tile_ = 0;
};

// What does not depend on a data space: every step of every instance, level by level.
void walk_steps(const Workload& workload, const Mapping& mapping, AccessCounts& counts) {
  std::vector<Loop> clock, spatial;
  for (const Loop& loop : all_loops(workload, mapping)) (loop.temporal ? clock : spatial).push_back(loop);
  std::vector<std::set<Words>> used(size_t(mapping.level_count()) + 1);
  Words time(clock.size(), 0), place(spatial.size(), 0);
  do {
    bool any = false;
    do {
      Words point(workload.dimensions.size(), 0);
      add_begins(clock, time, point);
      add_begins(spatial, place, point);
      bool works = true;
      for (size_t d = 0; d < point.size(); ++d) works = works && point[d] < workload.dimensions[d].size;
      if (!works) continue;
      any = true;
      ++counts.operations;
      for (size_t l = 0; l < used.size(); ++l) {
        Words instance;
        for (size_t i = 0; i < spatial.size(); ++i) {
          if (spatial[i].level < int(l)) instance.push_back(place[i]);
        }
        used[l].insert(instance);
      }
    } while (turn(spatial, place) >= 0);
    counts.steps += any ? 1 : 0;
  } while (turn(clock, time) >= 0);
  for (const auto& instances : used) counts.used_instances.push_back(int64_t(instances.size()));
}

}  // namespace

AccessCounts walk_accesses(const Workload& workload, const Mapping& mapping,
                           std::span<const CountingNetwork> networks, Accounting accounting) {
  TILEWRIGHT_CHECK(int(networks.size()) == mapping.level_count(), "one network per level");
  AccessCounts counts;
  walk_steps(workload, mapping, counts);
  const size_t spaces = workload.data_spaces.size();
  counts.tile_words.assign(size_t(mapping.level_count()) * spaces, 0);
  for (size_t s = 0; s < spaces; ++s) {
    Words begins(workload.dimensions.size(), 0), ends;
    for (const Dimension& dimension : workload.dimensions) ends.push_back(dimension.size);
    const bool boxed = accounting == Accounting::kTimeloop;
    counts.tile_words[s] =
        int64_t(Elements(workload, workload.data_spaces[s]).tile(begins, ends, boxed).size());
    int parent = 0;
    for (int child = 1; child <= mapping.level_count(); ++child) {
      const bool arithmetic = child == mapping.level_count();
      if (!arithmetic && !mapping.levels[size_t(child)].keeps_space(int(s))) continue;
      BoundaryWalk walk(workload, mapping, int(s), parent, child, networks, accounting);
      counts.traffic.push_back(walk.run());
      if (!arithmetic) counts.tile_words[size_t(child) * spaces + s] = walk.largest_tile();
      parent = child;
    }
  }
  return counts;
}

}  // namespace tilewright
