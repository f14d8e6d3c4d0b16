// Records and folders for the tests of the database.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "tilewright/base/random.h"
#include "tilewright/tune/records/records.h"

namespace tilewright::tune {

// An empty folder of this process' own, removed with the object; where there is one, on a disk in memory, for
// tests that write a lot and do not ask what a disk does.
class TestFolder {
 public:
  enum class Place { kDisk, kMemory };
  explicit TestFolder(const std::string& name, Place place = Place::kDisk) {
    const bool in_memory = place == Place::kMemory && ::access("/dev/shm", W_OK) == 0;
    path_ = std::filesystem::path(in_memory ? "/dev/shm" : testing::TempDir()) /
            ("tilewright_records_" + std::to_string(::getpid()) + "_" + name);
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Record `number` of a fixed sequence: three workloads, two machines, a schedule of its own, every tenth one
// failed.
inline Record numbered_record(int64_t number) {
  Record record;
  record.key = {"workload " + std::to_string(number % 3), "hardware " + std::to_string(number % 2),
                "schedule " + std::to_string(number), "cycle-simulator 1", 0};
  if (number % 10 == 0) {
    record.failure = "does not fit";
  } else {
    record.cost = double(1100 + number);
  }
  record.seconds = 0.25;
  record.unix_time_s = 1700000000 + number;
  return record;
}

// One of about `keys` records, whose costs often are equal.
inline Record random_record(Random& random, int64_t keys) {
  const int64_t number = random.between(0, keys - 1);
  Record record = numbered_record(number);
  record.key.schedule = "schedule " + std::to_string(number / 3);
  record.key.tool = "tool " + std::to_string(number % 2);
  record.key.seed = number % 7 == 0 ? ~uint64_t(number) : uint64_t(number);
  if (record.cost) record.cost = double(number % 50);
  return record;
}

// The message of the Error that `body` throws; empty when it throws none.
inline std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace tilewright::tune
