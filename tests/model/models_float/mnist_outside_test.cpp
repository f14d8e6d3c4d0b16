// The ONNX zoo's MNIST network on the first 100 MNIST test images: 99 are classified right.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "model_files.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_reader.h"

namespace tilewright {
namespace {

TEST(Mnist, NinetyNineOfTheFirstHundred) {
  const auto images = models_folder() / "data_mnist" / "mnist_test_first100.csv";
  const auto model = models_folder() / "onnx_mnist8" / "model.onnx";
  const Executor executor(read_onnx(model));
  std::istringstream lines(read_text_file(images));
  int count = 0, right = 0;
  for (std::string line; std::getline(lines, line) && !line.empty(); ++count) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream numbers(line);
    int label = -1;
    numbers >> label;
    Tensor image(ElementType::kF32, Shape{1, 1, 28, 28});
    for (float& pixel : image.mutable_data<float>()) ASSERT_TRUE(numbers >> pixel);
    const std::vector<float> scores = executor.run({image})[0].to_floats();
    right += int(std::ranges::max_element(scores) - scores.begin()) == label;
  }
  EXPECT_EQ(count, 100);
  EXPECT_EQ(right, 99);
}

}  // namespace
}  // namespace tilewright
