#include "tilewright/synthesis/tool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tilewright/base/error.h"

namespace tilewright::synthesis {
namespace {

// A process that is a zombie until somebody waits for it has ended.
bool running(pid_t process) {
  std::string number, name, state;
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  return bool(stat >> number >> name >> state) && state != "Z" && state != "X";
}

bool ends_within(pid_t process, double seconds) {
  for (int tries = 0; tries < int(seconds * 100); ++tries) {
    if (!running(process)) return true;
    ::usleep(10000);
  }
  return false;
}

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

TEST(Tool, SignalsAreExitCodes) {
  EXPECT_EQ(run_tool({"sh", {"-c", "kill -6 $$"}}).exit_code, 128 + 6);
  for (const int signal : {9, 15}) {
    try {
      run_tool({"sh", {"-c", "echo last words; kill -" + std::to_string(signal) + " $$"}});
      FAIL() << signal;
    } catch (const InterruptedError& error) {
      EXPECT_EQ(
          std::string(error.what()),
          "'sh' was killed by signal " + std::to_string(signal) +
              "; its last lines:\n  last words; run it again; a machine that is short of memory kills the "
              "largest program");
    }
  }
}

TEST(Tool, EndsWithItsProcessGroup) {
  // Left behind by the tool: its output stays open, and it would outlive it by a minute.
  const ToolResult result = run_tool({"sh", {"-c", "sleep 60 & echo $!"}});
  EXPECT_LT(result.seconds, 20);
  EXPECT_TRUE(ends_within(std::stoi(result.output), 10));
}

TEST(Tool, DiesWithItsCallerAndTakesItsChildrenAlong) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("tool_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const pid_t caller = ::fork();
  if (caller == 0) {
    run_tool({"sh", {"-c", "sleep 300 & echo $! $$ > begun; mv begun pids; wait"}, folder});
    ::_exit(0);
  }
  pid_t child = 0, tool = 0;
  for (int tries = 0; tries < 1000 && !(std::ifstream(folder / "pids") >> child >> tool); ++tries)
    ::usleep(10000);
  ASSERT_GT(tool, 0);
  EXPECT_EQ(::kill(tool, 0), 0);
  ::kill(caller, SIGKILL);
  ::waitpid(caller, nullptr, 0);
  EXPECT_TRUE(ends_within(tool, 10));
  EXPECT_TRUE(ends_within(child, 10));
  std::filesystem::remove_all(folder);
}

TEST(Tool, SeveralAtOnceDoNotKeepEachOther) {
  std::vector<std::jthread> threads;
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([] {
      for (int i = 0; i < 10; ++i) EXPECT_EQ(run_tool({"sh", {"-c", "echo x"}}).output, "x\n");
      ToolCommand slow{"sleep", {"60"}};
      slow.timeout_s = 0.1;
      EXPECT_THROW(run_tool(slow), Error);
    });
  }
}

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
