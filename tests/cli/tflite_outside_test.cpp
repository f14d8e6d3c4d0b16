// TFLite files on the command line: bytes in, bytes out; warnings and refusals in full.
#include <gtest/gtest.h>

#include "command.h"
#include "support/outside_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

#define EXPECT_MENTIONS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << text

std::filesystem::path models() { return outside_models(); }

TEST(CliTflite, RunGivesTheBytesOfTheRuntime) {
  const auto stem = models() / "tflite_mlperf_tiny" / "kws_dscnn_int8";
  const auto folder = fresh_folder("tflite");
  const CommandResult result = command("run " + stem.string() + ".tflite --input " + stem.string() +
                                       ".ref.in0.npy --output " + (folder / "y.npy").string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(read_npy(folder / "y.npy").identical(read_npy(stem.string() + ".ref.out0.npy")));
}

TEST(CliTflite, FilesOfOthersAreToldByTheirContentAndTruncatedOnesRefused) {
  const auto file = models() / "tflite_micro_examples" / "hello_world_int8.tflite";
  const auto folder = fresh_folder("tflite_cut");
  const std::vector<std::byte> bytes = read_file(file);
  write_file(folder / "renamed.bin", bytes);
  const CommandResult renamed = command("inspect " + (folder / "renamed.bin").string());
  EXPECT_EQ(renamed.exit_code, 0) << renamed.output;
  EXPECT_MENTIONS(renamed.output, "i8[1x1]");
  write_file(folder / "cut.tflite", std::span(bytes).first(bytes.size() / 2));
  const CommandResult cut = command("inspect " + (folder / "cut.tflite").string());
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_MENTIONS(cut.output,
                  "cut.tflite': is cut off or damaged: the structure of its 1352 bytes does not hold");
  const CommandResult shape = command("inspect " + file.string() + " --shape nothing=3");
  EXPECT_EQ(shape.exit_code, 1);
  EXPECT_MENTIONS(shape.output, "dimension 'nothing': is not a dynamic dimension of the model; dynamic are");
}

TEST(CliTflite, MalformedBiasesAreWarnedOf) {
  const auto file = models() / "tflite_micro_examples" / "person_detect_int8.tflite";
  const CommandResult result = command("inspect " + file.string());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_MENTIONS(result.output, "has 8 scales along axis 3, but only 1 axes");
  EXPECT_MENTIONS(result.output, "set quantized_dimension to 0");
}

}  // namespace
}  // namespace tilewright
