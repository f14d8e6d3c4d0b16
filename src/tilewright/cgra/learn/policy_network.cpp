// The fused forward pass: actions lie side by side in vectors of floats, weights are broadcast.
#include "tilewright/cgra/learn/policy_network.h"

#include <algorithm>
#include <cmath>

namespace tilewright::cgra {
namespace {

constexpr int kLanes = PlacementInstance::kLanes;
constexpr int kE = kEmbedding, kH = kHidden, kZ = kSecondHidden;

constexpr PolicyTensorShape kShapes[kPolicyTensors] = {
    {"node_in", kNodeFeatures, kE},
    {"node_in_bias", 1, kE},
    {"self_0", kE, kE},
    {"operands_0", kE, kE},
    {"consumers_0", kE, kE},
    {"mates_0", kE, kE},
    {"layer_bias_0", 1, kE},
    {"self_1", kE, kE},
    {"operands_1", kE, kE},
    {"consumers_1", kE, kE},
    {"mates_1", kE, kE},
    {"layer_bias_1", 1, kE},
    {"query", kE, kE},
    {"key", kE, kE},
    {"value", kE, kE},
    {"attended", kE, kE},
    {"context", kE, kH},
    {"context_bias", 1, kH},
    {"action", kActionFeatures, kH},
    {"state", kStateFeatures, kH},
    {"second", kH, kZ},
    {"pooled", kH, kZ},
    {"second_bias", 1, kZ},
    {"logit", kZ, 1},
    {"linear", kActionFeatures, 1},
    {"critic_pooled", kH, kH},
    {"critic_node", kE, kH},
    {"critic_state", kStateFeatures, kH},
    {"critic_bias", 1, kH},
    {"critic_out", kH, 1},
    {"critic_out_bias", 1, 1},
};

// out += in W
void multiply_add(const float* in, const std::vector<float>& weights, int rows, int columns, float* out) {
  for (int r = 0; r < rows; ++r) {
    const float factor = in[r];
    if (factor == 0) continue;
    const float* row = &weights[size_t(r) * size_t(columns)];
    for (int c = 0; c < columns; ++c) out[c] += factor * row[c];
  }
}

std::vector<float> product(const std::vector<float>& in, const PolicyWeights& weights, int tensor,
                           int bias = -1) {
  const auto [name, rows, columns] = kShapes[tensor];
  const size_t count = in.size() / size_t(rows);
  std::vector<float> out(count * size_t(columns), 0);
  for (size_t i = 0; i < count; ++i) {
    float* at = &out[i * size_t(columns)];
    if (bias >= 0) {
      const std::vector<float>& from = weights.tensors[size_t(bias)];
      std::copy(from.begin(), from.end(), at);
    }
    multiply_add(&in[i * size_t(rows)], weights.tensors[size_t(tensor)], rows, columns, at);
  }
  return out;
}

void add(std::vector<float>& to, const std::vector<float>& from) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

void clip_below(std::vector<float>& values) {
  for (float& value : values) value = std::max(value, 0.0f);
}

// Per node the mean of h over the listed nodes, 0 over none.
std::vector<float> mean_over(const std::vector<std::vector<int>>& lists, const std::vector<float>& h) {
  std::vector<float> out(lists.size() * kE, 0);
  for (size_t node = 0; node < lists.size(); ++node) {
    const float share = 1.0f / float(std::max<size_t>(1, lists[node].size()));
    for (const int other : lists[node]) {
      for (size_t c = 0; c < kE; ++c) out[node * kE + c] += share * h[size_t(other) * kE + c];
    }
  }
  return out;
}

void attend(const PolicyWeights& weights, const Deadline* deadline, std::vector<float>& h) {
  const std::vector<float> query = product(h, weights, kQuery), key = product(h, weights, kKey),
                           value = product(h, weights, kValue);
  const size_t nodes = h.size() / kE;
  std::vector<float> mixed(h.size(), 0), share(nodes);
  DeadlineWatch watch(deadline);
  for (size_t a = 0; a < nodes; ++a) {
    watch.check();
    float most = -1e30f, sum = 0;
    for (size_t b = 0; b < nodes; ++b) {
      float dot = 0;
      for (size_t c = 0; c < kE; ++c) dot += query[a * kE + c] * key[b * kE + c];
      share[b] = dot / std::sqrt(float(kE));
      most = std::max(most, share[b]);
    }
    for (float& s : share) sum += s = std::exp(s - most);
    for (size_t b = 0; b < nodes; ++b) {
      for (size_t c = 0; c < kE; ++c) mixed[a * kE + c] += share[b] / sum * value[b * kE + c];
    }
  }
  add(h, product(mixed, weights, kAttended));
}

using Block = ActionBlock;

void first_layer(const std::vector<float>& action, const float* base, Block& block) {
  for (int j = 0; j < kH; ++j) {
    float sum[kLanes];
    for (int i = 0; i < kLanes; ++i) sum[i] = base[j];
    for (int f = 0; f < kActionFeatures; ++f) {
      const float weight = action[size_t(f * kH + j)];
      for (int i = 0; i < kLanes; ++i) sum[i] += weight * block.features[f][i];
    }
    for (int i = 0; i < kLanes; ++i) block.hidden[j][i] = sum[i] > 0 ? sum[i] : 0;
  }
}

void logits_of(const PolicyWeights& weights, const float* base, const Block& block, float* logits) {
  const std::vector<float>&second = weights.tensors[kSecond], &out = weights.tensors[kLogit],
        &linear = weights.tensors[kLinear];
  float result[kLanes] = {};
  for (int z = 0; z < kZ; ++z) {
    float sum[kLanes];
    for (int i = 0; i < kLanes; ++i) sum[i] = base[z];
    for (int j = 0; j < kH; ++j) {
      const float weight = second[size_t(j * kZ + z)];
      for (int i = 0; i < kLanes; ++i) sum[i] += weight * block.hidden[j][i];
    }
    for (int i = 0; i < kLanes; ++i) result[i] += out[size_t(z)] * (sum[i] > 0 ? sum[i] : 0);
  }
  for (int f = 0; f < kActionFeatures; ++f) {
    for (int i = 0; i < kLanes; ++i) result[i] += linear[size_t(f)] * block.features[f][i];
  }
  std::copy(result, result + kLanes, logits);
}

void load_block(const PlacementEnvironment& environment, int row, Block& block) {
  const int rows = environment.rows();
  for (int f = 0; f < kActionFeatures; ++f) {
    const int16_t* from = environment.action_features() + f * rows + row;
    for (int i = 0; i < kLanes; ++i) {
      const float value = float(from[i]);
      const float low = value < -kFeatureClip ? -kFeatureClip : value;
      block.features[f][i] = kFeatureScale * (low > kFeatureClip ? kFeatureClip : low);
    }
  }
  const int width = environment.instance().width;
  const uint64_t valid = environment.valid(row / width) >> (row % width);
  for (int i = 0; i < kLanes; ++i) block.valid[i] = float((valid >> i) & 1);
}

float critic(const PolicyWeights& weights, const float* pooled, const float* state, const float* node) {
  float hidden[kH];
  std::copy(node, node + kH, hidden);
  multiply_add(pooled, weights.tensors[kCriticPooled], kH, kH, hidden);
  multiply_add(state, weights.tensors[kCriticState], kStateFeatures, kH, hidden);
  float value = weights.tensors[kCriticOutBias][0];
  for (int j = 0; j < kH; ++j) value += weights.tensors[kCriticOut][size_t(j)] * std::max(hidden[j], 0.0f);
  return value;
}

void probabilities_of(const PlacementEnvironment& environment, float temperature, PolicyOutput& output) {
  const int width = environment.instance().width;
  float most = -1e30f, sum = 0;
  const auto valid = [&](int row) { return ((environment.valid(row / width) >> (row % width)) & 1) != 0; };
  for (int row = 0; row < environment.rows(); ++row) {
    if (valid(row)) most = std::max(most, output.logits[size_t(row)]);
  }
  for (int row = 0; row < environment.rows(); ++row) {
    float& share = output.probabilities[size_t(row)];
    share = valid(row) ? std::exp((output.logits[size_t(row)] - most) / temperature) : 0.0f;
    sum += share;
  }
  for (float& share : output.probabilities) share /= sum;
}

}  // namespace

const PolicyTensorShape& policy_tensor_shape(int tensor) { return kShapes[tensor]; }

PolicyWeights random_policy(uint64_t seed) {
  Random random(seed);
  PolicyWeights weights;
  for (int tensor = 0; tensor < kPolicyTensors; ++tensor) {
    const auto [name, rows, columns] = kShapes[tensor];
    const bool last = tensor == kLogit || tensor == kLinear || tensor == kCriticOut || tensor == kAttended;
    const double scale = rows == 1 ? 0 : (last ? 0.1 : 1.0) * std::sqrt(2.0 / rows);
    std::vector<float>& values = weights.tensors.emplace_back(size_t(rows) * size_t(columns));
    for (float& value : values) {
      if (scale == 0) break;
      double sum = -6;  // of twelve uniform numbers: nearly normal
      for (int i = 0; i < 12; ++i) sum += random.uniform();
      value = float(scale * sum);
    }
  }
  return weights;
}

EncodedGraph encode_graph(const PolicyWeights& weights, const PlacementInstance& instance) {
  const NodeNeighbours near = node_neighbours(instance);
  std::vector<float> h = product(node_features(instance), weights, kNodeIn, kNodeInBias);
  clip_below(h);
  for (const int first : {int(kSelf0), int(kSelf1)}) {
    std::vector<float> next = product(h, weights, first, first + (kLayerBias0 - kSelf0));
    add(next, product(mean_over(near.operands, h), weights, first + (kOperands0 - kSelf0)));
    add(next, product(mean_over(near.consumers, h), weights, first + (kConsumers0 - kSelf0)));
    add(next, product(mean_over(near.mates, h), weights, first + (kMates0 - kSelf0)));
    clip_below(next);
    add(h, next);
  }
  attend(weights, instance.model.deadline, h);
  return {product(h, weights, kContext, kContextBias), product(h, weights, kCriticNode, kCriticBias)};
}

void evaluate_policy(const PolicyWeights& weights, const EncodedGraph& graph,
                     const PlacementEnvironment& environment, float temperature, PolicyOutput& output) {
  const int rows = environment.rows();
  const size_t node = size_t(environment.node());
  output.logits.resize(size_t(rows));
  output.probabilities.resize(size_t(rows));
  float base[kH], pooled[kH] = {}, second[kZ];
  std::copy_n(&graph.context[node * kH], kH, base);
  multiply_add(environment.state_features(), weights.tensors[kStateIn], kStateFeatures, kH, base);
  std::vector<Block>& blocks = output.blocks;
  blocks.resize(size_t(rows / kLanes));
  for (int row = 0; row < rows; row += kLanes) {
    Block& block = blocks[size_t(row / kLanes)];
    load_block(environment, row, block);
    first_layer(weights.tensors[kAction], base, block);
    for (int j = 0; j < kH; ++j) {
      float sum = 0;
      for (int i = 0; i < kLanes; ++i) sum += block.valid[i] * block.hidden[j][i];
      pooled[j] += sum;
    }
  }
  for (float& value : pooled) value /= float(environment.choices());
  std::copy_n(weights.tensors[kSecondBias].data(), kZ, second);
  multiply_add(pooled, weights.tensors[kPooled], kH, kZ, second);
  for (int row = 0; row < rows; row += kLanes)
    logits_of(weights, second, blocks[size_t(row / kLanes)], &output.logits[size_t(row)]);
  output.value = critic(weights, pooled, environment.state_features(), &graph.critic[node * kH]);
  probabilities_of(environment, temperature, output);
}

int draw_row(const PolicyOutput& output, Random& random) {
  float left = float(random.uniform());
  int last = -1;
  for (size_t row = 0; row < output.probabilities.size(); ++row) {
    if (output.probabilities[row] <= 0) continue;
    last = int(row);
    left -= output.probabilities[row];
    if (left < 0) break;
  }
  return last;
}

}  // namespace tilewright::cgra
