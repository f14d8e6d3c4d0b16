// The numbers that a transformer learns, and how: AdamW with gradients cut to a length.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "form.h"
#include "tilewright/base/random.h"
#include "tilewright/tensor/tensor.h"

namespace transformer {

struct Parameter {
  std::string name;
  tilewright::Shape shape;
  bool decays;
  std::vector<float> value, gradient, first, second;
};

class Parameters {
 public:
  // Normal numbers of this deviation, which decay; the reference stays valid.
  Parameter& add_weight(const std::string& name, tilewright::Shape shape, double deviation,
                        tilewright::Random& random);
  // All of one value, without decay.
  Parameter& add_constant(const std::string& name, tilewright::Shape shape, float value);

  void clear_gradients();
  // Gradients are divided by `samples` and then cut to a length of 1 over all parameters.
  void step(double rate, double decay, double samples);

  int64_t count() const;
  Weights weights() const;
  std::deque<Parameter>& all() { return all_; }

 private:
  Parameter& add(const std::string& name, tilewright::Shape shape, bool decays);

  std::deque<Parameter> all_;
  int64_t steps_ = 0;
};

}  // namespace transformer
