#include "command.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tilewright/base/random.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {

CommandResult command(const std::string& arguments, const std::string& before) {
  CommandResult result;
  const std::string line = before + TILEWRIGHT_COMMAND + " " + arguments + " 2>&1";
  FILE* pipe = ::popen(line.c_str(), "r");
  if (!pipe) return result;
  char buffer[4096];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) result.output.append(buffer, got);
  const int status = ::pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

std::filesystem::path fresh_folder(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      ("tilewright_cli_" + std::to_string(::getpid()) + "_" + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

const DemoFiles& demo_files() {
  static const DemoFiles files = [] {
    const auto folder = fresh_folder("demo");
    DemoFiles f{std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "models/lenet-fashion/lenet_fashion.onnx",
                folder / "q.onnx", folder / "m.twb", folder / "images.npy"};
    Tensor images(ElementType::kF32, {8, 1, 28, 28});
    Random random(1);
    for (float& pixel : images.mutable_data<float>()) pixel = float(random.uniform());
    write_npy(f.images, images);
    const CommandResult quantised = command("quantize " + f.model.string() + " --calibration " +
                                            f.images.string() + " -o " + f.quantised.string());
    EXPECT_EQ(quantised.exit_code, 0) << quantised.output;
    const CommandResult compiled =
        command("compile " + f.quantised.string() + " --hardware overlay-16x16 -o " + f.bundle.string());
    EXPECT_EQ(compiled.exit_code, 0) << compiled.output;
    return f;
  }();
  return files;
}

}  // namespace tilewright
