// The input of the keyword spotting networks of MLPerf Tiny: 49 frames of 10 mel-frequency cepstral
// coefficients from one second of 16 kHz sound (frames of 30 ms every 20 ms, Hann window, 512-point spectrum,
// 40 mel bands from 20 to 4000 Hz, logarithm, orthonormal cosine transform).
#pragma once

#include <filesystem>
#include <vector>

#include "tilewright/tensor/tensor.h"

namespace tilewright {

// 16,000 samples of a 16-bit mono WAV file, in -1..1; shorter files are filled with zeros.
std::vector<float> read_sound(const std::filesystem::path& path);

// f32 [1, 1, 49, 10] of 16,000 samples, after scaling the largest magnitude to 1.
Tensor speech_features(const std::vector<float>& sound);

// Samples of shape [n, 1, 49, 10], with the index of the sound in `sounds` that each is made from: every
// sound shifted in time by up to 100 ms, with some of `noise` mixed in.
struct SpeechSamples {
  Tensor features;
  std::vector<int64_t> sources;
};
SpeechSamples vary_sounds(const std::vector<std::vector<float>>& sounds, const std::vector<float>& noise,
                          int variants, uint64_t seed);

}  // namespace tilewright
