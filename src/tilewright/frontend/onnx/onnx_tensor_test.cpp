#include "tilewright/frontend/onnx/proto/onnx_tensor.h"

#include <gtest/gtest.h>

#include "support/frontend/model_builder_testing.h"

namespace tilewright {
namespace {

using namespace onnx_testing;

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

Tensor parse(const std::string& text, std::string* name = nullptr) {
  return parse_onnx_tensor({reinterpret_cast<const std::byte*>(text.data()), text.size()}, name);
}
std::string tensor_error(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Field numbers of TensorProto: dims 1, data_type 2, float_data 4, int32_data 5, string_data 6, int64_data 7,
// double_data 10, uint64_data 11.
std::string shape(int type, const std::vector<int64_t>& dims) {
  std::string text;
  for (const int64_t dim : dims) text += number(1, dim);
  return text + number(2, type);
}
std::string integers(int field, const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t value : values) text += number(field, value);
  return text;
}

TEST(OnnxTensor, TypedListsOfEveryType) {
  EXPECT_EQ(parse(shape(1, {2}) + single(4, 1.5f) + single(4, -2.0f)).to_floats(),
            (std::vector<float>{1.5f, -2}));
  for (const int type : {3, 5, 6}) {  // INT8, INT16, INT32
    EXPECT_EQ(parse(shape(type, {3}) + integers(5, {-128, 0, 127})).to_integers(),
              (std::vector<int64_t>{-128, 0, 127}));
  }
  EXPECT_EQ(parse(shape(2, {2}) + integers(5, {0, 255})).to_integers(), (std::vector<int64_t>{0, 255}));
  EXPECT_EQ(parse(shape(4, {1}) + integers(5, {65535})).to_integers(), std::vector<int64_t>{65535});
  EXPECT_EQ(parse(shape(9, {2}) + integers(5, {1, 0})).to_integers(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(parse(shape(7, {2}) + integers(7, {-5, int64_t{1} << 40})).to_integers(),
            (std::vector<int64_t>{-5, int64_t{1} << 40}));
  EXPECT_EQ(parse(shape(12, {1}) + integers(11, {4000000000})).to_integers(),
            std::vector<int64_t>{4000000000});
  const Tensor wide = parse(shape(13, {1}) + integers(11, {-1}));
  EXPECT_EQ(wide.data<uint64_t>()[0], ~uint64_t{0});
  const Tensor doubles = parse(shape(11, {1}) + bytes(10, raw(std::vector<double>{2.5})));
  EXPECT_EQ(doubles.number_at(0), 2.5);
}

TEST(OnnxTensor, HalvesAreBitPatterns) {
  EXPECT_EQ(parse(shape(10, {2}) + integers(5, {0x3C00, 0xC000})).to_floats(), (std::vector<float>{1, -2}));
  EXPECT_EQ(parse(shape(16, {2}) + integers(5, {0x3F80, 0xC000})).to_floats(), (std::vector<float>{1, -2}));
}

TEST(OnnxTensor, FourBitNumbersArePackedInPairs) {
  EXPECT_EQ(parse(shape(22, {3}) + integers(5, {0x8F, 0x07})).to_integers(),
            (std::vector<int64_t>{-1, -8, 7}));
  EXPECT_EQ(parse(shape(21, {3}) + bytes(9, "\x8F\xF7")).to_integers(), (std::vector<int64_t>{15, 8, 7}));
  // The unused half of the last byte does not count.
  EXPECT_TRUE(
      parse(shape(21, {3}) + bytes(9, "\x8F\xF7")).identical(parse(shape(21, {3}) + bytes(9, "\x8F\x07"))));
}

TEST(OnnxTensor, RawBooleansAreZeroOrOne) {
  EXPECT_EQ(parse(shape(9, {2}) + bytes(9, std::string("\x05\x00", 2))).to_integers(),
            (std::vector<int64_t>{1, 0}));
}

TEST(OnnxTensor, EveryProblemIsNamed) {
  EXPECT_MENTIONS(tensor_error("not a tensor at all"), "not an ONNX tensor (TensorProto)");
  EXPECT_MENTIONS(tensor_error(shape(3, {2}) + integers(5, {1})),
                  "of shape 2 has 1 entries in int32_data instead of 2");
  EXPECT_MENTIONS(tensor_error(shape(3, {1}) + integers(5, {200})),
                  "has the value 200 in int32_data, which i8 cannot hold");
  EXPECT_MENTIONS(tensor_error(shape(8, {1}) + bytes(6, "text")), "has the element type STRING");
  EXPECT_MENTIONS(tensor_error(shape(14, {1})), "has the element type COMPLEX64");
  EXPECT_MENTIONS(tensor_error(shape(1, std::vector<int64_t>(65, 1)) + single(4, 1)), "has 65 dimensions");
  EXPECT_MENTIONS(tensor_error(shape(1, {1}) + number(14, 1)), "keeps its data in another file");
  EXPECT_MENTIONS(tensor_error(shape(1, {1}) + bytes(3, number(1, 0)) + single(4, 1)),
                  "is one segment of a larger tensor");
  EXPECT_MENTIONS(tensor_error(shape(3, {1}) + bytes(9, "\x07") + bytes(12, "tilewright.element_type=i2")),
                  "has values that i2 cannot hold");
  EXPECT_MENTIONS(tensor_error(shape(1, {1}) + single(4, 1) + bytes(12, "tilewright.element_type=i2")),
                  "is noted as i2 but stored as f32");
}

TEST(OnnxTensor, RoundTripWithName) {
  const Tensor tensor = Tensor::of<int16_t>(Shape{2, 2}, {1, -2, 3, -4});
  std::string name;
  EXPECT_TRUE(parse_onnx_tensor(format_onnx_tensor(tensor, "t"), &name).identical(tensor));
  EXPECT_EQ(name, "t");
}

}  // namespace
}  // namespace tilewright
