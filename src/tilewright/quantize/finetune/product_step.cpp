// Gemm and MatMul: rows of numbers, each multiplied with the weights.
#include "tilewright/host/matrix_product.h"
#include "tilewright/quantize/finetune/training_pass.h"

namespace tilewright {
namespace {

class ProductStep : public TrainingStep {
 public:
  // transposed: the weights lie as outputs x inputs.
  ProductStep(const StepOperands& operands, int64_t inputs, int64_t outputs, bool transposed)
      : operands_(operands), inputs_(inputs), outputs_(outputs), transposed_(transposed) {}

  void forwards(TrainingPass& pass) const override {
    const Numbers& x = pass.values[operands_.inputs[0].place];
    Numbers& y = pass.values[operands_.output.place];
    if (operands_.bias >= 0) {
      const Numbers& bias = (*pass.trained)[size_t(operands_.bias)];
      for (size_t i = 0; i < y.size(); ++i) y[i] = bias[i % size_t(outputs_)];
    }
    multiply_matrices(rows(pass), outputs_, inputs_, {x.data(), inputs_, false}, weights(pass, transposed_),
                      y.data(), outputs_, operands_.bias >= 0);
  }

  void backwards(TrainingPass& pass) const override {
    const Numbers& x = pass.values[operands_.inputs[0].place];
    const Numbers& dy = pass.gradients[operands_.output.place];
    Numbers& dweights = (*pass.trained_gradients)[size_t(operands_.weights)];
    multiply_matrices(rows(pass), inputs_, outputs_, {dy.data(), outputs_, false},
                      weights(pass, !transposed_), pass.gradients[operands_.inputs[0].place].data(), inputs_,
                      true);
    const MatrixInMemory by_input{x.data(), inputs_, !transposed_};
    const MatrixInMemory by_output{dy.data(), outputs_, transposed_};
    if (transposed_) {
      multiply_matrices(outputs_, inputs_, rows(pass), by_output, by_input, dweights.data(), inputs_, true);
    } else {
      multiply_matrices(inputs_, outputs_, rows(pass), by_input, by_output, dweights.data(), outputs_, true);
    }
    if (operands_.bias < 0) return;
    Numbers& bias = (*pass.trained_gradients)[size_t(operands_.bias)];
    for (size_t i = 0; i < dy.size(); ++i) bias[i % size_t(outputs_)] += dy[i];
  }

 private:
  int64_t rows(const TrainingPass& pass) const { return pass.runs * operands_.inputs[0].size / inputs_; }
  MatrixInMemory weights(const TrainingPass& pass, bool transposed) const {
    return {(*pass.trained)[size_t(operands_.weights)].data(), transposed_ ? inputs_ : outputs_, transposed};
  }

  const StepOperands operands_;
  const int64_t inputs_, outputs_;
  const bool transposed_;
};

}  // namespace

std::unique_ptr<TrainingStep> product_step(const Graph& graph, const Node& node,
                                           const StepOperands& operands) {
  if (!node.is("Gemm") && !node.is("MatMul")) return nullptr;
  if (node.int_or("transA", 0) != 0) return nullptr;
  const bool transposed = node.int_or("transB", 0) != 0;
  const Shape& weights = graph.constant_input(node, 1)->shape();
  return std::make_unique<ProductStep>(operands, weights[transposed ? 1 : 0], weights[transposed ? 0 : 1],
                                       transposed);
}

}  // namespace tilewright
