#include "command.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.h"
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

nlohmann::json json_of(const std::string& arguments, int exit_code) {
  const CommandResult result = command(arguments + " --json");
  EXPECT_EQ(result.exit_code, exit_code) << arguments << "\n" << result.output;
  const size_t begin = result.output.starts_with('{') ? 0 : result.output.find("\n{") + 1;
  const size_t end = result.output.rfind("\n}");
  const std::string text = result.output.substr(begin, end == std::string::npos ? end : end + 2 - begin);
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << arguments << "\n" << result.output;
  return document;
}

void expect_failure(const std::string& arguments, int exit_code, const std::vector<std::string>& parts) {
  const CommandResult result = command(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << arguments << "\n" << result.output;
  for (const std::string& part : parts)
    EXPECT_TRUE(contains(result.output, part)) << part << "\n" << result.output;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool contains(const CommandResult& result, const std::string& part) { return contains(result.output, part); }

std::string text_file(const std::filesystem::path& folder, const std::string& name, const std::string& text) {
  write_text_file(folder / name, text);
  return (folder / name).string();
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
