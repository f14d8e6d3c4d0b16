// A recurrent network on loop trees: a gated recurrent unit (Cho et al. 2014) whose state at a node starts
// from the sum of its children's states (the child-sum form of Tai, Socher and Manning 2015), as "Learning to
// optimize tensor programs" (Chen et al. 2018, section 3) uses to judge programs. At every node
//   z = sigmoid(Wz x + Uz s + bz), r = sigmoid(Wr x + Ur s + br), n = tanh(Wn x + r * (Un s) + bn),
//   h = (1 - z) * n + z * s,
// with x its features and s the sum of h over its children. The root also sees the program's row: its x is
// the row after the features of the node, with rows of W of their own. The score is v . h + u . row at the
// root.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/search/models/program_features.h"

namespace tilewright {

struct TreeGruWeights {
  static constexpr int64_t kHidden = 32;
  static constexpr int64_t kGates = 3 * kHidden;  // z, r, n

  int64_t features = 0;            // of a node
  int64_t globals = 0;             // of a row
  std::vector<float> mean, scale;  // x = (feature - mean) * scale: of the features, then of the row
  // W [features + globals][kGates], U [kHidden][kGates], b [kGates], v [kHidden], u [globals].
  std::vector<float> parameters;

  size_t inputs() const { return size_t(features + globals); }
  size_t recurrent() const { return inputs() * size_t(kGates); }
  size_t bias() const { return recurrent() + size_t(kHidden * kGates); }
  size_t readout() const { return bias() + size_t(kGates); }
  size_t skip() const { return readout() + size_t(kHidden); }
  size_t size() const { return skip() + size_t(globals); }

  // Small random weights, no change of the features.
  static TreeGruWeights random(int64_t features, int64_t globals, Random& random);
};

// Errors (invalid input): a row of another length, a tree without nodes, a node with another number of
// features or with a child that does not come after it, is missing or has two parents.
void verify(const ProgramFeatures& program, int64_t features, int64_t globals);

// What the network computes on one program, kept for the gradient. One object serves many in turn.
class TreeGru {
 public:
  // Of a program for which verify() holds.
  double score(const TreeGruWeights& weights, const ProgramFeatures& program);
  // Adds score_gradient * d score / d parameters to `gradient`, for the arguments of the last score().
  void add_gradient(const TreeGruWeights& weights, const ProgramFeatures& program, double score_gradient,
                    std::span<float> gradient);

 private:
  std::vector<float> input_;                                         // x by node, then that of the row
  std::vector<float> sum_, update_, reset_, fresh_, inner_, state_;  // s, z, r, n, Un s, h by node
  std::vector<float> state_gradient_;
};

}  // namespace tilewright
