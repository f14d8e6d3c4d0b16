// A line is written in one piece and flushed to the disk before a result counts. What a crash or a full disk
// left of a line has no line feed at its end: it is cut off when the study is taken up again.
#include "tilewright/tune/explore/study.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"

namespace tilewright::tune {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kQuestionFile = "study.json";
constexpr const char* kCandidateFile = "candidates.jsonl";

[[noreturn]] void fail(const fs::path& file) {
  throw Error(ErrorKind::kInvalidInput, fmt::format("cannot write '{}': {}", file.string(), strerror(errno)),
              "free space or choose another folder, then run the same command again");
}

std::string line_of(const CandidateResult& result) {
  Json line{{"point", result.point},
            {"content", result.content},
            {"cycles", result.cycles},
            {"trials", result.trials},
            {"worker_s", result.worker_s}};
  if (!result.failure.empty()) line["failure"] = result.failure;
  if (!result.details.empty()) line["details"] = Json::parse(result.details);
  return json_text(line) + "\n";
}

CandidateResult parse_line(const std::string& text, const std::string& where) {
  const Json line = parse_json(text, where);
  Diagnostics problems;
  JsonMap fields(line, where, problems);
  CandidateResult result;
  result.point = KnobSpace::Point(fields.integer("point", 0, INT64_MAX));
  result.content = fields.text("content");
  result.cycles = fields.integer("cycles", 0, INT64_MAX);
  result.trials = fields.integer("trials", 0, INT64_MAX);
  result.failure = fields.text("failure", "");
  if (const Json* seconds = fields.child("worker_s"); seconds != nullptr && seconds->is_number()) {
    result.worker_s = seconds->get<double>();
  }
  if (const Json* details = fields.child("details")) result.details = details->dump();
  fields.finish();
  problems.raise_if_any();
  return result;
}

// Cuts off what follows the last line feed.
void cut_torn_line(const fs::path& file) {
  const std::string text = fs::exists(file) ? read_text_file(file) : "";
  const size_t end = text.rfind('\n');
  const size_t whole = end == std::string::npos ? 0 : end + 1;
  if (whole == text.size()) return;
  std::error_code error;
  fs::resize_file(file, whole, error);
  if (error) {
    errno = error.value();
    fail(file);
  }
}

void check_question(const fs::path& file, const std::string& question) {
  const Json there = parse_json(read_text_file(file), file.string()), asked = Json::parse(question);
  if (there == asked) return;
  Diagnostics problems;
  const auto shown = [](const Json& object, const std::string& key) {
    const std::string text = object.contains(key) ? json_text(object.at(key)) : "nothing";
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
  };
  for (const auto& field : asked.items()) {
    if (there.contains(field.key()) && there.at(field.key()) == field.value()) continue;
    problems.error(
        ErrorKind::kInvalidInput, "study '" + file.parent_path().string() + "'", field.key(),
        fmt::format("it was made with {}, not with {}", shown(there, field.key()), shown(asked, field.key())),
        "use another folder");
  }
  problems.raise_if_any();
  throw Error(ErrorKind::kInvalidInput,
              fmt::format("'{}' has fields that a study does not have", file.string()), "use another folder");
}

}  // namespace

Study::Study(const fs::path& folder, const std::string& question)
    : folder_((create_folder(folder), folder)), lock_(folder, "study") {
  const fs::path file = folder_ / kQuestionFile;
  if (fs::exists(file)) {
    check_question(file, question);
  } else {
    write_text_file(file, json_text(Json::parse(question), 2) + "\n");
  }
  cut_torn_line(folder_ / kCandidateFile);
  for (CandidateResult& result : read_candidates(folder_)) {
    const KnobSpace::Point point = result.point;
    known_.insert_or_assign(point, std::move(result));
  }
}

void Study::keep(const std::vector<CandidateResult>& results) {
  const fs::path file = folder_ / kCandidateFile;
  std::string lines;
  for (const CandidateResult& result : results) lines += line_of(result);
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(file);
  size_t written = 0;
  while (written < lines.size()) {
    const ssize_t n = ::write(descriptor, lines.data() + written, lines.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    written += size_t(n);
  }
  const bool stored = written == lines.size() && ::fsync(descriptor) == 0;
  const int problem = errno;
  ::close(descriptor);
  if (!stored) {
    cut_torn_line(file);
    errno = problem;
    fail(file);
  }
}

std::string read_question(const fs::path& folder) {
  const fs::path file = folder / kQuestionFile;
  if (!fs::exists(file)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' holds no study", folder.string()),
                "'tilewright explore ... -o FOLDER' makes one");
  }
  return read_text_file(file);
}

std::vector<CandidateResult> read_candidates(const fs::path& folder) {
  const fs::path file = folder / kCandidateFile;
  std::vector<CandidateResult> results;
  if (!fs::exists(file)) return results;
  const std::string text = read_text_file(file);
  int64_t number = 0;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    results.push_back(
        parse_line(text.substr(begin, end - begin), fmt::format("{}:{}", file.string(), ++number)));
  }
  return results;
}

KnownResults unchanged(const KnownResults& known, const ExplorationBackend& backend) {
  KnownResults kept;
  for (const auto& [point, result] : known) {
    if (point < backend.space().size() && backend.content(point) == result.content)
      kept.emplace(point, result);
  }
  return kept;
}

}  // namespace tilewright::tune
