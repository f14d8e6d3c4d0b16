// Encoding. Starts and, on lines, positions are order-encoded (Crawford, Baker, AAAI 1994): chained literals
// "from this value on", so a gap between two nodes is one clause of three literals per value. A literal per
// edge and transfer time ("takes at least k clocks") joins tiles with starts. A literal per node, tile and
// slot only where two operations could meet.
#include "tilewright/cgra/exact/placement_sat.h"

#include <algorithm>
#include <map>
#include <set>

#include "tilewright/cgra/exact/symmetry.h"

namespace tilewright::cgra {
namespace {

// Whether transfer times depend on the distance of tile numbers alone and never fall with it.
bool is_line(const PlacementModel& model, int columns) {
  if (columns != model.tiles) return false;
  for (int a = 0; a < model.tiles; ++a) {
    for (int b = 0; b < model.tiles; ++b) {
      const int distance = std::abs(a - b);
      if (model.transfer[a][b] != model.transfer[0][distance]) return false;
      if (distance > 0 && model.transfer[0][distance] < model.transfer[0][distance - 1]) return false;
    }
  }
  return true;
}

// At most `room` in all of the weights whose literals hold: a decision diagram over (item, room left).
class WeightLimit {
 public:
  WeightLimit(Cnf& cnf, int truth, std::vector<std::pair<int, int>> items)
      : cnf_(cnf), truth_(truth), items_(std::move(items)), rest_(items_.size() + 1, 0) {
    std::sort(items_.rbegin(), items_.rend());
    for (size_t i = items_.size(); i-- > 0;) rest_[i] = rest_[i + 1] + items_[i].first;
  }
  // A literal that implies that the items from `index` on fit.
  int fits(size_t index, int64_t room) {
    if (room < 0) return -truth_;
    if (rest_[index] <= room) return truth_;
    const auto [entry, fresh] = made_.try_emplace({index, room}, 0);
    if (!fresh) return entry->second;
    const int literal = entry->second = cnf_.variable();
    const int without = fits(index + 1, room), with = fits(index + 1, room - items_[index].first);
    cnf_.clause({-literal, without});
    cnf_.clause({-literal, -items_[index].second, with});
    return literal;
  }

 private:
  Cnf& cnf_;
  int truth_;
  std::vector<std::pair<int, int>> items_;  // weight, literal
  std::vector<int64_t> rest_;
  std::map<std::pair<size_t, int64_t>, int> made_;
};

}  // namespace

PlacementFormula::PlacementFormula(const PlacementConstraints& constraints, const SortedConstraints& sorted,
                                   const TimeWindows& windows, const FormulaOptions& options)
    : cnf_(options.deadline ? options.deadline : constraints.model.deadline),
      model_(constraints.model),
      unit_(sorted.unit),
      units_(sorted.units),
      cliques_(sorted.cliques) {
  truth_ = cnf_.variable();
  cnf_.clause({truth_});
  make_tiles(sorted);
  if (is_line(model_, constraints.columns)) make_positions();
  make_times(windows);
  make_slots(sorted);
  for (const Edge& edge : windows.edges) make_edge(edge);
  make_storage(constraints, sorted);
  if (options.count_near) make_counts();
  if (options.break_symmetry) {
    break_fabric_symmetry(constraints, sorted);
    break_graph_symmetry(constraints, sorted, windows);
  }
}

void PlacementFormula::add(std::vector<int> clause) {
  std::erase(clause, -truth_);
  if (std::find(clause.begin(), clause.end(), truth_) == clause.end()) cnf_.clause(clause);
}

// At most one of literals that may be constants.
void PlacementFormula::exclusive(std::vector<int> literals) {
  std::erase(literals, -truth_);
  const auto sure = std::find(literals.begin(), literals.end(), truth_);
  if (sure == literals.end()) {
    cnf_.at_most_one(literals);
    return;
  }
  literals.erase(sure);
  for (const int literal : literals) cnf_.clause({-literal});
}

void PlacementFormula::make_tiles(const SortedConstraints& sorted) {
  cnf_.room_for(double(units_.size()) * model_.tiles * sizeof(int));
  tile_.assign(units_.size(), std::vector<int>(model_.tiles));
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    const bool fixed = std::count(sorted.allowed[unit].begin(), sorted.allowed[unit].end(), 1) == 1;
    for (int tile = 0; tile < model_.tiles; ++tile) {
      tile_[unit][tile] = !sorted.allowed[unit][tile] ? -truth_ : fixed ? truth_ : cnf_.variable();
    }
    add(tile_[unit]);
    exclusive(tile_[unit]);
    const std::vector<int>& apart = sorted.apart_of[unit];
    if (std::binary_search(apart.begin(), apart.end(), int(unit))) cnf_.clause({});
  }
  for (const std::vector<int>& clique : cliques_) {
    if (int(clique.size()) > model_.tiles) cnf_.clause({});
    for (int tile = 0; tile < model_.tiles; ++tile) {
      std::vector<int> here;
      for (const int unit : clique) here.push_back(tile_[unit][tile]);
      exclusive(std::move(here));
    }
  }
}

void PlacementFormula::make_positions() {
  for (const std::vector<int>& tiles : tile_) {
    std::vector<int> position(model_.tiles + 1, -truth_);
    position[0] = truth_;
    const auto at = std::find(tiles.begin(), tiles.end(), truth_) - tiles.begin();
    for (int tile = 1; tile < model_.tiles; ++tile)
      position[tile] = at == model_.tiles ? cnf_.variable() : tile <= at ? truth_ : -truth_;
    for (int tile = 0; tile < model_.tiles; ++tile) {
      add({-position[tile + 1], position[tile]});
      add({-tiles[tile], position[tile]});
      add({-tiles[tile], -position[tile + 1]});
      add({tiles[tile], -position[tile], position[tile + 1]});
    }
    position_.push_back(std::move(position));
  }
}

void PlacementFormula::make_times(const TimeWindows& windows) {
  low_ = windows.low;
  high_ = windows.high;
  from_.resize(model_.nodes);
  for (int node = 0; node < model_.nodes; ++node) {
    for (int time = low_[node] + 1; time <= high_[node]; ++time) {
      const int literal = cnf_.variable();
      if (!from_[node].empty()) cnf_.clause({-literal, from_[node].back()});
      from_[node].push_back(literal);
    }
  }
}

int PlacementFormula::starts_from(int node, int time) const {
  if (time <= low_[node]) return truth_;
  return time > high_[node] ? -truth_ : from_[node][time - low_[node] - 1];
}

void PlacementFormula::make_slots(const SortedConstraints& sorted) {
  slot_.assign(model_.nodes, std::vector<int>(model_.ii, truth_));
  for (int node = 0; node < model_.nodes && model_.ii > 1; ++node) {
    const bool fixed = low_[node] == high_[node];
    for (int slot = 0; slot < model_.ii; ++slot) {
      slot_[node][slot] = !fixed ? cnf_.variable() : low_[node] % model_.ii == slot ? truth_ : -truth_;
    }
    if (fixed) continue;
    add(slot_[node]);
    cnf_.at_most_one(slot_[node]);
    for (int time = low_[node]; time <= high_[node]; ++time) {
      add({-starts_from(node, time), starts_from(node, time + 1), slot_[node][time % model_.ii]});
    }
  }
  for (const std::vector<int>& unit : units_) {
    for (int slot = 0; slot < model_.ii; ++slot) {
      std::vector<int> same;
      for (const int node : unit) {
        if (sorted.occupies[node]) same.push_back(slot_[node][slot]);
      }
      if (same.size() > 1) exclusive(std::move(same));
    }
  }
  for (int tile = 0; tile < model_.tiles; ++tile) {
    for (int slot = 0; slot < model_.ii; ++slot) {
      std::vector<int> here;
      for (int node = 0; node < model_.nodes; ++node) {
        const int on = on_tile(node, tile), in = slot_[node][slot];
        if (!sorted.occupies[node] || on == -truth_ || in == -truth_) continue;
        if (in == truth_ || on == truth_) {
          here.push_back(in == truth_ ? on : in);
        } else {
          here.push_back(cnf_.variable());
          cnf_.clause({-on, -in, here.back()});
        }
      }
      exclusive(std::move(here));
    }
  }
}

void PlacementFormula::far_apart(int u, int v, const std::vector<int>& levels,
                                 const std::vector<int>& literals) {
  for (size_t i = 0; i < levels.size(); ++i) {
    if (!position_.empty()) {
      int reach = 0;
      while (reach + 1 < model_.tiles && model_.transfer[0][reach + 1] < levels[i]) ++reach;
      for (int tile = reach + 1; tile < model_.tiles; ++tile) {
        add({literals[i], -position_[u][tile], position_[v][tile - reach]});
        add({literals[i], -position_[v][tile], position_[u][tile - reach]});
      }
      continue;
    }
    for (int a = 0; a < model_.tiles; ++a) {
      cnf_.check();
      std::vector<int> out{literals[i], -tile_[u][a]}, in{literals[i], -tile_[v][a]};
      for (int b = 0; b < model_.tiles; ++b) {
        if (model_.transfer[a][b] < levels[i]) out.push_back(tile_[v][b]);
        if (model_.transfer[b][a] < levels[i]) in.push_back(tile_[u][b]);
      }
      add(std::move(out));
      add(std::move(in));
    }
  }
}

void PlacementFormula::near(int u, int v, const std::vector<int>& levels, const std::vector<int>& literals) {
  for (int a = 0; a < model_.tiles; ++a) {
    for (int b = 0; b < model_.tiles; ++b) {
      const auto above = std::upper_bound(levels.begin(), levels.end(), model_.transfer[a][b]);
      if (above != levels.end()) add({-tile_[u][a], -tile_[v][b], -literals[above - levels.begin()]});
    }
  }
}

void PlacementFormula::make_edge(const Edge& edge) {
  const int u = unit_[edge.from], v = unit_[edge.to], latency = model_.latency_cycles;
  const int shift = latency - edge.distance * model_.ii;
  std::set<int> distinct;
  for (int a = 0; a < model_.tiles; ++a) {
    cnf_.check();
    for (int b = 0; b < model_.tiles; ++b) {
      if (u != v || a == b) distinct.insert(model_.transfer[a][b]);
    }
  }
  const int least = *distinct.begin();
  EdgeTransfer made{edge, {}, {}};
  for (auto level = std::next(distinct.begin()); level != distinct.end(); ++level) {
    made.levels.push_back(*level);
    made.literals.push_back(cnf_.variable());
    if (made.literals.size() > 1) cnf_.clause({-made.literals.back(), made.literals.end()[-2]});
    if (*level + shift > high_[edge.to] - low_[edge.from]) break;  // impossible, and so is what follows
  }
  if (u != v) far_apart(u, v, made.levels, made.literals);
  for (size_t i = 0; i <= made.levels.size(); ++i) {
    const int literal = i == 0 ? truth_ : made.literals[i - 1];
    const int gap = shift + (i == 0 ? least : made.levels[i - 1]);
    for (int time = low_[edge.from]; time <= high_[edge.from]; ++time) {
      add({-literal, -starts_from(edge.from, time), starts_from(edge.to, time + gap)});
      if (time + gap > high_[edge.to]) break;
    }
  }
  if (model_.rules.delay != Delay::kUnbounded) {
    if (u != v) near(u, v, made.levels, made.literals);
    for (size_t i = 0; i <= made.levels.size(); ++i) {
      const int above = i < made.levels.size() ? made.literals[i] : -truth_;
      const int transfer = i == 0 ? least : made.levels[i - 1];
      const int wait =
          model_.rules.delay == Delay::kNone ? 0 : model_.rules.delay_per_hop * std::max(1, transfer);
      for (int time = high_[edge.from]; time >= low_[edge.from]; --time) {
        const int last = time + shift + transfer + wait;
        add({above, starts_from(edge.from, time + 1), -starts_from(edge.to, last + 1)});
        if (last < low_[edge.to]) break;
      }
    }
  }
  if (u != v) transfers_.push_back(std::move(made));
}

void PlacementFormula::make_storage(const PlacementConstraints& constraints,
                                    const SortedConstraints& sorted) {
  for (int tile = 0; tile < model_.tiles; ++tile) {
    std::vector<int> here;
    for (int node = 0; node < model_.nodes; ++node) {
      if (sorted.counted[node]) here.push_back(on_tile(node, tile));
    }
    std::erase(here, -truth_);
    cnf_.at_most(constraints.instructions, here);
  }
  for (int tile = 0; tile < model_.tiles; ++tile) {
    std::vector<std::pair<int, int>> items;
    for (const StoredVariable& variable : constraints.variables) {
      cnf_.check();
      std::set<int> units;
      for (const int node : variable.users) {
        if (sorted.stored[node]) units.insert(unit_[node]);
      }
      if (units.empty()) continue;
      int literal = tile_[*units.begin()][tile];
      if (units.size() > 1) {
        literal = cnf_.variable();
        for (const int unit : units) add({-tile_[unit][tile], literal});
      }
      if (literal != -truth_) items.emplace_back(variable.size, literal);
    }
    cnf_.clause({WeightLimit(cnf_, truth_, std::move(items)).fits(0, constraints.tile_memory)});
  }
}

void PlacementFormula::make_counts() {
  std::map<int, std::vector<int>> leaving, entering;
  for (size_t i = 0; i < transfers_.size(); ++i) {
    leaving[unit_[transfers_[i].edge.from]].push_back(int(i));
    entering[unit_[transfers_[i].edge.to]].push_back(int(i));
  }
  for (const auto& [centre, edges] : leaving) count_ends(centre, edges, true);
  for (const auto& [centre, edges] : entering) count_ends(centre, edges, false);
}

// Units of one clique at the other ends of the edges: of them at most as many are within r clocks of the
// centre's tile as there are tiles. Tiles at the border, with fewer neighbours, count for the missing ones.
void PlacementFormula::count_ends(int centre, const std::vector<int>& edges, bool out) {
  constexpr size_t kWide = 4;
  for (const std::vector<int>& clique : cliques_) {
    cnf_.check();
    std::map<int, int> ends;  // unit -> transfer
    for (const int i : edges) {
      const int unit = unit_[out ? transfers_[i].edge.to : transfers_[i].edge.from];
      if (std::find(clique.begin(), clique.end(), unit) != clique.end()) ends.try_emplace(unit, i);
    }
    if (ends.size() < kWide) continue;
    std::set<int> levels;
    for (const auto& [unit, i] : ends)
      levels.insert(transfers_[i].levels.begin(), transfers_[i].levels.end());
    for (const int level : levels) {
      std::vector<int> ball(model_.tiles, 0);
      for (int a = 0; a < model_.tiles; ++a) {
        cnf_.check();
        for (int b = 0; b < model_.tiles; ++b)
          ball[a] += (out ? model_.transfer[a][b] : model_.transfer[b][a]) < level;
      }
      const int most = *std::max_element(ball.begin(), ball.end());
      if (int(ends.size()) <= *std::min_element(ball.begin(), ball.end())) continue;
      std::vector<int> literals;
      for (int tile = 0; tile < model_.tiles; ++tile) {
        if (tile_[centre][tile] == -truth_) continue;
        for (int missing = ball[tile]; missing < most; ++missing) literals.push_back(tile_[centre][tile]);
      }
      for (const auto& [unit, i] : ends) {
        const EdgeTransfer& transfer = transfers_[i];
        const auto at = std::find(transfer.levels.begin(), transfer.levels.end(), level);
        // A level left out is beyond one that is impossible: always nearer.
        literals.push_back(at == transfer.levels.end() ? truth_
                                                       : -transfer.literals[at - transfer.levels.begin()]);
      }
      cnf_.at_most(most, literals);
    }
  }
}

void PlacementFormula::break_fabric_symmetry(const PlacementConstraints& constraints,
                                             const SortedConstraints& sorted) {
  const std::vector<int> first = tile_representatives(model_.transfer, constraints.columns, sorted.allowed);
  std::vector<int> degree(units_.size(), 0);
  for (const EdgeTransfer& transfer : transfers_) {
    ++degree[unit_[transfer.edge.from]];
    ++degree[unit_[transfer.edge.to]];
  }
  anchor_ = int(std::max_element(degree.begin(), degree.end()) - degree.begin());
  for (int tile = 0; tile < model_.tiles; ++tile) {
    if (first[tile] != tile) add({-tile_[anchor_][tile]});
  }
}

void PlacementFormula::break_graph_symmetry(const PlacementConstraints& constraints,
                                            const SortedConstraints& sorted, const TimeWindows& windows) {
  for (std::vector<int> twins : twin_nodes(constraints, sorted)) {
    std::erase_if(twins, [&](int node) { return unit_[node] == anchor_; });
    for (size_t i = 1; i < twins.size(); ++i) {
      const int a = twins[i - 1], b = twins[i];
      if (!position_.empty()) {
        const std::vector<int>& apart = sorted.apart_of[unit_[a]];
        const int step = std::binary_search(apart.begin(), apart.end(), unit_[b]) ? 1 : 0;
        for (int tile = 0; tile < model_.tiles; ++tile)
          add({-position_[unit_[a]][tile], position_[unit_[b]][tile + step]});
        continue;
      }
      for (int time = windows.low[a] + 1; time <= windows.high[a]; ++time)
        add({-starts_from(a, time), starts_from(b, time)});
    }
  }
}

int PlacementFormula::narrower(const TimeWindows& windows) {
  const int literal = cnf_.variable();
  for (int node = 0; node < model_.nodes; ++node) {
    add({-literal, starts_from(node, windows.low[node])});
    add({-literal, -starts_from(node, windows.high[node] + 1)});
  }
  return literal;
}

std::vector<Place> PlacementFormula::places(const SatSolver& solver) const {
  std::vector<Place> places(model_.nodes);
  for (int node = 0; node < model_.nodes; ++node) {
    while (!solver.value(on_tile(node, places[node].tile))) ++places[node].tile;
    places[node].time = low_[node];
    for (const int literal : from_[node]) places[node].time += solver.value(literal);
  }
  return places;
}

}  // namespace tilewright::cgra
