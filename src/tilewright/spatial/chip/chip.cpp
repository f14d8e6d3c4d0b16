// Reading and checking the description of the row-stationary chip. Every field has to be given: a chip has no
// sensible defaults, and the file is where its facts are looked up.
#include "tilewright/spatial/chip/chip.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"

namespace tilewright {
namespace {

constexpr int64_t kMost = int64_t{1} << 30;

// The ranges keep every count of a pass far from overflow and a simulated array within memory.
constexpr int64_t kMostPesPerSide = 1024, kMostWords = 1 << 16, kMostBanks = 1 << 16;

class FieldReader {
 public:
  FieldReader(YamlMap& parent, const char* key, const std::string& where, Diagnostics& diagnostics)
      : map_(parent.child(key), where + ": " + key, diagnostics) {}
  ~FieldReader() { map_.finish(); }
  FieldReader(const FieldReader&) = delete;
  int64_t operator()(const char* key) { return map_.integer(key, -kMost, kMost); }
  bool flag(const char* key) { return map_.boolean(key); }

 private:
  YamlMap map_;
};

void read_sections(YamlMap& map, const std::string& where, Diagnostics& diagnostics,
                   RowStationaryChip& chip) {
  {
    FieldReader array(map, "array", where, diagnostics);
    chip.rows = array("rows");
    chip.columns = array("columns");
    chip.diagonal_ids = array("diagonal_ids");
  }
  {
    FieldReader pe(map, "pe", where, diagnostics);
    chip.filter_spad_words = pe("filter_spad_words");
    chip.pixel_spad_words = pe("pixel_spad_words");
    chip.psum_spad_words = pe("psum_spad_words");
    chip.pipeline_stages = pe("pipeline_stages");
  }
  {
    FieldReader buffer(map, "buffer", where, diagnostics);
    chip.buffer_banks = buffer("banks");
    chip.bank_bytes = buffer("bank_bytes");
    chip.bank_access_words = buffer("bank_access_words");
    chip.weight_buffer_bytes = buffer("weight_bytes");
  }
  {
    FieldReader networks(map, "words_per_cycle", where, diagnostics);
    chip.filter_words_per_cycle = networks("filter");
    chip.pixel_words_per_cycle = networks("pixel");
    chip.psum_in_words_per_cycle = networks("psum_in");
    chip.psum_out_words_per_cycle = networks("psum_out");
    chip.link_words_per_cycle = networks("link");
  }
  FieldReader overlap(map, "overlap", where, diagnostics);
  chip.overlap.shared_adder = overlap.flag("shared_adder");
  chip.overlap.weight_run_ahead = overlap.flag("weight_run_ahead");
  chip.overlap.pixel_run_ahead = overlap.flag("pixel_run_ahead");
  chip.overlap.start_when_loaded = overlap.flag("start_when_loaded");
  chip.overlap.single_port_banks = overlap.flag("single_port_banks");
  chip.overlap.psum_fifo_words = overlap("psum_fifo_words");
}

}  // namespace

void RowStationaryChip::verify(Diagnostics& diagnostics) const {
  const std::string where = "chip '" + name + "'";
  const auto range = [&](const char* field, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high) return;
    diagnostics.error(ErrorKind::kInvalidInput, where, field,
                      fmt::format("{} is not in {}..{}", value, low, high));
  };
  range("rows", rows, 1, kMostPesPerSide);
  range("columns", columns, 1, kMostPesPerSide);
  range("diagonal_ids", diagonal_ids, 1, kMost);
  range("word_bits", word_bits, 1, 64);
  if (!(clock_mhz > 0 && clock_mhz <= 100000)) {
    diagnostics.error(ErrorKind::kInvalidInput, where, "clock_mhz", "is not above 0 and at most 100000");
  }
  range("filter_spad_words", filter_spad_words, 1, kMostWords);
  range("pixel_spad_words", pixel_spad_words, 1, kMostWords);
  range("psum_spad_words", psum_spad_words, 1, kMostWords);
  range("pipeline_stages", pipeline_stages, 1, 64);
  range("banks", buffer_banks, 1, kMostBanks);
  range("bank_bytes", bank_bytes, 1, kMost);
  range("bank_access_words", bank_access_words, 1, kMostWords);
  range("weight_bytes", weight_buffer_bytes, 1, kMost);
  range("filter", filter_words_per_cycle, 1, kMostWords);
  range("pixel", pixel_words_per_cycle, 1, kMostWords);
  range("psum_in", psum_in_words_per_cycle, 1, kMostWords);
  range("psum_out", psum_out_words_per_cycle, 1, kMostWords);
  range("link", link_words_per_cycle, 1, kMostWords);
  const int64_t transfer = std::max(link_words_per_cycle, psum_in_words_per_cycle);
  constexpr int64_t kMostSpadWords = int64_t{1} << 26;
  if (diagnostics.ok() &&
      rows * columns * (filter_spad_words + pixel_spad_words + psum_spad_words) > kMostSpadWords) {
    diagnostics.error(ErrorKind::kInvalidInput, where, "pe",
                      fmt::format("the spads of all PEs hold more than {} words", kMostSpadWords));
  }
  range("psum_fifo_words", overlap.psum_fifo_words, std::clamp<int64_t>(transfer, 1, kMostWords), kMostWords);
}

RowStationaryChip parse_row_stationary_chip(const std::string& yaml, const std::string& source_name) {
  const YAML::Node file = parse_yaml(yaml, source_name);
  Diagnostics diagnostics;
  RowStationaryChip chip;
  YamlMap top(file, source_name, diagnostics);
  chip.name = top.text("name", std::filesystem::path(source_name).stem().string());
  chip.clock_mhz = top.number("clock_mhz", 0, 1e9);
  chip.word_bits = top.integer("word_bits", -kMost, kMost);
  YamlMap map(top.child("row_stationary"), source_name + ": row_stationary", diagnostics);
  if (diagnostics.ok()) {
    read_sections(map, source_name, diagnostics, chip);
    map.finish();
  }
  if (diagnostics.ok()) chip.verify(diagnostics);
  diagnostics.raise_if_any();
  return chip;
}

RowStationaryChip read_row_stationary_chip(const std::filesystem::path& path) {
  return parse_row_stationary_chip(read_text_file(path), path.filename().string());
}

RowStationaryChip find_row_stationary_chip(const std::string& name_or_path,
                                           const std::filesystem::path& preset_folder) {
  const std::filesystem::path preset = preset_folder / (name_or_path + ".yaml");
  std::error_code failed;
  return read_row_stationary_chip(
      std::filesystem::is_regular_file(preset, failed) ? preset : std::filesystem::path(name_or_path));
}

}  // namespace tilewright
