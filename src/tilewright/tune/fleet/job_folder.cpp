// One JSON object per file, replaced as a whole and on the disk before the writer goes on. A result carries
// the FNV-1a digest of its job's kind and request, and counts as absent for any other request.
#include "tilewright/tune/fleet/job_folder.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/json.h"

namespace tilewright::tune {
namespace {

using Json = nlohmann::json;

// What ties a result to its request.
std::string digest(const Job& job) { return fmt::format("{:016x}", fnv1a(job.kind + '\n' + job.request)); }

void check_id(const std::string& id) {
  if (!id.empty() && id.size() <= 100 &&
      id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos) {
    return;
  }
  throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' cannot be the id of a job", id),
              "1 to 100 of a-z, 0-9 and -");
}

std::string job_text(const Job& job) {
  check_id(job.id);
  if (!(job.timeout_s > 0) || !std::isfinite(job.timeout_s)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("job '{}': {} s is not a time limit", job.id, job.timeout_s));
  }
  try {
    const Json value = {
        {"id", job.id}, {"kind", job.kind}, {"request", job.request}, {"timeout_s", job.timeout_s}};
    return value.dump() + "\n";
  } catch (const Json::exception&) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("job '{}': the request is not UTF-8", job.id));
  }
}

}  // namespace

bool same_work(const Job& a, const Job& b) { return a.kind == b.kind && a.request == b.request; }

JobFolder::JobFolder(std::filesystem::path folder) : folder_(std::filesystem::absolute(std::move(folder))) {
  for (const char* name : {"jobs", "results", "logs"}) create_folder(folder_ / name);
}

void JobFolder::write_job(const Job& job) const {
  const std::string text = job_text(job);
  const std::filesystem::path file = folder_ / "jobs" / (job.id + ".json");
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    try {
      if (read_text_file(file) == text) return;
    } catch (const Error&) {  // unreadable: written anew
    }
  }
  write_text_file_durably(file, text);
}

Job JobFolder::read_job(const std::string& id) const {
  check_id(id);
  const std::filesystem::path file = folder_ / "jobs" / (id + ".json");
  const Json value = parse_json(read_text_file(file), file.string());
  Diagnostics diagnostics;
  JsonMap map(value, file.string(), diagnostics);
  Job job{id, map.text("kind"), map.text("request")};
  if (map.text("id") != id) map.error("id", fmt::format("is not '{}'", id));
  const Json* timeout = map.child("timeout_s");
  if (timeout && timeout->is_number()) {
    job.timeout_s = timeout->get<double>();
  } else {
    map.error("timeout_s", "a number is expected");
  }
  map.finish();
  diagnostics.raise_if_any();
  return job;
}

void JobFolder::write_result(const Job& job, const JobResult& result) const {
  const Json value = {{"id", job.id},
                      {"request", digest(job)},
                      {"status", result.status == JobStatus::kDone ? "done" : "failed"},
                      {"reply", result.reply},
                      {"seconds", result.seconds},
                      {"worker", result.worker},
                      {"attempts", result.attempts}};
  write_text_file_durably(folder_ / "results" / (job.id + ".json"), json_text(value) + "\n");
}

std::optional<JobResult> JobFolder::read_result(const Job& job) const {
  const std::filesystem::path file = folder_ / "results" / (job.id + ".json");
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  try {
    const Json value = parse_json(read_text_file(file), file.string());
    const std::string status = value.at("status");
    if (value.at("id") != job.id || value.at("request") != digest(job)) return {};
    if (status != "done" && status != "failed") return {};
    return JobResult{job.id,
                     status == "done" ? JobStatus::kDone : JobStatus::kFailed,
                     value.at("reply"),
                     value.at("seconds"),
                     value.at("worker"),
                     value.at("attempts")};
  } catch (const Error&) {
    return {};
  } catch (const Json::exception&) {
    return {};
  }
}

std::optional<JobResult> JobFolder::take_over(const Job& job) const {
  std::optional<JobResult> result = read_result(job);
  if (!result || result->status == JobStatus::kDone) return result;
  std::error_code ignored;
  std::filesystem::remove(folder_ / "results" / (job.id + ".json"), ignored);
  return {};
}

void JobFolder::sweep() const {
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const char* name : {"jobs", "results"}) {
    std::error_code failure;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / name, failure)) {
      std::error_code ignored;
      if (entry.path().extension() != ".json" && entry.last_write_time(ignored) < old && !ignored) {
        std::filesystem::remove(entry.path(), ignored);
      }
    }
  }
}

}  // namespace tilewright::tune
