// There is always a next word, so time does not depend on the table: the first word comes after the row and
// the memory have been read once.
#include "tilewright/pipeline/component/rom_walker.h"

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/task_rows.h"
#include "tilewright/pipeline/image/row_layout.h"

namespace tilewright::pipeline {
namespace rom_walker {
namespace {

using netlist::Parameters;

constexpr const char* kName = "rom_walker";
constexpr RowField<RomWalkerRow> kFields[] = {
    {"BASE", unsigned_bits(32), &RomWalkerRow::base},
    {"OB", unsigned_bits(16), &RomWalkerRow::outer},
    {"PX", unsigned_bits(32), &RomWalkerRow::repeats},
    {"N", unsigned_bits(32), &RomWalkerRow::words},
};
constexpr RowFields<RomWalkerRow> kRow(kFields);
std::vector<RowLayout> layouts() { return {row_layout(kName, kRow)}; }

enum Port { kValid, kReady };

std::vector<ComponentPort> ports(const Parameters& parameters) {
  const int64_t width = parameter_in(parameters, kName, "WIDTH", 1, kWidestRomWord);
  parameter_in(parameters, kName, "WORDS", 1, int64_t{1} << 31);
  parameter_in(parameters, kName, "TASKS", 1, 1 << 16, 1);
  parameter_in(parameters, kName, "OB_BITS", 1, 16, 16);
  parameter_in(parameters, kName, "PX_BITS", 1, 32, 32);
  parameter_in(parameters, kName, "N_BITS", 1, 32, 32);
  if (netlist::text_or(parameters, "KIND", "block") == "ultra") {
    throw Error(ErrorKind::kInvalidInput, "rom_walker: KIND is ultra, which has no contents at the start",
                "block or lutram");
  }
  std::vector<ComponentPort> list;
  add_stream(list, "out", netlist::Direction::kOutput, int(width));
  return list;
}

void check_rows(const Parameters& parameters, const MemoryImages& images) {
  const int64_t words = netlist::integer(parameters, "WORDS");
  for (const RomWalkerRow& row : rom_walker_rows(parameters, images)) {
    counted(kName, "OB", row.outer, netlist::integer_or(parameters, "OB_BITS", 16));
    counted(kName, "PX", row.repeats, netlist::integer_or(parameters, "PX_BITS", 32));
    counted(kName, "N", row.words, netlist::integer_or(parameters, "N_BITS", 32));
    if (row.base + row.outer * row.words > words) {
      throw Error(ErrorKind::kInvalidInput, "rom_walker: a task reads beyond the last word",
                  "BASE + OB * N must be at most WORDS");
    }
  }
}

class Model : public CycleModel {
 public:
  void reset(Pins& pins) override {
    active_ = false;
    pins.set(kValid, 0);
  }
  void tick(Pins& pins) override {
    if (pins[kValid] == 0 || pins[kReady] != 0) pins.set(kValid, active_ ? 1 : 0);
    active_ = true;
  }

 private:
  bool active_ = false;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages& images) {
  check_rows(parameters, images);
  return std::make_unique<Model>();
}

// Columns of a memory of constants of logic that differ: of few words there are few.
double distinct_columns(int64_t words, int64_t width) {
  if (words <= 1) return 0;
  return words >= 20 ? double(width) : double(std::min(width, (int64_t{1} << words) - 2));
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t width = p("WIDTH"), words = p("WORDS"), tasks = p("TASKS", 1);
  if (words == 1) {  // always the same word: nothing is left of the walk
    f.lut.assign(7, 0);
    f.ff.assign(7, 0);
    return f;
  }
  const double counters = double(p("OB_BITS", 16) + p("PX_BITS", 32) + p("N_BITS", 32));
  const bool block = p.text("KIND", "block") == "block";
  const area::MemoryLogic memory =
      block ? area::add_memory(f, "block", words, width, p.family) : area::MemoryLogic{};
  const double address = double(area::bits_of(words)), several = tasks > 1 ? 1 : 0;
  const double columns = block ? 0 : distinct_columns(words, width);
  f.lut = {1,
           address,
           words > 3 ? columns * double(ceil_div(words, 64)) : 0,
           several,
           area::table_logic(tasks, address + 40),
           memory.lut,
           counters};
  f.ff = {1, address, columns, several, double(area::bits_of(tasks)), memory.ff, counters};
  return f;
}

}  // namespace
}  // namespace rom_walker

MemoryImage encode(const std::vector<RomWalkerRow>& rows) { return write_rows(rom_walker::kRow, rows); }

std::vector<RomWalkerRow> rom_walker_rows(const netlist::Parameters& parameters, const MemoryImages& images) {
  return read_rows(rom_walker::kRow,
                   task_table(parameters, images, row_bits(rom_walker::kRow), rom_walker::kName));
}

const ComponentType kRomWalker = {rom_walker::kName,    {"component_config", "task_table"},
                                  rom_walker::ports,    rom_walker::model,
                                  rom_walker::features, rom_walker::layouts};

}  // namespace tilewright::pipeline
