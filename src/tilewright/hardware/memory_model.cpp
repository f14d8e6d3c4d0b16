// Rules, short names and the YAML form of a memory description.
#include "tilewright/hardware/memory_model.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <filesystem>

#include "tilewright/base/file.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/base/yaml.h"

namespace tilewright {
namespace {

constexpr uint32_t kMostCycles = 1'000'000;  // of any single delay; keeps sums far from overflow
constexpr uint32_t kMostBanks = 1024, kMostRowBytes = uint32_t{1} << 30, kBurstBytes = 4096;
constexpr const char* kForms =
    "ideal, fixed, fixed:LATENCY, fixed:LATENCY:INTERVAL, fixed:LATENCY:INTERVAL:EFFICIENCY, ddr, or a YAML "
    "file";

const char* kind_name(MemoryModelKind kind) {
  switch (kind) {
    case MemoryModelKind::kIdeal:
      return "ideal";
    case MemoryModelKind::kFixed:
      return "fixed";
    case MemoryModelKind::kDdr:
      return "ddr";
  }
  return "";
}

class MemoryVerifier {
 public:
  explicit MemoryVerifier(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  void cycles(const char* field, uint32_t value, uint32_t least) {
    if (value >= least && value <= kMostCycles) return;
    error(field, fmt::format("{} cycles", value), fmt::format("{} to {} are possible", least, kMostCycles));
  }
  void percent(const char* field, uint32_t value) {
    if (value < 1 || value > 100) error(field, fmt::format("{} percent", value), "1 to 100 are possible");
  }
  void power_of_two(const char* field, uint32_t value, uint32_t least, uint32_t most, const char* reason) {
    if (std::has_single_bit(value) && value >= least && value <= most) return;
    error(field, fmt::format("{} is not a power of two in {}..{}", value, least, most), reason);
  }

 private:
  void error(const char* field, const std::string& message, const std::string& hint) {
    diagnostics_.error(ErrorKind::kInvalidInput, "memory model", field, message, hint);
  }
  Diagnostics& diagnostics_;
};

// The number that is the whole of `text`.
bool parse_cycles(std::string_view text, uint32_t& value) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && end == text.data() + text.size();
}

// "fixed", "fixed:LATENCY", "fixed:LATENCY:INTERVAL", "fixed:LATENCY:INTERVAL:EFFICIENCY".
bool parse_fixed(std::string_view text, MemoryModel& model) {
  constexpr std::string_view kName = "fixed";
  if (text.substr(0, kName.size()) != kName) return false;
  text.remove_prefix(kName.size());
  for (uint32_t* field : {&model.latency, &model.beat_interval, &model.efficiency_percent}) {
    if (text.empty()) return true;
    if (text[0] != ':') return false;
    const size_t end = std::min(text.find(':', 1), text.size());
    if (!parse_cycles(text.substr(1, end - 1), *field)) return false;
    text.remove_prefix(end);
  }
  return text.empty();
}

uint32_t read_cycles(YamlMap& map, const char* key, uint32_t fallback) {
  return uint32_t(map.integer(key, 0, UINT32_MAX, fallback));
}

MemoryModel::Ddr read_ddr(const YAML::Node& node, const std::string& source_name, Diagnostics& diagnostics) {
  MemoryModel::Ddr d;
  YamlMap map(node, source_name, diagnostics);
  d.banks = read_cycles(map, "banks", d.banks);
  d.row_bytes = read_cycles(map, "row_bytes", d.row_bytes);
  d.controller = read_cycles(map, "controller", d.controller);
  d.activate = read_cycles(map, "activate", d.activate);
  d.cas = read_cycles(map, "cas", d.cas);
  d.precharge = read_cycles(map, "precharge", d.precharge);
  d.write_recovery = read_cycles(map, "write_recovery", d.write_recovery);
  d.read_to_write = read_cycles(map, "read_to_write", d.read_to_write);
  d.write_to_read = read_cycles(map, "write_to_read", d.write_to_read);
  d.beat_interval = read_cycles(map, "beat_interval", d.beat_interval);
  map.finish();
  return d;
}

}  // namespace

void MemoryModel::verify(Diagnostics& diagnostics) const {
  MemoryVerifier check(diagnostics);
  check.cycles("latency", latency, 1);
  check.cycles("beat_interval", beat_interval, 1);
  check.percent("efficiency_percent", efficiency_percent);
  check.power_of_two("ddr.banks", ddr.banks, 1, kMostBanks, "the bank is a field of the address");
  check.power_of_two("ddr.row_bytes", ddr.row_bytes, kBurstBytes, kMostRowBytes,
                     "no burst may span two rows; bursts stay within 4096 bytes");
  check.cycles("ddr.controller", ddr.controller, 0);
  check.cycles("ddr.activate", ddr.activate, 0);
  check.cycles("ddr.cas", ddr.cas, 1);
  check.cycles("ddr.precharge", ddr.precharge, 0);
  check.cycles("ddr.write_recovery", ddr.write_recovery, 0);
  check.cycles("ddr.read_to_write", ddr.read_to_write, 0);
  check.cycles("ddr.write_to_read", ddr.write_to_read, 0);
  check.cycles("ddr.beat_interval", ddr.beat_interval, 1);
}

MemoryModel parse_memory_model(const std::string& text, const std::string& source_name) {
  Diagnostics diagnostics;
  MemoryModel model;
  const YAML::Node node = parse_yaml(text, source_name);
  YamlMap map(node, source_name, diagnostics);
  const std::string kind = map.text("kind", "memory");
  if (kind != "memory") map.error("kind", "'" + kind + "' is described here", "kind: memory");
  const std::string name = map.text("model", kind_name(model.kind));
  if (name == "ideal") {
    model.kind = MemoryModelKind::kIdeal;
  } else if (name == "ddr") {
    model.kind = MemoryModelKind::kDdr;
  } else if (name != "fixed") {
    map.error("model", "'" + name + "' is not a memory model", "ideal, fixed or ddr");
  }
  model.latency = read_cycles(map, "latency", model.latency);
  model.beat_interval = read_cycles(map, "beat_interval", model.beat_interval);
  model.efficiency_percent = read_cycles(map, "efficiency_percent", model.efficiency_percent);
  const YAML::Node ddr = map.child("ddr");
  if (ddr.IsDefined()) model.ddr = read_ddr(ddr, source_name, diagnostics);
  map.finish();
  model.verify(diagnostics);
  diagnostics.raise_if_any("'" + source_name + "'");
  return model;
}

MemoryModel find_memory_model(const std::string& name_or_path) {
  MemoryModel model;
  if (name_or_path == "ideal") {
    model.kind = MemoryModelKind::kIdeal;
    return model;
  }
  if (name_or_path == "ddr") {
    model.kind = MemoryModelKind::kDdr;
    return model;
  }
  if (parse_fixed(name_or_path, model)) {
    Diagnostics diagnostics;
    model.verify(diagnostics);
    diagnostics.raise_if_any("'" + name_or_path + "'");
    return model;
  }
  std::error_code failed;
  if (std::filesystem::is_regular_file(name_or_path, failed)) {
    return parse_memory_model(read_text_file(name_or_path, size_t{1} << 20), name_or_path);
  }
  throw Error(ErrorKind::kInvalidInput, "'" + name_or_path + "' is neither a memory model nor a file",
              did_you_mean(name_or_path, {"ideal", "fixed", "ddr"}) + kForms);
}

std::string print_memory_model(const MemoryModel& m) {
  const MemoryModel::Ddr& d = m.ddr;
  std::string text =
      fmt::format("kind: memory\nmodel: {}\nlatency: {}\nbeat_interval: {}\nefficiency_percent: {}\nddr:\n",
                  kind_name(m.kind), m.latency, m.beat_interval, m.efficiency_percent);
  text += fmt::format("  banks: {}\n  row_bytes: {}\n  controller: {}\n", d.banks, d.row_bytes, d.controller);
  text += fmt::format("  activate: {}\n  cas: {}\n  precharge: {}\n", d.activate, d.cas, d.precharge);
  text += fmt::format("  write_recovery: {}\n  read_to_write: {}\n  write_to_read: {}\n  beat_interval: {}\n",
                      d.write_recovery, d.read_to_write, d.write_to_read, d.beat_interval);
  return text;
}

}  // namespace tilewright
