// Look up, measure what is missing in one call, store it, then answer from the records. An answer is
// `cached` unless its point is the one that was measured for the schedule. Failures are cut and reduced to
// ASCII before they are stored.
#include "tilewright/tune/records/recorded_problem.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace tilewright::tune {
namespace {

// A failure as a record may hold it.
std::string recorded_failure(const Measurement& measurement) {
  constexpr size_t kMost = 4000;
  std::string text = measurement.failure.empty() ? "failed" : measurement.failure;
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  const auto is_plain = [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); };
  std::replace_if(
      text.begin(), text.end(), [&](char c) { return !is_plain(c); }, '?');
  return text;
}

}  // namespace

RecordedProblem::RecordedProblem(TuningProblem& inner, RecordedTexts texts, ScheduleText schedule_text,
                                 RecordStore& store, Clock clock)
    : inner_(inner),
      texts_(std::move(texts)),
      schedule_text_(std::move(schedule_text)),
      store_(store),
      clock_(std::move(clock)) {}

std::vector<Measurement> RecordedProblem::measure(std::span<const KnobSpace::Point> points) {
  std::vector<std::string> schedules;
  std::map<std::string, Record> known;     // by schedule
  std::map<std::string, size_t> first_of;  // the point that a missing schedule is measured for
  std::vector<KnobSpace::Point> missing;
  for (size_t i = 0; i < points.size(); ++i) {
    const std::string& schedule = schedules.emplace_back(schedule_text_(points[i]));
    if (known.count(schedule) != 0 || first_of.count(schedule) != 0) continue;
    std::optional<Record> found = store_.find(key(schedule));
    if (found) {
      known.emplace(schedule, std::move(*found));
    } else {
      first_of[schedule] = i;
      missing.push_back(points[i]);
    }
  }
  for (Record& record : measure_and_record(missing)) {
    std::string schedule = record.key.schedule;
    known.emplace(std::move(schedule), std::move(record));
  }
  std::vector<Measurement> answers;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto answer = known.find(schedules[i]);
    if (answer == known.end()) continue;  // left out by the inner problem
    const Record& record = answer->second;
    const auto first = first_of.find(schedules[i]);
    const bool cached = first == first_of.end() || first->second != i;
    answers.push_back({points[i], record.cost, record.failure, cached});
  }
  return answers;
}

TrialKey RecordedProblem::key(const std::string& schedule) const {
  return {texts_.workload, texts_.hardware, schedule, texts_.tool, texts_.seed};
}

std::vector<Record> RecordedProblem::measure_and_record(const std::vector<KnobSpace::Point>& points) {
  std::vector<Record> records;
  if (points.empty()) return records;
  const auto began = std::chrono::steady_clock::now();
  const std::vector<Measurement> results = inner_.measure(points);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  TILEWRIGHT_CHECK(results.size() <= points.size(), "the inner problem gives at most one result per point");
  for (const Measurement& result : results) {
    Record record{key(schedule_text_(result.point)), result.cost, ""};
    if (!result.cost) record.failure = recorded_failure(result);
    record.seconds = seconds.count() / double(results.size());
    record.unix_time_s = clock_();
    records.push_back(std::move(record));
  }
  store_.add(records);
  return records;
}

}  // namespace tilewright::tune
