#include "tilewright/transform/normalize/form_norms.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "support/random_seed_testing.h"
#include "support/transform/layer_builder_testing.h"
#include "tilewright/host/executor.h"
#include "tilewright/transform/edit/transform_testing.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

enum class Square { kPow, kMul, kSumSquare };
enum class Root { kSqrtDiv, kReciprocalMul, kOneOverMul, kPowMinusHalf, kPowHalfDiv };

// One way to write a normalisation.
struct NormSpelling {
  bool is_centred = true;
  int64_t axis = 2;  // the first of those that are normalised
  Square square = Square::kPow;
  Root root = Root::kSqrtDiv;
  bool sums = false;         // ReduceSum and a division by the size instead of ReduceMean
  bool second_sub = false;   // the difference is computed twice
  bool early_scale = false;  // the scale is a factor of the reciprocal
  bool folded = false;       // x * factor + (bias - mean * factor)
  bool negative = false;     // ... with a Neg instead of the Sub
  bool has_scale = true, has_bias = true, padded_shapes = false, swaps = false;
  float epsilon = 1e-5f;
};

// Where a graph differs from a normalisation.
enum class Fault {
  kNone,
  kOtherAxisOfMean,
  kOtherAxisOfVariance,
  kEpsilonOutside,
  kNoEpsilon,
  kNegativeEpsilon,
  kEpsilonOfRows,
  kVarianceOfOther,
  kOtherNumerator,
  kPowThree,
  kWrongSize,
  kSumAlone,
  kVarianceIsRead,
  kRootIsOutput,
  kCount
};

class NormBuilder {
 public:
  NormBuilder(LayerBuilder& b, const NormSpelling& spelling, Fault fault)
      : b_(b), s_(spelling), fault_(fault) {}

  ValueId build(ValueId x, ValueId other) {
    const ValueId mean = s_.is_centred ? mean_of(x, fault_ == Fault::kOtherAxisOfMean) : kNoValue;
    const auto difference = [&] { return s_.is_centred ? b_.node("Sub", {x, mean}) : x; };
    const ValueId squared = fault_ == Fault::kVarianceOfOther ? other : difference();
    const ValueId variance = mean_square(squared);
    if (fault_ == Fault::kVarianceIsRead) outputs.push_back(b_.relu(variance));
    if (s_.folded) return parameters(folded(x, mean, variance));
    const bool is_same = squared != other && fault_ != Fault::kOtherNumerator && !s_.second_sub;
    return parameters(plain(is_same                            ? squared
                            : fault_ == Fault::kOtherNumerator ? other
                                                               : difference(),
                            variance));
  }

  std::vector<ValueId> outputs;  // besides the result

 private:
  ValueId mul(ValueId a, ValueId c) { return s_.swaps ? b_.node("Mul", {c, a}) : b_.node("Mul", {a, c}); }
  ValueId number(float value) { return b_.constant(Tensor::scalar(value)); }

  std::vector<int64_t> axes(bool wrong) const {
    std::vector<int64_t> all(size_t(b_rank_) - size_t(s_.axis));
    std::iota(all.begin(), all.end(), s_.axis);
    if (wrong) {
      all.pop_back();
      if (all.empty()) all.push_back(s_.axis - 1);
    }
    if (s_.swaps) {
      for (int64_t& axis : all) axis -= b_rank_;
    }
    return all;
  }

  ValueId reduce(const std::string& op, ValueId x, bool wrong) {
    if (op == "ReduceSum") return b_.node(op, {x, b_.integers(axes(wrong))});
    return b_.node(op, {x}, {{"axes", axes(wrong)}});
  }

  // A sum divided by the size.
  ValueId mean_of_sum(ValueId sum, ValueId x) {
    int64_t size = b_.shape(x).count(int(s_.axis), int(b_rank_));
    if (fault_ == Fault::kWrongSize) ++size;
    if (fault_ == Fault::kSumAlone) return sum;
    return s_.swaps ? b_.node("Mul", {sum, number(1 / float(size))})
                    : b_.node("Div", {sum, number(float(size))});
  }

  ValueId mean_of(ValueId x, bool wrong) {
    b_rank_ = b_.shape(x).rank();
    if (s_.sums && !wrong) return mean_of_sum(reduce("ReduceSum", x, false), x);
    return reduce("ReduceMean", x, wrong);
  }

  ValueId mean_square(ValueId x) {
    b_rank_ = b_.shape(x).rank();
    const bool wrong = fault_ == Fault::kOtherAxisOfVariance;
    if (s_.square == Square::kSumSquare) return mean_of_sum(reduce("ReduceSumSquare", x, wrong), x);
    const bool is_pow = s_.square == Square::kPow || fault_ == Fault::kPowThree;
    const ValueId exponent = is_pow ? number(fault_ == Fault::kPowThree ? 3.0f : 2.0f) : kNoValue;
    return mean_of(is_pow ? b_.node("Pow", {x, exponent}) : b_.node("Mul", {x, x}), wrong);
  }

  ValueId summed(ValueId variance) {
    ValueId epsilon = number(fault_ == Fault::kNegativeEpsilon ? -1e-9f : s_.epsilon);
    if (fault_ == Fault::kEpsilonOfRows) epsilon = b_.uniform(b_.shape(variance), 0.1, 1);
    if (fault_ == Fault::kNoEpsilon || fault_ == Fault::kEpsilonOutside) return variance;
    return s_.swaps ? b_.add(epsilon, variance) : b_.add(variance, epsilon);
  }

  ValueId root_of(ValueId variance) {
    const bool is_pow = s_.root == Root::kPowHalfDiv || s_.root == Root::kPowMinusHalf;
    const float exponent = s_.root == Root::kPowMinusHalf ? -0.5f : 0.5f;
    ValueId root =
        is_pow ? b_.node("Pow", {summed(variance), number(exponent)}) : b_.node("Sqrt", {summed(variance)});
    if (fault_ == Fault::kEpsilonOutside) root = b_.add(root, number(s_.epsilon));
    if (fault_ == Fault::kRootIsOutput) outputs.push_back(root);
    return root;
  }

  ValueId inverse_of(ValueId variance) {
    const ValueId root = root_of(variance);
    const ValueId inverse = s_.root == Root::kPowMinusHalf ? root
                            : s_.root == Root::kOneOverMul ? b_.node("Div", {number(1), root})
                                                           : b_.node("Reciprocal", {root});
    if (!s_.early_scale || !s_.has_scale) return inverse;
    return mul(inverse, parameter());
  }

  ValueId plain(ValueId numerator, ValueId variance) {
    if (s_.root == Root::kSqrtDiv || s_.root == Root::kPowHalfDiv)
      return b_.node("Div", {numerator, root_of(variance)});
    return mul(numerator, inverse_of(variance));
  }

  ValueId folded(ValueId x, ValueId mean, ValueId variance) {
    const ValueId factor = inverse_of(variance);
    const ValueId product = mul(x, factor), shift = mul(mean, factor);
    if (s_.negative) return b_.add(product, b_.node("Neg", {shift}));
    if (!s_.has_bias) return b_.node("Sub", {product, shift});
    const ValueId rest = b_.node("Sub", {parameter(), shift});
    return s_.swaps ? b_.add(rest, product) : b_.add(product, rest);
  }

  ValueId parameters(ValueId y) {
    const bool is_scaled =
        s_.early_scale && (s_.folded || (s_.root != Root::kSqrtDiv && s_.root != Root::kPowHalfDiv));
    if (s_.has_scale && !is_scaled) y = mul(y, parameter());
    if (s_.has_bias && s_.is_centred && !(s_.folded && !s_.negative))
      y = s_.swaps ? b_.add(parameter(), y) : b_.add(y, parameter());
    return y;
  }

  ValueId parameter() {
    std::vector<int64_t> dims(x_shape.begin() + int(s_.axis), x_shape.end());
    if (s_.padded_shapes) dims.insert(dims.begin(), size_t(s_.axis), 1);
    return b_.uniform(Shape(dims), 0.2, 2);
  }

 public:
  Shape x_shape;

 private:
  LayerBuilder& b_;
  const NormSpelling& s_;
  const Fault fault_;
  int64_t b_rank_ = 0;
};

Graph norm_graph(const Shape& shape, const NormSpelling& spelling, Fault fault, uint64_t seed) {
  LayerBuilder b(seed);
  const ValueId x = b.input(shape), other = b.input(shape, "other");
  NormBuilder builder(b, spelling, fault);
  builder.x_shape = shape;
  std::vector<ValueId> outputs{b.relu(builder.build(x, other))};
  outputs.insert(outputs.end(), builder.outputs.begin(), builder.outputs.end());
  return b.finish(outputs);
}

// Neighbours have different signs: rows of nearly equal numbers would show the rounding of their mean.
std::vector<Tensor> inputs_of(const Graph& graph, uint64_t seed) {
  Random random(seed);
  std::vector<Tensor> tensors;
  for (const ValueId id : graph.inputs) {
    Tensor x(ElementType::kF32, graph.value(id).shape);
    for (int64_t i = 0; i < x.size(); ++i) x.set_number(i, (i % 2 - 0.4) * (1 + 3 * random.uniform()));
    tensors.push_back(std::move(x));
  }
  return tensors;
}

// The largest difference, relative to the largest element.
double relative_difference(const Graph& a, const Graph& b, uint64_t seed) {
  const std::vector<Tensor> inputs = inputs_of(a, seed);
  const std::vector<Tensor> found = Executor(a).run(inputs), wanted = Executor(b).run(inputs);
  double worst = found.size() == wanted.size() ? 0 : 1;
  for (size_t k = 0; k < std::min(found.size(), wanted.size()); ++k) {
    double scale = 1e-3, delta = found[k].shape() == wanted[k].shape() ? 0 : 1;
    for (int64_t i = 0; i < wanted[k].size(); ++i) {
      scale = std::max(scale, std::abs(wanted[k].number_at(i)));
      delta = std::max(delta, std::abs(wanted[k].number_at(i) - found[k].number_at(i)));
    }
    worst = std::max(worst, delta / scale);
  }
  return worst;
}

struct RandomCase {
  Shape shape;
  NormSpelling spelling;
};

RandomCase random_case(Random& random) {
  RandomCase result;
  std::vector<int64_t> dims;
  for (int64_t rank = random.between(2, 4); rank > 0; --rank) dims.push_back(random.between(2, 6));
  NormSpelling& s = result.spelling;
  s.is_centred = random.chance(0.6);
  s.axis = random.chance(0.6) ? int64_t(dims.size()) - 1 : random.between(1, int64_t(dims.size()) - 1);
  s.square = Square(random.between(0, 2));
  s.root = Root(random.between(0, 4));
  s.sums = random.chance(0.3);
  s.second_sub = random.chance(0.3);
  s.early_scale = random.chance(0.4);
  s.has_scale = random.chance(0.7);
  s.has_bias = random.chance(0.6);
  s.padded_shapes = random.chance(0.3);
  s.swaps = random.chance(0.4);
  const bool divides = s.root == Root::kSqrtDiv || s.root == Root::kPowHalfDiv;
  s.folded = s.is_centred && !divides && random.chance(0.4);
  s.negative = s.folded && random.chance(0.3);
  s.epsilon = random.chance(0.5) ? 1e-5f : 0.25f;
  result.shape = Shape(dims);
  return result;
}

// Random spellings of random shapes and axes become one operator, with the same results.
TEST(FormNormsClass, EverySpellingBecomesOneOperator) {
  Random random(test_seed());
  const int64_t cases = test_cases(400);
  RecordProperty("cases", int(cases));
  for (int64_t i = 0; i < cases; ++i) {
    const RandomCase drawn = random_case(random);
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i << ", shape "
                                    << to_string(drawn.shape) << ", axis " << drawn.spelling.axis);
    const Graph graph = norm_graph(drawn.shape, drawn.spelling, Fault::kNone, uint64_t(i));
    const Graph formed = form_norms(graph);
    const NormSpelling& spelling = drawn.spelling;
    std::string wanted = spelling.is_centred ? "LayerNormalization" : "RMSNormalization";
    // A scale of what has its bias already is a product of its own.
    if (spelling.folded && !spelling.negative && spelling.has_scale && !spelling.early_scale &&
        spelling.has_bias)
      wanted += " Mul";
    ASSERT_EQ(ops(formed), wanted + " Relu") << ops(graph);
    EXPECT_EQ(formed.nodes[0].int_or("axis", 0), drawn.spelling.axis - drawn.shape.rank());
    ASSERT_LE(relative_difference(formed, graph, uint64_t(i)), 1e-5) << ops(graph);
    ASSERT_EQ(ops(optimize(graph)), ops(formed)) << ops(graph);
  }
}

// A normalisation with one thing wrong stays as it is, or computes the same: x minus another mean is
// normalised by the root of its own mean square.
TEST(FormNormsClass, NearMissesAreNotTaken) {
  Random random(test_seed());
  const int64_t cases = test_cases(600);
  RecordProperty("cases", int(cases));
  std::vector<int> seen(size_t(Fault::kCount), 0);
  for (int64_t i = 0; i < cases; ++i) {
    RandomCase drawn = random_case(random);
    NormSpelling& s = drawn.spelling;
    const auto fault = Fault(random.between(1, int64_t(Fault::kCount) - 1));
    const bool sums = s.square == Square::kSumSquare;
    if (fault == Fault::kOtherAxisOfMean && (!s.is_centred || s.folded)) continue;
    if (fault == Fault::kPowThree && sums) continue;
    if ((fault == Fault::kWrongSize || fault == Fault::kSumAlone) && !sums) continue;
    if (fault == Fault::kOtherNumerator && s.folded) continue;
    if (s.axis == drawn.shape.rank() - 1 && s.axis < 1) continue;
    if (fault == Fault::kWrongSize || fault == Fault::kSumAlone) s.sums = false;
    ++seen[size_t(fault)];
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i << ", fault " << int(fault));
    const Graph graph = norm_graph(drawn.shape, s, fault, uint64_t(i));
    const Graph formed = form_norms(graph);
    EXPECT_EQ(find_op(formed, "LayerNormalization"), nullptr) << ops(graph);
    if (fault == Fault::kOtherAxisOfMean && !s.second_sub) {
      EXPECT_NE(find_op(formed, "RMSNormalization"), nullptr) << ops(graph);
      ASSERT_LE(relative_difference(formed, graph, uint64_t(i)), 1e-5) << ops(graph);
    } else {
      EXPECT_EQ(ops(formed), ops(graph));
    }
  }
  for (size_t fault = 1; fault < seen.size(); ++fault) EXPECT_GT(seen[fault], 3) << fault;
}

// x -> f(x, mean of x), as a graph.
Graph with_mean(const Shape& shape, const std::vector<int64_t>& axes, int64_t keepdims,
                const std::function<ValueId(LayerBuilder&, ValueId, ValueId)>& rest) {
  LayerBuilder b;
  const ValueId x = b.input(shape);
  const ValueId mean = b.node("ReduceMean", {x}, {{"axes", axes}, {"keepdims", keepdims}});
  return b.finish({rest(b, x, mean)});
}

ValueId divided_by_root(LayerBuilder& b, ValueId d, const Attributes& mean) {
  const ValueId variance = b.node("ReduceMean", {b.node("Mul", {d, d})}, mean);
  const ValueId sum = b.add(variance, b.constant(Tensor::scalar(1e-5f)));
  return b.node("Div", {d, b.node("Sqrt", {sum})});
}

// Without keepdims the mean of a square matrix broadcasts along the wrong axis.
TEST(FormNorms, DroppedAxesAreNotTaken) {
  for (const int64_t keeps_first : {0, 1}) {
    const Graph graph = with_mean({4, 4}, {1}, keeps_first, [&](LayerBuilder& b, ValueId x, ValueId mean) {
      return divided_by_root(b, b.node("Sub", {x, mean}),
                             {{"axes", std::vector<int64_t>{1}}, {"keepdims", 1 - keeps_first}});
    });
    const Graph formed = form_norms(graph);
    EXPECT_EQ(find_op(formed, "LayerNormalization"), nullptr);
    // Only of a difference that keeps its axes is a root mean square left.
    EXPECT_EQ(ops(formed), keeps_first == 0 ? "ReduceMean Sub RMSNormalization" : ops(graph));
  }
}

TEST(FormNorms, ADifferenceThatIsReadIsNormalizedAlone) {
  LayerBuilder b;
  const ValueId x = b.input({2, 5});
  const Attributes last = {{"axes", std::vector<int64_t>{-1}}};
  const ValueId d = b.node("Sub", {x, b.node("ReduceMean", {x}, last)});
  const Graph graph = b.finish({divided_by_root(b, d, last), b.relu(d)});
  const Graph formed = form_norms(graph);
  EXPECT_EQ(ops(formed), "ReduceMean Sub RMSNormalization Relu");
  EXPECT_LE(relative_difference(formed, graph, 1), 1e-5);
}

// What follows but is no scale or bias of the normalised axes stays an operator of its own.
TEST(FormNorms, OtherParametersStay) {
  const Attributes last = {{"axes", std::vector<int64_t>{-1}}};
  const auto after = [&](const std::string& op, const Shape& shape, bool is_constant) {
    LayerBuilder b;
    const ValueId x = b.input({3, 5}), d = b.node("Sub", {x, b.node("ReduceMean", {x}, last)});
    const ValueId other = is_constant ? b.uniform(shape) : b.input(shape, "other");
    const Graph graph = b.finish({b.node(op, {divided_by_root(b, d, last), other})});
    const Graph formed = form_norms(graph);
    EXPECT_LE(relative_difference(formed, graph, 1), 1e-5);
    return ops(formed);
  };
  EXPECT_EQ(after("Mul", {5}, true), "LayerNormalization");
  EXPECT_EQ(after("Mul", {1, 1}, true), "LayerNormalization");
  EXPECT_EQ(after("Add", {1, 5}, true), "LayerNormalization");
  EXPECT_EQ(after("Mul", {3, 1}, true), "LayerNormalization Mul");
  EXPECT_EQ(after("Mul", {3, 5}, true), "LayerNormalization Mul");
  EXPECT_EQ(after("Mul", {1, 1, 5}, true), "LayerNormalization Mul");
  EXPECT_EQ(after("Mul", {5}, false), "LayerNormalization Mul");
  EXPECT_EQ(after("Add", {3, 1}, true), "LayerNormalization Add");
  EXPECT_EQ(after("Div", {5}, true), "LayerNormalization Div");
}

// Language models in half precision: f32 from the square to the quotient.
TEST(FormNorms, CastsAroundBelongToIt) {
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16}) {
    const int64_t half = type == ElementType::kF16 ? 10 : 16;
    Graph read;
    {
      LayerBuilder b;
      const ValueId x = b.node("Cast", {b.input({2, 3, 8})}, {{"to", half}});
      const ValueId wide = b.node("Cast", {x}, {{"to", int64_t{1}}});
      const ValueId quotient = divided_by_root(b, wide, {{"axes", std::vector<int64_t>{-1}}});
      Tensor scale(type, Shape{8});
      for (int64_t i = 0; i < 8; ++i) scale.set_number(i, 0.25 * double(i) - 0.5);
      const ValueId y = b.node("Mul", {b.constant(scale), b.node("Cast", {quotient}, {{"to", half}})});
      read = b.finish({b.node("Cast", {y}, {{"to", int64_t{1}}})});
    }
    const Graph formed = form_norms(read);
    EXPECT_EQ(ops(formed), "Cast RMSNormalization Cast");
    EXPECT_EQ(formed.value(formed.nodes[1].outputs[0]).type, type);
    EXPECT_LE(relative_difference(formed, read, 3), 1e-5);
  }
}

// Means of rank 3 along the last axis are those of whole maps too, and constants may come first.
TEST(FormNorms, ComesBeforeWholeMapPooling) {
  const Graph graph = with_mean({1, 9, 6}, {2}, 1, [&](LayerBuilder& b, ValueId x, ValueId mean) {
    return b.add(b.uniform({6}),
                 divided_by_root(b, b.node("Sub", {x, mean}), {{"axes", std::vector<int64_t>{2}}}));
  });
  EXPECT_EQ(ops(optimize(graph)), "LayerNormalization");
  const Graph pooled = run_passes(graph, {"normalize_pooling"});
  EXPECT_NE(find_op(pooled, "GlobalAveragePool"), nullptr);
  EXPECT_EQ(ops(form_norms(pooled)), "LayerNormalization");
}

}  // namespace
}  // namespace tilewright
