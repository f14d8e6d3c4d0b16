// What commands do to files that are there: inputs are never overwritten, a full disk has one exit code, and
// no name in a file controls the terminal.
#include <gtest/gtest.h>

#include <algorithm>

#include "command.h"
#include "support/random_seed_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/frontend/onnx/onnx_writer.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

// IN is read, OUT is written; the command ends before it reads anything.
constexpr const char* kVerbs[] = {
    "optimize IN -o OUT",
    "optimize IN --dump-passes OUT",
    "quantize IN --calibration x.npy -o OUT",
    "quantize m.onnx --calibration IN -o OUT",
    "quantize m.onnx --calibration x.npy --evaluate IN -o OUT",
    "quantize m.onnx --calibration x.npy --labels IN -o OUT",
    "compile IN --hardware overlay-tiny -o OUT",
    "compile q.onnx --hardware IN -o OUT",
    "compile q.onnx --hardware overlay-tiny --records IN -o OUT",
    "compile IN --hardware overlay-tiny --emit-assembly OUT",
    "compile IN --hardware overlay-tiny --emit-raw OUT",
    "run IN --input x.npy --output OUT",
    "run m.twb --input IN --output OUT",
    "run m.twb --input x.npy --labels IN --output OUT",
    "run IN --input x.npy --engine cycle --trace OUT",
    "run IN --input x.npy --engine rtl --wave OUT",
    "report IN --svg OUT",
    "tune IN -o OUT",
    "tune m.twb --records IN -o OUT",
    "tune IN --html OUT",
    "explain IN --data OUT",
    "map IN --hardware eyeriss-256 --html OUT",
    "place IN --fabric streaming-engine --html OUT",
    "generate IN --device xc7z020 -o d --html OUT",
    "map IN --hardware eyeriss-256 -o OUT",
    "map --workload IN --hardware eyeriss-256 --csv OUT",
    "map --workload w.yaml --hardware IN --plot OUT",
    "map --workload w.yaml --hardware eyeriss-256 --mapping IN -o OUT",
    "map --workload w.yaml --hardware eyeriss-256 --compare IN -o OUT",
    "map --timeloop IN -o OUT",
    "place IN --fabric streaming-engine -o OUT",
    "place g.json --fabric IN --svg OUT",
    "place IN --fabric streaming-engine --configuration OUT",
    "place IN --fabric streaming-engine --proof OUT",
    "place train --graphs graphs --split IN -o OUT",
    "place bench IN -o OUT",
    "generate IN --device xc7z020 -o OUT",
    "generate m.onnx --device IN -o OUT",
    "generate m.onnx --device xc7z020 --allocation IN -o OUT",
    "records export IN -o OUT",
    "records recover IN -o OUT",
    "study importance IN --html OUT",
    "exec IN --engine cycle --trace OUT",
};

std::string with(std::string text, const std::string& name, const std::string& value) {
  const size_t at = text.find(name);
  return at == std::string::npos ? text : text.replace(at, name.size(), value);
}

// The same file by another way.
fs::path other_name(const fs::path& file, int way) {
  const fs::path folder = file.parent_path();
  fs::remove(folder / "other");
  switch (way) {
    case 0:
      return file;
    case 1:
      return folder / "." / ".." / folder.filename() / file.filename();
    case 2:
      fs::create_symlink(file.filename(), folder / "other");
      return folder / "other";
    default:
      fs::create_hard_link(file, folder / "other");
      return folder / "other";
  }
}

TEST(OutputsClass, NoVerbOverwritesWhatItReads) {
  Random random(test_seed());
  const fs::path file = fresh_folder("overwrite") / "input";
  write_text_file(file, "mine");
  int cases = 0;
  for (const char* verb : kVerbs) {
    for (int64_t ways = test_cases(2); ways > 0; --ways, ++cases) {
      const int way = int(random.between(0, 3));
      const std::string out = other_name(file, way).string();
      const std::string arguments = with(with(verb, "IN", file.string()), "OUT", out);
      const CommandResult result = command(arguments);
      EXPECT_EQ(result.exit_code, 1) << arguments << "\n" << result.output;
      EXPECT_TRUE(contains(result.output, "'" + out + "' would overwrite what ")) << arguments << "\n"
                                                                                  << result.output;
      ASSERT_EQ(read_text_file(file), "mine") << arguments;
    }
  }
  RecordProperty("cases", cases);
}

TEST(Outputs, FoldersWithAnInputAndTwoOutputsInOnePlace) {
  const fs::path folder = fresh_folder("folder_input");
  fs::create_directories(folder / "design");
  write_text_file(folder / "design/model.onnx", "mine");
  CommandResult result = command("generate " + (folder / "design/model.onnx").string() +
                                 " --device xc7z020 -o " + (folder / "design").string());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.output, "would replace the folder of what model reads")) << result.output;
  EXPECT_EQ(read_text_file(folder / "design/model.onnx"), "mine");
  result = command("map m.onnx --hardware eyeriss-256 --csv out --plot ./out");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.output, "--csv and --plot both write to './out'; give each its own") ||
              contains(result.output, "--plot and --csv both write to"))
      << result.output;
  // Further outputs of a run have names of their own.
  const std::string run = "run " + demo_files().bundle.string() + " --input " + demo_files().images.string();
  EXPECT_EQ(command(run + " --output /dev/null").exit_code, 0);
}

TEST(Outputs, AFullDiskHasOneExitCode) {
  const fs::path folder = fresh_folder("full_disk");
  const auto expect_full = [&](const std::string& arguments, const std::string& before) {
    const CommandResult result = command(arguments, before);
    EXPECT_EQ(result.exit_code, 1) << arguments << "\n" << result.output;
    EXPECT_TRUE(contains(result.output, "No space left on device") ||
                contains(result.output, "File too large") ||
                contains(result.output, "there is no space left") ||
                contains(result.output, "cannot be read or written"))
        << arguments << "\n"
        << result.output;
  };
  const std::string compile = "compile " + demo_files().quantised.string() + " --hardware overlay-16x16 -o ";
  expect_full(compile + "/dev/full", "");
  const std::string small = "trap '' XFSZ; ulimit -f 4;";
  expect_full(compile + (folder / "m.twb").string(), small);
  expect_full("run " + demo_files().bundle.string() + " --input " + demo_files().images.string() +
                  " --output /dev/full",
              "");
  expect_full("quantize " + demo_files().model.string() + " --calibration " + demo_files().images.string() +
                  " -o " + (folder / "q.onnx").string(),
              small);
  expect_full("tune " + demo_files().bundle.string() + " --trials 30 --records " + (folder / "t.db").string(),
              small);
  EXPECT_EQ(command("inspect " + demo_files().model.string() + " > /dev/full").exit_code, 1);
  for (const auto& entry : fs::directory_iterator(folder)) {  // a database keeps what was whole
    EXPECT_TRUE(entry.path().filename().string().starts_with("t.db")) << entry.path();
  }
}

TEST(Outputs, NamesDoNotControlTheTerminal) {
  Graph graph;
  graph.name = "evil";
  const ValueId x = graph.add_input("in\x1b[31m", ElementType::kF32, {1, 4});
  const ValueId y = graph.add_value("out\x07", ElementType::kF32, {1, 4});
  graph.add_node("relu\x1b]0;title\x07\r\xc2\x9b", "Relu", {x}, {y});
  graph.outputs = {y};
  const fs::path folder = fresh_folder("terminal");
  write_onnx(folder / "evil.onnx", graph);
  graph.nodes[0].op = "Warp\x1b[2J";
  write_onnx(folder / "unknown.onnx", graph);
  for (const std::string arguments : {"inspect evil.onnx", "inspect evil.onnx --json", "optimize evil.onnx",
                                      "inspect unknown.onnx", "inspect $'no\\x1b[2J.onnx'"}) {
    const CommandResult result = command(arguments, "cd " + folder.string() + ";");
    EXPECT_TRUE(std::all_of(result.output.begin(), result.output.end(), [](char c) {
      return uint8_t(c) >= 0x20 || c == '\n';
    })) << arguments;
    EXPECT_FALSE(contains(result.output, "\xc2\x9b")) << arguments;
    const bool named = arguments != "optimize evil.onnx" && arguments.find('$') == std::string::npos;
    EXPECT_TRUE(!named || contains(result.output, "\\u001b[")) << arguments << "\n" << result.output;
  }
}

}  // namespace
}  // namespace tilewright
