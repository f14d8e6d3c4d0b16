// The YAML form of workloads: shorthands equal the builders, the general form round-trips, bad files are
// told.
#include "tilewright/nest/workload_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tilewright/base/random.h"
#include "tilewright/nest/affine_text.h"

namespace tilewright {
namespace {

Workload one(const std::string& text) {
  const std::vector<Workload> all = parse_workloads(text, "w.yaml");
  EXPECT_EQ(all.size(), 1u);
  return all.at(0);
}

std::string failure(const std::string& text) {
  try {
    parse_workloads(text, "w.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "";
}

TEST(WorkloadText, ShorthandsEqualTheBuilders) {
  ConvShape conv1;
  conv1.batch = 16;
  conv1.input_channels = 3;
  conv1.output_channels = 96;
  conv1.height = conv1.width = {227, 11, 4, 1, 0, 0, 55};
  EXPECT_EQ(one("name: conv1\nconvolution: {batch: 16, input_channels: 3, output_channels: 96, input: 227, "
                "kernel: 11, stride: 4}\n"),
            conv2d_workload("conv1", conv1));
  EXPECT_EQ(one("name: conv1\nconvolution: {batch: 16, input_channels: 3, output_channels: 96, output: 55, "
                "kernel: [11, 11], stride: 4}\nbits: {input: 16, weight: 16, output: 16}\n"),
            conv2d_workload("conv1", conv1, {16, 16, 16}));

  ConvShape padded;
  padded.input_channels = 8;
  padded.output_channels = 6;
  padded.group = 2;
  padded.height = {9, 3, 2, 2, 1, 2, 4};
  padded.width = {10, 2, 1, 2, 3, 4, 15};
  EXPECT_EQ(
      one("convolution: {input_channels: 8, output_channels: 6, group: 2, input: [9, 10], kernel: [3, 2], "
          "stride: [2, 1], dilation: 2, pad: [1, 3, 2, 4]}\n"),
      conv2d_workload("w", padded));
  EXPECT_EQ(one("depthwise: {channels: 8, multiplier: 3, input: [9, 10], kernel: [3, 2], stride: [2, 1], "
                "dilation: 2, pad: [1, 3, 2, 4]}\n"),
            depthwise_workload("w", padded, 3));
  ConvShape transposed = padded;
  transposed.height = {4, 3, 2, 1, 1, 1, 7};
  transposed.width = {5, 4, 3, 1, 0, 0, 16};
  const std::string fields =
      "input_channels: 8, output_channels: 6, group: 2, kernel: [3, 4], stride: [2, 3], pad: [1, 0]";
  EXPECT_EQ(one("transposed_convolution: {input: [4, 5], " + fields + "}\n"),
            conv2d_transpose_workload("w", transposed));
  EXPECT_EQ(one("transposed_convolution: {output: [7, 16], " + fields + "}\n"),
            conv2d_transpose_workload("w", transposed));
  EXPECT_EQ(one("dense: {batch: 4, inputs: 10, outputs: 20}\n"), dense_workload("w", 4, 10, 20));
  EXPECT_EQ(one("matmul: {batch: 12, m: 5, n: 6, k: 7, shared_weight: true}\n"),
            batched_matmul_workload("w", 12, 5, 6, 7, true));
}

TEST(WorkloadText, GeneralForm) {
  const Workload w = one(R"(name: correlation
dimensions: {P: 13, S: 3, D: 2}
data_spaces:
- {name: input, ranks: [{name: W, size: 14, index: P - 2*S + 3}, D]}
- {name: weight, bits: 4, ranks: [S]}
- {name: output, output: true, ranks: [P, 0]}
)");
  ASSERT_EQ(w.dimension_count(), 3);
  EXPECT_EQ(w.dimensions[1], (Dimension{"S", 3}));
  EXPECT_EQ(w.data_spaces[0].ranks[0], (Rank{"W", 14, 3, {{0, 1}, {1, -2}}}));
  EXPECT_EQ(w.data_spaces[0].ranks[1], (Rank{"D", 2, 0, {{2, 1}}}));
  EXPECT_EQ(w.data_spaces[1].bits, 4);
  EXPECT_EQ(w.data_spaces[2].bits, 32);
  EXPECT_TRUE(w.data_spaces[2].is_output);
  EXPECT_EQ(w.data_spaces[2].ranks[1], (Rank{"0", 1, 0, {}}));
}

TEST(WorkloadText, AListOfWorkloads) {
  const std::vector<Workload> all = parse_workloads(
      "- {name: a, dense: {inputs: 2, outputs: 3}}\n- {name: b, matmul: {m: 1, n: 2, k: 3}}\n", "w");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], dense_workload("a", 1, 2, 3));
  EXPECT_EQ(all[1], matmul_workload("b", 1, 2, 3));
}

TEST(WorkloadText, RandomWorkloadsRoundTrip) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Workload w;
    w.name = random.chance(0.2) ? "a: \"b\"" : fmt::format("w{}", seed);
    const int64_t dimensions = random.between(1, 8);
    for (int64_t d = 0; d < dimensions; ++d) {
      w.dimensions.push_back({fmt::format("D{}", d), random.between(1, 50)});
    }
    for (int s = 0; s < 3; ++s) {
      DataSpace space;
      space.name = fmt::format("space{}", s);
      space.bits = int(random.between(1, 64));
      space.is_output = s == 2;
      for (int d = 0; d < dimensions; ++d) {
        const ProjectionTerm term{
            d, random.chance(0.5) ? 1 : random.between(1, 9) * (random.chance(0.3) ? -1 : 1)};
        if (random.chance(0.4)) {
          space.ranks.push_back(
              {fmt::format("r{}", d), random.between(1, 100), random.between(-5, 5), {term}});
        } else if (!space.ranks.empty() && random.chance(0.5)) {
          space.ranks.back().terms.push_back(term);
        }
      }
      w.data_spaces.push_back(space);
    }
    Diagnostics diagnostics;
    w.verify(diagnostics);
    ASSERT_TRUE(diagnostics.ok());
    EXPECT_EQ(one(print_workload(w)), w) << print_workload(w);
  }
  ConvShape shape;
  shape.height = shape.width = {8, 3, 1, 1, 1, 1, 8};
  const Workload conv = conv2d_workload("conv", shape);
  EXPECT_EQ(one(print_workload(conv)), conv);
}

TEST(AffineText, NumbersUpTo2To40) {
  Workload workload;
  workload.dimensions = {{"P", 3}};
  for (const int64_t value : {int64_t{1} << 40, (int64_t{1} << 40) + 1}) {
    for (const char* form : {"{}", "-{}", "{} * P", "P - {}"}) {
      Rank rank;
      std::string problem;
      const std::string text = fmt::format(fmt::runtime(form), value);
      EXPECT_EQ(parse_affine(text, workload, rank, problem), value == int64_t{1} << 40) << text << problem;
    }
  }
}

TEST(WorkloadText, EveryProblemInOneRun) {
  EXPECT_EQ(
      failure(
          "- {name: a}\n"
          "- {dense: {inputs: 0, outputs: x, depth: 2}, matmul: {m: 1}}\n"
          "- {dense: {inputs: 0, outputs: x, depth: 2}, bits: {input: 65}}\n"
          "- {convolution: {input_channels: 3, output_channels: 4, group: 2, input: 5, kernel: 3}}\n"
          "- {convolution: {input_channels: 2, output_channels: 4, input: [5, 6, 7], kernel: 3, pad: -1}}\n"
          "- {convolution: {input_channels: 2, output_channels: 4, input: 5, kernel: 7}}\n"
          "- {transposed_convolution: {input_channels: 2, output_channels: 4, input: 1, kernel: 1, pad: 2}}\n"
          "- 7\n"),
      "12 problems\n"
      "  w.yaml:1 (name): workload 'a' has 0 operators, there must be one; convolution, "
      "depthwise, transposed_convolution, dense, matmul, dimensions\n"
      "  w.yaml:2 (name): workload 'w' has 2 operators, there must be one; convolution, "
      "depthwise, transposed_convolution, dense, matmul, dimensions\n"
      "  w.yaml:3 (input): '65' is not an integer in 1..64\n"
      "  w.yaml:3 (inputs): '0' is not an integer in 1..1099511627776\n"
      "  w.yaml:3 (outputs): 'x' is not an integer in 1..1099511627776\n"
      "  w.yaml:3 (depth): unknown field; known fields: batch, inputs, outputs\n"
      "  w.yaml:4: workload 'w': 2 groups do not divide 3 input and 4 output channels\n"
      "  w.yaml:5 (input): one number or two of them, 1 or more, are expected\n"
      "  w.yaml:5 (pad): '-1' is not an integer in 0..1099511627776\n"
      "  w.yaml:6 (kernel): a window of 7 does not fit 5 with padding 0\n"
      "  w.yaml:7 (kernel): a window of 1 does not fit 1 with padding 4\n"
      "  w.yaml:8: a map of 'field: value' lines is expected");
  EXPECT_EQ(
      failure(
          "dimensions: {P: 3, 2x: 4, Q: -1, P: 5}\n"
          "data_spaces:\n"
          "- {name: a, ranks: [{index: P * Q}, {index: P + T}, {index: 3 * 4}, {index: P +}, {index: P P}]}\n"
          "- {ranks: 3, colour: red}\n"
          "- {name: b, ranks: [{size: 3}]}\n"),
      "12 problems\n"
      "  w.yaml:1 (2x): a dimension's name has letters, digits and underscores\n"
      "  w.yaml:1 (Q): '-1' is not an integer in 1..1099511627776\n"
      "  w.yaml:1 (P): a second dimension of this name\n"
      "  w.yaml:3 (index): a product of two dimensions is not affine\n"
      "  w.yaml:3 (index): there is no dimension 'T'\n"
      "  w.yaml:3 (index): one factor of a product is a dimension\n"
      "  w.yaml:3 (index): a dimension or an integer up to 2^40 is expected\n"
      "  w.yaml:3 (index): 'P' is not expected here\n"
      "  w.yaml:4 (name): missing field; give a text\n"
      "  w.yaml:4 (ranks): a list of ranks is expected, [] for a single value\n"
      "  w.yaml:4 (colour): unknown field; known fields: bits, name, output, ranks\n"
      "  w.yaml:5 (index): missing field; give a text");
  EXPECT_EQ(failure("dimensions: {P: 3, Q: 4}\n"
                    "data_spaces:\n"
                    "- {name: a, ranks: [P, 2 * P + Q]}\n"
                    "- {name: a, output: true, ranks: [0*Q]}\n"
                    "- {name: c, output: true, ranks: []}\n"),
            "4 problems\n"
            "  w.yaml:1, workload 'w', data space 'a' (2 * P + Q): dimension P appears twice in this "
            "data space; a dimension may move only one rank of a data space\n"
            "  w.yaml:1, workload 'w' (a): a data space needs a name of its own\n"
            "  w.yaml:1, workload 'w', data space 'a' (0*Q): coefficient of Q is 0; drop the term\n"
            "  w.yaml:1, workload 'w': 2 output data spaces, there must be one");
  EXPECT_EQ(failure("dimensions: 3\n"), "w.yaml:1 (dimensions): a map of 'name: size' lines is expected");
  EXPECT_EQ(failure("dimensions: {P: 1}\n"), "w.yaml:1 (data_spaces): a list of data spaces is expected");
  EXPECT_EQ(
      failure(
          "convolution: {input_channels: 1, output_channels: 1, input: 1099511627776, kernel: 1099511627776, "
          "stride: 1099511627776, dilation: 1099511627776}\n"),
      "w.yaml:1 (kernel): the window reaches beyond 2^40");
}

}  // namespace
}  // namespace tilewright
