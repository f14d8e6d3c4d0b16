// What a record may hold, how messages show it, and its checksum: FNV-1a over all fields as text,
// floating-point numbers by their bits, with -0 taken for 0.
#include "tilewright/tune/records/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tilewright/base/hash.h"
#include "tilewright/base/plain_text.h"

namespace tilewright::tune {
namespace {

bool is_printable_line(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string shortened(const std::string& text) {
  constexpr size_t kShown = 160;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

}  // namespace

void verify(const Record& record, const std::string& where, Diagnostics& diagnostics) {
  const auto refuse = [&](const char* field, const std::string& message) {
    diagnostics.error(ErrorKind::kInvalidInput, where, field, message);
  };
  const auto check_length = [&](const char* field, const std::string& text) {
    if (text.size() > kLongestRecordText)
      refuse(field, fmt::format("has {} bytes; at most {} are kept", text.size(), kLongestRecordText));
  };
  const auto check_key = [&](const char* field, const std::string& text) {
    if (text.empty()) refuse(field, "is empty");
    if (!is_printable_line(text)) refuse(field, "is not one line of printable ASCII");
    check_length(field, text);
  };
  check_key("workload", record.key.workload);
  check_key("hardware", record.key.hardware);
  check_key("schedule", record.key.schedule);
  check_key("tool", record.key.tool);
  check_length("failure", record.failure);
  if (!valid_utf8(record.failure)) refuse("failure", "is not UTF-8");
  if (record.cost && !std::isfinite(*record.cost)) refuse("cost", "is not finite");
  if (record.cost && !record.failure.empty()) refuse("failure", "is given together with a cost");
  if (!record.cost && record.failure.empty()) refuse("failure", "is missing, and so is the cost");
  if (!std::isfinite(record.seconds) || record.seconds < 0)
    refuse("seconds", "is not a finite number of 0 or more");
  if (record.unix_time_s < 0 || record.unix_time_s > kLatestRecordTime)
    refuse("unix_time_s", fmt::format("is not in 0..{}", kLatestRecordTime));
}

std::string describe(const TrialKey& key) {
  return fmt::format("workload {}\n  hardware {}\n  schedule {}\n  tool {}, seed {}", shortened(key.workload),
                     shortened(key.hardware), shortened(key.schedule), shortened(key.tool), key.seed);
}

std::string describe_result(const Record& record) {
  return record.cost ? fmt::format("{} cycles", *record.cost)
                     : fmt::format("failed: {}", shortened(record.failure));
}

uint64_t checksum(const Record& record) {
  // No key text holds a line break, so the parts cannot run into each other.
  const TrialKey& key = record.key;
  const std::string cost =
      record.cost ? fmt::format("{:x}", std::bit_cast<uint64_t>(*record.cost + 0.0)) : "-";
  return fnv1a(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{:x}\n{}\n{}", key.workload, key.hardware, key.schedule,
                           key.tool, key.seed, cost, std::bit_cast<uint64_t>(record.seconds + 0.0),
                           record.unix_time_s, record.failure));
}

}  // namespace tilewright::tune
