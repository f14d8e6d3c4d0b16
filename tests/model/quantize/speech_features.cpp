#include "speech_features.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

#include "tilewright/base/file.h"
#include "tilewright/base/random.h"

namespace tilewright {
namespace {

constexpr int kRate = 16000, kFrame = 480, kStep = 320, kFrames = 49, kSpectrum = 512, kBands = 40;
constexpr int kCoefficients = 10;

double mel(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

// Magnitudes of the non-negative frequencies of a real signal, by the definition of the transform.
std::vector<double> magnitudes(const std::vector<double>& frame) {
  static const std::vector<std::complex<double>> roots = [] {
    std::vector<std::complex<double>> table;
    for (int i = 0; i < kSpectrum; ++i)
      table.push_back(std::polar(1.0, -2 * std::numbers::pi * i / kSpectrum));
    return table;
  }();
  std::vector<double> result;
  for (int k = 0; k <= kSpectrum / 2; ++k) {
    std::complex<double> sum = 0;
    for (int i = 0; i < kFrame; ++i) sum += frame[size_t(i)] * roots[size_t(i * k % kSpectrum)];
    result.push_back(std::abs(sum));
  }
  return result;
}

// Triangles of equal width on the mel scale; without the constant bin.
double band_weight(int band, int bin) {
  const double low = mel(20), step = (mel(4000) - low) / (kBands + 1);
  const double at = (mel(double(bin) * kRate / kSpectrum) - low) / step - band;
  return bin == 0 ? 0 : std::max(0.0, std::min(at, 2 - at));
}

}  // namespace

std::vector<float> read_sound(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  constexpr size_t kHeader = 44;
  std::vector<float> sound(kRate, 0.0f);
  for (size_t i = 0; i < sound.size() && kHeader + 2 * i + 1 < bytes.size(); ++i) {
    int16_t sample = 0;
    std::memcpy(&sample, bytes.data() + kHeader + 2 * i, 2);
    sound[i] = float(sample) / 32768.0f;
  }
  return sound;
}

Tensor speech_features(const std::vector<float>& sound) {
  float largest = 1e-9f;
  for (float x : sound) largest = std::max(largest, std::fabs(x));
  static const std::vector<double> weights = [] {
    std::vector<double> table;
    for (int band = 0; band < kBands; ++band) {
      for (int bin = 0; bin <= kSpectrum / 2; ++bin) table.push_back(band_weight(band, bin));
    }
    return table;
  }();
  Tensor features(ElementType::kF32, Shape{1, 1, kFrames, kCoefficients});
  const auto out = features.mutable_data<float>();
  for (int f = 0; f < kFrames; ++f) {
    std::vector<double> frame;
    for (int i = 0; i < kFrame; ++i) {
      const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / kFrame);
      frame.push_back(double(sound[size_t(f * kStep + i)] / largest) * window);
    }
    const std::vector<double> spectrum = magnitudes(frame);
    std::vector<double> bands;
    for (int band = 0; band < kBands; ++band) {
      double sum = 0;
      for (size_t bin = 0; bin < spectrum.size(); ++bin) {
        sum += spectrum[bin] * weights[size_t(band) * spectrum.size() + bin];
      }
      bands.push_back(std::log(sum + 1e-6));
    }
    for (int c = 0; c < kCoefficients; ++c) {
      double sum = 0;
      for (int band = 0; band < kBands; ++band) {
        sum += bands[size_t(band)] * std::cos(std::numbers::pi / kBands * (band + 0.5) * c);
      }
      out[size_t(f * kCoefficients + c)] = float(sum * std::sqrt(2.0 / kBands));
    }
  }
  return features;
}

SpeechSamples vary_sounds(const std::vector<std::vector<float>>& sounds, const std::vector<float>& noise,
                          int variants, uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers;
  SpeechSamples result;
  for (size_t s = 0; s < sounds.size(); ++s) {
    for (int v = 0; v < variants; ++v) {
      const int64_t shift = random.between(-kRate / 10, kRate / 10),
                    noise_shift = random.between(0, kRate - 1);
      const float gain = float(random.uniform() * 0.1);
      std::vector<float> varied(kRate, 0.0f);
      for (int64_t i = 0; i < kRate; ++i) {
        if (i + shift >= 0 && i + shift < kRate) varied[size_t(i)] = sounds[s][size_t(i + shift)];
        varied[size_t(i)] += gain * noise[size_t((i + noise_shift) % kRate)];
      }
      const Tensor features = speech_features(varied);
      const auto data = features.data<float>();
      numbers.insert(numbers.end(), data.begin(), data.end());
      result.sources.push_back(int64_t(s));
    }
  }
  result.features = Tensor(Shape{int64_t(result.sources.size()), 1, kFrames, kCoefficients},
                           std::span<const float>(numbers));
  return result;
}

}  // namespace tilewright
