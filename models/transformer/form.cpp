#include "form.h"

#include <cmath>

namespace transformer {
namespace {

std::vector<float> rotary_angles(const Form& form) {
  const int64_t half = form.head() / 2;
  std::vector<float> angles;
  for (int64_t t = 0; t < form.tokens; ++t)
    for (int64_t i = 0; i < half; ++i)
      angles.push_back(float(double(t) * std::pow(10000.0, -double(i) / double(half))));
  return angles;
}

}  // namespace

std::vector<float> rotary_cosines(const Form& form) {
  std::vector<float> values = rotary_angles(form);
  for (float& v : values) v = std::cos(v);
  return values;
}

std::vector<float> rotary_sines(const Form& form) {
  std::vector<float> values = rotary_angles(form);
  for (float& v : values) v = std::sin(v);
  return values;
}

}  // namespace transformer
