// The question is the text of everything the answer depends on; its FNV-1a hash (Fowler, Noll, Vo) names the
// file. Two questions with one hash overwrite each other, which costs time and never correctness.
#include "tilewright/spatial/network/mapping_cache.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/json.h"
#include "tilewright/nest/workload_text.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kKind = "tilewright mapping";
constexpr size_t kLargestEntry = size_t{1} << 24;

Json constraints_json(const std::vector<LevelConstraints>& constraints) {
  Json list = Json::array();
  for (const LevelConstraints& level : constraints) {
    list.push_back({level.temporal, level.spatial_x, level.spatial_y, level.innermost, level.must_keep,
                    level.must_bypass, level.one_axis_per_dimension});
  }
  return list;
}

const char* status_name(MapStatus status) {
  switch (status) {
    case MapStatus::kOptimal:
      return "optimal";
    case MapStatus::kStopped:
      return "stopped";
    case MapStatus::kInfeasible:
      return "infeasible";
  }
  return "";
}

std::optional<MapStatus> status_of(const std::string& text) {
  for (const MapStatus status : {MapStatus::kOptimal, MapStatus::kStopped, MapStatus::kInfeasible}) {
    if (text == status_name(status)) return status;
  }
  return {};
}

// Time limits of 0 mean none, the longest of all.
double comparable_limit(double time_limit_s) {
  return time_limit_s > 0 ? time_limit_s : std::numeric_limits<double>::infinity();
}

std::string entry_checksum(Json entry) {
  entry.erase("checksum");
  return fmt::format("{:016x}", fnv1a(json_text(entry)));
}

// Throws on anything that is not as store() writes it.
MapResult read_entry(const Json& entry, const Mapspace& mapspace, const MapperOptions& options) {
  MapResult result;
  const auto status = status_of(entry.at("status").get<std::string>());
  if (!status) throw Error(ErrorKind::kInvalidInput, "unknown status");
  result.status = *status;
  result.mapspace_size = entry.at("mapspace_size").get<double>();
  result.nodes = entry.at("nodes").get<int64_t>();
  result.pruned = entry.at("pruned").get<int64_t>();
  result.evaluated = entry.at("evaluated").get<int64_t>();
  result.seconds_to_value = entry.at("seconds_to_value").get<double>();
  result.seconds = entry.at("seconds").get<double>();
  if (result.status == MapStatus::kInfeasible) {
    result.infeasible_reason = entry.at("infeasible_reason").get<std::string>();
    return result;
  }
  result.mapping = parse_mapping(entry.at("mapping").get<std::string>(), "mapping", mapspace.workload);
  Diagnostics broken;
  check_inside(mapspace, result.mapping, "mapping", broken, options.rules.accounting);
  broken.raise_if_any();
  result.cost = evaluate_mapping(mapspace.workload, mapspace.hardware, result.mapping, options.rules);
  result.value = objective_value(options.objective, result.cost);
  result.lower_bound = entry.at("lower_bound").get<double>();
  const double stored = entry.at("value").get<double>();
  constexpr double kRounding = 1e-9;
  if (std::abs(stored - result.value) > kRounding * result.value ||
      result.lower_bound > result.value * (1 + kRounding)) {
    throw Error(ErrorKind::kInvalidInput, "the mapping does not have the cost that is stored with it");
  }
  return result;
}

}  // namespace

MappingCache::MappingCache(std::filesystem::path folder, std::string tool_version)
    : folder_(std::move(folder)), tool_version_(std::move(tool_version)) {
  create_folder(folder_);
  std::error_code failure;
  std::filesystem::directory_iterator(folder_, failure);
  if (failure) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("cannot read the cache folder '{}': {}", folder_.string(), failure.message()));
  }
}

std::string MappingCache::question(const Mapspace& mapspace, const MapperOptions& options) const {
  Workload workload = mapspace.workload;
  workload.name = "layer";
  const Json text = {{"version", tool_version_},
                     {"workload", print_workload(workload)},
                     {"hardware", print_array_hardware(mapspace.hardware)},
                     {"constraints", constraints_json(mapspace.constraints)},
                     {"imperfect", mapspace.imperfect},
                     {"objective", int(options.objective)},
                     {"max_cycles", options.max_cycles.value_or(0)},
                     {"accounting", int(options.rules.accounting)},
                     {"charge_drain_reads", options.rules.charge_drain_reads}};
  return json_text(text);
}

std::filesystem::path MappingCache::path_of(const Mapspace& mapspace, const MapperOptions& options) const {
  return folder_ / fmt::format("{:016x}.json", fnv1a(question(mapspace, options)));
}

std::optional<MapResult> MappingCache::find(const Mapspace& mapspace, const MapperOptions& options) {
  const std::filesystem::path path = path_of(mapspace, options);
  std::error_code absent;
  if (!std::filesystem::exists(path, absent)) {
    ++misses_;
    return {};
  }
  std::string problem;
  try {
    const Json entry = Json::parse(read_text_file(path, kLargestEntry));
    if (entry.at("kind") != kKind || entry.at("checksum") != entry_checksum(entry)) {
      problem = "it is damaged";
    } else if (entry.at("question") == question(mapspace, options)) {
      const bool stopped = entry.at("status") == status_name(MapStatus::kStopped);
      const double limit = comparable_limit(entry.at("time_limit_s").get<double>());
      if (!stopped || limit >= comparable_limit(options.time_limit_s)) {
        MapResult result = read_entry(entry, mapspace, options);
        ++hits_;
        return result;
      }
    }
  } catch (const Json::exception&) {
    problem = "it is damaged";
  } catch (const Error& error) {
    problem = error.what();
  }
  if (!problem.empty()) {
    warnings_.push_back(fmt::format("cache entry '{}' is ignored: {}", path.string(), problem));
  }
  ++misses_;
  return {};
}

void MappingCache::store(const Mapspace& mapspace, const MapperOptions& options, const MapResult& result) {
  Json entry = {
      {"kind", kKind},
      {"question", question(mapspace, options)},
      {"status", status_name(result.status)},
      {"mapping",
       result.status == MapStatus::kInfeasible ? "" : print_mapping(mapspace.workload, result.mapping)},
      {"value", result.value},
      {"lower_bound", result.lower_bound},
      {"mapspace_size", result.mapspace_size},
      {"nodes", result.nodes},
      {"pruned", result.pruned},
      {"evaluated", result.evaluated},
      {"seconds_to_value", result.seconds_to_value},
      {"seconds", result.seconds},
      {"time_limit_s", options.time_limit_s},
      {"infeasible_reason", result.infeasible_reason}};
  entry["checksum"] = entry_checksum(entry);
  const std::filesystem::path path = path_of(mapspace, options);
  try {
    write_text_file(path, json_text(entry, 1) + "\n");
  } catch (const Error& error) {
    warnings_.push_back(fmt::format("a mapping was not cached: {}", error.what()));
  }
}

}  // namespace tilewright
