#include "model/recurrent/recurrent_reference.h"

#include <algorithm>
#include <cmath>

namespace tilewright {
namespace {

double activate(const std::string& name, double x) {
  if (name == "Relu") return std::max(0.0, x);
  if (name == "Tanh") return std::tanh(x);
  if (name == "Sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "Softsign") return x / (1 + std::abs(x));
  if (name == "HardSigmoid") return std::clamp(0.2 * x + 0.5, 0.0, 1.0);
  return x;  // Affine with its usual numbers
}

using Vector = std::vector<double>;

class Reference {
 public:
  Reference(const RecurrentCase& layer, const Tensor& x)
      : layer_(layer), x_(x), weights_(recurrent_weights(layer)) {}

  std::vector<Tensor> run() {
    const int64_t t = layer_.steps, n = layer_.batch, h = layer_.hidden, d = layer_.directions();
    Tensor y(ElementType::kF32, layer_.batch_first ? Shape{n, t, d, h} : Shape{t, d, n, h});
    Tensor last(ElementType::kF32, layer_.batch_first ? Shape{n, d, h} : Shape{d, n, h}), cell = last;
    for (int64_t dir = 0; dir < d; ++dir) {
      const bool reverse = dir == 1 || layer_.direction == "reverse";
      for (int64_t b = 0; b < n; ++b) {
        Vector hidden = state("initial_h", dir, b), c = state("initial_c", dir, b);
        const int64_t length = layer_.lengths.empty() ? t : layer_.lengths[size_t(b)];
        for (int64_t i = 0; i < length; ++i) {
          const int64_t step = reverse ? length - 1 - i : i;
          advance(dir, b, step, hidden, c);
          for (int64_t k = 0; k < h; ++k) {
            const int64_t at =
                layer_.batch_first ? ((b * t + step) * d + dir) * h + k : ((step * d + dir) * n + b) * h + k;
            y.set_number(at, hidden[size_t(k)]);
          }
        }
        for (int64_t k = 0; k < h; ++k) {
          const int64_t at = layer_.batch_first ? (b * d + dir) * h + k : (dir * n + b) * h + k;
          last.set_number(at, hidden[size_t(k)]);
          cell.set_number(at, c[size_t(k)]);
        }
      }
    }
    if (layer_.op == "LSTM") return {y, last, cell};
    return {y, last};
  }

 private:
  double weight(const char* name, int64_t index) const {
    const auto found = weights_.find(name);
    return found == weights_.end() ? 0 : found->second.number_at(index);
  }
  Vector state(const char* name, int64_t dir, int64_t b) const {
    Vector values;
    for (int64_t k = 0; k < layer_.hidden; ++k) {
      const int64_t row = layer_.batch_first ? b * layer_.directions() + dir : dir * layer_.batch + b;
      values.push_back(weight(name, row * layer_.hidden + k));
    }
    return values;
  }
  std::string function(int64_t dir, int which) const {
    const std::vector<std::string> usual = layer_.op == "LSTM"
                                               ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
                                           : layer_.op == "GRU" ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                                                : std::vector<std::string>{"Tanh"};
    if (layer_.activations.empty()) return usual[size_t(which)];
    return layer_.activations[size_t(dir) * usual.size() + size_t(which)];
  }
  double apply(int64_t dir, int which, double x) const {
    if (layer_.clip) x = std::clamp(x, -double(*layer_.clip), double(*layer_.clip));
    return activate(function(dir, which), x);
  }
  int64_t row(int64_t dir, int64_t gate, int64_t k) const {
    return (dir * layer_.gates() + gate) * layer_.hidden + k;
  }
  // W x and its bias.
  double of_input(int64_t dir, int64_t b, int64_t step, int64_t gate, int64_t k) const {
    double sum = weight("B", (dir * 2 * layer_.gates() + gate) * layer_.hidden + k);
    for (int64_t i = 0; i < layer_.inputs; ++i) {
      const int64_t at = layer_.batch_first ? (b * layer_.steps + step) * layer_.inputs + i
                                            : (step * layer_.batch + b) * layer_.inputs + i;
      sum += weight("W", row(dir, gate, k) * layer_.inputs + i) * x_.number_at(at);
    }
    return sum;
  }
  double recurrent_bias(int64_t dir, int64_t gate, int64_t k) const {
    return weight("B", (dir * 2 * layer_.gates() + layer_.gates() + gate) * layer_.hidden + k);
  }
  double of_state(int64_t dir, int64_t gate, int64_t k, const Vector& hidden) const {
    double sum = 0;
    for (size_t i = 0; i < hidden.size(); ++i)
      sum += weight("R", row(dir, gate, k) * layer_.hidden + int64_t(i)) * hidden[i];
    return sum;
  }

  void advance(int64_t dir, int64_t b, int64_t step, Vector& hidden, Vector& c) const {
    const Vector before = hidden;
    const auto plain = [&](int64_t gate, int64_t k) {
      return of_input(dir, b, step, gate, k) + of_state(dir, gate, k, before) + recurrent_bias(dir, gate, k);
    };
    const auto peephole = [&](int64_t p, int64_t k) {
      return weight("P", (dir * 3 + p) * layer_.hidden + k);
    };
    if (layer_.op == "RNN") {
      for (int64_t k = 0; k < layer_.hidden; ++k) hidden[size_t(k)] = apply(dir, 0, plain(0, k));
    } else if (layer_.op == "GRU") {
      Vector update, reset, gated;
      for (int64_t k = 0; k < layer_.hidden; ++k) {
        update.push_back(apply(dir, 0, plain(0, k)));
        reset.push_back(apply(dir, 0, plain(1, k)));
        gated.push_back(reset.back() * before[size_t(k)]);
      }
      for (int64_t k = 0; k < layer_.hidden; ++k) {
        const double recurrent =
            layer_.linear_before_reset
                ? reset[size_t(k)] * (of_state(dir, 2, k, before) + recurrent_bias(dir, 2, k))
                : of_state(dir, 2, k, gated) + recurrent_bias(dir, 2, k);
        const double fresh = apply(dir, 1, of_input(dir, b, step, 2, k) + recurrent);
        hidden[size_t(k)] = (1 - update[size_t(k)]) * fresh + update[size_t(k)] * before[size_t(k)];
      }
    } else {
      for (int64_t k = 0; k < layer_.hidden; ++k) {
        const double old = c[size_t(k)];
        const double in = apply(dir, 0, plain(0, k) + peephole(0, k) * old);
        const double forget =
            layer_.input_forget ? 1 - in : apply(dir, 0, plain(2, k) + peephole(2, k) * old);
        c[size_t(k)] = forget * old + in * apply(dir, 1, plain(3, k));
        const double out = apply(dir, 0, plain(1, k) + peephole(1, k) * c[size_t(k)]);
        hidden[size_t(k)] = out * apply(dir, 2, c[size_t(k)]);
      }
    }
  }

  const RecurrentCase& layer_;
  const Tensor& x_;
  std::map<std::string, Tensor> weights_;
};

}  // namespace

std::vector<Tensor> recurrent_reference(const RecurrentCase& layer, const Tensor& x) {
  return Reference(layer, x).run();
}

}  // namespace tilewright
