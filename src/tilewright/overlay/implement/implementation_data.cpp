// Rows are kept one per line, so that a collector can append and a line can be read by itself; descriptions
// are in their own YAML, which readers of every later version understand.
#include "tilewright/overlay/implement/implementation_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "tilewright/base/file.h"
#include "tilewright/base/gzip.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/json.h"

namespace tilewright::overlay {
namespace {

constexpr std::array<std::pair<ImplementationFailure, const char*>, 5> kFailures{
    {{ImplementationFailure::kNone, "none"},
     {ImplementationFailure::kTooLarge, "too large"},
     {ImplementationFailure::kNotRouted, "not routed"},
     {ImplementationFailure::kTimeLimit, "time limit"},
     {ImplementationFailure::kRefused, "refused"}}};

const char* failure_name(ImplementationFailure failure) {
  for (const auto& entry : kFailures) {
    if (entry.first == failure) return entry.second;
  }
  return "";
}

ImplementationFailure read_failure(JsonMap& map) {
  const std::string name = map.text("failure");
  for (const auto& entry : kFailures) {
    if (name == entry.second) return entry.first;
  }
  map.error("failure", "'" + name + "' is not a kind of failure");
  return ImplementationFailure::kRefused;
}

constexpr int64_t kMost = int64_t{1} << 53;

double number(JsonMap& map, const char* key) {
  const nlohmann::json* child = map.child(key);
  if (child != nullptr && child->is_number()) return child->get<double>();
  map.error(key, child == nullptr ? "is missing" : "is not a number");
  return 0;
}

ImplementationTargets read_targets(const nlohmann::json& json, const std::string& source_name,
                                   Diagnostics& diagnostics) {
  ImplementationTargets t;
  JsonMap map(json, source_name + ": targets", diagnostics);
  t.fmax_mhz = number(map, "fmax_mhz");
  t.cells = map.integer("cells", 0, kMost);
  t.lut = map.integer("lut", 0, kMost);
  t.ff = map.integer("ff", 0, kMost);
  t.carry = map.integer("carry", 0, kMost);
  t.dsp = map.integer("dsp", 0, kMost);
  t.bram = map.integer("bram", 0, kMost);
  t.cycles = uint64_t(map.integer("cycles", 0, kMost));
  t.gops = number(map, "gops");
  t.synthesis_s = number(map, "synthesis_s");
  t.place_s = number(map, "place_s");
  map.finish();
  return t;
}

}  // namespace

std::string implementation_key(const ImplementationRow& row) {
  OverlayHardware nameless = row.hardware;
  nameless.name = "overlay";
  const std::string text = print_overlay_hardware(nameless) + synthesis::print_implementation(row.options) +
                           row.device + '\n' + row.tools;
  return fmt::format("{:016x}", fnv1a(text));
}

std::string print_implementation_row(const ImplementationRow& row) {
  const ImplementationTargets& t = row.targets;
  return nlohmann::ordered_json{
      {"key", implementation_key(row)},
      {"device", row.device},
      {"tools", row.tools},
      {"hardware", print_overlay_hardware(row.hardware)},
      {"options", nlohmann::ordered_json::parse(synthesis::print_implementation(row.options))},
      {"failure", failure_name(row.failure)},
      {"failure_text", row.failure_text},
      {"targets",
       {{"fmax_mhz", t.fmax_mhz},
        {"cells", t.cells},
        {"lut", t.lut},
        {"ff", t.ff},
        {"carry", t.carry},
        {"dsp", t.dsp},
        {"bram", t.bram},
        {"cycles", t.cycles},
        {"gops", t.gops},
        {"synthesis_s", t.synthesis_s},
        {"place_s", t.place_s}}}}
      .dump();
}

ImplementationRow parse_implementation_row(const std::string& text, const std::string& source_name) {
  const nlohmann::json json = parse_json(text, source_name);
  Diagnostics diagnostics;
  JsonMap map(json, source_name, diagnostics);
  ImplementationRow row;
  const std::string key = map.text("key");
  row.device = map.text("device");
  row.tools = map.text("tools");
  const std::string hardware = map.text("hardware");
  row.failure = read_failure(map);
  row.failure_text = map.text("failure_text");
  const nlohmann::json* options = map.child("options");
  const nlohmann::json* targets = map.child("targets");
  if (options == nullptr) map.error("options", "is missing");
  if (targets == nullptr) map.error("targets", "is missing");
  map.finish();
  if (targets != nullptr) row.targets = read_targets(*targets, source_name, diagnostics);
  diagnostics.raise_if_any();
  row.options = synthesis::parse_implementation(options->dump(), source_name + ": options");
  row.hardware = parse_overlay_hardware(hardware, source_name + ": hardware");
  if (key != implementation_key(row)) {
    throw Error(ErrorKind::kInvalidInput, source_name + ": the row's key does not match its content",
                "the line was edited or damaged; collect it again");
  }
  return row;
}

std::vector<ImplementationRow> read_implementation_data(const std::filesystem::path& path) {
  std::vector<std::byte> bytes = read_file(path, size_t{1} << 30);
  if (is_gzip(bytes)) bytes = with_context("file '" + path.string() + "'", [&] { return gunzip(bytes); });
  std::istringstream lines(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::vector<ImplementationRow> rows;
  std::map<std::string, int> lines_of;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string where = fmt::format("{}:{}", path.string(), number);
    rows.push_back(parse_implementation_row(line, where));
    const auto known = lines_of.emplace(implementation_key(rows.back()), number);
    if (!known.second) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("{}: the row of line {} again", where, known.first->second),
                  "keep one of them");
    }
  }
  return rows;
}

void write_implementation_data(const std::vector<ImplementationRow>& rows,
                               const std::filesystem::path& path) {
  std::map<std::string, std::string> sorted;
  for (const ImplementationRow& row : rows) sorted[implementation_key(row)] = print_implementation_row(row);
  std::string text;
  for (const auto& entry : sorted) text += entry.second + '\n';
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  if (path.extension() == ".gz") {
    write_file(path, gzip(bytes));
  } else {
    write_file(path, bytes);
  }
}

bool same_result(const ImplementationRow& a, const ImplementationRow& b) {
  const ImplementationTargets &x = a.targets, &y = b.targets;
  return implementation_key(a) == implementation_key(b) && a.failure == b.failure &&
         x.fmax_mhz == y.fmax_mhz && x.cells == y.cells && x.lut == y.lut && x.ff == y.ff &&
         x.carry == y.carry && x.dsp == y.dsp && x.bram == y.bram && x.cycles == y.cycles && x.gops == y.gops;
}

}  // namespace tilewright::overlay
