// The collector of implementation data is killed in the midst of a row: what it had stays, no tool is left
// over, and another one goes on.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "fleet.h"
#include "tilewright/base/file.h"
#include "tilewright/overlay/implement/implementation_data.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

// Two rows of a part that is synthesised alone. Its tools are known by the folder in their environment.
pid_t start_collector(const fs::path& folder) {
  return tune::fork_coordinator([&] {
    ::setenv("TILEWRIGHT_COLLECTION", folder.c_str(), 1);
    ::execl(TILEWRIGHT_COLLECTOR, TILEWRIGHT_COLLECTOR, folder.c_str(), "--device", "xc7z020", "--groups",
            "2", nullptr);
    throw Error(ErrorKind::kInternal, "the collector did not start");
  });
}

// Text and time of every row's file.
std::map<std::string, std::pair<std::string, fs::file_time_type>> rows_in(const fs::path& folder) {
  std::map<std::string, std::pair<std::string, fs::file_time_type>> rows;
  if (!fs::exists(folder / "rows")) return rows;
  for (const auto& entry : fs::directory_iterator(folder / "rows")) {
    if (entry.path().extension() != ".json") continue;
    rows[entry.path().stem()] = {read_text_file(entry.path()), entry.last_write_time()};
  }
  return rows;
}

bool yosys_runs(const fs::path& folder) {
  for (const pid_t process : tune::processes_with(folder.string())) {
    try {
      if (read_text_file("/proc/" + std::to_string(process) + "/comm") == "yosys\n") return true;
    } catch (const Error&) {  // it has just ended
    }
  }
  return false;
}

TEST(Collector, KilledInTheMidstOfARowItLosesThatRowAlone) {
  const std::string missing = synthesis::missing_tools({"yosys"});
  if (!missing.empty()) GTEST_SKIP() << missing;
  const tune::TestFolder folder("collector");
  const pid_t killed = start_collector(folder.path());
  EXPECT_TRUE(
      tune::wait_until([&] { return rows_in(folder.path()).size() == 1 && yosys_runs(folder.path()); }, 400));
  ::kill(killed, SIGKILL);
  ::waitpid(killed, nullptr, 0);
  EXPECT_TRUE(tune::all_end_within(folder.path().string(), 10)) << "a tool is left over";
  const auto before = rows_in(folder.path());
  ASSERT_EQ(before.size(), 1u);

  int status = -1;
  ::waitpid(start_collector(folder.path()), &status, 0);
  EXPECT_EQ(status, 0);
  const auto after = rows_in(folder.path());
  ASSERT_EQ(after.size(), 2u);
  const auto& [key, first] = *before.begin();
  ASSERT_TRUE(after.count(key));
  EXPECT_EQ(after.at(key), first) << "the row was made again";
  for (const auto& [name, row] : after) {
    const ImplementationRow parsed = parse_implementation_row(row.first, name);
    EXPECT_EQ(implementation_key(parsed), name);
    EXPECT_NE(parsed.failure, ImplementationFailure::kRefused) << parsed.failure_text;
  }
}

}  // namespace
}  // namespace tilewright::overlay
