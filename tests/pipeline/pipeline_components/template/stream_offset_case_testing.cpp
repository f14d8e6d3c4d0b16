// The template of a bench case (docs/guides/components.md): what has to come out of what went in.
#include <deque>

#include "support/pipeline/component_cases_testing.h"

namespace tilewright::pipeline {
namespace {

class OffsetCase : public BenchCase {
 public:
  OffsetCase(int64_t bits, int64_t offset)
      : BenchCase("stream_offset", {{"BITS", bits}, {"OFFSET", offset}}), bits_(int(bits)), offset_(offset) {}
  void begin() override {
    expected_.clear();
    wrong_.clear();
  }
  void transferred(const std::string& stream, const Beat& data, bool /*last*/) override {
    if (stream == "in") {
      Beat sum(bits_);
      sum.set(0, bits_, data.get(0, bits_) + uint64_t(offset_));
      expected_.push_back(sum);
    } else {
      if (expected_.empty() || data != expected_.front()) wrong_ = "a beat is not the one before plus OFFSET";
      if (!expected_.empty()) expected_.pop_front();
    }
  }
  // At the end one beat may still be inside.
  std::string finish() override { return expected_.size() > 1 ? "beats are missing" : wrong_; }

 private:
  const int bits_;
  const int64_t offset_;
  std::deque<Beat> expected_;
  std::string wrong_;
};

}  // namespace

std::unique_ptr<BenchCase> random_stream_offset(Random& random) {
  return std::make_unique<OffsetCase>(random.between(1, 40), random.between(1, 1000));
}

}  // namespace tilewright::pipeline
