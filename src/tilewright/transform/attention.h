// Scaled dot-product attention in a graph of primitive operators: Softmax(q k^T scale + mask) v, with the
// heads as reshapes and transposes. Nothing is changed: reports and lowerings ask for the parts.
#pragma once

#include <string>
#include <vector>

#include "tilewright/graph/graph.h"

namespace tilewright {

enum class AttentionMask {
  kNone,
  kAdded,     // `mask` is added to the scores
  kSelected,  // where `mask` says so, scores are a large negative number
};

struct Attention {
  NodeId scores = kNoNode, softmax = kNoNode, product = kNoNode;  // q k^T, and its probabilities times v
  // As the projections give them (or what rotates, caches or repeats these): before scaling, splitting into
  // heads and transposing.
  ValueId q = kNoValue, k = kNoValue, v = kNoValue;
  double scale = 1;  // of the scores, from wherever it is applied: to q, to k, to both, or to the product
  AttentionMask mask_kind = AttentionMask::kNone;
  ValueId mask = kNoValue;  // where there are several, the sum or choice next to the Softmax
  int64_t heads = 1, queries = 0, keys = 0, width = 0;  // width: of one head
  std::string reason;  // why it is not attention of this form; the parts found until then are set
};

// Every Softmax whose result is a factor of a product with another computed value, in graph order.
std::vector<Attention> find_attention(const Graph& graph);

}  // namespace tilewright
