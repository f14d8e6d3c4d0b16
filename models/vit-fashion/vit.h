// A vision transformer for Fashion-MNIST in training: an image as 49 patches of 4x4 pixels, each a dense
// layer of its pixels plus what is learned for its place; the blocks; a dense layer of the mean of all rows.
#pragma once

#include <vector>

#include "transformer/trunk.h"
#include "vit_graph.h"

namespace vit {

// For `samples` images at a time.
class Vit {
 public:
  Vit(const transformer::Form& form, int64_t samples, tilewright::Random& random);

  // images [samples][28][28] -> scores [samples][10].
  const std::vector<float>& forward(const float* images);
  // After forward(): adds to the gradients and returns the sum of the losses, cross entropies with classes of
  // which `smoothing` is spread over all.
  double backward(const uint8_t* labels, float smoothing);

  // As as_graph() takes them.
  transformer::Weights weights() const;

  transformer::Parameters parameters;

 private:
  transformer::Form form_;
  int64_t samples_;
  transformer::Dense patches_;
  transformer::Parameter* places_;
  transformer::Trunk trunk_;
  transformer::Dense scores_layer_;
  std::vector<float> pixels_, rows_, means_, scores_, scores_gradient_, means_gradient_, gradient_,
      pixels_gradient_;
};

}  // namespace vit
