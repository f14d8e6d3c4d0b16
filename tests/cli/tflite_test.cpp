// TFLite files on the command line: bytes in, bytes out; refusals in full.
#include <gtest/gtest.h>

#include "command.h"
#include "model/own_networks/own_networks.h"
#include "network_files.h"
#include "tilewright/base/file.h"
#include "tilewright/frontend/tflite/tflite_reader.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/tensor/npy.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

TEST(CliTflite, RunGivesTheBytesOfTheIntegerForm) {
  const auto folder = fresh_folder("tflite");
  Tensor image(ElementType::kI8, {1, 28, 28, 1});
  const Tensor pixels = image_of(fashion_test_images(1), 0);
  for (int64_t i = 0; i < image.size(); ++i) image.set_integer(i, int64_t(pixels.number_at(i) * 255) - 128);
  write_npy(folder / "x.npy", image);
  for (const bool kernels : {false, true}) {
    const CommandResult result =
        command("run " + tflite_file() + " --input " + (folder / "x.npy").string() + " --output " +
                (folder / "y.npy").string() + (kernels ? " --tflite-kernels" : ""));
    EXPECT_EQ(result.exit_code, 0) << result.output;
    TfliteOptions options;
    if (kernels) options.rounding = Rounding::kTwice;
    const Graph integer = integerize(optimize(read_tflite(tflite_file(), options)));
    EXPECT_TRUE(read_npy(folder / "y.npy").identical(run(integer, {image})[0]));
  }
}

TEST(CliTflite, FilesAreToldByTheirContentAndTruncatedOnesRefused) {
  const auto folder = fresh_folder("tflite_cut");
  const std::vector<std::byte> bytes = read_file(tflite_file());
  write_file(folder / "renamed.bin", bytes);
  const CommandResult renamed = command("inspect " + (folder / "renamed.bin").string());
  EXPECT_EQ(renamed.exit_code, 0) << renamed.output;
  EXPECT_MENTIONS(renamed.output, "i8[1x28x28x1]");
  write_file(folder / "cut.tflite", std::span(bytes).first(1352));
  const CommandResult cut = command("inspect " + (folder / "cut.tflite").string());
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_MENTIONS(cut.output,
                  "cut.tflite': is cut off or damaged: the structure of its 1352 bytes does not hold");
  // Its first bytes could be those of a SavedModel.
  write_text_file(folder / "eight.tflite", std::string("\x08\0\0\0TFL3\0\0\0\0", 12));
  EXPECT_MENTIONS(command("inspect " + (folder / "eight.tflite").string()).output,
                  "eight.tflite': is of format version 0");
  const CommandResult shape = command("inspect " + tflite_file() + " --shape nothing=3");
  EXPECT_EQ(shape.exit_code, 1);
  EXPECT_MENTIONS(shape.output, "dimension 'nothing': is not a dynamic dimension of the model");
}

}  // namespace
}  // namespace tilewright
