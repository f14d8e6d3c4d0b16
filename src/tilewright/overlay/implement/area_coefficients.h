// The weights of the area model, in the order of area_feature_names().
#pragma once

#include <string>
#include <vector>

namespace tilewright::overlay {

struct AreaCoefficients {
  std::vector<double> lut, ff;
};
const AreaCoefficients& area_coefficients();
// Another text for another fit: of the weights, all digits, and of what they weigh.
std::string area_model_digest(const AreaCoefficients& weights = area_coefficients());

}  // namespace tilewright::overlay
