#include "tilewright/tune/fleet/job_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "fleet.h"
#include "support/error_text_testing.h"
#include "tilewright/tune/fleet/folder_lock.h"

namespace tilewright::tune {
namespace {

TEST(JobFolder, ReadsBackJobsAndResults) {
  const TestFolder folder("files");
  const JobFolder files(folder.path());
  const Job job{"a-1", "square", "{\"value\": 3}", 2.5};
  files.write_job(job);
  const Job read = files.read_job("a-1");
  EXPECT_TRUE(same_work(read, job));
  EXPECT_EQ(read.timeout_s, 2.5);
  EXPECT_FALSE(files.read_result(job));
  files.write_result(job, {"a-1", JobStatus::kFailed, "why", 0.5, "host-1", 2});
  const std::optional<JobResult> result = files.read_result(job);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, JobStatus::kFailed);
  EXPECT_EQ(result->reply, "why");
  EXPECT_EQ(result->attempts, 2);
}

TEST(JobFolder, AResultOfAnotherRequestOrADamagedOneIsNone) {
  const TestFolder folder("damaged");
  const JobFolder files(folder.path());
  const Job job{"a", "square", "{\"value\": 3}"};
  files.write_result(job, {"a", JobStatus::kDone, "9"});
  Job other = job;
  other.request = "{\"value\": 4}";
  EXPECT_FALSE(files.read_result(other));
  ASSERT_TRUE(files.read_result(job));
  const std::filesystem::path file = folder.path() / "results" / "a.json";
  const auto bytes = std::filesystem::file_size(file);
  for (uintmax_t kept = 0; kept + 1 < bytes; ++kept) {  // the last byte ends the line
    std::filesystem::resize_file(file, kept);
    EXPECT_FALSE(files.read_result(job)) << kept << " bytes";
    files.write_result(job, {"a", JobStatus::kDone, "9"});
  }
}

TEST(JobFolder, RefusesWhatCannotBeAJob) {
  const TestFolder folder("ids");
  const JobFolder files(folder.path());
  for (const char* id : {"", "../up", "A", "a b"}) {
    EXPECT_NE(error_text([&] {
                files.write_job({id, "square", "1"});
              }).find("id of a job"),
              std::string::npos)
        << id;
  }
  EXPECT_NE(error_text([&] { files.write_job({"a", "square", "\xff"}); }).find("UTF-8"), std::string::npos);
  EXPECT_NE(error_text([&] {
              files.write_job({"a", "square", "1", -1});
            }).find("time limit"),
            std::string::npos);
  std::ofstream(folder.path() / "jobs" / "bad.json") << "{\"id\": \"other\"}";
  const std::string text = error_text([&] { files.read_job("bad"); });
  for (const char* field : {"kind", "request", "id", "timeout_s"})
    EXPECT_NE(text.find(field), std::string::npos);
}

TEST(FolderLock, NamesTheHolderAndEndsWithIt) {
  const TestFolder folder("lock");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    const FolderLock lock(folder.path(), "study");
    if (::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const std::string text = error_text([&] { const FolderLock lock(folder.path(), "study"); });
  EXPECT_NE(text.find("the study '" + folder.path().string() + "' is in use by process " +
                      std::to_string(holder) + " on " + host_name()),
            std::string::npos)
      << text;
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  const FolderLock lock(folder.path(), "study");
  EXPECT_NE(error_text([&] { const FolderLock second(folder.path(), "study"); }), "no error");
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace tilewright::tune
