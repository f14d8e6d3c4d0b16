// Counting, satisfiability, and minimal contradictions by deletion (first whole rules, then nodes, so that
// few are named, then single rules), in halves that shrink as questions fail (after Junker's QuickXplain,
// AAAI 2004).
#include "tilewright/cgra/exact/impossible.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tilewright/base/integer_math.h"
#include "tilewright/cgra/exact/placement_sat.h"

namespace tilewright::cgra {
namespace {

// Nodes of `units` (each one taking `size` of a tile's `capacity`) that fit on tiles: augmenting paths.
class TileFlow {
 public:
  TileFlow(const PlacementModel& model, const std::vector<std::vector<uint8_t>>& allowed, int capacity)
      : model_(model), allowed_(allowed), on_(model.tiles), capacity_(capacity) {}
  bool place(int unit) {
    model_.check();
    seen_.assign(on_.size(), 0);
    return augment(unit);
  }

 private:
  bool augment(int unit) {
    for (size_t tile = 0; tile < on_.size(); ++tile) {
      if (!allowed_[unit][tile] || seen_[tile]) continue;
      seen_[tile] = 1;
      if (int(on_[tile].size()) < capacity_) {
        on_[tile].push_back(unit);
        return true;
      }
      for (int& other : on_[tile]) {
        if (!augment(other)) continue;
        other = unit;
        return true;
      }
    }
    return false;
  }
  const PlacementModel& model_;
  const std::vector<std::vector<uint8_t>>& allowed_;
  std::vector<std::vector<int>> on_;
  std::vector<uint8_t> seen_;
  int capacity_;
};

std::vector<int> unit_sizes(const SortedConstraints& sorted, const std::vector<uint8_t>& counts) {
  std::vector<int> sizes(sorted.units.size(), 0);
  for (size_t node = 0; node < counts.size(); ++node) sizes[sorted.unit[node]] += counts[node];
  return sizes;
}

// Bin packing: for every threshold, units above capacity - threshold have a tile each to themselves, units of
// more than half a tile one each, and those from the threshold on share the rest (Martello and Toth 1990).
bool units_overflow(const std::vector<int>& sizes, int tiles, int capacity) {
  for (int threshold = 0; 2 * threshold <= capacity; ++threshold) {
    int64_t alone = 0, large = 0, large_size = 0, small_size = 0;
    for (const int size : sizes) {
      if (size > capacity - threshold) {
        ++alone;
      } else if (2 * size > capacity) {
        ++large;
        large_size += size;
      } else if (size >= threshold) {
        small_size += size;
      }
    }
    const int64_t left = small_size - (large * capacity - large_size);
    if (alone + large + (left > 0 ? ceil_div(left, capacity) : 0) > tiles) return true;
  }
  return false;
}

bool tiles_overflow(const PlacementModel& model, const SortedConstraints& sorted,
                    const std::vector<int>& sizes, int capacity) {
  if (units_overflow(sizes, model.tiles, capacity)) return true;
  TileFlow flow(model, sorted.allowed, capacity);
  for (size_t unit = 0; unit < sizes.size(); ++unit) {
    const std::vector<uint8_t>& allowed = sorted.allowed[unit];
    if (std::find(allowed.begin(), allowed.end(), 1) == allowed.end()) return true;
    for (int size = sizes[unit]; size > 0; --size) {
      if (!flow.place(int(unit))) return true;
    }
  }
  return false;
}

PlacementConstraints with_list(const PlacementConstraints& constraints, std::vector<Requirement> list) {
  PlacementConstraints made = constraints;
  made.list = std::move(list);
  return made;
}

// Asks whether parts of a problem are impossible, within a limit over all questions.
class Questions {
 public:
  Questions(const PlacementConstraints& constraints, const SatLimits& limits)
      : constraints_(constraints), limits_(limits) {}
  bool over() const { return limits_.deadline && limits_.deadline->over(); }
  // False also where there is no answer in time.
  bool impossible(std::vector<Requirement> list) const {
    bool answer = false;
    const auto ask = [&] { answer = refuted(with_list(constraints_, std::move(list))); };
    return limits_.deadline ? finishes(*limits_.deadline, ask) && answer : (ask(), answer);
  }

 private:
  bool refuted(const PlacementConstraints& part) const {
    const SortedConstraints sorted = sort_constraints(part);
    if (counted_out(part, sorted)) return true;
    // Operations with slots and allowed tiles only: the flow that was just counted is a mapping.
    const bool counted = std::all_of(part.list.begin(), part.list.end(), [](const Requirement& one) {
      return one.rule == Rule::kSlot || one.rule == Rule::kMemoryTile ||
             (one.rule == Rule::kFixed && one.tile >= 0);
    });
    return !counted && find_any_mapping(part, limits_).exists == Satisfiable::kNo;
  }

  const PlacementConstraints& constraints_;
  SatLimits limits_;
};

// Removes from `parts` (kept in order) all that is not needed for `holds`, as long as there is time to ask.
template <typename Part>
std::vector<Part> minimal(const Questions& questions, std::vector<Part> parts,
                          const std::function<bool(const std::vector<Part>&)>& holds) {
  for (size_t chunk = std::max<size_t>(parts.size() / 2, 1);; chunk = std::max<size_t>(chunk / 2, 1)) {
    for (size_t begin = 0; begin < parts.size();) {
      if (questions.over()) return parts;
      std::vector<Part> fewer(parts.begin(), parts.begin() + long(begin));
      fewer.insert(fewer.end(), parts.begin() + long(std::min(begin + chunk, parts.size())), parts.end());
      if (holds(fewer)) {
        parts = std::move(fewer);
      } else {
        begin += chunk;
      }
    }
    if (chunk == 1) return parts;
  }
}

std::string tell(const Requirement& one, const std::vector<std::string>& names) {
  switch (one.rule) {
    case Rule::kTiming:
      return one.edge.distance == 0 ? fmt::format("'{}' feeds '{}'", names[one.first], names[one.second])
                                    : fmt::format("'{}' feeds '{}' {} later", names[one.first],
                                                  names[one.second], one.edge.distance);
    case Rule::kVariable:
      return fmt::format("'{}' and '{}' share a variable: one tile", names[one.first], names[one.second]);
    case Rule::kStarters:
      return fmt::format("'{}' and '{}' are starters: different tiles", names[one.first], names[one.second]);
    case Rule::kSiblings:
      return fmt::format("'{}' and '{}' consume the same value: different tiles", names[one.first],
                         names[one.second]);
    case Rule::kFixed:
      return one.tile >= 0 ? fmt::format("'{}' is fixed to tile {}", names[one.first], one.tile)
                           : fmt::format("'{}' is fixed to clock {}", names[one.first], one.time);
    case Rule::kMemoryTile:
      return fmt::format("'{}' loads or stores: column 0", names[one.first]);
    default:
      return {};
  }
}

Conflict conflict_of(const PlacementConstraints& constraints, const std::vector<Requirement>& list,
                     const std::vector<std::string>& names) {
  std::set<int> nodes, occupying;
  std::set<Rule> rules;
  std::vector<std::string> reasons;
  for (const Requirement& one : list) {
    rules.insert(one.rule);
    for (const int node : {one.first, one.second}) {
      if (node >= 0) nodes.insert(node);
    }
    if (one.rule == Rule::kSlot) occupying.insert(one.first);
    const std::string reason = tell(one, names);
    if (!reason.empty()) reasons.push_back(reason);
  }
  const PlacementModel& model = constraints.model;
  if (!occupying.empty()) {
    reasons.push_back(fmt::format("{} operations need a slot each; {} tiles have {} each", occupying.size(),
                                  model.tiles, model.ii));
  }
  if (rules.count(Rule::kInstructions) != 0)
    reasons.push_back(fmt::format("a tile holds {} instructions", constraints.instructions));
  if (rules.count(Rule::kTileMemory) != 0)
    reasons.push_back(fmt::format("a tile's memories hold {} entries", constraints.tile_memory));
  constexpr size_t kMostTold = 40;
  if (reasons.size() > kMostTold) {
    reasons.back() = fmt::format("and {} more", reasons.size() - kMostTold + 1);
    std::swap(reasons[kMostTold - 1], reasons.back());
    reasons.resize(kMostTold);
  }
  return {{nodes.begin(), nodes.end()},
          {rules.begin(), rules.end()},
          fmt::format("{}", fmt::join(reasons, "; "))};
}

}  // namespace

bool counted_out(const PlacementConstraints& constraints, const SortedConstraints& sorted) {
  for (size_t unit = 0; unit < sorted.units.size(); ++unit) {
    const std::vector<int>& apart = sorted.apart_of[unit];
    if (std::binary_search(apart.begin(), apart.end(), int(unit))) return true;
  }
  const PlacementModel& model = constraints.model;
  if (tiles_overflow(model, sorted, unit_sizes(sorted, sorted.occupies), model.ii) ||
      tiles_overflow(model, sorted, unit_sizes(sorted, sorted.counted), constraints.instructions))
    return true;
  for (const std::vector<int>& clique : sorted.cliques) {
    TileFlow matching(model, sorted.allowed, 1);
    for (const int unit : clique) {
      if (!matching.place(unit)) return true;
    }
  }
  return !TimeBounds(constraints, sorted).any_length();
}

AnyMapping find_any_mapping(const PlacementConstraints& constraints, const SatLimits& limits) {
  const SortedConstraints sorted = sort_constraints(constraints);
  if (counted_out(constraints, sorted)) return {Satisfiable::kNo, {}};
  const TimeWindows windows = *TimeBounds(constraints, sorted).any_length();
  const PlacementFormula formula(constraints, sorted, windows,
                                 {.break_symmetry = false, .deadline = limits.deadline});
  SatSolver solver;
  solver.add(formula.cnf(), formula.cnf().deadline());
  const Satisfiable answer = solver.solve({}, limits);
  if (answer != Satisfiable::kYes) return {answer, {}};
  std::vector<int> tiles, slots;
  for (const Place& place : formula.places(solver)) {
    tiles.push_back(place.tile);
    slots.push_back(place.time % constraints.model.ii);
  }
  const auto times = earliest_times(constraints, sorted, tiles, slots);
  TILEWRIGHT_CHECK(times.has_value(), "slots of a solution admit times");
  GraphMapping mapping{constraints.model.ii, {}, {}};
  for (size_t node = 0; node < tiles.size(); ++node) mapping.places.push_back({tiles[node], (*times)[node]});
  return {Satisfiable::kYes, std::move(mapping)};
}

Conflict explain_impossible(const PlacementConstraints& constraints, const std::vector<std::string>& names,
                            const SatLimits& limits) {
  const Questions questions(constraints, limits);
  // Tried without these rules first: what is left is explained by the plainest rules, and quicker.
  std::vector<Rule> rules{Rule::kTiming,     Rule::kSiblings,     Rule::kStarters,
                          Rule::kTileMemory, Rule::kInstructions, Rule::kVariable,
                          Rule::kFixed,      Rule::kMemoryTile,   Rule::kSlot};
  std::vector<int> nodes;
  for (int node = 0; node < constraints.model.nodes; ++node) nodes.push_back(node);
  const auto part = [&](const std::vector<Rule>& kept_rules, const std::vector<int>& kept_nodes) {
    std::vector<Requirement> list;
    const auto has = [&](int node) {
      return node < 0 || std::binary_search(kept_nodes.begin(), kept_nodes.end(), node);
    };
    for (const Requirement& one : constraints.list) {
      const bool rule = std::find(kept_rules.begin(), kept_rules.end(), one.rule) != kept_rules.end();
      if (rule && has(one.first) && has(one.second)) list.push_back(one);
    }
    return list;
  };
  for (size_t i = 0; i < rules.size();) {
    std::vector<Rule> fewer = rules;
    fewer.erase(fewer.begin() + long(i));
    if (questions.impossible(part(fewer, nodes))) {
      rules = std::move(fewer);
    } else {
      ++i;
    }
  }
  nodes = minimal<int>(questions, std::move(nodes),
                       [&](const std::vector<int>& kept) { return questions.impossible(part(rules, kept)); });
  const auto holds = [&](const std::vector<Requirement>& list) { return questions.impossible(list); };
  return conflict_of(constraints, minimal<Requirement>(questions, part(rules, nodes), holds), names);
}

}  // namespace tilewright::cgra
