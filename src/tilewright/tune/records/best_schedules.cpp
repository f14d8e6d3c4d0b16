// A database answers by query; a text is read once into a map of the best by workload, hardware and tool; a
// join asks each of its sources.
#include "tilewright/tune/records/best_schedules.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <tuple>

#include "tilewright/tune/records/record_text.h"
#include "tilewright/tune/records/records.h"

namespace tilewright::tune {
namespace {

bool better(const Record& a, const Record& b) { return std::tie(*a.cost, a.key) < std::tie(*b.cost, b.key); }

class StoredSchedules final : public BestSchedules {
 public:
  explicit StoredSchedules(const std::filesystem::path& path) : store_(path, RecordStore::Mode::kRead) {}
  std::optional<Record> best(const std::string& workload, const std::string& hardware,
                             const std::string& tool) const override {
    return store_.best(workload, hardware, tool);
  }
  std::vector<Record> all_best() const override { return store_.all_best(); }

 private:
  RecordStore store_;
};

class ListedSchedules final : public BestSchedules {
 public:
  void add(const Record& record) {
    if (!record.cost) return;
    const TrialKey& key = record.key;
    const auto [place, is_new] = best_.try_emplace({key.workload, key.hardware, key.tool}, record);
    if (!is_new && better(record, place->second)) place->second = record;
  }
  std::optional<Record> best(const std::string& workload, const std::string& hardware,
                             const std::string& tool) const override {
    const auto found = best_.find({workload, hardware, tool});
    if (found == best_.end()) return std::nullopt;
    return found->second;
  }
  std::vector<Record> all_best() const override {
    std::vector<Record> records;
    for (const auto& [group, record] : best_) records.push_back(record);
    std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.key < b.key; });
    return records;
  }

 private:
  std::map<std::tuple<std::string, std::string, std::string>, Record> best_;
};

class JoinedSchedules final : public BestSchedules {
 public:
  explicit JoinedSchedules(std::vector<std::unique_ptr<BestSchedules>> sources)
      : sources_(std::move(sources)) {}
  std::optional<Record> best(const std::string& workload, const std::string& hardware,
                             const std::string& tool) const override {
    std::optional<Record> best;
    for (const auto& source : sources_) {
      std::optional<Record> next = source->best(workload, hardware, tool);
      if (next && (!best || better(*next, *best))) best = std::move(next);
    }
    return best;
  }
  std::vector<Record> all_best() const override {
    ListedSchedules together;
    for (const auto& source : sources_) {
      for (const Record& record : source->all_best()) together.add(record);
    }
    return together.all_best();
  }

 private:
  std::vector<std::unique_ptr<BestSchedules>> sources_;
};

// Whether a file begins like a database. An empty one goes to RecordStore, which reports it.
bool is_database(const std::filesystem::path& path) {
  constexpr std::string_view kBegin = "SQLite format 3";
  std::string begin(kBegin.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), std::streamsize(begin.size()));
  return file.gcount() == 0 || begin == kBegin;
}

}  // namespace

std::unique_ptr<BestSchedules> open_best_schedules(const std::filesystem::path& path) {
  if (is_database(path)) return std::make_unique<StoredSchedules>(path);
  return parse_best_schedules(read_records_text(path.string()), path.string());
}

std::unique_ptr<BestSchedules> parse_best_schedules(const std::string& text, const std::string& source_name) {
  auto listed = std::make_unique<ListedSchedules>();
  std::istringstream in(text);
  Diagnostics problems;
  read_records(in, source_name, problems,
               [&](const Record& record, const std::string&) { listed->add(record); });
  problems.raise_if_any();
  return listed;
}

std::unique_ptr<BestSchedules> join_best_schedules(std::vector<std::unique_ptr<BestSchedules>> sources) {
  return std::make_unique<JoinedSchedules>(std::move(sources));
}

}  // namespace tilewright::tune
