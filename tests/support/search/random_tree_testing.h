// Random programs and weights for tests of the TreeGRU, here and against libtorch.
#pragma once

#include "tilewright/search/models/tree_gru.h"

namespace tilewright {

inline ProgramFeatures random_program(int64_t features, int64_t globals, size_t nodes, Random& random) {
  ProgramFeatures program;
  for (int64_t g = 0; g < globals; ++g) program.row.push_back(float(4 * random.uniform() - 2));
  LoopTree& tree = program.tree;
  for (size_t i = 0; i < nodes; ++i) {
    LoopTree::Node& node = tree.nodes.emplace_back();
    for (int64_t f = 0; f < features; ++f) node.features.push_back(float(4 * random.uniform() - 2));
    if (i > 0) tree.nodes[size_t(random.next() % i)].children.push_back(int32_t(i));
  }
  return program;
}

// With features that are not centred, as real ones.
inline TreeGruWeights random_weights(int64_t features, int64_t globals, Random& random) {
  TreeGruWeights weights = TreeGruWeights::random(features, globals, random);
  for (float& value : weights.mean) value = float(random.uniform());
  for (float& value : weights.scale) value = float(0.5 + random.uniform());
  for (float& value : weights.parameters) value += float(0.2 * (2 * random.uniform() - 1));
  return weights;
}

}  // namespace tilewright
