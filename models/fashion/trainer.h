// What all trainers of Fashion-MNIST networks share: images as a network sees them, batches, the schedule,
// the order of events, and the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/graph/graph.h"

namespace fashion {

inline constexpr int kBatch = 100, kSide = 28, kPixels = kSide * kSide, kClasses = 10;

// A network in training. Pixels are [kBatch][28][28] in 0..1.
class Learner {
 public:
  virtual ~Learner() = default;
  // One step of gradient descent at this rate of learning; the loss before it.
  virtual float learn(const std::vector<float>& pixels, const std::vector<uint8_t>& labels, float rate) = 0;
  // [kBatch][kClasses], valid until the next call.
  virtual std::vector<float> scores(const std::vector<float>& pixels) = 0;
  // As it will be used.
  virtual tilewright::Graph as_graph() const = 0;
};

struct Recipe {
  const char* usage;    // the command line, as far as DATA_FOLDER
  int epochs;           // unless the command line says otherwise
  double highest_rate;  // falls to 0 along half a cosine
};

// DATA_FOLDER OUTPUT.onnx [EPOCHS] [SEED]: makes a learner, trains it on all training images, each mirrored
// with probability 1/2 and moved by up to one pixel, writes its graph, and only then opens the test set to
// print the accuracy. Everything follows from the seed. Returns the exit status.
int train(const std::vector<const char*>& arguments, const Recipe& recipe,
          const std::function<std::unique_ptr<Learner>(tilewright::Random&)>& make);

}  // namespace fashion
