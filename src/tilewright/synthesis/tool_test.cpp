#include "tilewright/synthesis/tool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "tilewright/base/error.h"

namespace tilewright::synthesis {
namespace {

TEST(Tool, CapturesBothStreamsInOrderAndTheExitCode) {
  const ToolResult result = run_tool({"sh", {"-c", "echo one; echo two >&2; echo three; exit 7"}});
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.output, "one\ntwo\nthree\n");
}

TEST(Tool, RunsInTheGivenFolderWithoutInput) {
  const ToolResult result = run_tool({"sh", {"-c", "pwd; cat"}, "/"});
  EXPECT_EQ(result.output, "/\n");
  EXPECT_THROW(run_tool({"sh", {}, "/no/such/folder"}), Error);
}

TEST(Tool, SignalsAreExitCodes) { EXPECT_EQ(run_tool({"sh", {"-c", "kill -9 $$"}}).exit_code, 128 + 9); }

TEST(Tool, MissingProgramNamesItsPackage) {
  EXPECT_TRUE(tool_installed("sh"));
  EXPECT_FALSE(tool_installed("no-such-program"));
  EXPECT_EQ(tool_version("no-such-program"), "");
  try {
    run_tool({"/no/such/folder/yosys", {}});
    FAIL() << "a missing program was started";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("apt-get install yosys"), std::string::npos) << error.what();
  }
}

TEST(Tool, FailureShowsTheLastLines) {
  try {
    run_tool_checked({"sh", {"-c", "for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; done; exit 1"}});
    FAIL() << "a failing program passed";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("  line 10"), std::string::npos) << text;
    EXPECT_EQ(text.find("line 2\n"), std::string::npos) << text;
  }
}

TEST(Tool, TimeLimitKillsChildrenToo) {
  const auto start = std::chrono::steady_clock::now();
  ToolCommand command{"sh", {"-c", "echo begun; sleep 60 & sleep 60; wait"}};
  command.timeout_s = 0.3;
  try {
    run_tool(command);
    FAIL() << "the time limit passed unnoticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInfeasible);
    EXPECT_NE(std::string(error.what()).find("begun"), std::string::npos) << error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Tool, LastLinesSkipsBlankOnes) {
  EXPECT_EQ(last_lines("a\n\nb\n  \nc\n\n", 2), "  b\n  c");
  EXPECT_EQ(last_lines("only", 5), "  only");
  EXPECT_EQ(last_lines("", 5), "");
}

}  // namespace
}  // namespace tilewright::synthesis
