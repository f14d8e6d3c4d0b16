#include "tilewright/nest/workload.h"

#include <gtest/gtest.h>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/nest/mapping.h"

namespace tilewright {
namespace {

ConvShape conv_shape(int64_t c, int64_t m, int64_t group) {
  ConvShape shape;
  shape.batch = 2;
  shape.input_channels = c;
  shape.output_channels = m;
  shape.group = group;
  shape.height = {
      .input = 9, .kernel = 3, .stride = 2, .dilation = 1, .pad_begin = 1, .pad_end = 1, .output = 5};
  shape.width = {
      .input = 8, .kernel = 2, .stride = 1, .dilation = 2, .pad_begin = 0, .pad_end = 0, .output = 6};
  return shape;
}

TEST(Workload, ConvolutionHasTheShapesOfItsTensors) {
  const Workload w = conv2d_workload("c", conv_shape(8, 12, 4));
  EXPECT_EQ(w.operation_count(), 2 * 12 * 2 * 5 * 6 * 3 * 2);
  EXPECT_EQ(w.data_spaces[kInputSpace].element_count(), 2 * 8 * 9 * 8);
  EXPECT_EQ(w.data_spaces[kWeightSpace].element_count(), 12 * 2 * 3 * 2);
  EXPECT_EQ(w.data_spaces[kOutputSpace].element_count(), 2 * 12 * 5 * 6);
  EXPECT_TRUE(w.depends_on(kWeightSpace, *w.find_dimension("M")));
  EXPECT_FALSE(w.depends_on(kWeightSpace, *w.find_dimension("P")));
  EXPECT_FALSE(w.depends_on(kOutputSpace, *w.find_dimension("C")));
  EXPECT_FALSE(w.find_dimension("K").has_value());
}

TEST(Workload, SpecialCasesAreConvolutions) {
  EXPECT_EQ(depthwise_workload("c", conv_shape(8, 99, 3), 2), conv2d_workload("c", conv_shape(8, 16, 8)));
  const Workload dense = dense_workload("d", 4, 100, 10);
  EXPECT_EQ(dense.operation_count(), 4000);
  EXPECT_EQ(dense.data_spaces[kWeightSpace].element_count(), 1000);
  const Workload product = matmul_workload("m", 3, 4, 5);
  EXPECT_EQ(product.data_spaces[kInputSpace].element_count(), 15);
  EXPECT_EQ(product.data_spaces[kWeightSpace].element_count(), 20);
  EXPECT_EQ(product.data_spaces[kOutputSpace].element_count(), 12);
  EXPECT_EQ(batched_matmul_workload("b", 7, 3, 4, 5, true).data_spaces[kWeightSpace].ranks.size(), 2u);
}

TEST(Workload, TransposedConvolutionScattersItsOutput) {
  ConvShape shape = conv_shape(4, 6, 2);
  shape.height = {
      .input = 3, .kernel = 4, .stride = 2, .dilation = 1, .pad_begin = 1, .pad_end = 1, .output = 6};
  shape.width = shape.height;
  const Workload w = conv2d_transpose_workload("t", shape);
  EXPECT_EQ(w.operation_count(), 2 * 6 * 2 * 3 * 3 * 4 * 4);
  EXPECT_EQ(w.data_spaces[kOutputSpace].element_count(), 2 * 6 * 6 * 6);
  EXPECT_TRUE(w.depends_on(kOutputSpace, *w.find_dimension("R")));
}

std::string workload_problems(const Workload& workload) {
  Diagnostics diagnostics;
  workload.verify(diagnostics);
  std::string text;
  for (const Diagnostic& d : diagnostics.errors()) text += to_string(d) + "\n";
  return text;
}

TEST(Workload, VerifyNamesEveryProblem) {
  Workload w = matmul_workload("m", 3, 4, 5);
  EXPECT_EQ(workload_problems(w), "");
  w.dimensions[1].name = "B";
  w.dimensions[2].size = 0;
  w.data_spaces[0].bits = 0;
  w.data_spaces[0].ranks[0].terms.push_back({9, 1});
  w.data_spaces[0].ranks[1].terms[0].coefficient = 0;
  w.data_spaces[0].ranks[2].terms.push_back({1, 1});
  w.data_spaces[1].ranks[0].size = 0;
  w.data_spaces[1].ranks[1].terms[0].coefficient = INT64_MIN;
  w.data_spaces[2].is_output = false;
  const std::string text = workload_problems(w);
  for (const char* part :
       {"a dimension needs a name of its own", "size 0 is below 1", "0 bits are not in 1..64",
        "refers to dimension 9 of 4", "coefficient of B is 0", "appears twice", "size 0 is not in 1..2^40",
        "indices reach beyond 2^40", "0 output data spaces"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

TEST(Workload, BuildersRefuseWrongGroups) {
  EXPECT_THROW(conv2d_workload("c", conv_shape(8, 12, 3)), Error);
  EXPECT_THROW(conv2d_transpose_workload("c", conv_shape(8, 12, 0)), Error);
  EXPECT_THROW(dense_workload("d", 0, 10, 10), Error);
}

// 3 * 366,503,875,925 is 2^40 - 1.
TEST(Workload, DataSpacesHaveUpTo2To40Elements) {
  EXPECT_EQ(matmul_workload("m", 3, 1, 366503875925).operation_count(), (int64_t{1} << 40) - 1);
  try {
    matmul_workload("m", 3, 1, 366503875926);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("more than 2^40 elements"), std::string::npos) << error.what();
  }
}

TEST(Workload, RefusesMoreDataSpacesThanMappingsChooseAmong) {
  Workload w = matmul_workload("m", 3, 4, 5);
  while (w.data_spaces.size() < 8) {
    w.data_spaces.push_back(w.data_spaces[0]);
    w.data_spaces.back().name = "more" + std::to_string(w.data_spaces.size());
  }
  EXPECT_EQ(workload_problems(w), "");
  for (const size_t count : {9u, 33u, 40u}) {
    while (w.data_spaces.size() < count) {
      w.data_spaces.push_back(w.data_spaces[0]);
      w.data_spaces.back().name = "more" + std::to_string(w.data_spaces.size());
    }
    EXPECT_NE(workload_problems(w).find(std::to_string(count) + " data spaces, there may be 8 at most"),
              std::string::npos);
  }
}

// 4294967296 x 4294967297 is 2^32 modulo 2^64.
TEST(Workload, DepthwiseRefusesMoreOutputChannelsThanCanBeCounted) {
  ConvShape shape;
  shape.input_channels = int64_t{1} << 32;
  try {
    depthwise_workload("d", shape, (int64_t{1} << 32) + 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("more than 2^40 output channels"), std::string::npos)
        << error.what();
  }
}

// Names of any bytes either verify, and then a mapping's text says the mapping again, or are refused.
TEST(WorkloadClass, MappingsSayEveryNameThatVerifies) {
  const std::string bytes = "ab0_-. \t\n,:#=\"'[]{}&*!|>%@`~?\x7f\xc3\xbc";
  int64_t sound = 0;
  const int64_t cases = test_cases(400);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i);
    std::string name;
    for (int64_t left = random.between(1, 3); left > 0; --left)
      name += bytes[size_t(random.between(0, random.chance(0.8) ? 5 : int64_t(bytes.size()) - 1))];
    Workload w = matmul_workload("m", 3, 4, 5);
    (random.chance(0.5) ? w.data_spaces[1].name : w.dimensions[1].name) = name;
    if (!workload_problems(w).empty()) continue;
    ++sound;
    Mapping mapping{{{"memory", {{1, 3}}, {{1, 2, SpatialAxis::kX}}, ~7u | 2u}}};
    EXPECT_EQ(parse_mapping(print_mapping(w, mapping), "printed", w), mapping) << name;
  }
  EXPECT_GT(sound, cases / 3);
}

}  // namespace
}  // namespace tilewright
