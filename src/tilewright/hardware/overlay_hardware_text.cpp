// Text forms of an overlay description: our YAML, the public vta_config.json and its short form.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/hardware/preset_files.h"

namespace tilewright {
namespace {

constexpr int64_t kMostInteger = int64_t{1} << 41;  // beyond every limit of verify(), which explains better
constexpr int64_t kMostSmall = std::numeric_limits<int>::max();

bool is_public_config(const YAML::Node& node) {
  if (!node.IsMap()) return false;
  return std::any_of(node.begin(), node.end(), [](const auto& entry) {
    return entry.first.IsScalar() && entry.first.Scalar().rfind("LOG_", 0) == 0;
  });
}

// "cyclic depth 4" is the text of a partition; "none" of memories in one piece.
MemoryPartition read_partition(YamlMap& map) {
  using Kind = MemoryPartition::Kind;
  using Dimension = MemoryPartition::Dimension;
  MemoryPartition partition;
  const std::string text = map.text("memory_partition", "none");
  if (text == "none") return partition;
  char kind[8] = {}, dimension[8] = {};
  int end = 0;
  const int fields =
      std::sscanf(text.c_str(), "%7[a-z] %7[a-z] %2d%n", kind, dimension, &partition.factor, &end);
  const std::string kind_name = kind, dimension_name = dimension;
  if (fields != 3 || size_t(end) != text.size() || (kind_name != "cyclic" && kind_name != "block") ||
      (dimension_name != "depth" && dimension_name != "width")) {
    map.error("memory_partition", "'" + text + "' is not a partition",
              "none, or cyclic or block, depth or width, and a factor, as in 'cyclic depth 4'");
    return {};
  }
  partition.kind = kind_name == "cyclic" ? Kind::kCyclic : Kind::kBlock;
  partition.dimension = dimension_name == "width" ? Dimension::kWidth : Dimension::kDepth;
  return partition;
}

std::string print_partition(const MemoryPartition& p) {
  if (p == MemoryPartition{}) return "none";
  return fmt::format("{} {} {}", p.kind == MemoryPartition::Kind::kCyclic ? "cyclic" : "block",
                     p.dimension == MemoryPartition::Dimension::kWidth ? "width" : "depth", p.factor);
}

OverlayHardware read_fields(YamlMap& map, const std::string& stem) {
  OverlayHardware h;
  h.name = map.text("name", stem);
  const std::string isa = map.text("isa", "vta");
  if (isa != "vta" && isa != "wide")
    map.error("isa", "'" + isa + "' is not an instruction set", "vta or wide");
  h.isa = isa == "wide" ? IsaVersion::kWide : IsaVersion::kVta;
  const auto integer = [&](const char* key, int64_t fallback) {
    return map.integer(key, -kMostInteger, kMostInteger, fallback);
  };
  const auto small = [&](const char* key, int fallback) {
    return int(map.integer(key, -kMostSmall, kMostSmall, fallback));
  };
  h.batch = small("batch", h.batch);
  h.block_in = small("block_in", h.block_in);
  h.block_out = small("block_out", h.block_out);
  h.input_bits = small("input_bits", h.input_bits);
  h.weight_bits = small("weight_bits", h.weight_bits);
  h.accumulator_bits = small("accumulator_bits", h.accumulator_bits);
  h.output_bits = small("output_bits", h.input_bits);
  h.uop_buffer_bytes = integer("uop_buffer_bytes", h.uop_buffer_bytes);
  h.input_buffer_bytes = integer("input_buffer_bytes", h.input_buffer_bytes);
  h.weight_buffer_bytes = integer("weight_buffer_bytes", h.weight_buffer_bytes);
  h.accumulator_buffer_bytes = integer("accumulator_buffer_bytes", h.accumulator_buffer_bytes);
  h.dram_bytes = integer("dram_bytes", h.dram_bytes);
  h.memory_width_bits = small("memory_width_bits", h.memory_width_bits);
  h.alu_lanes = small("alu_lanes", h.alu_lanes);
  h.command_queue_depth = small("command_queue_depth", h.command_queue_depth);
  h.read_queue_beats = small("read_queue_beats", h.read_queue_beats);
  h.max_burst_beats = small("max_burst_beats", h.max_burst_beats);
  h.gemm_beside_alu = map.boolean("gemm_beside_alu", h.gemm_beside_alu);
  h.lookup_table = map.boolean("lookup_table", h.lookup_table);
  h.row_functions = map.boolean("row_functions", h.row_functions);
  h.memory_partition = read_partition(map);
  h.clock_mhz = map.number("clock_mhz", 0, 1e6, h.clock_mhz);
  return h;
}

// Where each field of the description stands in a vta_config.json.
const char* public_key(const std::string& field) {
  static constexpr std::pair<const char*, const char*> kKeys[] = {
      {"batch", "LOG_BATCH"},
      {"block_in", "LOG_BLOCK"},
      {"block_out", "LOG_BLOCK"},
      {"input_bits", "LOG_INP_WIDTH"},
      {"weight_bits", "LOG_WGT_WIDTH"},
      {"accumulator_bits", "LOG_ACC_WIDTH"},
      {"output_bits", "LOG_INP_WIDTH"},
      {"uop_buffer_bytes", "LOG_UOP_BUFF_SIZE"},
      {"input_buffer_bytes", "LOG_INP_BUFF_SIZE"},
      {"weight_buffer_bytes", "LOG_WGT_BUFF_SIZE"},
      {"accumulator_buffer_bytes", "LOG_ACC_BUFF_SIZE"},
  };
  for (const auto& [name, key] : kKeys) {
    if (field == name) return key;
  }
  return "";
}

OverlayHardware read_public_config(YamlMap& map, const std::string& stem) {
  OverlayHardware h;
  h.name = stem;
  h.isa = IsaVersion::kVta;
  const auto width = [&](const char* key) { return 1 << map.integer(key, 0, 10); };
  h.batch = width("LOG_BATCH");
  h.block_in = h.block_out = width("LOG_BLOCK");
  h.input_bits = h.output_bits = width("LOG_INP_WIDTH");
  h.weight_bits = width("LOG_WGT_WIDTH");
  h.accumulator_bits = width("LOG_ACC_WIDTH");
  const auto bytes = [&](const char* key) { return int64_t{1} << map.integer(key, 0, 40); };
  h.uop_buffer_bytes = bytes("LOG_UOP_BUFF_SIZE");
  h.input_buffer_bytes = bytes("LOG_INP_BUFF_SIZE");
  h.weight_buffer_bytes = bytes("LOG_WGT_BUFF_SIZE");
  h.accumulator_buffer_bytes = bytes("LOG_ACC_BUFF_SIZE");
  map.text("TARGET", "sim");
  const std::string version = map.text("HW_VER", "0.0.2");
  if (version == "0.0.0" || version == "0.0.1") {
    map.error("HW_VER", "version " + version + " has a 2-bit memory type, which Tilewright does not encode",
              "0.0.2 is the encoding of the public compiler since 2020");
  }
  map.finish();
  return h;
}

// The diagnostics of verify() with the line of their field; a field that is reported already keeps its first
// message.
void verify_at_lines(const OverlayHardware& hardware, const YAML::Node& node, const std::string& source_name,
                     bool public_config, Diagnostics& diagnostics) {
  std::set<std::string> unread, reported;
  for (const Diagnostic& d : diagnostics.errors()) unread.insert(d.op);
  Diagnostics own;
  hardware.verify(own);
  for (Diagnostic d : own.errors()) {
    const std::string key = public_config && *public_key(d.op) ? public_key(d.op) : d.op;
    if (unread.count(key)) continue;
    if (!reported.insert(key + d.message).second) continue;  // LOG_BLOCK is both block sizes
    const YAML::Node field = node[key];
    const YAML::Node& place = field.IsDefined() ? field : node;
    d.where = fmt::format("{}:{}", source_name, place.Mark().line + 1);
    diagnostics.add(std::move(d));
  }
}

// "1x16_i8w8a32_15_15_18_17"; false when `text` has another form.
bool parse_short_form(const std::string& text, OverlayHardware& h) {
  int batch = 0, block = 0, input = 0, weight = 0, accumulator = 0, log[4] = {}, end = 0;
  const int fields = std::sscanf(text.c_str(), "%4dx%4d_i%2dw%2da%2d_%2d_%2d_%2d_%2d%n", &batch, &block,
                                 &input, &weight, &accumulator, &log[0], &log[1], &log[2], &log[3], &end);
  if (fields != 9 || size_t(end) != text.size()) return false;
  if (*std::min_element(log, log + 4) < 0) return false;
  h = OverlayHardware{};
  h.name = text;
  h.batch = batch;
  h.block_in = h.block_out = block;
  h.input_bits = h.output_bits = input;
  h.weight_bits = weight;
  h.accumulator_bits = accumulator;
  const auto bytes = [&](int k) { return int64_t{1} << std::min(log[k], 40); };
  h.uop_buffer_bytes = bytes(0);
  h.input_buffer_bytes = bytes(1);
  h.weight_buffer_bytes = bytes(2);
  h.accumulator_buffer_bytes = bytes(3);
  return true;
}

std::string trimmed(const std::string& text) {
  const size_t from = text.find_first_not_of(" \t\r\n");
  if (from == std::string::npos) return "";
  return text.substr(from, text.find_last_not_of(" \t\r\n") - from + 1);
}

}  // namespace

OverlayHardware parse_overlay_hardware(const std::string& text, const std::string& source_name) {
  Diagnostics diagnostics;
  OverlayHardware hardware;
  if (parse_short_form(trimmed(text), hardware)) {
    hardware.verify(diagnostics);
    diagnostics.raise_if_any();
    return hardware;
  }
  const YAML::Node node = parse_yaml(text, source_name);
  const bool public_config = is_public_config(node);
  const std::string stem = std::filesystem::path(source_name).stem().string();
  YamlMap map(node, source_name, diagnostics);
  if (public_config) {
    hardware = read_public_config(map, stem);
  } else {
    hardware = read_fields(map, stem);
    map.finish();
  }
  if (node.IsMap()) verify_at_lines(hardware, node, source_name, public_config, diagnostics);
  diagnostics.raise_if_any();
  return hardware;
}

OverlayHardware read_overlay_hardware(const std::filesystem::path& path) {
  return parse_overlay_hardware(read_text_file(path, size_t{1} << 20), path.string());
}

std::string print_overlay_hardware(const OverlayHardware& h) {
  std::string text = fmt::format("name: {}\n", yaml_quoted(h.name));
  text += fmt::format("isa: {}\n", h.isa == IsaVersion::kVta ? "vta" : "wide");
  text += fmt::format("batch: {}\nblock_in: {}\nblock_out: {}\n", h.batch, h.block_in, h.block_out);
  text += fmt::format("input_bits: {}\nweight_bits: {}\naccumulator_bits: {}\noutput_bits: {}\n",
                      h.input_bits, h.weight_bits, h.accumulator_bits, h.output_bits);
  text +=
      fmt::format("uop_buffer_bytes: {}\ninput_buffer_bytes: {}\n", h.uop_buffer_bytes, h.input_buffer_bytes);
  text += fmt::format("weight_buffer_bytes: {}\naccumulator_buffer_bytes: {}\n", h.weight_buffer_bytes,
                      h.accumulator_buffer_bytes);
  text += fmt::format("dram_bytes: {}\nmemory_width_bits: {}\nclock_mhz: {}\n", h.dram_bytes,
                      h.memory_width_bits, h.clock_mhz);
  text += fmt::format("alu_lanes: {}\ncommand_queue_depth: {}\nread_queue_beats: {}\nmax_burst_beats: {}\n",
                      h.alu_lanes, h.command_queue_depth, h.read_queue_beats, h.max_burst_beats);
  text += fmt::format("gemm_beside_alu: {}\nmemory_partition: {}\n", h.gemm_beside_alu,
                      print_partition(h.memory_partition));
  // Only where they are there: descriptions without them keep their text, by which records and samples know
  // them.
  if (h.lookup_table) text += "lookup_table: true\n";
  if (h.row_functions) text += "row_functions: true\n";
  return text;
}

std::string overlay_short_form(const OverlayHardware& h) {
  if (h.block_in != h.block_out || h.output_bits != h.input_bits) {
    throw Error(ErrorKind::kUnsupported,
                "overlay '" + h.name + "' has no short form: it has two block sizes or two activation widths",
                "use the YAML form");
  }
  const auto log2 = [](int64_t bytes) { return std::bit_width(uint64_t(bytes)) - 1; };
  return fmt::format("{}x{}_i{}w{}a{}_{}_{}_{}_{}", h.batch, h.block_in, h.input_bits, h.weight_bits,
                     h.accumulator_bits, log2(h.uop_buffer_bytes), log2(h.input_buffer_bytes),
                     log2(h.weight_buffer_bytes), log2(h.accumulator_buffer_bytes));
}

std::vector<std::string> overlay_preset_names(const std::filesystem::path& preset_folder) {
  return preset_names(preset_folder, "overlay");
}

OverlayHardware find_overlay_hardware(const std::string& name_or_path,
                                      const std::filesystem::path& preset_folder) {
  const std::vector<std::string> presets = overlay_preset_names(preset_folder);
  if (std::binary_search(presets.begin(), presets.end(), name_or_path)) {
    return read_overlay_hardware(preset_folder / (name_or_path + ".yaml"));
  }
  std::error_code failed;
  if (std::filesystem::is_regular_file(name_or_path, failed)) return read_overlay_hardware(name_or_path);
  OverlayHardware hardware;
  if (parse_short_form(name_or_path, hardware)) return parse_overlay_hardware(name_or_path, name_or_path);
  throw no_such_preset(name_or_path, "overlay", preset_folder);
}

}  // namespace tilewright
