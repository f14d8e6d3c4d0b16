// The blocks of a transformer in training: rows of numbers, one per token, through `depth` times attention
// and two dense layers, each behind a normalisation and beside a sum, and a last normalisation.
#pragma once

#include <string>
#include <vector>

#include "form.h"
#include "parameters.h"

namespace transformer {

struct Dense {
  Parameter* weight = nullptr;  // [in][out]
  Parameter* bias = nullptr;    // [out], or none

  int64_t in() const { return weight->shape[0]; }
  int64_t out() const { return weight->shape[1]; }
  void forward(int64_t rows, const std::vector<float>& x, std::vector<float>& y) const;
  // Adds to the gradients of weight and bias; x_gradient = keep * x_gradient + that of x.
  void backward(int64_t rows, const std::vector<float>& x, const std::vector<float>& y_gradient, float keep,
                std::vector<float>& x_gradient) const;
};
Dense add_dense(Parameters& parameters, const std::string& name, int64_t in, int64_t out, bool bias,
                double deviation, tilewright::Random& random);

class Trunk {
 public:
  Trunk(const Form& form, int64_t samples, Parameters& parameters, tilewright::Random& random);

  // [samples * tokens][width], valid until the next call.
  const std::vector<float>& forward(const std::vector<float>& values);
  // After forward(): the gradient of its values in place of that of its result; adds to the parameters'.
  void backward(std::vector<float>& gradient);

 private:
  struct Norm {
    Parameter* scale;
    Parameter* shift;  // or none
  };
  struct Block {
    Norm attention_norm, dense_norm;
    Dense query, key, value, output, up, gate, down;
    std::vector<float> in, normed, q, k, v, probabilities, mixed, middle, middle_normed, raised, gates,
        hidden;
  };
  Norm add_norm(Parameters& parameters, const std::string& name) const;
  void norm_forward(const Norm& norm, const std::vector<float>& x, std::vector<float>& y) const;
  void norm_backward(const Norm& norm, const std::vector<float>& x, const std::vector<float>& y_gradient,
                     std::vector<float>& x_gradient) const;
  template <typename Visit>
  void for_rows(const Visit& visit) const;
  void attend(Block& block) const;
  void attend_backward(const Block& block);
  void turn(float direction, int64_t heads, std::vector<float>& values) const;

  Form form_;
  int64_t samples_, rows_;
  std::vector<Block> blocks_;
  Norm last_;
  std::vector<float> cosines_, sines_, out_, normed_;
  // Gradients, shared by all blocks.
  std::vector<float> mixed_gradient_, q_gradient_, k_gradient_, v_gradient_, raised_gradient_,
      gates_gradient_, normed_gradient_, scores_gradient_;
};

}  // namespace transformer
