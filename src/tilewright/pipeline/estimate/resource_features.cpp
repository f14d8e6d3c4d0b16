// The structure of each module of rtl/pipeline as counts: bits of registers, adders, multiplexers, and cells
// of memories. Names follow the parameters of docs/pipeline/pipeline.md.
#include "tilewright/pipeline/estimate/resource_features.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/design/layer_geometry.h"
#include "tilewright/synthesis/memory_cells.h"

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
// What chooses among `rows` cells one after the other.
MemoryLogic cell_choice(int64_t rows, int64_t width) {
  if (rows <= 1) return {};
  return {double(width * ceil_div(rows - 1, 3)), double(bits_of(rows))};
}
MemoryLogic add_memory(ResourceFeatures& features, const std::string& kind, int64_t words, int64_t width,
                       DeviceFamily family) {
  if (kind == "block" || (kind == "ultra" && family != DeviceFamily::kXcup)) {
    features.bram += synthesis::block_rams(words, width, family);
    return cell_choice(synthesis::block_ram_rows(words, width, family), width);
  }
  if (kind == "ultra") {
    features.uram += synthesis::ultra_rams(words, width);
    return cell_choice(ceil_div(words, 4096), width);
  }
  if (kind == "registers") return {double(words * width) / 2, double((words + 1) * width)};
  return {double(synthesis::lut_rams(words, width, family)), double(width)};
}

// Bits of the adders and of the registers of a tree of sums over `terms` of `width` bits, the first level of
// pairs apart: after single DSP blocks of the 7 series it is in the blocks.
struct Tree {
  double adders = 0, registers = 0, first_adders = 0, first_registers = 0;
};
Tree tree(int64_t terms, int64_t width) {
  Tree result;
  for (int64_t level = 1, nodes = terms; nodes > 1; ++level) {
    const double adders = double(nodes / 2 * (width + level));
    nodes = ceil_div(nodes, 2);
    const double registers = double(nodes * (width + level));
    (level > 1 ? result.adders : result.first_adders) += adders;
    (level > 1 ? result.registers : result.first_registers) += registers;
  }
  return result;
}

// Families whose blocks are 18 x 18 bits, which Yosys also takes for narrow products.
bool small_blocks(DeviceFamily family) {
  return family == DeviceFamily::kEcp5 || family == DeviceFamily::kIce40;
}

// DSP blocks of one `*` of signed a x b bits: what is too wide for a block is cut, each cut costs a sign.
int64_t operator_blocks(int64_t a, int64_t b, DeviceFamily family) {
  const auto parts = [](int64_t bits) { return bits <= 18 ? 1 : 1 + ceil_div(bits - 18, 17); };
  return small_blocks(family) ? parts(a) * parts(b) : 1;
}

// DSP blocks of a signed product of a x b bits: the partial products of tw_stream_multiply.sv.
int64_t product_blocks(int64_t a, int64_t b, DeviceFamily family) {
  const int64_t high = std::max(a, b), low = std::min(a, b);
  if (high <= 25 && low <= 18) return operator_blocks(high, low, family);
  const int64_t cut_high = low > 18 && low <= 25 ? 17 : 24, cut_low = 17;
  if (low > 25) {
    return operator_blocks(cut_high + 1, cut_low + 1, family) +
           operator_blocks(cut_high + 1, low - cut_low, family) +
           operator_blocks(high - cut_high, cut_low + 1, family) +
           operator_blocks(high - cut_high, low - cut_low, family);
  }
  return operator_blocks(cut_high + 1, low, family) + operator_blocks(high - cut_high, low, family);
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
  const int64_t parts = std::max(in, out) / std::min(in, out);
  const double count = in == out ? 0 : double(bits_of(parts));
  f.lut = {1, in > out ? double(in * element) : 0, count};
  f.ff = {1, double(std::max(in, out) * element), count};
  return f;
}

ResourceFeatures stream_frame(const Call& p) {
  ResourceFeatures f;
  const double position = double(bits_of(p("KEEP") + p("DROP") + p("ADD")));
  f.lut = {1, position, double(p("WIDTH"))};
  f.ff = {1, position, double(p("WIDTH"))};
  return f;
}

ResourceFeatures line_window(const Call& p) {
  ResourceFeatures f;
  const int64_t word = p("PI") * p("AW"), line = p("W") * p("CB"), ring = p("ROWS") * line;
  const MemoryLogic memory = add_memory(f, p.text("KIND", "block"), ring, word, p.family);
  const int64_t kh = p("KH"), kw = p("KW");
  const double address = double(bits_of(ring));
  const double span = double(bits_of(ring + (kh + p("SH") + p("PT") + 1) * line + p("H") * line) + 1);
  const double loops = double(bits_of(p("HO")) + bits_of(p("WO")) + bits_of(p("OB")) + bits_of(kh) +
                              bits_of(kw) + bits_of(p("CB")));
  const double place = double(bits_of(p("H") + kh) + bits_of(p("W") + kw));
  f.lut = {1, memory.lut, address, span, loops, place, double(word)};
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
  if (kw > 1 && most > 1) columns = double(synthesis::lut_rams(most, (kw - 1) * kh * word, p.family));
  const double window = double(kw * kh * word), several = tasks > 1 ? 1 : 0;
  f.lut = {1, memory.lut, columns, window, several * double(184 + p("AW")), double(bits_of(words))};
  f.ff = {1, memory.ff, window, double(kh * word), several * double(184 + p("AW")), double(bits_of(words))};
  return f;
}

// How much of a table of constants remains: rows are told apart by six inputs per look-up table, and many
// columns are equal.
double table_logic(int64_t tasks, double bits) { return tasks <= 1 ? 0 : bits * double(ceil_div(tasks, 64)); }

// Products of an array, by what they are made of, and the trees that add them; bits unless they are numbers.
struct Products {
  double counted = 0;                            // signs times signs, number
  double chosen = 0;                             // signs times numbers, of logic
  double gated = 0, logic_out = 0;               // of logic: rows of additions; results
  double single = 0, wide = 0, paired = 0;       // of one block, of several, two of one: results
  double activations = 0, weights = 0;           // operands in registers of their own
  double adders = 0, registers = 0;              // of the trees
  double first_adders = 0, first_registers = 0;  // after single blocks
  int64_t blocks = 0;
  bool accumulates = false;  // the blocks of the 7 series hold the sums of a single product each
};

// `terms` products for each of `outputs` sums, whose activations all outputs share or not.
Products products(const Call& p, int64_t terms, int64_t outputs, bool shared) {
  Products r;
  const bool a_bipolar = p("A_BIPOLAR", 0) != 0, w_bipolar = p("W_BIPOLAR", 0) != 0;
  const int64_t a = a_bipolar ? 2 : p("AW"), w = w_bipolar ? 2 : p("WW"), all = terms * outputs;
  const std::string multiply = p.text("MULTIPLY", "dsp");
  const bool counts = a_bipolar && w_bipolar, chooses = !counts && w_bipolar && multiply == "lut";
  // Yosys makes products of fewer than nine bits of logic whatever is asked for.
  const bool small = multiply == "dsp" && !counts && a + w < 9 && !small_blocks(p.family);
  const bool single = multiply == "dsp" && !counts && !small && product_blocks(a, w, p.family) == 1;
  const Tree sums = counts ? tree(ceil_div(terms, 3), 3) : tree(terms, chooses ? a : a + w);
  r.adders = double(outputs) * (sums.adders + (single ? 0 : sums.first_adders));
  r.registers = double(outputs) * (sums.registers + (single ? 0 : sums.first_registers));
  if (counts) {
    r.counted = double(all);
  } else if (chooses) {
    r.chosen = double(all * a);
  } else if (multiply == "lut") {
    r.gated = double(all * std::min(a, w) * (std::max(a, w) + 1));
    r.logic_out = double(all * (a + w));
  } else if (small) {
    r.activations = double((shared ? terms : all) * p("AW"));
    r.weights = double(all * p("WW"));
    r.gated = double(all * std::min(a, w) * (std::max(a, w) + 1));
    r.logic_out = double(all * (a + w));
  } else {
    r.activations = double((shared ? terms : all) * p("AW"));
    r.weights = double(all * p("WW"));
    const int64_t paired = terms * ceil_div(outputs, 2) * operator_blocks(a + 2 * w + 1, a, p.family);
    r.blocks = multiply == "pair" ? paired : all * product_blocks(a, w, p.family);
    (multiply == "pair" ? r.paired : single ? r.single : r.wide) = double(all * (a + w));
    r.accumulates = single && terms == 1 && p.family == DeviceFamily::kXc7;
    if (single) r.first_adders = double(outputs) * sums.first_adders;
    if (single) r.first_registers = double(outputs) * sums.first_registers;
  }
  return r;
}

ResourceFeatures mac_array(const Call& p) {
  ResourceFeatures f;
  const int64_t po = p("PO");
  const Products r = products(p, p("PI"), po, true);
  const double sums = r.accumulates ? 0 : double(po * p("ACC"));
  f.dsp = r.blocks;
  f.lut = {1, sums, r.adders, r.first_adders, r.counted, r.chosen, r.gated, r.wide, r.paired, r.single};
  f.ff = {1,           sums,   r.registers, r.first_registers, r.counted,     r.chosen,
          r.logic_out, r.wide, r.paired,    r.single,          r.activations, r.weights};
  return f;
}

ResourceFeatures lane_array(const Call& p) {
  ResourceFeatures f;
  const int64_t lanes = p("P"), taps = p("TAPS");
  const bool sum = p("SUM", 1) != 0, maximum = p("MAXIMUM", 1) != 0;
  const double elements = double(lanes * p("AW")), compared = double(lanes * (taps - 1) * p("AW")),
               both = maximum && sum ? 1 : 0;
  Products r;
  if (sum) r = products(p, taps, lanes, false);
  const double sums = r.accumulates && !maximum ? 0 : double(lanes * p("ACC"));
  f.dsp = r.blocks;
  f.lut = {1,
           sum ? sums : 0,
           r.adders,
           r.first_adders,
           r.gated,
           r.wide,
           r.single,
           maximum ? elements : 0,
           maximum ? compared : 0,
           maximum && !sum ? elements : 0,
           both * sums};
  f.ff = {1,
          sum ? sums : 0,
          r.registers,
          r.first_registers,
          r.logic_out,
          r.wide,
          r.single,
          r.activations,
          r.weights,
          maximum ? elements : 0,
          maximum ? compared : 0,
          maximum && !sum ? elements : 0,
          both * sums};
  return f;
}

// Sums of 64 bits and a table of 513 points.
ResourceFeatures finish_fixed(const Call& p, double held, double several, double fields) {
  ResourceFeatures f;
  const int64_t lanes = p("PF"), tables = p("TABLES", 0);
  const double adds = p("RESIDUAL", 0) != 0 ? double(lanes) : 0, looks = tables > 0 ? double(lanes) : 0;
  const double bits = double(lanes * (64 - p("FRACTION", 22)));
  f.form = "finish_fixed";
  if (tables > 0) f.dsp = lanes * product_blocks(33, 24, p.family);
  const bool block = p.text("KIND", "lutram") == "block";
  if (block) f.bram = lanes * 2 * synthesis::block_rams(tables * 513, 32, p.family);
  // Entries are read at two places; what interpolates between them is set beside them, as too few runs have
  // several tables to tell the two apart.
  const double entries = block ? 0 : double(tables * 2 * 32 * ceil_div(513, 64));
  f.lut = {1,     held, double(lanes), bits, adds, looks * (320 + entries), several, several * double(lanes),
           fields};
  f.ff = {1, held, double(lanes), bits, adds, looks, several};
  return f;
}

// Bytes and narrower elements. `product`: bits that are shifted and clipped.
ResourceFeatures finish_integer(const Call& p, double held, double several, double fields) {
  ResourceFeatures f;
  const int64_t lanes = p("PF"), tables = p("TABLES", 0), sum = p("SUM_BITS", 32),
                factor = p("MULTIPLIER_BITS", 32);
  const bool scales = factor > 0, residual = p("RESIDUAL", 0) != 0;
  const double product = double(lanes * (sum + factor)),
               narrow = double(lanes * (8 - std::min<int64_t>(8, p("AW"))));
  const double split = scales && product_blocks(sum, factor, p.family) > 1 ? product : 0,
               one = scales && split == 0 ? product : 0;
  const bool block = p.text("KIND", "lutram") == "block";
  if (block) f.bram = lanes * synthesis::block_rams(tables * 256, 8, p.family);
  const double adds = residual ? double(lanes) : 0, table = block ? 0 : double(lanes * tables * 256 * 8) / 64;
  f.dsp = (scales ? lanes * product_blocks(sum, factor, p.family) : 0) + (residual ? 2 * lanes : 0);
  f.lut = {1,     held,    double(lanes * sum),     product, split,         double(lanes), adds,
           table, several, several * double(lanes), fields,  several * adds};
  f.ff = {1,
          held,
          double(lanes * sum),
          one,
          split,
          double(lanes),
          adds,
          tables > 0 ? double(lanes) : 0,
          several,
          scales ? 0 : double(lanes),
          residual ? several : 0,
          narrow};
  return f;
}

ResourceFeatures finish(const Call& p) {
  const bool fixed = p.text("NUMBER", "integer") == "fixed", residual = p("RESIDUAL", 0) != 0;
  const int64_t tasks = p("TASKS", 1);
  // Bits of the sums that wait; of fixed point what is half a unit of the result and more.
  const int64_t waiting = fixed ? 65 - p("FRACTION", 22) : p("ACC");
  const double held = p("PO") > p("PF") ? double(p("PO") * waiting) : 0, several = tasks > 1 ? 1 : 0;
  const double bits = fixed ? 64 + (residual ? 65 : 0) : 25 + (residual ? 111 : 0);
  const double fields = table_logic(tasks, bits);
  return fixed ? finish_fixed(p, held, several, fields) : finish_integer(p, held, several, fields);
}

// Columns of a memory of constants of logic that differ: of few words there are few.
double distinct_columns(int64_t words, int64_t width) {
  if (words <= 1) return 0;
  return words >= 20 ? double(width) : double(std::min(width, (int64_t{1} << words) - 2));
}

ResourceFeatures rom_walker(const Call& p) {
  ResourceFeatures f;
  const int64_t width = p("WIDTH"), words = p("WORDS"), tasks = p("TASKS", 1);
  if (words == 1) {  // always the same word: nothing is left of the walk
    f.lut.assign(7, 0);
    f.ff.assign(7, 0);
    return f;
  }
  const double counters = double(p("OB_BITS", 16) + p("PX_BITS", 32) + p("N_BITS", 32));
  const bool block = p.text("KIND", "block") == "block";
  const MemoryLogic memory = block ? add_memory(f, "block", words, width, p.family) : MemoryLogic{};
  const double address = double(bits_of(words)), several = tasks > 1 ? 1 : 0;
  const double columns = block ? 0 : distinct_columns(words, width);
  f.lut = {1,
           address,
           words > 3 ? columns * double(ceil_div(words, 64)) : 0,
           several,
           table_logic(tasks, address + 40),
           memory.lut,
           counters};
  f.ff = {1, address, columns, several, double(bits_of(tasks)), memory.ff, counters};
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
  const double address = double(bits_of(depth)),
               cut = beat > width ? double(width * ceil_div(beat / width - 1, 3)) : 0,
               several = tasks > 1 ? 1 : 0;
  f.lut = {1, memory.lut, address, cut, several, table_logic(tasks, 40), double(banks)};
  f.ff = {1, memory.ff, address, several, double(bits_of(tasks))};
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
  // A gate of six inputs passes bits of three that take turns.
  const auto turns = [](int64_t count) { return count > 1 ? double(ceil_div(count, 3)) : 0; };
  const double address = double(bits_of(words)), readers = turns(p("READERS")), writers = turns(p("WRITERS"));
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
           double(synthesis::lut_rams(p("QUEUE"), word + 1, p.family)),
           double(word),
           units > 1 ? double(units * word) : 0,
           progress,
           several * address,
           table_logic(tasks, 2 * address + 60)};
  f.ff = {1, address, several, double(p("AW")), double(bits_of(tasks)), double(units)};
  return f;
}

ResourceFeatures tensor_writer(const Call& p) {
  ResourceFeatures f;
  const int64_t tasks = p("TASKS", 1);
  const double address = double(p("A")), several = tasks > 1 ? 1 : 0;
  f.lut = {1, address, several * address, table_logic(tasks, 2 * address + 40), double(p("UNITS"))};
  f.ff = {1, address, double(p("PF") * p("AW")), several, double(bits_of(tasks))};
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
  ResourceFeatures features = found->second(Call{parameters, family});
  if (*features.form == 0) features.form = found->first.c_str();
  return features;
}

const std::vector<std::string>& modelled_components() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, model] : models()) list.push_back(name);
    return list;
  }();
  return names;
}

const std::vector<std::string>& modelled_forms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = modelled_components();
    list.push_back("finish_fixed");
    return list;
  }();
  return names;
}

}  // namespace tilewright::pipeline
