// Nodes of every operator with inputs and attributes drawn at random: each graph is read or refused with an
// Error about the file.
#include <gtest/gtest.h>

#include "support/frontend/random_graphdef_testing.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"

namespace tilewright {
namespace {

using namespace graphdef_testing;

TEST(TensorflowRandomNodes, AreReadOrRefused) {
  const std::vector<std::string> operators = all_operators();
  constexpr int kFiles = 3000;
  int read = 0;
  for (uint64_t seed = 1; seed <= kFiles; ++seed) {
    Random random(seed);
    TensorflowOptions options;
    options.outputs = {"y"};
    options.allow_missing_weights = true;
    const GraphDefText text = random_file(random, operators);
    try {
      parse_tensorflow(text.build(), options);
      ++read;
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::kInternal) << "seed " << seed << ": " << error.what();
    }
  }
  EXPECT_GT(read, kFiles / 50);
  EXPECT_LT(read, kFiles);
}

}  // namespace
}  // namespace tilewright
