// The fields, in this order: workload, hardware, schedule, tool, seed, cost or failure, seconds,
// unix_time_s. The reader takes them in any order, and refuses unknown ones.
#include "tilewright/tune/records/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tilewright/base/file.h"
#include "tilewright/base/gzip.h"
#include "tilewright/base/json.h"

namespace tilewright::tune {
namespace {

constexpr int64_t kBeginningBytes = 64;  // by which other kinds of files are known
constexpr int64_t kMostReported = 20;    // bad lines

// The number of a field that must be there; nothing, and an error reported, where it is missing or no number.
std::optional<double> read_number(JsonMap& fields, const char* name) {
  const nlohmann::json* value = fields.child(name);
  if (value && value->is_number()) return value->get<double>();
  fields.error(name, value ? "is not a number" : "missing field", "give a number");
  return std::nullopt;
}

uint64_t read_seed(JsonMap& fields) {
  const nlohmann::json* value = fields.child("seed");
  if (value && value->is_number_unsigned()) return value->get<uint64_t>();
  fields.error("seed", value ? "is not an integer of 0 or more" : "missing field", "give an integer");
  return 0;
}

std::optional<Record> parse_record(const std::string& line, const std::string& where,
                                   Diagnostics& diagnostics) {
  Diagnostics problems;
  Record record;
  try {
    const nlohmann::json json = parse_json(line, where);
    if (!json.is_object())
      throw Error({{ErrorKind::kInvalidInput, where, "", "an object {...} is expected", ""}});
    JsonMap fields(json, where, problems);
    record.key.workload = fields.text("workload");
    record.key.hardware = fields.text("hardware");
    record.key.schedule = fields.text("schedule");
    record.key.tool = fields.text("tool");
    record.key.seed = read_seed(fields);
    if (fields.has("cost")) record.cost = read_number(fields, "cost");
    record.failure = fields.text("failure", "");
    record.seconds = read_number(fields, "seconds").value_or(0);
    record.unix_time_s = fields.integer("unix_time_s", 0, kLatestRecordTime);
    fields.finish();
    if (problems.ok()) verify(record, where, problems);
  } catch (const Error& error) {
    for (const Diagnostic& problem : error.diagnostics()) problems.add(problem);
  }
  for (const Diagnostic& problem : problems.errors()) diagnostics.add(problem);
  if (!problems.ok()) return std::nullopt;
  return record;
}

}  // namespace

std::string print_record(const Record& record) {
  const TrialKey& key = record.key;
  const std::string result = record.cost ? fmt::format("\"cost\": {}", *record.cost + 0.0)
                                         : fmt::format("\"failure\": {}", json_quoted(record.failure));
  return fmt::format(
      "{{\"workload\": {}, \"hardware\": {}, \"schedule\": {}, \"tool\": {}, \"seed\": {}, {}, \"seconds\": "
      "{}, "
      "\"unix_time_s\": {}}}\n",
      json_quoted(key.workload), json_quoted(key.hardware), json_quoted(key.schedule), json_quoted(key.tool),
      key.seed, result, record.seconds + 0.0, record.unix_time_s);
}

void read_records(std::istream& in, const std::string& source_name, Diagnostics& diagnostics,
                  const std::function<void(const Record&, const std::string&)>& visit) {
  int64_t number = 0, bad = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}:{}", source_name, number);
    Diagnostics unreported;
    const std::optional<Record> record =
        parse_record(line, where, bad < kMostReported ? diagnostics : unreported);
    bad += !record;
    if (record) visit(*record, where);
  }
  if (bad > kMostReported) {
    diagnostics.error(ErrorKind::kInvalidInput, source_name, "",
                      fmt::format("{} more lines hold no record", bad - kMostReported),
                      "records are text as 'tilewright records export' writes it");
  }
}

std::string read_records_text(const std::string& path) {
  std::vector<std::byte> text = read_file(path);
  if (is_gzip(text)) text = with_context(fmt::format("file '{}'", path), [&] { return gunzip(text); });
  // A line with a zero byte is damaged; a file that begins with one is another kind of file.
  const auto begin = text.begin(), end = begin + std::min<int64_t>(kBeginningBytes, std::ssize(text));
  if (std::find(begin, end, std::byte{0}) != end) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("file '{}' is not text", path),
                "records are text as 'tilewright records export' writes it");
  }
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

}  // namespace tilewright::tune
