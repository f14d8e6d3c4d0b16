// Cells of memories, trees of sums and products, as Yosys makes them of the sources in rtl/pipeline.
#include "tilewright/pipeline/component/area_features.h"

#include <algorithm>
#include <bit>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/array_model.h"
#include "tilewright/synthesis/memory_cells.h"

namespace tilewright::pipeline::area {

using synthesis::DeviceFamily;

namespace {

constexpr int64_t kIce40Product = 11;  // bits of the least that Yosys gives a block

// What chooses among `rows` cells one after the other.
MemoryLogic cell_choice(int64_t rows, int64_t width) {
  if (rows <= 1) return {};
  return {double(width * ceil_div(rows - 1, 3)), double(bits_of(rows))};
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

// Parts of a factor that a block of an iCE40, 16 x 16 bits, takes: of signed ones each but the last lacks a
// sign.
std::vector<int64_t> ice40_parts(int64_t bits, bool sign) {
  if (bits <= 16) return {bits};
  const int64_t part = sign ? 15 : 16;
  std::vector<int64_t> parts(size_t(bits / part), part);
  if (bits % part != 0) parts.push_back(bits % part);
  return parts;
}

// Small products are of logic.
int64_t ice40_blocks(int64_t a, int64_t b, bool sign) {
  const std::vector<int64_t> a_parts = ice40_parts(a, sign), b_parts = ice40_parts(b, sign);
  if (a_parts.size() * b_parts.size() == 1) return a + b >= kIce40Product ? 1 : 0;
  int64_t blocks = 0;
  for (const int64_t x : a_parts) {
    for (const int64_t y : b_parts) blocks += std::min(x, y) >= 3 && x + y >= 13 ? 1 : 0;
  }
  return blocks;
}

// Products of fewer bits are of logic whatever is asked for.
int64_t least_product(DeviceFamily family) {
  return family == DeviceFamily::kEcp5 ? 0 : family == DeviceFamily::kIce40 ? kIce40Product : 9;
}

// DSP blocks of one `*` of signed a x b bits: what is too wide for a block is cut, each cut costs a sign.
// ECP5: blocks of 18 x 18 bits.
int64_t operator_blocks(int64_t a, int64_t b, DeviceFamily family) {
  const auto parts = [](int64_t bits) { return bits <= 18 ? 1 : 1 + ceil_div(bits - 18, 17); };
  if (family == DeviceFamily::kIce40) return ice40_blocks(a, b, true);
  return family == DeviceFamily::kEcp5 ? parts(a) * parts(b) : 1;
}

}  // namespace

int64_t bits_of(int64_t value) { return value <= 1 ? 1 : int64_t(std::bit_width(uint64_t(value - 1))); }

ResourceFeatures registered_beat(double width) {
  ResourceFeatures f;
  f.lut = {1};
  f.ff = {1, width};
  return f;
}

MemoryLogic add_memory(ResourceFeatures& features, const std::string& wanted, int64_t words, int64_t width,
                       DeviceFamily family, bool bypassed) {
  // A bit of registers costs Yosys one, a block of the iCE40 64, and each bit of a bypass one.
  const bool none = wanted == "lutram" && family == DeviceFamily::kIce40;
  const bool block =
      none && words * width > 64 * synthesis::block_rams(words, width, family) + (bypassed ? width : 0);
  const std::string kind = !none ? wanted : block ? "block" : "registers";
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

double table_logic(int64_t tasks, double bits) { return tasks <= 1 ? 0 : bits * double(ceil_div(tasks, 64)); }

int64_t product_blocks(int64_t a, int64_t b, DeviceFamily family) {
  const int64_t high = std::max(a, b), low = std::min(a, b);
  if (high <= 25 && low <= 18) return operator_blocks(high, low, family);
  const int64_t cut_high = low > 18 && low <= 25 ? 17 : 24, cut_low = 17;
  if (low > 25) {
    const bool ice40 = family == DeviceFamily::kIce40;
    const int64_t lowest =
        ice40 ? ice40_blocks(cut_high, cut_low, false) : operator_blocks(cut_high + 1, cut_low + 1, family);
    return lowest + operator_blocks(cut_high + 1, low - cut_low, family) +
           operator_blocks(high - cut_high, cut_low + 1, family) +
           operator_blocks(high - cut_high, low - cut_low, family);
  }
  return operator_blocks(cut_high + 1, low, family) + operator_blocks(high - cut_high, low, family);
}

Products products(const ComponentSizes& p, int64_t terms, int64_t outputs, bool shared) {
  Products r;
  const bool a_bipolar = p("A_BIPOLAR", 0) != 0, w_bipolar = p("W_BIPOLAR", 0) != 0;
  const int64_t a = a_bipolar ? 2 : p("AW"), w = w_bipolar ? 2 : p("WW"), all = terms * outputs;
  const std::string multiply = p.text("MULTIPLY", "dsp");
  const bool counts = a_bipolar && w_bipolar, chooses = !counts && w_bipolar && multiply == "lut";
  const bool small = multiply == "dsp" && !counts && a + w < least_product(p.family);
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
  } else if (const int64_t rows = packed_rows(multiply); rows > 0) {
    r.activations = double(terms * a);
    r.weights = double(all * w);
    const auto blocks = [&](int64_t width) {
      return width > 25 && p.family == DeviceFamily::kXc7 ? 2 : operator_blocks(width, a, p.family);
    };
    const int64_t whole = packed_bits(rows, a, w), rest = outputs % rows;
    r.blocks =
        terms * (outputs / rows * blocks(whole) + (rest > 0 ? blocks((rest - 1) * (a + w) + w + 1) : 0));
    r.packed = double(all * (a + w));
    // The sums of activations and signs that all outputs share, and the subtraction of one of three.
    const Tree total = tree(terms, a), negative = tree(terms, 1);
    const double sum_bits = double(a + w + tree_levels(terms));
    r.adders += total.first_adders + total.adders + negative.first_adders + negative.adders + sum_bits +
                double(outputs) * (sum_bits + 1);
    r.registers += total.first_registers + total.registers + negative.first_registers + negative.registers +
                   3 * sum_bits + double(outputs) * (sum_bits + 1);
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

}  // namespace tilewright::pipeline::area
