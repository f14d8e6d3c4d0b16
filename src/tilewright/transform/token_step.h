// The network of one token: what a network of a whole window of tokens computes for the last of them, with
// the keys and values of those before it in caches.
#pragma once

#include "tilewright/graph/graph.h"

namespace tilewright {

// `window` is an integer graph (quantize/integerize) whose one input is token numbers [1, T] or [T], whose
// products across tokens are those of attention, and whose softmax over tokens is causal. The result has the
// inputs: the token, [1, 1] or [1]; "position" i64 [1], its place in the text, 0..T-1; and for each matrix
// across tokens a cache NAME.cache [T, channels], a state with the output NAME.cache.next. Given the tokens
// of a text one after the other, it computes bit for bit the rows that `window` has for them. Errors
// (unsupported): another network, all its problems at once.
Graph form_token_step(const Graph& window);

}  // namespace tilewright
