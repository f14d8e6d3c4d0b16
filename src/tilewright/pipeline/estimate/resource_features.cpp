// The structure of each module of rtl/pipeline as counts: bits of registers, adders, multiplexers, and cells
// of memories. Names follow the parameters of docs/pipeline.md.
#include "tilewright/pipeline/estimate/resource_features.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/build/layer_geometry.h"
#include "tilewright/pipeline/estimate/memory_cells.h"

namespace tilewright::pipeline {
namespace {

using netlist::integer;
using netlist::integer_or;
using netlist::Parameters;
using netlist::text_or;
using synthesis::DeviceFamily;

int64_t bits_of(int64_t value) { return value <= 1 ? 1 : int64_t(std::bit_width(uint64_t(value - 1))); }

struct Call {
  const Parameters& parameters;
  DeviceFamily family;
  int64_t operator()(const char* name) const { return integer(parameters, name); }
  int64_t operator()(const char* name, int64_t fallback) const {
    return integer_or(parameters, name, fallback);
  }
  std::string text(const char* name, const char* fallback = "") const {
    return text_or(parameters, name, fallback);
  }
};

// A memory of one write and one read port with a registered read. Adds its cells; returns its look-up tables
// and the flip-flops of its read register where the cells have none.
struct MemoryLogic {
  double lut = 0, ff = 0;
};
MemoryLogic add_memory(ResourceFeatures& features, const std::string& kind, int64_t words, int64_t width,
                       DeviceFamily family) {
  if (kind == "block" || (kind == "ultra" && family != DeviceFamily::kXcup)) {
    features.bram += block_rams(words, width);
    return {};
  }
  if (kind == "ultra") {
    features.uram += ultra_rams(words, width);
    return {};
  }
  if (kind == "registers") return {double(words * width) / 2, double((words + 1) * width)};
  return {double(lut_rams(words, width)), double(width)};
}

// Bits of the adders and of the registers of sum_tree over `terms` of `width` bits. The first level behind
// single DSP blocks is in the blocks (`absorbed`).
struct Tree {
  double adders = 0, registers = 0;
};
Tree tree(int64_t terms, int64_t width, bool absorbed = false) {
  Tree result;
  for (int64_t level = 1, nodes = terms; nodes > 1; ++level) {
    const bool counts = level > 1 || !absorbed;
    result.adders += counts ? double(nodes / 2 * (width + level)) : 0;
    nodes = ceil_div(nodes, 2);
    result.registers += counts ? double(nodes * (width + level)) : 0;
  }
  return result;
}

// DSP blocks of a signed product of a x b bits (multiply.sv).
int64_t product_blocks(int64_t a, int64_t b) {
  const int64_t high = std::max(a, b), low = std::min(a, b);
  if (high <= 25 && low <= 18) return 1;
  return low > 25 ? 4 : 2;
}

ResourceFeatures stream_fifo(const Call& p) {
  ResourceFeatures f;
  const int64_t depth = p("DEPTH"), width = p("WIDTH");
  const std::string kind = p.text("KIND", "lutram");
  const bool late = kind == "block" || kind == "ultra";
  const int64_t ring = late ? depth : std::max<int64_t>(1, depth - 1);
  const MemoryLogic memory = add_memory(f, kind, ring, width, p.family);
  const double control = double(bits_of(ring) * 2 + bits_of(depth + 1));
  f.lut = {1, memory.lut, control, late ? 0.0 : double(width)};
  f.ff = {1, control, late ? 0.0 : kind == "registers" ? memory.ff : double(width)};
  return f;
}

ResourceFeatures registered_beat(double width) {
  ResourceFeatures f;
  f.lut = {1};
  f.ff = {1, width};
  return f;
}

ResourceFeatures stream_width(const Call& p) {
  ResourceFeatures f;
  const int64_t element = p("ELEMENT"), in = p("IN"), out = p("OUT");
  const double cut = in > out ? double((in - out) * element) : 0;
  const double count = in == out ? 0 : double(bits_of(std::max(in, out) / std::min(in, out)));
  f.lut = {1, cut, count};
  f.ff = {1, double(std::max(in, out) * element), count};
  return f;
}

ResourceFeatures stream_frame(const Call& p) {
  ResourceFeatures f;
  const double position = double(bits_of(p("KEEP") + p("DROP") + p("ADD")));
  f.lut = {1, position, p("ADD") > 0 ? double(p("WIDTH")) : 0.0};
  f.ff = {1, position, double(p("WIDTH"))};
  return f;
}

ResourceFeatures line_window(const Call& p) {
  ResourceFeatures f;
  const int64_t word = p("PI") * p("AW"), line = p("W") * p("CB"), ring = p("ROWS") * line;
  const MemoryLogic memory = add_memory(f, p.text("KIND", "block"), ring, word, p.family);
  const int64_t kh = p("KH"), kw = p("KW"), pads = p("PT") + p("PL");
  const double address = double(bits_of(ring));
  const double span = double(bits_of(ring + (kh + p("SH") + p("PT") + 1) * line + p("H") * line) + 1);
  const double loops = double(bits_of(p("HO")) + bits_of(p("WO")) + bits_of(p("OB")) + bits_of(kh) +
                              bits_of(kw) + bits_of(p("CB")));
  const double place = double(bits_of(p("H") + kh) + bits_of(p("W") + kw));
  f.lut = {1, memory.lut, address, span, loops, place, pads > 0 ? double(word) : 0.0};
  f.ff = {1, memory.ff, address, span, loops, place};
  return f;
}

ResourceFeatures sliding_window(const Call& p) {
  ResourceFeatures f;
  const int64_t word = p("PI") * p("AW"), kh = p("KH"), kw = p("KW"), words = p("MAX_WORDS"),
                tasks = p("TASKS", 1);
  MemoryLogic memory;
  if (kh > 1) memory = add_memory(f, p.text("KIND", "block"), words, (kh - 1) * word, p.family);
  const int64_t most = p("MAX_CB", words);
  double columns = 0;
  if (kw > 1 && most > 1) columns = double(lut_rams(most, (kw - 1) * kh * word));
  const double window = double(kw * kh * word), several = tasks > 1 ? 1 : 0;
  f.lut = {1, memory.lut, columns, window, several * double(184 + p("AW")), double(bits_of(words))};
  f.ff = {1, memory.ff, window, double(kh * word), several * double(184 + p("AW")), double(bits_of(words))};
  return f;
}

// How much of a table of constants remains: rows are told apart by six inputs per look-up table, and many
// columns are equal.
double table_logic(int64_t tasks, double bits) { return tasks <= 1 ? 0 : bits * double(ceil_div(tasks, 64)); }

// Products of an array, by what they are made of, and the trees that add them.
struct Products {
  double counted = 0, chosen = 0, gated = 0, wide = 0, paired = 0, product_bits = 0;
  Tree sums;
  int64_t blocks = 0;
};
// `terms` products for each of `outputs` sums.
Products products(const Call& p, int64_t terms, int64_t outputs) {
  Products r;
  const bool a_bipolar = p("A_BIPOLAR", 0) != 0, w_bipolar = p("W_BIPOLAR", 0) != 0;
  const int64_t a = a_bipolar ? 2 : p("AW"), w = w_bipolar ? 2 : p("WW"), all = terms * outputs;
  const std::string multiply = p.text("MULTIPLY", "dsp");
  const auto scaled = [&](Tree tree) {
    return Tree{tree.adders * double(outputs), tree.registers * double(outputs)};
  };
  if (a_bipolar && w_bipolar) {
    r.counted = double(all);
    r.sums = scaled(tree(ceil_div(terms, 3), 2));
  } else if (w_bipolar && multiply == "lut") {
    r.chosen = double(all * a);
    r.sums = scaled(tree(terms, a));
  } else if (multiply == "lut") {
    r.gated = double(all * std::min(a, w) * (std::max(a, w) + 1));
    r.product_bits = double(all * (a + w));
    r.sums = scaled(tree(terms, a + w));
  } else if (multiply == "pair") {
    r.paired = double(all * (a + w));
    r.blocks = terms * ceil_div(outputs, 2);
    r.sums = scaled(tree(terms, a + w));
  } else {
    r.blocks = all * product_blocks(a, w);
    r.wide = product_blocks(a, w) > 1 ? double(all * (a + w)) : 0;
    r.sums = scaled(tree(terms, a + w, r.wide == 0));
  }
  return r;
}

ResourceFeatures mac_array(const Call& p) {
  ResourceFeatures f;
  const int64_t po = p("PO");
  const Products r = products(p, p("PI"), po);
  const double sums = double(po * p("ACC"));
  f.dsp = r.blocks;
  f.lut = {1, sums, r.sums.adders, r.counted, r.chosen, r.gated, r.wide, r.paired};
  f.ff = {1, sums, r.sums.registers, r.counted, r.chosen, r.product_bits, r.wide, r.paired};
  return f;
}

ResourceFeatures lane_array(const Call& p) {
  ResourceFeatures f;
  const int64_t lanes = p("P"), taps = p("TAPS");
  const bool sum = p("SUM", 1) != 0, maximum = p("MAXIMUM", 1) != 0;
  const double sums = double(lanes * p("ACC")), elements = double(lanes * taps * p("AW"));
  Products r;
  if (sum) r = products(p, taps, lanes);
  f.dsp = r.blocks;
  f.lut = {
      1, sum ? sums : 0, r.sums.adders, r.gated, r.wide, maximum ? elements : 0, maximum && sum ? sums : 0};
  f.ff = {1, sum ? sums : 0, r.sums.registers, r.product_bits, r.wide, maximum ? elements : 0};
  return f;
}

ResourceFeatures finish(const Call& p) {
  ResourceFeatures f;
  const bool fixed = p.text("NUMBER", "integer") == "fixed";
  const int64_t lanes = p("PF"), tasks = p("TASKS", 1), tables = p("TABLES", 0), sum = p("SUM_BITS", 32);
  const int64_t factor = fixed ? 0 : p("MULTIPLIER_BITS", 32);
  const bool adds = p("RESIDUAL", 0) != 0;
  const double held = p("PO") > lanes ? double(p("PO") * p("ACC")) : 0;
  const double sums = double(lanes * sum), product = double(lanes * (sum + factor));
  const double fields = table_logic(tasks, fixed ? 64 + (adds ? 65 : 0) : 25 + (adds ? 111 : 0));
  const double several = tasks > 1 ? 32 : 0;
  if (fixed) {
    f.dsp = tables > 0 ? lanes * product_blocks(33, 24) : 0;
    if (tables > 0) f.bram = lanes * 2 * block_rams(tables * 513, 32);
    f.lut = {1,
             held,
             0,
             0,
             0,
             fields,
             several,
             double(lanes),
             adds ? double(lanes) : 0,
             tables > 0 ? double(lanes) : 0,
             0,
             0,
             0};
    f.ff = f.lut;
    return f;
  }
  f.dsp = (factor > 0 ? lanes * product_blocks(sum, factor) : 0) + (adds ? 2 * lanes : 0);
  const double table = double(lanes * tables * 256 * 8) / 64,
               split = product_blocks(sum, std::max<int64_t>(1, factor)) > 1 ? product : 0;
  f.lut = {1, held, sums,          factor > 0 ? product : 0, split, fields, several, 0,
           0, 0,    double(lanes), adds ? double(lanes) : 0, table};
  f.ff = {1,
          held,
          sums,
          factor > 0 ? product : 0,
          split,
          fields,
          several,
          0,
          0,
          0,
          double(lanes),
          adds ? double(lanes) : 0,
          tables > 0 ? double(lanes) : 0};
  return f;
}

ResourceFeatures rom_walker(const Call& p) {
  ResourceFeatures f;
  const int64_t width = p("WIDTH"), words = p("WORDS"), tasks = p("TASKS", 1);
  const bool block = p.text("KIND", "block") == "block";
  if (block) f.bram = block_rams(words, width);
  const double address = double(bits_of(words)), several = tasks > 1 ? 1 : 0;
  const double contents = block ? 0 : double(width) * double(words) / 64;
  f.lut = {1, address, contents, several, table_logic(tasks, address + 40)};
  f.ff = {1, address, block ? 0 : double(width), several};
  return f;
}

ResourceFeatures weight_ring(const Call& p) {
  ResourceFeatures f;
  const int64_t width = p("WIDTH"), depth = p("DEPTH"), beat = p("BEAT"), tasks = p("TASKS", 1);
  const int64_t banks = width > beat ? width / beat : 1, slice = width / banks;
  MemoryLogic memory;
  for (int64_t bank = 0; bank < banks; ++bank) {
    const MemoryLogic one = add_memory(f, p.text("KIND", "block"), depth, slice, p.family);
    memory.lut += one.lut;
    memory.ff += one.ff;
  }
  const double address = double(bits_of(depth)), cut = beat > width ? double(beat) : 0,
               several = tasks > 1 ? 1 : 0;
  f.lut = {1, memory.lut, address, cut, several, table_logic(tasks, 40)};
  f.ff = {1, memory.ff, address, several};
  return f;
}

ResourceFeatures tensor_memory(const Call& p) {
  ResourceFeatures f;
  const int64_t width = p("WIDTH"), parts = p("PARTS"), words = p("WORDS");
  MemoryLogic memory;
  for (int64_t part = 0; part < parts; ++part) {
    const MemoryLogic one = add_memory(f, p.text("KIND", "block"), words, width / parts, p.family);
    memory.lut += one.lut;
    memory.ff += one.ff;
  }
  const double address = double(bits_of(words)), readers = double(p("READERS") - 1),
               writers = double(p("WRITERS") - 1);
  f.lut = {
      1, memory.lut, readers * address, writers * address, writers * double(width / parts), double(parts)};
  f.ff = {1, memory.ff, double(width)};
  return f;
}

ResourceFeatures tensor_reader(const Call& p) {
  ResourceFeatures f;
  const int64_t word = p("PI") * p("AW"), units = p("UNITS"), tasks = p("TASKS", 1);
  const double address = double(p("A")), progress = double(p("PROGRESS")), several = tasks > 1 ? 1 : 0;
  f.lut = {1,
           address,
           double(lut_rams(p("QUEUE"), word + 1)),
           double(word),
           units > 1 ? double(units * word) : 0,
           progress,
           several * address,
           table_logic(tasks, 2 * address + 60)};
  f.ff = {1, address, several};
  return f;
}

ResourceFeatures tensor_writer(const Call& p) {
  ResourceFeatures f;
  const int64_t tasks = p("TASKS", 1);
  const double address = double(p("A")), several = tasks > 1 ? 1 : 0;
  f.lut = {1, address, several * address, table_logic(tasks, 2 * address + 40), double(p("UNITS"))};
  f.ff = {1, address, double(p("PF") * p("AW")), several};
  return f;
}

ResourceFeatures dma(const Call& p) {
  ResourceFeatures f;
  const MemoryLogic memory = add_memory(f, p.text("KIND", "block"), p("QUEUE"), p("DATA"), p.family);
  const double position = double(p("A") + 32 - 2 * bits_of(p("DATA") / 8));
  f.lut = {1, position, memory.lut, double(bits_of(p("QUEUE")))};
  f.ff = {1, position, memory.ff, double(bits_of(p("QUEUE")))};
  return f;
}

ResourceFeatures read_share(const Call& p) {
  ResourceFeatures f;
  f.lut = {1, double(p("A"))};
  f.ff = {1, double(p("A"))};
  return f;
}

ResourceFeatures control(const Call& p) {
  ResourceFeatures f;
  f.lut = {1, double(p("CHANNELS")), double(p("BUSY"))};
  f.ff = {1, double(p("CHANNELS"))};
  return f;
}

using Model = std::function<ResourceFeatures(const Call&)>;

const std::map<std::string, Model>& models() {
  static const std::map<std::string, Model> table = {
      {"control", control},
      {"dma_read", dma},
      {"dma_write", dma},
      {"finish", finish},
      {"lane_array", lane_array},
      {"line_window", line_window},
      {"mac_array", mac_array},
      {"read_share", read_share},
      {"rom_walker", rom_walker},
      {"sliding_window", sliding_window},
      {"stream_fifo", stream_fifo},
      {"stream_fork", [](const Call& p) { return registered_beat(double(p("WIDTH"))); }},
      {"stream_frame", stream_frame},
      {"stream_join", [](const Call& p) { return registered_beat(2 * double(p("WIDTH"))); }},
      {"stream_width", stream_width},
      {"tensor_memory", tensor_memory},
      {"tensor_reader", tensor_reader},
      {"tensor_writer", tensor_writer},
      {"weight_ring", weight_ring},
  };
  return table;
}

}  // namespace

ResourceFeatures resource_features(const std::string& component, const netlist::Parameters& parameters,
                                   synthesis::DeviceFamily family) {
  const auto found = models().find(component);
  if (found == models().end()) {
    throw Error(ErrorKind::kInvalidInput, "component '" + component + "' has no resource model");
  }
  return found->second(Call{parameters, family});
}

const std::vector<std::string>& modelled_components() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, model] : models()) list.push_back(name);
    return list;
  }();
  return names;
}

}  // namespace tilewright::pipeline
