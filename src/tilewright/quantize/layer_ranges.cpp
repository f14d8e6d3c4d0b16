// The expected squared error of a reader's results is that of rounding, scale^2 / 12 times the squares of the
// weights whose input is not 0, plus that of clipping: the mean squared excess (of the histogram, which has
// seen every number) times the gain of the weights for it. The gain is the ratio of output to input error on
// the rows. Where a layer has many outputs, random sums of them, with signs, stand for all: the expected
// square of such a sum is the sum of the squares.
#include "tilewright/quantize/layer_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tilewright/base/random.h"
#include "tilewright/quantize/calibrate/layer_inputs.h"

namespace tilewright {
namespace {

constexpr int64_t kSums = 8;                           // of a layer's outputs
constexpr int64_t kMostRowNumbers = int64_t{1} << 20;  // of a layer's rows
constexpr int64_t kSignalRows = 64;
constexpr double kShares[] = {1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5, 0.4};
constexpr double kLeastShare = 0.4;
constexpr int kHalvings = 4;  // of scales that are powers of two

class LayerReader {
 public:
  // near: of which nothing is ever clipped.
  LayerReader(const LayerMatrix& matrix, std::span<const float> weights, std::span<const float> rows,
              const RealRange& near, uint64_t seed)
      : matrix_(matrix), rows_(rows), per_group_(matrix.outputs / matrix.groups) {
    sums_ = std::min(per_group_, kSums);
    count_ = std::min(int64_t(rows.size()) / matrix.width(),
                      std::max<int64_t>(1, kMostRowNumbers / matrix.width()));
    sum_outputs(weights, seed);
    measure(weights);
    find_far_numbers(near);
  }

  double signal() const { return signal_; }

  // scale: of the steps inside low..high; excess: the mean square of what lies beyond.
  double relative_error(double scale, double low, double high, double excess) const {
    const double clipping = excess <= 0 ? 0 : gain(low, high) * excess * double(matrix_.width());
    return (scale * scale / 12 * rounding_ + clipping) / signal_;
  }

 private:
  float at(int64_t row, int64_t column) const { return rows_[size_t(row * matrix_.width() + column)]; }
  const float* sum(int64_t group, int64_t s) const {
    return weights_.data() + size_t((group * sums_ + s) * matrix_.depth);
  }
  // Of the squares of the sums, to what all outputs have.
  double factor() const { return per_group_ > kSums ? 1 / double(kSums) : 1; }

  void sum_outputs(std::span<const float> weights, uint64_t seed) {
    Random random(seed);
    const int64_t depth = matrix_.depth;
    weights_.assign(size_t(matrix_.groups * sums_ * depth), 0.0f);
    for (int64_t o = 0; o < matrix_.outputs; ++o) {
      const int64_t group = matrix_.group_of(o);
      const uint64_t signs = random.next();
      for (int64_t s = 0; s < sums_; ++s) {
        const bool own = per_group_ <= kSums;
        if (own && s != o % per_group_) continue;
        const float sign = own || (signs >> s & 1) != 0 ? 1.0f : -1.0f;
        float* into = weights_.data() + size_t((group * sums_ + s) * depth);
        for (int64_t k = 0; k < depth; ++k)
          into[k] += sign * weights[size_t(o * matrix_.output_stride + k * matrix_.depth_stride)];
      }
    }
  }

  void measure(std::span<const float> weights) {
    const int64_t width = matrix_.width(), depth = matrix_.depth;
    std::vector<double> squares(size_t(width), 0.0), used(size_t(width), 0.0);
    for (int64_t o = 0; o < matrix_.outputs; ++o) {
      for (int64_t k = 0; k < depth; ++k) {
        const double w = weights[size_t(o * matrix_.output_stride + k * matrix_.depth_stride)];
        squares[size_t(matrix_.group_of(o) * depth + k)] += w * w;
      }
    }
    for (int64_t r = 0; r < count_; ++r) {
      for (int64_t c = 0; c < width; ++c) used[size_t(c)] += at(r, c) != 0;
    }
    for (int64_t c = 0; c < width; ++c) {
      rounding_ += squares[size_t(c)] * used[size_t(c)] / double(std::max<int64_t>(count_, 1));
      even_gain_ += squares[size_t(c)] / double(width);
    }
    const int64_t looked_at = std::min(count_, kSignalRows);
    for (int64_t i = 0; i < looked_at; ++i) {
      const int64_t r = i * count_ / looked_at;
      for (int64_t g = 0; g < matrix_.groups; ++g) {
        for (int64_t s = 0; s < sums_; ++s) {
          double result = 0;
          for (int64_t k = 0; k < depth; ++k) result += double(sum(g, s)[k]) * double(at(r, g * depth + k));
          signal_ += result * result * factor() / double(looked_at);
        }
      }
    }
  }

  // What may be clipped.
  void find_far_numbers(const RealRange& near) {
    for (int64_t r = 0; r < count_; ++r) {
      for (int64_t c = 0; c < matrix_.width(); ++c) {
        const float x = at(r, c);
        if (x < near.low || x > near.high)
          far_.push_back({r * matrix_.groups + c / matrix_.depth, c / matrix_.depth, c % matrix_.depth, x});
      }
    }
  }

  // Squared error of all outputs for each squared error of the input.
  double gain(double low, double high) const {
    double in = 0, out = 0;
    std::vector<double> results(size_t(sums_), 0.0);
    const auto finish = [&] {
      for (double& result : results) {
        out += result * result * factor();
        result = 0;
      }
    };
    int64_t place = -1;
    for (const FarNumber& far : far_) {
      const double x = double(far.x), beyond = x - std::clamp(x, low, high);
      if (beyond == 0) continue;
      if (far.place != place) finish();
      place = far.place;
      in += beyond * beyond;
      for (int64_t s = 0; s < sums_; ++s) results[size_t(s)] += beyond * double(sum(far.group, s)[far.k]);
    }
    finish();
    return in > 0 ? out / in : even_gain_;
  }

  struct FarNumber {
    int64_t place, group, k;  // place: of row and group
    float x;
  };

  const LayerMatrix matrix_;
  const std::span<const float> rows_;
  const int64_t per_group_;
  int64_t sums_ = 1, count_ = 0;
  std::vector<float> weights_;  // [group][sum][depth]
  std::vector<FarNumber> far_;  // in the order of places
  double rounding_ = 0, even_gain_ = 0, signal_ = 0;
};

// The mean square of what lies beyond low..high.
double excess_of(const Histogram& histogram, double low, double high) {
  double sum = 0;
  for (int bin = 0; bin < Histogram::kBins; ++bin) {
    const int64_t count = histogram.bins()[size_t(bin)];
    if (count == 0) continue;
    const double x = std::clamp(histogram.bin_centre(bin), double(histogram.low()), double(histogram.high()));
    const double beyond = x - std::clamp(x, low, high);
    sum += double(count) * beyond * beyond;
  }
  return sum / double(std::max<int64_t>(histogram.count(), 1));
}

class RangeSearch {
 public:
  RangeSearch(const Histogram& histogram, const std::vector<LayerReader>& readers, const NumberForm& form)
      : histogram_(histogram),
        readers_(readers),
        form_(form),
        seen_(select_range(histogram, CalibrationMethod::kMinMax, form, 100)) {
    best_ = quantization_for(seen_, form);
    least_ = error(best_);
  }

  Quantization run() {
    if (form_.power_of_two) {
      Quantization q = best_;
      for (int step = 0; step < kHalvings; ++step) {
        q.scale /= 2;
        consider(q, 1, 1);
      }
      return best_;
    }
    for (double share : kShares) consider(share, share);
    if (form_.symmetric) return best_;
    const double low = low_;
    for (double share : kShares) consider(low, share);
    const double high = high_;
    for (double share : kShares) consider(share, high);
    return best_;
  }

 private:
  void consider(double low, double high) {
    consider(quantization_for({seen_.low * low, seen_.high * high}, form_), low, high);
  }
  void consider(const Quantization& q, double low, double high) {
    const double found = error(q);
    if (found >= least_) return;
    least_ = found, best_ = q, low_ = low, high_ = high;
  }
  double error(const Quantization& q) const {
    // Half a step beyond the last number is still rounded to it.
    const double low = dequantize_number(form_.lowest(), q) - double(q.scale) / 2;
    const double high = dequantize_number(form_.highest(), q) + double(q.scale) / 2;
    const double excess = excess_of(histogram_, low, high);
    double sum = 0;
    for (const LayerReader& reader : readers_) sum += reader.relative_error(q.scale, low, high, excess);
    return sum;
  }

  const Histogram& histogram_;
  const std::vector<LayerReader>& readers_;
  const NumberForm form_;
  const RealRange seen_;
  Quantization best_;
  double least_ = std::numeric_limits<double>::infinity();
  double low_ = 1, high_ = 1;  // shares of what was seen
};

}  // namespace

Quantization select_by_layers(const PreparedNetwork& network, const SampleStatistics& statistics, int group,
                              const NumberForm& form) {
  const Histogram& histogram = statistics.groups[size_t(group)];
  const RealRange seen = select_range(histogram, CalibrationMethod::kMinMax, form, 100);
  const double share = 0.9 * (form.power_of_two ? std::exp2(-kHalvings) : kLeastShare);
  std::vector<LayerReader> readers;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const LayerWeights& layer = network.layers[i];
    if (statistics.rows[i].empty() || network.plan.group_of(layer.op.input) != group) continue;
    const LayerMatrix matrix = layer_matrix(network.graph, network.graph.nodes[size_t(layer.op.node)]);
    LayerReader reader(matrix, layer.weights.data<float>(), statistics.rows[i],
                       {seen.low * share, seen.high * share}, i + 1);
    if (reader.signal() > 0) readers.push_back(std::move(reader));
  }
  if (histogram.empty() || readers.empty()) return quantization_for(seen, form);
  return RangeSearch(histogram, readers, form).run();
}

}  // namespace tilewright
