// The encoding, clock by clock from the producer on. Where links take clocks, presence follows from the
// clocks before; where they do not, a clock has one layer for every further link (bounded reachability), so
// that no value can justify itself in a circle. Variables exist only where something can justify them:
// forwards by construction, backwards by Value::useful.
#include "tilewright/cgra/route/flow_cnf.h"

#include <algorithm>

namespace tilewright::cgra {

FlowCnf::FlowCnf(const RoutingFabric& fabric, int ii, Cnf& cnf) : fabric_(&fabric), ii_(ii), cnf_(&cnf) {
  true_ = cnf.variable();
  cnf.clause({true_});
  on_link_.resize(fabric.links.size() * ii);
  waiting_.resize(size_t(fabric.tiles) * ii);
  passing_.resize(size_t(fabric.tiles) * ii);
}

// A literal that implies one of `reasons`.
int FlowCnf::any_of(std::span<const int> reasons) {
  if (reasons.empty()) return 0;
  if (reasons.size() == 1) return reasons.front();
  if (std::find(reasons.begin(), reasons.end(), true_) != reasons.end()) return true_;
  std::vector<int> clause{-cnf_->variable()};
  clause.insert(clause.end(), reasons.begin(), reasons.end());
  cnf_->clause(clause);
  return -clause.front();
}

// Presence at the beginning of the clock.
void FlowCnf::arrive(Tracks& tracks, int clock) {
  std::vector<int> reasons;
  for (int tile = 0; tile < fabric_->tiles; ++tile) {
    if (!tracks.value.useful(tile, clock)) continue;
    reasons.clear();
    if (const int source = tracks.value.source(tile, clock); source != 0) reasons.push_back(source);
    if (clock > tracks.value.first_clock && wait(tracks, clock - 1, tile) != 0)
      reasons.push_back(wait(tracks, clock - 1, tile));
    if (fabric_->hops == 0) {
      for (const int link : fabric_->entering[tile]) {
        const int departure = clock - fabric_->links[link].cycles;
        if (departure >= tracks.value.first_clock && step(tracks, departure, 0, link) != 0)
          reasons.push_back(step(tracks, departure, 0, link));
      }
    }
    level(tracks, clock, 0, tile) = any_of(reasons);
  }
}

// Links within the clock, hop by hop.
void FlowCnf::spread(Tracks& tracks, int clock) {
  std::vector<int> used(fabric_->links.size(), 0), reasons;
  for (int hops = 1; hops <= fabric_->hops; ++hops) {
    for (int tile = 0; tile < fabric_->tiles; ++tile) {
      const int before = level(tracks, clock, hops - 1, tile);
      level(tracks, clock, hops, tile) = before;
      if (before == true_ || !tracks.value.useful(tile, clock)) continue;
      reasons.clear();
      if (before != 0) reasons.push_back(before);
      for (const int link : fabric_->entering[tile]) {
        const int from = level(tracks, clock, hops - 1, fabric_->links[link].from);
        if (from == 0) continue;
        if (used[link] == 0) used[link] = cnf_->variable();
        int& taken = step(tracks, clock, hops - 1, link);
        taken = fabric_->hops == 1 ? used[link] : cnf_->variable();
        if (from != true_) cnf_->clause({-taken, from});
        if (taken != used[link]) cnf_->clause({-taken, used[link]});
        reasons.push_back(taken);
      }
      level(tracks, clock, hops, tile) = any_of(reasons);
    }
  }
  std::vector<int> leaving;
  for (int tile = 0; tile < fabric_->tiles; ++tile) {
    leaving.clear();
    for (const int link : fabric_->leaving[tile]) {
      if (used[link] == 0) continue;
      on_link_[size_t(link) * ii_ + slot(clock)].push_back(used[link]);
      leaving.push_back(used[link]);
    }
    pass(tracks, clock, tile, leaving);
  }
}

// Links that take clocks.
void FlowCnf::leave(Tracks& tracks, int clock) {
  std::vector<int> leaving;
  for (int tile = 0; tile < fabric_->tiles; ++tile) {
    const int here = level(tracks, clock, 0, tile);
    if (here == 0) continue;
    leaving.clear();
    for (const int link : fabric_->leaving[tile]) {
      const int arrival = clock + fabric_->links[link].cycles;
      if (arrival > tracks.value.last_clock || !tracks.value.useful(fabric_->links[link].to, arrival))
        continue;
      const int taken = cnf_->variable();
      if (here != true_) cnf_->clause({-taken, here});
      step(tracks, clock, 0, link) = taken;
      on_link_[size_t(link) * ii_ + slot(clock)].push_back(taken);
      leaving.push_back(taken);
    }
    pass(tracks, clock, tile, leaving);
  }
}

void FlowCnf::stay(Tracks& tracks, int clock) {
  if (fabric_->delay_registers == 0 || clock == tracks.value.last_clock) return;
  for (int tile = 0; tile < fabric_->tiles; ++tile) {
    const int here = level(tracks, clock, levels() - 1, tile);
    if (here == 0 || !tracks.value.useful(tile, clock + 1)) continue;
    const int stays = cnf_->variable();
    if (here != true_) cnf_->clause({-stays, here});
    wait(tracks, clock, tile) = stays;
    waiting_[size_t(tile) * ii_ + slot(clock)].push_back(stays);
  }
}

// The value passes `tile` where it leaves by one of `links` and was not computed there.
void FlowCnf::pass(Tracks& tracks, int clock, int tile, std::span<const int> links) {
  if (fabric_->pass_through == 0 || links.empty()) return;
  const int home = tracks.value.home(tile);
  if (home == true_) return;
  const int passes = cnf_->variable();
  for (const int link : links) {
    if (home == 0) {
      cnf_->clause({-link, passes});
    } else {
      cnf_->clause({-link, home, passes});
    }
  }
  passing_[size_t(tile) * ii_ + slot(clock)].push_back(passes);
}

int FlowCnf::add(const Value& value) {
  Tracks& tracks = values_.emplace_back(Tracks{.value = value});
  const size_t clocks = size_t(std::max(0, value.last_clock - value.first_clock + 1));
  cnf_->room_for(double(clocks) * sizeof(int) *
                 (double(levels() + 1) * fabric_->tiles + double(steps()) * double(fabric_->links.size())));
  tracks.level.assign(clocks * levels() * fabric_->tiles, 0);
  tracks.step.assign(clocks * steps() * fabric_->links.size(), 0);
  tracks.wait.assign(clocks * fabric_->tiles, 0);
  for (int clock = value.first_clock; clock <= value.last_clock; ++clock) {
    cnf_->check();
    arrive(tracks, clock);
    if (fabric_->hops > 0) {
      spread(tracks, clock);
    } else {
      leave(tracks, clock);
    }
    stay(tracks, clock);
  }
  return int(values_.size()) - 1;
}

int FlowCnf::at(int id, int tile, int clock) const {
  const Tracks& tracks = values_[id];
  if (clock < tracks.value.first_clock || clock > tracks.value.last_clock) return 0;
  return level(tracks, clock, levels() - 1, tile);
}

void FlowCnf::limit_resources() {
  for (const std::vector<int>& users : on_link_) cnf_->at_most_one(users);
  for (const std::vector<int>& users : waiting_) cnf_->at_most(fabric_->delay_registers, users);
  for (const std::vector<int>& users : passing_) cnf_->at_most(fabric_->pass_through, users);
}

Route FlowCnf::trace(int id, RouteStep sink, const std::function<bool(int)>& holds) const {
  const Tracks& tracks = values_[id];
  const auto on = [&](int literal) { return literal != 0 && holds(literal); };
  Route route{sink};
  int tile = sink.tile, clock = sink.clock, hops = levels() - 1;
  const auto came_by = [&](int departure, int hop) {
    for (const int link : fabric_->entering[tile]) {
      const int start = departure - fabric_->links[link].cycles;
      if (start < tracks.value.first_clock || !on(step(tracks, start, hop, link))) continue;
      tile = fabric_->links[link].from;
      clock = start;
      return true;
    }
    return false;
  };
  while (true) {
    if (hops > 0) {
      if (!on(level(tracks, clock, hops - 1, tile))) {
        if (!came_by(clock, hops - 1)) break;
        route.push_back({tile, clock});
      }
      --hops;
      continue;
    }
    if (on(tracks.value.source(tile, clock))) break;
    if (clock > tracks.value.first_clock && on(wait(tracks, clock - 1, tile))) {
      --clock;
      hops = levels() - 1;
    } else if (fabric_->hops > 0 || !came_by(clock, 0)) {
      break;
    }
    route.push_back({tile, clock});
  }
  std::reverse(route.begin(), route.end());
  return route;
}

}  // namespace tilewright::cgra
