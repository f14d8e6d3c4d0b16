// Placing with a trained policy: samples, or a beam over partial placements.
#pragma once

#include "tilewright/cgra/learn/policy_network.h"
#include "tilewright/cgra/problem/mapper.h"

namespace tilewright::cgra {

// The temperatures that samples take in turn: what the policy prefers, and what it thinks possible.
inline constexpr float kSampleTemperatures[] = {0.3f, 0.5f, 0.7f, 1.0f};

// Samples also take turns with orders of the nodes: the first is the usual one, the others are the usual one
// with every node delayed by a random number of clocks up to kOrderNoiseCycles. Which placements can be
// reached at all depends on the order, because a node starts at the earliest free slot of its tile.
inline constexpr int kSampleOrders = 16;
inline constexpr int kOrderNoiseCycles = 4;

struct PolicySearchOptions {
  int samples = 64;  // complete placements, where limits.evaluations does not say
  int beam = 0;      // width; 0: samples. A beam's placements come in one sweep, as many as it is wide
};

// The shortest of the placements, routed where the problem asks for it. With a limit in seconds and none in
// evaluations it samples until then. counts.evaluations: complete placements; counts.nodes: decisions.
// lower_bound is the longest chain: kOptimal where it is met. Without the time or memory to look at the
// graph: kStopped. Errors (invalid input): problem.verify's; (unsupported): compile_instance's.
MappingResult map_with_policy(const PolicyWeights& weights, const MappingProblem& problem,
                              const GraphMapperOptions& options, const PolicySearchOptions& search);

// Placements drawn uniformly from the valid actions of the same environment: what the policy is compared
// with.
MappingResult map_with_random_actions(const MappingProblem& problem, const GraphMapperOptions& options);

}  // namespace tilewright::cgra
