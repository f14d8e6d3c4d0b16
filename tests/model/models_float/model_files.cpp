#include "model_files.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/proto/onnx_tensor.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {

std::filesystem::path models_folder() { return outside_models(); }

Tensor read_tensor(const std::filesystem::path& path) {
  return path.extension() == ".npy" ? read_npy(path) : parse_onnx_tensor(read_file(path));
}

double relative_error(const Tensor& a, const Tensor& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.size() != b.size() || a.size() == 0) return kInfinity;
  double difference = 0, magnitude = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.number_at(i), y = b.number_at(i);
    if (!std::isfinite(x) || !std::isfinite(y)) return kInfinity;
    difference = std::max(difference, std::abs(x - y));
    magnitude = std::max(magnitude, std::abs(y));
  }
  return magnitude == 0 ? difference : difference / magnitude;
}

}  // namespace tilewright
