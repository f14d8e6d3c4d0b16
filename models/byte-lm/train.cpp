// Trains the byte-level language model. Writes byte_lm.onnx, held_out.txt, the chapters that it was not
// trained on, and calibration.txt, a part of the others.
//
// usage: train_byte_lm TEXT FOLDER [STEPS] [SEED]
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <numbers>

#include "language_model.h"
#include "text.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_writer.h"

namespace {

constexpr int kTogether = 2, kBatch = 8;  // windows that go through the network at a time, and of a step
constexpr int kWarmSteps = 400;           // until the rate has its full height
constexpr double kHighestRate = 2e-3, kLowestShare = 0.02, kDecay = 0.1;

class Trainer {
 public:
  Trainer(byte_lm::Chapters chapters, uint64_t seed)
      : chapters_(std::move(chapters)), random_(seed), network_(byte_lm::form(), kTogether, random_) {}

  void learn(int steps) {
    double loss = 0;
    constexpr int kReport = 250;
    for (int step = 0; step < steps; ++step) {
      loss += learn_batch(rate_of(step, steps)) / kReport;
      if ((step + 1) % kReport != 0) continue;
      std::printf("step %d of %d: %.4f bits per byte in training\n", step + 1, steps, loss);
      std::fflush(stdout);
      loss = 0;
    }
  }

  double held_out_bits() {
    const std::span<const uint8_t> text = chapters_.held_out;
    const int64_t windows = byte_lm::windows_in(text) / kTogether * kTogether;
    double bits = 0;
    for (int64_t i = 0; i < windows; i += kTogether) {
      const size_t start = size_t(i * byte_lm::kContext), count = size_t(kTogether * byte_lm::kContext);
      bits += byte_lm::bits(network_.forward(text.subspan(start, count)), text.subspan(start + 1, count));
    }
    return bits / double(windows * byte_lm::kContext);
  }

  tilewright::Graph graph() const {
    return byte_lm::as_graph(
        transformer::with_scaled_queries(byte_lm::form(), network_.parameters.weights()));
  }

 private:
  static double rate_of(int step, int steps) {
    const double falls = 0.5 * (1 + std::cos(double(step) / double(steps) * std::numbers::pi));
    return kHighestRate * std::min(1.0, (step + 1) / double(kWarmSteps)) *
           (kLowestShare + (1 - kLowestShare) * falls);
  }

  // The mean bits of a byte.
  double learn_batch(double rate) {
    constexpr int64_t kTokens = byte_lm::kContext;
    const std::vector<uint8_t>& text = chapters_.training;
    network_.parameters.clear_gradients();
    double loss = 0;
    std::vector<uint8_t> bytes, following;
    for (int i = 0; i < kBatch; i += kTogether) {
      bytes.clear();
      following.clear();
      for (int window = 0; window < kTogether; ++window) {
        const auto start = text.begin() + random_.between(0, int64_t(text.size()) - kTokens - 1);
        bytes.insert(bytes.end(), start, start + kTokens);
        following.insert(following.end(), start + 1, start + 1 + kTokens);
      }
      network_.forward(bytes);
      loss += network_.backward(following);
    }
    network_.parameters.step(rate, kDecay, double(kBatch * kTokens));
    return loss / double(kBatch * kTokens) / std::numbers::ln2;
  }

  byte_lm::Chapters chapters_;
  tilewright::Random random_;
  byte_lm::LanguageModel network_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: train_byte_lm TEXT FOLDER [STEPS] [SEED]\n");
    return 1;
  }
  try {
    omp_set_num_threads(1);  // sums in another order would give another network
    const byte_lm::Chapters chapters = byte_lm::read_chapters(argv[1]);
    const std::filesystem::path folder = argv[2];
    tilewright::write_file(folder / "held_out.txt", std::as_bytes(std::span(chapters.held_out)));
    tilewright::write_file(folder / "calibration.txt", std::as_bytes(std::span(chapters.calibration)));
    Trainer trainer(chapters, argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 1);
    trainer.learn(argc > 3 ? std::atoi(argv[3]) : 10000);
    tilewright::write_onnx(folder / "byte_lm.onnx", trainer.graph());
    std::printf("%.4f bits per byte of held-out chapters (%zu bytes, used for nothing else)\n",
                trainer.held_out_bits(), chapters.held_out.size());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_byte_lm: %s\n", error.what());
    return 1;
  }
}
