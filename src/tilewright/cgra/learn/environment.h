// Placement as a game: node after node, an action chooses the tile (and, with more than one row per tile, how
// many free slots are left out); the node starts at the earliest free slot there. Waiting for a later slot of
// the same tile rarely pays: the usual set of actions is one per tile.
//
// For every action, the policy sees clocks, not tiles: the effect on the start of the node and on the bounds
// of the makespan (instance.h), so one policy serves arrays and graphs of any size.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/cgra/learn/instance.h"
#include "tilewright/cgra/problem/mapping.h"

namespace tilewright::cgra {

enum class PlacementReward : uint8_t {
  kMakespan,  // -(increase of the least possible makespan) / latency: sums to the makespan's excess
  kPaper,     // (start - latest operand's start) / latency: published, and of the wrong sign
  kRatio,     // 2 latency / (start - latest operand's start): its later form
};

struct EnvironmentOptions {
  int slots_per_tile = 1;  // rows per tile: the earliest free slot, the next, ...
  bool masked = true;      // otherwise every tile is offered, and an impossible one ends the episode
  bool look_ahead = true;  // also mask actions that leave a later node without a tile
  PlacementReward reward = PlacementReward::kMakespan;
  double dead_end_reward = -4;
};

enum ActionFeature : uint8_t {
  kWaits,      // start - earliest start of all valid actions
  kEnds,       // start + tail, beyond the bound so far
  kMeets,      // the bound with a placed node that shares a descendant
  kMates,      // the bound over later nodes of the unit
  kReturns,    // the bound over descendants whose tile is known
  kBound,      // largest of these, at least 0: what the action adds to the bound
  kIdle,       // clocks waited for a free slot
  kNext,       // clocks that a consumer nearby would wait for a slot; the second where there are several
  kContested,  // how many later units have few tiles left, this among them
  kPartners,   // transfer to placed nodes with a common consumer
  kRoom,       // slots left on the tile
  kNearRoom,   // slots left within two clocks of transfer
  kBorder,     // how far from the middle of the array
  kActionFeatures,
};
enum StateFeature : uint8_t { kProgress, kExcess, kFreeSlots, kInterval, kChoices, kStateFeatures };

class PlacementEnvironment {
 public:
  // Keeps a reference to `instance`.
  PlacementEnvironment(const PlacementInstance& instance, const EnvironmentOptions& options);

  void reset();
  // Places the current node by action `row` (k * width + tile: the k-th free slot) and returns the reward. An
  // invalid row ends the episode like a dead end.
  double step(int row);

  bool done() const { return done_; }
  // Every node placed; otherwise a done episode ended in a dead end.
  bool complete() const { return complete_; }
  int node() const { return instance_->order[size_t(position_)]; }
  int position() const { return position_; }
  int rows() const { return rows_; }
  // The offered actions: one bit per tile for the k-th free slot.
  uint64_t valid(int k = 0) const { return valid_[size_t(k)]; }
  int choices() const { return choices_; }
  // One of the offered actions, all equally likely.
  int random_row(Random& random) const;
  // [feature][row], clocks or slots; rows that are not valid hold anything.
  const int16_t* action_features() const { return features_.data(); }
  const float* state_features() const { return state_; }
  int makespan() const { return makespan_; }
  // No completion of the placement is shorter; the makespan when complete.
  int bound() const { return bound_; }
  // The start that action `row` gives.
  int start(int row) const { return start_[size_t(row)]; }
  std::vector<Place> places() const;
  const PlacementInstance& instance() const { return *instance_; }

 private:
  void put(int node, int tile, int time);
  void observe();
  void offer_all();
  void limits(int node);
  void tiles_of(int node);
  uint64_t look_ahead(int node, uint64_t tiles);
  uint64_t without_crowding(int node, uint64_t tiles);
  uint64_t open_to(int unit) const;
  void starts();
  int wait_for_slot(int tile, int time) const;
  int16_t next_wait(int tile, int start, bool several) const;
  void describe(int node);
  double end_in_dead_end();
  double reward_of(int node, int time, int old_bound) const;

  const PlacementInstance* instance_;
  EnvironmentOptions options_;
  int rows_ = 0, position_ = 0, makespan_ = 0, bound_ = 0, choices_ = 0, free_slots_ = 0;
  bool done_ = true, complete_ = false, two_sided_ = false;
  std::vector<int16_t> time_, tile_;         // per node, -1: not placed
  std::vector<uint64_t> open_slots_;         // per tile
  uint64_t inverse_ii_ = 0;                  // 2^32 / II, rounded up
  std::vector<int16_t> contested_, forced_;  // per tile: see kContested; slots of units with no other tile
  std::vector<int16_t> room_, near_room_;    // per tile: free slots that no unit there still needs
  std::vector<uint64_t> roomy_;              // [need]: tiles with so much room
  std::vector<int> packed_, waiting_units_;  // [size]: units that fit; units without tile of at least it
  std::vector<uint64_t> closed_;             // per unit: tiles closed by placed nodes
  std::vector<int16_t> unit_tile_;
  std::vector<int16_t> low_, high_, start_;
  std::vector<int16_t> features_;
  std::vector<uint64_t> valid_, possible_;  // offered; those that the rules allow
  float state_[kStateFeatures] = {};
};

}  // namespace tilewright::cgra
