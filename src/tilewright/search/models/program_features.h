// What a learned cost model sees of a program: a row of numbers with fixed meaning, and its loop tree. Both
// mean the same for every layer and machine of one kind, so what is learned on one helps on another.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewright {

// A loop, or at a leaf a statement, with its children in program order; node 0 is the root. A child has a
// higher index than its parent.
struct LoopTree {
  struct Node {
    std::vector<float> features;  // equally many in every node
    std::vector<int32_t> children;
  };
  std::vector<Node> nodes;
};

struct ProgramFeatures {
  std::vector<float> row;
  LoopTree tree;
};

}  // namespace tilewright
