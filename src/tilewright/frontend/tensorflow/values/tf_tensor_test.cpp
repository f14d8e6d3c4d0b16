#include "tilewright/frontend/tensorflow/values/tf_tensor.h"

#include <gtest/gtest.h>

#include "tilewright_graphdef.pb.h"

namespace tilewright {
namespace {

// Four numbers, of which so many are listed; the last of them is repeated.
graphdef::TensorValue four(int listed) {
  graphdef::TensorValue value;
  value.set_dtype(1);
  value.mutable_shape()->add_dim()->set_size(4);
  for (int i = 0; i < listed; ++i) value.add_float_val(float(i));
  return value;
}

TEST(ReadTensor, OnlyRepeatedValuesTakeFromTheBudget) {
  int64_t budget = 40;
  EXPECT_EQ(read_tf_tensor(four(4), budget).to_floats(), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(budget, 40);
  EXPECT_EQ(read_tf_tensor(four(2), budget).to_floats(), (std::vector<float>{0, 1, 1, 1}));
  EXPECT_EQ(budget, 24);
}

}  // namespace
}  // namespace tilewright
