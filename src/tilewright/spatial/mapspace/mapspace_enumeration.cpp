// Counting and listing a mapspace. Counting needs no listing: factorisations of different dimensions are
// independent but for the number of temporal loops that each level gets, so a table over those numbers is
// multiplied up dimension by dimension.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "tilewright/nest/footprint.h"
#include "tilewright/spatial/cost/cost.h"
#include "tilewright/spatial/mapspace/mapspace.h"
#include "tilewright/spatial/mapspace/mapspace_choices.h"

namespace tilewright {
namespace {

// Factorisations of one dimension from the innermost slot up to here: what they cover, whether the x slot of
// the level took a factor (one axis only), and the set of levels (bits) at which they have a temporal loop.
struct Factorised {
  int64_t cover;
  bool along_x;
  uint32_t levels;
  double count;
};

using StateKey = std::tuple<int64_t, bool, uint32_t>;  // of states that are counted together

struct StateHash {
  size_t operator()(const StateKey& key) const {
    const auto [cover, along_x, levels] = key;
    const uint64_t mixed = (uint64_t(cover) * 2 + along_x) * 0x9e3779b97f4a7c15u + levels;
    return size_t((mixed ^ mixed >> 31) * 0xbf58476d1ce4e5b9u >> 13);
  }
};

// Adds up the counts of equal states, in their order; then sorts what is left by its keys. Few of many are:
// sorting all would take most of the time.
template <typename Key>
void merge(std::vector<Factorised>& states, Key key) {
  std::unordered_map<StateKey, size_t, StateHash> places;
  size_t used = 0;
  for (const Factorised& state : states) {
    const auto [place, is_new] = places.try_emplace(key(state), used);
    if (is_new) {
      states[used++] = state;
    } else {
      states[place->second].count += state.count;
    }
  }
  states.resize(used);
  std::sort(states.begin(), states.end(),
            [&](const Factorised& a, const Factorised& b) { return key(a) < key(b); });
}

// Complete factorisations of one dimension by their levels.
std::vector<Factorised> patterns(const MapspaceChoices& choices, int d) {
  std::vector<Factorised> front{{1, false, 0, 1.0}}, next;
  for (int slot = 0; slot < choices.slots(); ++slot) {
    const int level = choices.level_of(slot);
    const SlotKind kind = choices.kind_of(slot);
    const bool one_axis = choices.constraints(level).one_axis_per_dimension;
    next.clear();
    for (const Factorised& state : front) {
      for (const int64_t factor : choices.factors(slot, d, state.cover)) {
        if (kind == SlotKind::kY && state.along_x && factor > 1) continue;
        Factorised& more = next.emplace_back(state);
        more.cover *= factor;
        if (kind == SlotKind::kX) more.along_x = one_axis && factor > 1;
        if (kind != SlotKind::kTemporal) continue;
        more.along_x = false;
        if (factor > 1) more.levels |= 1u << level;
      }
    }
    merge(next, [](const Factorised& f) { return StateKey(f.cover, f.along_x, f.levels); });
    std::swap(front, next);
  }
  merge(front, [](const Factorised& f) { return StateKey(0, false, f.levels); });
  return front;
}

class Lister {
 public:
  Lister(const Mapspace& mapspace, Accounting accounting, const std::function<void(const Mapping&)>& body)
      : mapspace_(mapspace),
        choices_(mapspace),
        words_(workload_in_words(mapspace.workload, mapspace.hardware)),
        hierarchy_(array_hierarchy(mapspace.hardware, mapspace.workload, accounting)),
        body_(body) {
    flat_.factors.assign(size_t(choices_.slots() * choices_.dimensions()), 1);
    flat_.keeps.resize(size_t(choices_.levels()));
    flat_.orders.resize(size_t(choices_.levels()));
  }

  void run() { list_factors(0, std::vector<int64_t>(size_t(choices_.dimensions()), 1)); }

 private:
  // `at` counts slots and dimensions.
  void list_factors(int at, const std::vector<int64_t>& covered) {
    const int dimensions = choices_.dimensions();
    if (at == choices_.slots() * dimensions) {
      list_keeps(0);
      return;
    }
    const int slot = at / dimensions, d = at % dimensions;
    const int level = choices_.level_of(slot);
    const SlotKind kind = choices_.kind_of(slot);
    int64_t available = kUnlimited;
    if (kind != SlotKind::kTemporal) {
      const ArrayLevel& machine = mapspace_.hardware.levels[size_t(level)];
      available = kind == SlotKind::kX ? machine.fanout_x : machine.fanout_y;
      for (int e = 0; e < d; ++e) available /= flat_.factors[size_t(slot * dimensions + e)];
    }
    std::vector<int64_t> next = covered;
    for (const int64_t factor : choices_.factors(slot, d, covered[size_t(d)])) {
      if (available != kUnlimited && factor > available) break;
      if (kind == SlotKind::kY && factor > 1 && choices_.constraints(level).one_axis_per_dimension &&
          flat_.factors[size_t((slot - 1) * dimensions + d)] > 1) {
        break;
      }
      flat_.factors[size_t(at)] = factor;
      next[size_t(d)] = covered[size_t(d)] * factor;
      list_factors(at + 1, next);
    }
    flat_.factors[size_t(at)] = 1;
  }

  void list_keeps(int level) {
    if (level == choices_.levels()) {
      list_orders(0);
      return;
    }
    for (const uint32_t kept : choices_.keeps(level)) {
      flat_.keeps[size_t(level)] = kept;
      list_keeps(level + 1);
    }
  }

  void list_orders(int level) {
    if (level == choices_.levels()) {
      const Mapping mapping = choices_.build(flat_);
      if (is_valid(words_, hierarchy_, mapping)) body_(mapping);
      return;
    }
    std::vector<int> loops;
    const int slot = choices_.slot_of(level, SlotKind::kTemporal);
    for (int d = 0; d < choices_.dimensions(); ++d) {
      if (flat_.factors[size_t(slot * choices_.dimensions() + d)] > 1) loops.push_back(d);
    }
    loops = choices_.constrained_order(level, loops);
    const std::vector<int>& innermost = choices_.constraints(level).innermost;
    const auto bound = std::find_if(loops.begin(), loops.end(), [&](int d) {
      return std::find(innermost.begin(), innermost.end(), d) != innermost.end();
    });
    do {
      flat_.orders[size_t(level)] = loops;
      list_orders(level + 1);
    } while (std::next_permutation(loops.begin(), bound));
  }

  const Mapspace& mapspace_;
  MapspaceChoices choices_;
  Workload words_;
  Hierarchy hierarchy_;
  const std::function<void(const Mapping&)>& body_;
  SlotMapping flat_;
};

}  // namespace

double Mapspace::size() const {
  const MapspaceChoices choices(*this);
  // By the number of temporal loops of each level that may stand in any order.
  std::map<std::vector<int>, double> table{{std::vector<int>(hardware.levels.size(), 0), 1.0}};
  for (int d = 0; d < choices.dimensions(); ++d) {
    std::map<std::vector<int>, double> next;
    const std::vector<Factorised> of_dimension = patterns(choices, d);
    for (const auto& [loops, count] : table) {
      for (const Factorised& ways : of_dimension) {
        std::vector<int> more = loops;
        for (int l = 0; l < choices.levels(); ++l) {
          const std::vector<int>& innermost = choices.constraints(l).innermost;
          const bool placed = std::find(innermost.begin(), innermost.end(), d) != innermost.end();
          if ((ways.levels >> l & 1u) != 0 && !placed) ++more[size_t(l)];
        }
        next[more] += count * ways.count;
      }
    }
    table = std::move(next);
  }
  double total = 0;
  for (const auto& [loops, count] : table) {
    double orders = 1;
    for (const int k : loops) {
      for (int i = 2; i <= k; ++i) orders *= i;
    }
    total += count * orders;
  }
  for (int l = 0; l < choices.levels(); ++l) total *= double(choices.keeps(l).size());
  return total;
}

void for_each_mapping(const Mapspace& mapspace, const std::function<void(const Mapping&)>& body,
                      Accounting accounting) {
  Lister(mapspace, accounting, body).run();
}

}  // namespace tilewright
