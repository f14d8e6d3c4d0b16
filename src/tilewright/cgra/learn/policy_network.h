// The network that places: message passing and attention over the dataflow graph (once per graph), then for
// every decision a small network over the actions' features, shared by all actions, so that it takes arrays
// and graphs of any size. After Korsunsky and others, "Reinforcement learning approach for mapping
// applications to dataflow-based CGRA" (2022): a graph network for the static part, attention, a network for
// the dynamic state; here the dynamic part scores actions instead of reading the whole array.
//
// Layers, x W for row vectors x:
//   node:    h = relu(features In + b); twice h += relu(h Self + mean_operands(h) Operands +
//   mean_consumers(h)
//            Consumers + mean_unit(h) Mates + b); h += softmax(h Query (h Key)^T / sqrt(d)) (h Value)
//            Attended
//   action:  a = relu(f Action + h Context + s State + b); p = mean of a over the valid actions
//            z = relu(a Second + p Pooled + b); logit = z Logit + f Linear
//   value:   relu(p CriticPooled + h CriticNode + s CriticState + b) CriticOut + b
// f: action features, clipped to +-24 and divided by 8; s: state features.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/cgra/learn/environment.h"

namespace tilewright::cgra {

enum PolicyTensor : uint8_t {
  kNodeIn,
  kNodeInBias,
  kSelf0,
  kOperands0,
  kConsumers0,
  kMates0,
  kLayerBias0,
  kSelf1,
  kOperands1,
  kConsumers1,
  kMates1,
  kLayerBias1,
  kQuery,
  kKey,
  kValue,
  kAttended,
  kContext,
  kContextBias,
  kAction,
  kStateIn,
  kSecond,
  kPooled,
  kSecondBias,
  kLogit,
  kLinear,
  kCriticPooled,
  kCriticNode,
  kCriticState,
  kCriticBias,
  kCriticOut,
  kCriticOutBias,
  kPolicyTensors,
};

constexpr int kEmbedding = 32, kHidden = 32, kSecondHidden = 16;
constexpr float kFeatureClip = 24, kFeatureScale = 0.125f;

struct PolicyTensorShape {
  const char* name;
  int rows, columns;
};
const PolicyTensorShape& policy_tensor_shape(int tensor);

struct PolicyWeights {
  std::vector<std::vector<float>> tensors;  // [PolicyTensor], row-major
  std::string origin;                       // how it was trained
  bool operator==(const PolicyWeights&) const = default;
};

// Scaled normal numbers; the output layers small, so that the first policy is nearly uniform.
PolicyWeights random_policy(uint64_t seed);

// A JSON file: {"format": "tilewright-policy", "version": 1, "origin": ..., "tensors": {NAME: [numbers]}}.
std::string print_policy(const PolicyWeights& weights);
// Errors (invalid input): all problems at once (not JSON, another format, a missing tensor, a wrong number of
// values, values that are not finite).
PolicyWeights parse_policy(const std::string& text, const std::string& source_name);
PolicyWeights read_policy(const std::filesystem::path& path);

// The graph's part, computed once per graph and weights.
struct EncodedGraph {
  std::vector<float> context;  // [node][kHidden], bias included
  std::vector<float> critic;   // [node][kHidden], bias included
};
// Throws Expired when the time of the instance's model is over.
EncodedGraph encode_graph(const PolicyWeights& weights, const PlacementInstance& instance);

// A vector of actions on its way through the network.
struct ActionBlock {
  static constexpr int kLanes = PlacementInstance::kLanes;
  alignas(64) float features[kActionFeatures][kLanes];
  alignas(64) float hidden[kHidden][kLanes];
  alignas(64) float valid[kLanes];
};

// What the policy says about one decision.
struct PolicyOutput {
  std::vector<float> logits;         // per row; rows that are not valid hold anything
  std::vector<float> probabilities;  // per row, 0 where not valid
  float value = 0;                   // expected sum of rewards to come
  std::vector<ActionBlock> blocks;   // features and first layer of all rows
};
// `temperature` divides the logits. `output` is reused between calls.
void evaluate_policy(const PolicyWeights& weights, const EncodedGraph& graph,
                     const PlacementEnvironment& environment, float temperature, PolicyOutput& output);
// A row drawn from output.probabilities.
int draw_row(const PolicyOutput& output, Random& random);

}  // namespace tilewright::cgra
