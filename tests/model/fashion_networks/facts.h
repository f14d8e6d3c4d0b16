// What docs/guides/networks.md says of the residual and the depthwise network, and the fixture of their
// tests: every check runs on both.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <vector>

#include "networks.h"

namespace tilewright {

struct FashionFacts {
  const char* name;
  fashion::Network (*table)();
  int64_t parameters, macs;
  int64_t float_right, int8_right, plain_right;  // of the 10,000 test images; plain: scales of powers of two
  int64_t float_1000, int8_1000, plain_1000;     // of the first 1,000
  uint64_t cycles;                               // of one image on overlay-16x16
  int64_t pipeline_layers;
  size_t longest_chain;  // of layers that only the next one reads
};

inline constexpr FashionFacts kFashionFacts[] = {
    {"residual", fashion::residual_fashion, 77418, 9345920, 9339, 9341, 9336, 950, 949, 948, 63485, 11, 2},
    {"depthwise", fashion::depthwise_fashion, 36140, 3290944, 9325, 9316, 9309, 948, 949, 947, 56703, 13, 11},
};

// Zeros: what only the tests of the others look at. Its machine is the wide overlay (machines_test): the
// plain VTA set has no tables of functions.
inline constexpr FashionFacts kGatedFacts = {
    "gated", fashion::gated_fashion, 39230, 3125920, 9235, 9211, 9162, 933, 930, 930, 0, 0, 0};

inline void PrintTo(const FashionFacts& facts, std::ostream* out) { *out << facts.name; }

class FashionNetworks : public ::testing::TestWithParam<FashionFacts> {};

// The weights of a file, as its writer takes them.
inline std::vector<Tensor> parameters_in(const Graph& graph) {
  std::vector<Tensor> parameters;
  for (const Node& node : graph.nodes) {
    if (node.op != "Conv" && node.op != "Gemm") continue;
    parameters.push_back(*graph.constant_input(node, 1));
    parameters.push_back(*graph.constant_input(node, 2));
  }
  return parameters;
}

}  // namespace tilewright

#define TILEWRIGHT_ON_BOTH(fixture)                                              \
  INSTANTIATE_TEST_SUITE_P(Trained, fixture, ::testing::ValuesIn(kFashionFacts), \
                           [](const auto& test) { return std::string(test.param.name); })
