// The byte-level language model as a graph: 256 bytes to what it expects behind each of them.
#pragma once

#include <cstdint>
#include <span>

#include "transformer/graph.h"

namespace byte_lm {

inline constexpr int64_t kContext = 256, kBytes = 256;

// 128 numbers per byte, 6 blocks, 4 heads of queries on 2 of keys, 256 numbers between the dense layers.
transformer::Form form();

// Weights as with_scaled_queries() gives them. Input "bytes" i64 [1,256], output "logits" f32 [1,256,256]:
// row i is what follows bytes 0 to i.
tilewright::Graph as_graph(const transformer::Weights& weights);

// Window `index` of a text, as an input of the graph, and what follows each of its bytes; windows lie side by
// side, the last ends before the text's last byte.
int64_t windows_in(std::span<const uint8_t> text);
tilewright::Tensor window(std::span<const uint8_t> text, int64_t index);
std::span<const uint8_t> following(std::span<const uint8_t> text, int64_t index);

// The sum over all rows of -log2 of the probability that logits [..][256] give to the byte that follows.
double bits(std::span<const float> logits, std::span<const uint8_t> following);

}  // namespace byte_lm
