#include "fuzz/sandbox.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <thread>

#include "tilewright/base/error.h"

namespace tilewright {
namespace {

// Each outcome is produced on purpose and must be told apart, with the inputs after it still run.
TEST(Sandbox, TellsOutcomesApart) {
  SandboxLimits limits;
  limits.processor_time = std::chrono::seconds(1);
#if defined(__SANITIZE_ADDRESS__)
  limits.per_input = std::chrono::seconds(20);  // reporting a crash takes its time
#else
  limits.per_input = std::chrono::seconds(4);
#endif
  const SandboxResult result = run_in_sandbox(
      9,
      [](size_t index) {
        if (index == 1) throw Error(ErrorKind::kInvalidInput, "bad");
        if (index == 2) raise(SIGSEGV);
        if (index == 3) std::this_thread::sleep_for(std::chrono::seconds(600));
        if (index == 4) TILEWRIGHT_CHECK(index == 0, "an invariant");
        if (index == 5) throw std::runtime_error("other");
        if (index == 6) _exit(9);
        if (index == 7) {
          for (volatile bool forever = true; forever;) {
          }
        }
      },
      limits);
  const std::vector<Outcome> expected = {Outcome::kAccepted, Outcome::kRejected,  Outcome::kCrashed,
                                         Outcome::kHung,     Outcome::kWrongKind, Outcome::kWrongKind,
                                         Outcome::kCrashed,  Outcome::kHung,      Outcome::kAccepted};
  EXPECT_EQ(result.outcomes, expected);
  EXPECT_NE(result.messages[4].find("an invariant"), std::string::npos);
  EXPECT_EQ(result.messages[5], "other");
  EXPECT_EQ(result.messages[6], "exit code 9");
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Sandbox, TooMuchMemoryIsACrash) {
  SandboxLimits limits;
  limits.memory_bytes = size_t{512} << 20;
  const SandboxResult result = run_in_sandbox(
      1, [](size_t) { std::vector<char> large(size_t{1} << 30, 1); }, limits);
  EXPECT_EQ(result.outcomes[0], Outcome::kCrashed);
  EXPECT_EQ(result.messages[0], "out of memory");
}
#endif

}  // namespace
}  // namespace tilewright
