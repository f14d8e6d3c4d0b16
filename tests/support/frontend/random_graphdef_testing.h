// For tests: small TensorFlow files of every operator, with inputs and attributes drawn at random. Most are
// wrong.
#pragma once

#include <string>
#include <vector>

#include "support/frontend/graphdef_builder_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/tensorflow/tf_operation.h"

namespace tilewright::graphdef_testing {

inline std::vector<std::string> all_operators() {
  std::vector<std::string> names = {
      "Identity",       "Switch",         "Merge",         "PlaceholderWithDefault",
      "SpaceToBatchND", "BatchToSpaceND", "RandomUniform", "VariableV2"};
  for (const auto& table :
       {tf_layer_converters(), tf_normalization_converters(), tf_elementwise_converters(),
        tf_shape_converters(), tf_slice_converters(), tf_reduction_converters(), tf_image_converters()}) {
    for (const TfTableEntry& entry : table) names.push_back(entry.op);
  }
  return names;
}

template <typename T>
const T& one_of(const std::vector<T>& all, Random& random) {
  return all[size_t(random.between(0, int64_t(all.size()) - 1))];
}

inline std::string random_attributes(Random& random) {
  const auto number = [&] { return random.chance(0.9) ? random.between(-2, 5) : int64_t(random.next()); };
  const auto numbers = [&] {
    std::vector<int64_t> list(size_t(random.between(0, 8)));
    for (int64_t& value : list) value = number();
    return list;
  };
  static const std::vector<std::string> kInts = {
      "axis", "block_size",    "num_split",        "begin_mask", "end_mask",    "ellipsis_mask",
      "num",  "new_axis_mask", "shrink_axis_mask", "batch_dims", "depth_radius"};
  static const std::vector<std::string> kLists = {"strides", "ksize", "dilations", "explicit_paddings",
                                                  "squeeze_dims"};
  static const std::vector<std::string> kFlags = {"transpose_a",   "transpose_b",        "keep_dims",
                                                  "align_corners", "half_pixel_centers", "adj_x"};
  static const std::vector<std::string> kPaddings = {"SAME", "SAME", "VALID", "VALID", "EXPLICIT", "ODD"};
  std::string text = string_attribute("padding", one_of(kPaddings, random));
  if (random.chance(0.8)) {
    text += ints_attribute("strides", {1, random.between(1, 2), 1, 1}) +
            ints_attribute("ksize", {1, 2, random.between(1, 3), 1}) + bool_attribute("is_training", false);
  }
  for (int64_t left = random.between(0, 3); left > 0; --left) {
    switch (random.between(0, 5)) {
      case 0:
        text += int_attribute(one_of(kInts, random), number());
        break;
      case 1:
        text += ints_attribute(one_of(kLists, random), numbers());
        break;
      case 2:
        text += bool_attribute(one_of(kFlags, random), random.chance(0.5));
        break;
      case 3:
        text += type_attribute(random.chance(0.5) ? "DstT" : "out_type", int(random.between(0, 24)));
        break;
      case 4:
        text += string_attribute("data_format", random.chance(0.5) ? "NCHW" : "NHWC");
        break;
      default:
        text += shape_attribute("shape", numbers());
    }
  }
  return text;
}

// The result is node "y"; inputs are "image" [1,4,4,2] and "rows" [1,8].
inline GraphDefText random_file(Random& random, const std::vector<std::string>& operators) {
  GraphDefText text;
  std::vector<std::string> tensors = {"image", "image", "rows", "weights", "vector", "one", "flag"};
  text.placeholder("image", {1, 4, 4, 2}).placeholder("rows", {1, 8});
  text.floats("weights", {2, 2, 2, 2}, std::vector<float>(16, 0.5f)).floats("vector", {2}, {1, 2});
  text.floats("one", {}, {1}).boolean("flag", random.chance(0.5));
  for (int i = 0; i < 8; ++i) {
    std::vector<int32_t> values(size_t(random.between(0, 4)));
    for (int32_t& value : values) {
      value = random.chance(0.95) ? int32_t(random.between(-1, 4)) : int32_t(uint32_t(random.next()));
    }
    const std::string name = "i" + std::to_string(i);
    const bool is_scalar = values.size() == 1 && random.chance(0.5);
    const std::vector<int64_t> pairs = {2, 2};
    text.ints(name,
              is_scalar                                  ? std::vector<int64_t>{}
              : values.size() == 4 && random.chance(0.5) ? pairs
                                                         : std::vector<int64_t>{int64_t(values.size())},
              values);
    tensors.push_back(name);
  }
  for (int i = 0; i < 6; ++i) {
    const std::string name = i == 5 ? "y" : "n" + std::to_string(i);
    std::vector<std::string> inputs;
    for (int64_t left = random.between(0, 5); left > 0; --left) {
      inputs.push_back(one_of(tensors, random) + (random.chance(0.05) ? ":1" : ""));
    }
    text.node(name, one_of(operators, random), inputs, random_attributes(random));
    tensors.push_back(name);
    tensors.push_back(name);
  }
  return text;
}

}  // namespace tilewright::graphdef_testing
