// Language models of random forms with random weights, in integers.
#pragma once

#include "tilewright/base/random.h"
#include "tilewright/graph/graph.h"
#include "transformer/form.h"

namespace tilewright {

struct RandomLanguageModel {
  transformer::Form form;
  int64_t vocabulary = 0;
  Graph window;  // integer: tokens i64 [1, T] to logits f32 [1, T, vocabulary]
};

// Of windows of 2 to `most_tokens` tokens; heads have a multiple of `block` numbers.
RandomLanguageModel random_language_model(Random& random, int64_t most_tokens, int64_t block);

// "T=17, 2x16 heads on 1, hidden 40, 2 blocks".
std::string to_string(const RandomLanguageModel& model);

}  // namespace tilewright
