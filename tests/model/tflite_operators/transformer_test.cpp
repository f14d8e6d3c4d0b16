// What transformers are made of beside layers: products of two computed operands, gathers, powers.
#include "nhwc_testing.h"

namespace tilewright {
namespace {

using namespace tflite_testing;

// A tensor of `shape` with the number that `f` gives for each index.
Tensor filled(const Shape& shape, const std::function<double(const std::vector<int64_t>&)>& f) {
  Tensor tensor(ElementType::kF32, shape);
  std::vector<int64_t> index(size_t(shape.rank()), 0);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    int64_t rest = i;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      index[size_t(axis)] = rest % shape[axis];
      rest /= shape[axis];
    }
    tensor.set_number(i, f(index));
  }
  return tensor;
}

double at_index(const Tensor& t, const std::vector<int64_t>& index) {
  int64_t flat = 0;
  for (int axis = 0; axis < t.shape().rank(); ++axis) flat = flat * t.shape()[axis] + index[size_t(axis)];
  return t.number_at(flat);
}

std::vector<int64_t> part(const std::vector<int64_t>& index, size_t from, size_t to) {
  return {index.begin() + std::ptrdiff_t(from), index.begin() + std::ptrdiff_t(to)};
}

TEST(TfliteTransformers, BatchMatmulOfComputedOperands) {
  Random random(1);
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const bool adj_x = random.chance(0.5), adj_y = random.chance(0.5), broadcasts = random.chance(0.3);
    const int64_t batch = random.between(1, 3), heads = random.between(1, 3), m = random.between(1, 5),
                  k = random.between(1, 5), n = random.between(1, 5);
    const Tensor x = random_tensor(random, {batch, heads, adj_x ? k : m, adj_x ? m : k});
    const Tensor y = random_tensor(random, {broadcasts ? 1 : batch, heads, adj_y ? n : k, adj_y ? k : n});
    const Tensor expected = filled({batch, heads, m, n}, [&](const std::vector<int64_t>& i) {
      double sum = 0;
      for (int64_t j = 0; j < k; ++j) {
        const int64_t b = broadcasts ? 0 : i[0];
        sum += (adj_x ? at_index(x, {i[0], i[1], j, i[2]}) : at_index(x, {i[0], i[1], i[2], j})) *
               (adj_y ? at_index(y, {b, i[1], i[3], j}) : at_index(y, {b, i[1], j, i[3]}));
      }
      return sum;
    });
    TfliteBuilder model;
    const int a = model.input("a", dims_of(x.shape())), b = model.input("b", dims_of(y.shape()));
    schema::BatchMatMulOptionsT options;
    options.adj_x = adj_x;
    options.adj_y = adj_y;
    model.op(Op::BuiltinOperator_BATCH_MATMUL, {a, b}, {model.output("y", dims_of(expected.shape()))},
             options);
    expect_output(model, {x, y}, expected);
  }
}

// Both factors are inputs of the network, and so is the bias.
TEST(TfliteTransformers, FullyConnectedOfComputedOperands) {
  Random random(2);
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    const int64_t rows = random.between(1, 6), k = random.between(1, 6), n = random.between(1, 6);
    const bool keeps = random.chance(0.5), has_bias = random.chance(0.5);
    const Tensor x = random_tensor(random, {2, rows, k}), w = random_tensor(random, {n, k});
    const Tensor bias = random_tensor(random, {n});
    const Tensor expected = filled(keeps ? Shape{2, rows, n} : Shape{2 * rows, n}, [&](const auto& i) {
      const int64_t row = keeps ? i[0] * rows + i[1] : i[0], o = i.back();
      double sum = has_bias ? bias.number_at(o) : 0;
      for (int64_t j = 0; j < k; ++j) sum += x.number_at(row * k + j) * at_index(w, {o, j});
      return sum;
    });
    TfliteBuilder model;
    const int a = model.input("x", dims_of(x.shape())), b = model.input("w", dims_of(w.shape()));
    const int c = has_bias ? model.input("b", {int32_t(n)}) : -1;
    schema::FullyConnectedOptionsT options;
    options.keep_num_dims = keeps;
    model.op(Op::BuiltinOperator_FULLY_CONNECTED, {a, b, c}, {model.output("y", dims_of(expected.shape()))},
             options);
    expect_output(model, has_bias ? std::vector<Tensor>{x, w, bias} : std::vector<Tensor>{x, w}, expected);
  }
}

TEST(TfliteTransformers, GatherAlongAnyAxisAndByBatches) {
  Random random(3);
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const int rank = int(random.between(1, 4)), axis = int(random.between(0, rank - 1));
    const int batches = int(random.between(0, axis));
    std::vector<int64_t> dims, index_dims;
    for (int i = 0; i < rank; ++i) dims.push_back(random.between(1, 4));
    for (int i = 0; i < batches; ++i) index_dims.push_back(dims[size_t(i)]);
    for (int64_t i = random.between(1, 2); i > 0; --i) index_dims.push_back(random.between(1, 3));
    const Tensor x = random_tensor(random, Shape(dims));
    Tensor at(random.chance(0.5) ? ElementType::kI32 : ElementType::kI64, Shape(index_dims));
    for (int64_t i = 0; i < at.size(); ++i) at.set_integer(i, random.between(0, dims[size_t(axis)] - 1));
    std::vector<int64_t> y(dims.begin(), dims.begin() + axis);
    y.insert(y.end(), index_dims.begin() + batches, index_dims.end());
    y.insert(y.end(), dims.begin() + axis + 1, dims.end());
    const size_t more = index_dims.size() - size_t(batches);
    const Tensor expected = filled(Shape(y), [&](const std::vector<int64_t>& i) {
      std::vector<int64_t> place = part(i, 0, size_t(batches));
      for (const int64_t j : part(i, size_t(axis), size_t(axis) + more)) place.push_back(j);
      std::vector<int64_t> from = part(i, 0, size_t(axis));
      from.push_back(int64_t(at_index(at, place)));
      for (const int64_t j : part(i, size_t(axis) + more, i.size())) from.push_back(j);
      return at_index(x, from);
    });
    TfliteBuilder model;
    const int a = model.input("x", dims_of(x.shape())), b = model.input("at", dims_of(at.shape()), at.type());
    schema::GatherOptionsT options;
    options.axis = int32_t(random.chance(0.5) ? axis : axis - rank);
    options.batch_dims = batches == 0 || random.chance(0.5) ? batches : batches - at.shape().rank();
    model.op(Op::BuiltinOperator_GATHER, {a, b}, {model.output("y", dims_of(expected.shape()))}, options);
    expect_output(model, {x, at}, expected);
  }
}

// Mean, squared difference, its mean, the root: how converters write a layer normalisation.
TEST(TfliteTransformers, LayerNormalisationSpelledOut) {
  Random random(4);
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(trial);
    const int64_t rows = random.between(1, 5), width = random.between(2, 9);
    const Tensor x = random_tensor(random, {1, rows, width});
    const Tensor expected = filled(x.shape(), [&](const std::vector<int64_t>& i) {
      double mean = 0, variance = 0;
      for (int64_t j = 0; j < width; ++j) mean += at_index(x, {0, i[1], j}) / double(width);
      for (int64_t j = 0; j < width; ++j)
        variance += std::pow(at_index(x, {0, i[1], j}) - mean, 2) / double(width);
      return (at_index(x, i) - mean) / std::sqrt(variance + 0.25);
    });
    TfliteBuilder model;
    const std::vector<int32_t> dims = dims_of(x.shape()), column = {1, int32_t(rows), 1};
    const auto value = [&](const char* name, const std::vector<int32_t>& shape) {
      return model.add(name, ElementType::kF32, shape);
    };
    const int in = model.input("x", dims), axes = model.integers("axes", {2});
    const int epsilon = model.constant("epsilon", Tensor::scalar(0.25f));
    schema::ReducerOptionsT keep;
    keep.keep_dims = true;
    const int mean = value("mean", column), square = value("square", dims),
              variance = value("variance", column), sum = value("sum", column),
              inverse = value("inverse", column), centred = value("centred", dims);
    model.op(Op::BuiltinOperator_MEAN, {in, axes}, {mean}, keep);
    model.op(Op::BuiltinOperator_SQUARED_DIFFERENCE, {in, mean}, {square});
    model.op(Op::BuiltinOperator_MEAN, {square, axes}, {variance}, keep);
    model.op(Op::BuiltinOperator_ADD, {variance, epsilon}, {sum}, schema::AddOptionsT());
    model.op(Op::BuiltinOperator_RSQRT, {sum}, {inverse});
    model.op(Op::BuiltinOperator_SUB, {in, mean}, {centred}, schema::SubOptionsT());
    model.op(Op::BuiltinOperator_MUL, {centred, inverse}, {model.output("y", dims)}, schema::MulOptionsT());
    expect_output(model, {x}, expected, 2e-5);
  }
}

TEST(TfliteTransformers, Powers) {
  Random random(5);
  for (const bool constant : {false, true}) {
    Tensor x = random_tensor(random, {2, 3, 4});
    for (float& number : x.mutable_data<float>()) number = std::fabs(number) + 0.1f;
    const Tensor exponent = constant ? Tensor::of<float>({}, {3.0f}) : random_tensor(random, {3, 4});
    const Tensor expected = filled(x.shape(), [&](const std::vector<int64_t>& i) {
      return std::pow(at_index(x, i), constant ? 3.0 : at_index(exponent, {i[1], i[2]}));
    });
    TfliteBuilder model;
    const int in = model.input("x", {2, 3, 4});
    const int by = constant ? model.constant("p", exponent) : model.input("p", {3, 4});
    model.op(Op::BuiltinOperator_POW, {in, by}, {model.output("y", {2, 3, 4})});
    expect_output(model, constant ? std::vector<Tensor>{x} : std::vector<Tensor>{x, exponent}, expected);
  }
}

}  // namespace
}  // namespace tilewright
