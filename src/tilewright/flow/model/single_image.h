// A model of several images at once as one of a single image, which is run for each of them.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/graph/graph.h"

namespace tilewright {

struct SingleImage {
  Graph graph;
  int64_t batch = 1;  // images of the model
};

// Where all inputs have the same first dimension, above 1, and so has everything that is made of them, so
// that no image meets another. nullopt: it is not so, or the model takes single images already.
std::optional<SingleImage> single_image(const Graph& model);

}  // namespace tilewright
