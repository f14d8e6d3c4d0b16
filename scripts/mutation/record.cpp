// Linked into a test program: after each test, one line "NAME MILLISECONDS passed|failed|skipped MUTANT..."
// with the mutants that the test reached goes to the file named by TILEWRIGHT_MUTANTS_RECORD. The line of the
// name "*" holds what ran before the first test.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace mutation {

extern unsigned char* reached;

namespace {

class Recorder : public testing::EmptyTestEventListener {
 public:
  explicit Recorder(const char* path) : path_(path) {}

 private:
  void OnTestProgramStart(const testing::UnitTest&) override { write("*", 0, "passed"); }
  void OnTestEnd(const testing::TestInfo& test) override {
    const testing::TestResult& result = *test.result();
    write(std::string(test.test_suite_name()) + "." + test.name(), long(result.elapsed_time()),
          result.Failed()    ? "failed"
          : result.Skipped() ? "skipped"
                             : "passed");
  }

  void write(const std::string& name, long milliseconds, const char* outcome) {
    FILE* file = std::fopen(path_.c_str(), "a");
    if (file == nullptr) return;
    std::fprintf(file, "%s %ld %s", name.c_str(), milliseconds, outcome);
    for (int id = 0; id < 1 << 16; ++id) {
      if (reached[id]) std::fprintf(file, " %d", id);
      reached[id] = 0;
    }
    std::fputc('\n', file);
    std::fclose(file);
  }

  std::string path_;
};

const bool registered = [] {
  const char* path = std::getenv("TILEWRIGHT_MUTANTS_RECORD");
  if (path != nullptr) testing::UnitTest::GetInstance()->listeners().Append(new Recorder(path));
  return path != nullptr;
}();

}  // namespace
}  // namespace mutation
