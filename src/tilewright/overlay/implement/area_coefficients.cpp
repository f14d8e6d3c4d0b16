// Written by overlay_area_fit from the 22 Yosys runs of bench/overlay_area/measured.txt.
#include "tilewright/overlay/implement/area_coefficients.h"

#include "tilewright/overlay/implement/overlay_area.h"

namespace tilewright::overlay {

const AreaCoefficients& area_coefficients() {
  static const AreaCoefficients weights = {
      {11.568, 36.627, 10.452, 3.6131, 43.579, 0, 2501.8, 144.44, 1254.4, 0, 0, 18.475, 0.17357, 0},
      {0.28571, 11.631, 5.3956, 1.9703, 18.637, 0.77308, 3030.8, 73.625, 211.53, 0, 30.851, 8.2988, 1.378,
       0}};
  return weights;
}

const AreaBand& overlay_area_band() {
  static const AreaBand band = {10, 2.5, 6.7, 3.3, 4.1, 3.2, 0.0};
  return band;
}

}  // namespace tilewright::overlay
