// Trains the vision transformer and writes it as ONNX.
//
// usage: train_vit_fashion DATA_FOLDER OUTPUT.onnx [EPOCHS] [SEED]
#include <algorithm>

#include "trainer.h"
#include "vit.h"
#include "vit_graph.h"

namespace {

constexpr int kTogether = 10;       // images that go through the network at a time
constexpr float kSmoothing = 0.1f;  // of a target is spread over all classes
constexpr double kDecay = 0.05;     // of weights
constexpr int kWarmSteps = 1200;    // until the rate has its full height

class VitLearner : public fashion::Learner {
 public:
  explicit VitLearner(tilewright::Random& random) : network_(vit::form(), kTogether, random) {}

  float learn(const std::vector<float>& pixels, const std::vector<uint8_t>& labels, float rate) override {
    network_.parameters.clear_gradients();
    double loss = 0;
    for (int b = 0; b < fashion::kBatch; b += kTogether) {
      network_.forward(&pixels[size_t(b) * fashion::kPixels]);
      loss += network_.backward(&labels[size_t(b)], kSmoothing);
    }
    const double warmth = std::min(1.0, ++steps_ / double(kWarmSteps));
    network_.parameters.step(double(rate) * warmth, kDecay, fashion::kBatch);
    return float(loss / fashion::kBatch);
  }

  std::vector<float> scores(const std::vector<float>& pixels) override {
    std::vector<float> all;
    for (int b = 0; b < fashion::kBatch; b += kTogether) {
      const std::vector<float>& some = network_.forward(&pixels[size_t(b) * fashion::kPixels]);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  tilewright::Graph as_graph() const override { return vit::as_graph(network_.weights()); }

 private:
  vit::Vit network_;
  int steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return fashion::train({argv + 1, argv + argc}, {"train_vit_fashion", 40, 1e-3},
                        [](tilewright::Random& random) { return std::make_unique<VitLearner>(random); });
}
