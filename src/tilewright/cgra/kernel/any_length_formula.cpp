// Relaxation over slots. Each edge chooses the age at which its value is used. Distances in time between
// nodes of a strongly connected component are bounded from both sides by longest paths (Floyd-Warshall over
// the difference constraints), so they get variables of their own, relative to the component's first node.
#include "tilewright/cgra/kernel/any_length_formula.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tilewright/cgra/kernel/kernel_places.h"
#include "tilewright/cgra/kernel/value_spread.h"

namespace tilewright::cgra {
namespace {

constexpr int kNoPath = -(1 << 28);

class AnyLength {
 public:
  AnyLength(const Fabric& fabric, const PlacementModel& model, int ages)
      : fabric_(fabric),
        model_(model),
        ages_(ages),
        table_(fabric),
        cnf_(model.deadline),
        places_(cnf_, model, slots(model)) {
    find_distances();
    add_offsets();
    for (int node = 0; node < model_.nodes; ++node) {
      values_.emplace_back(cnf_, table_, model_.outgoing[node].empty() ? 0 : ages_,
                           [&](int age, int tile) { return age == 0 ? places_.on_tile(node, tile) : 0; });
    }
    for (const Edge& edge : model_.edges) add_edge(edge);
    add_storage();
  }
  Cnf take() { return std::move(cnf_); }

 private:
  // Slots as windows; fixed times count by their slot alone.
  static StartWindows slots(const PlacementModel& model) {
    StartWindows windows{std::vector<int>(model.nodes, 0), std::vector<int>(model.nodes, model.ii - 1)};
    for (int node = 0; node < model.nodes; ++node) {
      if (model.fixed_time[node] >= 0)
        windows.first[node] = windows.last[node] = model.fixed_time[node] % model.ii;
    }
    return windows;
  }
  bool has_slot(int node, int slot) const {
    return slot >= places_.windows().first[node] && slot <= places_.windows().last[node];
  }
  bool together(int a, int b) const { return far_[a][b] > kNoPath && far_[b][a] > kNoPath; }
  int offset(int node, int clocks) const { return offsets_[node][clocks - least_offset_[node]]; }
  bool has_offset(int node, int clocks) const {
    return clocks >= least_offset_[node] && clocks < least_offset_[node] + int(offsets_[node].size());
  }

  void find_distances();
  void add_offsets();
  void add_edge(const Edge& edge);
  void add_use(const Edge& edge, int age, int use);
  void add_storage();

  const Fabric& fabric_;
  const PlacementModel& model_;
  int ages_ = 0;
  LinkTable table_;
  Cnf cnf_;
  KernelPlaces places_;
  std::vector<std::vector<int>> far_;      // [from][to]: start(to) - start(from) is at least this
  std::vector<int> anchor_;                // per node: the first node of its component
  std::vector<int> least_offset_;          // per node: from its anchor
  std::vector<std::vector<int>> offsets_;  // per node: variables of its distance from the anchor
  std::vector<ValueSpread> values_;
};

void AnyLength::find_distances() {
  cnf_.room_for(double(model_.nodes) * model_.nodes * sizeof(int));
  far_.assign(model_.nodes, std::vector<int>(model_.nodes, kNoPath));
  for (const Edge& edge : model_.edges) {
    int& far = far_[edge.from][edge.to];
    far = std::max(far, model_.latency_cycles - edge.distance * model_.ii);
  }
  for (int node = 0; node < model_.nodes; ++node) far_[node][node] = std::max(0, far_[node][node]);
  for (int by = 0; by < model_.nodes; ++by) {
    for (int from = 0; from < model_.nodes; ++from) {
      if (far_[from][by] == kNoPath) continue;
      cnf_.check();
      for (int to = 0; to < model_.nodes; ++to) {
        if (far_[by][to] == kNoPath) continue;
        far_[from][to] = std::max(far_[from][to], far_[from][by] + far_[by][to]);
      }
    }
  }
}

void AnyLength::add_offsets() {
  anchor_.resize(model_.nodes);
  least_offset_.assign(model_.nodes, 0);
  offsets_.resize(model_.nodes);
  for (int node = 0; node < model_.nodes; ++node) {
    int anchor = 0;
    while (!together(anchor, node)) ++anchor;
    anchor_[node] = anchor;
    least_offset_[node] = far_[anchor][node];
    const int most = -far_[node][anchor];
    for (int clocks = least_offset_[node]; clocks <= most; ++clocks)
      offsets_[node].push_back(cnf_.variable());
    cnf_.clause(offsets_[node]);
    for (int clocks = least_offset_[node]; clocks <= most; ++clocks) {
      for (int slot = 0; slot < model_.ii; ++slot) {
        if (!has_slot(anchor, slot)) continue;
        const int there = (((slot + clocks) % model_.ii) + model_.ii) % model_.ii;
        std::vector<int> clause{-offset(node, clocks), -places_.starts(anchor, slot)};
        if (has_slot(node, there)) clause.push_back(places_.starts(node, there));
        cnf_.clause(clause);
      }
    }
    cnf_.at_most_one(offsets_[node]);
  }
}

void AnyLength::add_edge(const Edge& edge) {
  const ValueSpread& value = values_[edge.from];
  int most = ages_ - 1;
  bool later = true;  // a use at an age that is not followed
  if (together(edge.from, edge.to)) {
    const int bound = edge.distance * model_.ii - far_[edge.to][edge.from] - model_.latency_cycles;
    later = bound >= ages_;
    most = std::min(most, bound);
  }
  std::vector<int> choice;
  for (int age = 0; age <= most; ++age) {
    choice.push_back(cnf_.variable());
    add_use(edge, age, choice.back());
  }
  if (later) {
    for (int tile = 0; tile < model_.tiles; ++tile) choice.push_back(value.waits(ages_ - 1, tile));
  }
  cnf_.clause(choice);
}

// `use` implies that the edge's value is read at `age`.
void AnyLength::add_use(const Edge& edge, int age, int use) {
  for (int slot = 0; slot < model_.ii; ++slot) {
    if (!has_slot(edge.from, slot)) continue;
    const int there = (slot + model_.latency_cycles + age) % model_.ii;
    std::vector<int> clause{-use, -places_.starts(edge.from, slot)};
    if (has_slot(edge.to, there)) clause.push_back(places_.starts(edge.to, there));
    cnf_.clause(clause);
  }
  for (int tile = 0; tile < model_.tiles; ++tile)
    cnf_.clause({-use, -places_.on_tile(edge.to, tile), values_[edge.from].reaches(age, tile)});
  if (!together(edge.from, edge.to)) return;
  const int shift = model_.latency_cycles + age - edge.distance * model_.ii;
  for (size_t i = 0; i < offsets_[edge.from].size(); ++i) {
    const int there = least_offset_[edge.from] + int(i) + shift;
    std::vector<int> clause{-use, -offsets_[edge.from][i]};
    if (has_offset(edge.to, there)) clause.push_back(offset(edge.to, there));
    cnf_.clause(clause);
  }
}

// A use of a link or register counts in the slot it falls into, which the producer's slot and the age say.
void AnyLength::add_storage() {
  const size_t links = table_.links.size();
  std::vector<std::vector<int>> waiting(size_t(model_.ii) * model_.tiles),
      crossing(size_t(model_.ii) * links);
  for (int node = 0; node < model_.nodes; ++node) {
    const ValueSpread& value = values_[node];
    for (int age = 0; age < value.clocks(); ++age) {
      for (int slot = 0; slot < model_.ii; ++slot) {
        if (!has_slot(node, slot)) continue;
        const size_t then = size_t(slot + model_.latency_cycles + age) % model_.ii;
        const auto count = [&](int used, std::vector<int>& users) {
          users.push_back(cnf_.variable());
          cnf_.clause({-used, -places_.starts(node, slot), users.back()});
        };
        for (int tile = 0; tile < model_.tiles; ++tile)
          count(value.waits(age, tile), waiting[then * model_.tiles + tile]);
        for (size_t link = 0; link < links; ++link)
          count(value.crosses(age, int(link)), crossing[then * links + link]);
      }
    }
  }
  for (const std::vector<int>& users : waiting) cnf_.at_most(fabric_.delay_registers, users);
  for (const std::vector<int>& users : crossing) cnf_.at_most_one(users);
}

}  // namespace

Cnf any_length_formula(const Fabric& fabric, const PlacementModel& model, int ages) {
  return AnyLength(fabric, model, ages).take();
}

}  // namespace tilewright::cgra
