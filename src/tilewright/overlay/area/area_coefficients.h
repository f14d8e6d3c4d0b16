// The weights of the area model, in the order of area_feature_names().
#pragma once

#include <vector>

namespace tilewright::overlay {

struct AreaCoefficients {
  std::vector<double> lut, ff;
};
const AreaCoefficients& area_coefficients();

}  // namespace tilewright::overlay
