// LeNet in its Caffe sizes with ReLU: forward and backward passes over a batch, single precision, every
// matrix product by oneDNN's sgemm. Activations are stored channel-major, [C][batch][H][W], so that one
// product serves a whole batch.
//
//   image 1x28x28 -> conv 20@5x5 -> relu -> max pool 2 -> conv 50@5x5 -> relu -> max pool 2 -> dense 500 ->
//   relu
//   -> dropout -> dense 10                                                                  431,080
//   parameters
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/random.h"

namespace lenet {

// One parameter tensor with its gradient and momentum.
struct Parameter {
  std::vector<float> value, gradient, velocity;
  bool decays = false;  // weight decay: weights only
};

class Lenet {
 public:
  // He initialisation from `random`.
  Lenet(int batch, tilewright::Random& random);

  // images: [batch][28][28]. Returns logits [batch][10]. `dropout` (0: off) uses `random`.
  const std::vector<float>& forward(const std::vector<float>& images, float dropout,
                                    tilewright::Random& random);
  // After forward: gradients of the mean cross-entropy against soft targets [batch][10]. Returns the loss.
  float backward(const std::vector<float>& targets);
  // Stochastic gradient descent with momentum.
  void step(float rate, float momentum, float decay);

  // conv1 W,b, conv2 W,b, dense1 W,b, dense2 W,b; weights are [out][in...] row-major.
  std::vector<Parameter> parameters;

 private:
  int batch_;
  std::vector<float> columns1_, conv1_, pool1_, columns2_, conv2_, pool2_, flat_, hidden_, mask_, logits_;
  std::vector<uint8_t> winner1_, winner2_;
};

}  // namespace lenet
