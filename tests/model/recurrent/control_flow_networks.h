// ONNX files with control flow, sequences and the operators of ONNX Runtime's quantiser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

// "x" [2]: a loop that adds x and the number of the iteration; "all" is what each one gives.
std::vector<std::byte> loop_file(int64_t iterations);

// "x" [2, 5]: split into parts of 2 along axis 1; without its first part, with x at the end, joined as "y".
std::vector<std::byte> sequence_file();

// "a" and "b" in u8 [1, 2, 2, 2] with scales 0.1 and 0.2 and zero points 10 and 120: their sum, product, the
// sigmoid of a, the leaky ReLU (0.1) of b, both concatenated, the mean of a; all but the sigmoid with the
// scale 0.25 and the zero point 100.
std::vector<std::byte> microsoft_file();

// "x" [3, 2] through random decision trees of `trees` roots: a regressor of 2 targets ("y"), or a classifier
// of `classes` classes 10, 20, .. ("label", "scores"; two classes have one weight per leaf, as gradient
// boosting has them).
struct Forest {
  int64_t trees = 3, classes = 0;  // classes 0: a regressor
  std::string transform = "NONE";
  uint64_t seed = 1;
};
std::vector<std::byte> forest_file(const Forest& forest);
// Per sample the sum of the leaves' weights, walked down node by node: [targets or classes] numbers.
std::vector<std::vector<double>> forest_sums(const Forest& forest,
                                             const std::vector<std::vector<float>>& samples);

}  // namespace tilewright
