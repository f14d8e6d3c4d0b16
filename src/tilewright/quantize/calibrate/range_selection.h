// From the results of calibration to the scale and zero point of a value.
#pragma once

#include <string>

#include "tilewright/quantize/calibrate/histogram.h"
#include "tilewright/quantize/calibrate/quantization.h"

namespace tilewright {

enum class CalibrationMethod {
  kMinMax,        // everything seen is representable
  kPercentile,    // a share of the numbers may saturate
  kEntropy,       // the saturation that keeps most of the distribution's information (KL divergence)
  kSquaredError,  // the saturation with the smallest mean squared error (expected_error)
  // The saturation with the smallest error of the layers that read the value: quantize/layer_ranges.h. Where
  // no layer is known, as kSquaredError.
  kLayerError,
};

struct RealRange {
  double low = 0;
  double high = 0;
};

// The form of quantised numbers.
struct NumberForm {
  int bits = 8;
  bool symmetric = false;     // zero point 0
  bool power_of_two = false;  // scale a power of two; implies symmetric
  int64_t lowest() const { return -(int64_t{1} << (bits - 1)); }
  int64_t highest() const { return (int64_t{1} << (bits - 1)) - 1; }
};

// The interval that quantised numbers should cover; it contains 0.
// percentile: of the numbers, in percent, e.g. 99.99, that must be inside (for a two-sided distribution the
// rest is cut from both ends in equal shares).
RealRange select_range(const Histogram& histogram, CalibrationMethod method, const NumberForm& form,
                       double percentile);

// Scale and zero point whose representable numbers cover `range`; for powers of two the smallest scale that
// does. An empty range (only zeros were seen) gives the scale 1.
Quantization quantization_for(const RealRange& range, const NumberForm& form);

// The same for a histogram; powers of two with kSquaredError choose the exponent by the error.
Quantization select_quantization(const Histogram& histogram, CalibrationMethod method, const NumberForm& form,
                                 double percentile);

// Sum over the histogram of |x - quantised x|^e, with e = 2 for real scales and 2.5 for powers of two.
// Outside of the representable interval a bin counts as its centre, inside by the mean of the rounding error,
// (scale / 2)^e / (e + 1).
double expected_error(const Histogram& histogram, const Quantization& q, const NumberForm& form);

}  // namespace tilewright
