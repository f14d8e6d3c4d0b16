#include "parameters.h"

#include <algorithm>
#include <cmath>

#include "kernels.h"

namespace transformer {

Parameter& Parameters::add(const std::string& name, tilewright::Shape shape, bool decays) {
  Parameter& p = all_.emplace_back();
  p.name = name;
  p.decays = decays;
  for (auto* numbers : {&p.value, &p.gradient, &p.first, &p.second})
    numbers->resize(size_t(shape.element_count()));
  p.shape = std::move(shape);
  return p;
}

Parameter& Parameters::add_weight(const std::string& name, tilewright::Shape shape, double deviation,
                                  tilewright::Random& random) {
  Parameter& p = add(name, std::move(shape), true);
  for (float& v : p.value) {  // normal by the sum of twelve uniforms: enough for an initialisation
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.uniform();
    v = float(sum * deviation);
  }
  return p;
}

Parameter& Parameters::add_constant(const std::string& name, tilewright::Shape shape, float value) {
  Parameter& p = add(name, std::move(shape), false);
  std::fill(p.value.begin(), p.value.end(), value);
  return p;
}

void Parameters::clear_gradients() {
  for (Parameter& p : all_) std::fill(p.gradient.begin(), p.gradient.end(), 0.0f);
}

void Parameters::step(double rate, double decay, double samples) {
  double squares = 0;
  for (const Parameter& p : all_)
    for (const float g : p.gradient) squares += double(g) * double(g);
  const double length = std::sqrt(squares) / samples;
  ++steps_;
  AdamStep step{float(rate), 0, float(1 / samples / std::max(1.0, length)),
                float(1 - std::pow(double(kBeta1), double(steps_))),
                float(1 - std::pow(double(kBeta2), double(steps_)))};
  for (Parameter& p : all_) {
    step.decay = p.decays ? float(decay) : 0;
    adam(int64_t(p.value.size()), step, p.gradient.data(), p.first.data(), p.second.data(), p.value.data());
  }
}

int64_t Parameters::count() const {
  int64_t sum = 0;
  for (const Parameter& p : all_) sum += p.shape.element_count();
  return sum;
}

Weights Parameters::weights() const {
  Weights weights;
  for (const Parameter& p : all_)
    weights.emplace(p.name, tilewright::Tensor(p.shape, std::span<const float>(p.value)));
  return weights;
}

}  // namespace transformer
