// Field orders and widths are those of src/tilewright/overlay/isa/isa.h and of the public ISA.
#include "tilewright/hardware/encoding_fit.h"

#include <algorithm>
#include <utility>

#include "tilewright/base/integer_math.h"

namespace tilewright {
namespace {

constexpr int kWordBits = 64;

struct Format {
  const char* name;
  int word_bits;
  int words;
  std::vector<int> fields;
};

std::vector<Format> formats(IsaVersion isa, const IndexWidths& w) {
  const int a = w.accumulator, i = w.input, g = w.weight, u = w.uop;
  if (isa == IsaVersion::kVta) {
    constexpr int kHead = 7, kIterations = 14;
    return {
        {"128-bit GEMM instruction",
         kWordBits,
         2,
         {kHead, 1, u, u + 1, kIterations, kIterations, a, a, i, i, g, g}},
        {"128-bit ALU instruction",
         kWordBits,
         2,
         {kHead, 1, u, u + 1, kIterations, kIterations, a, a, a, a, 3, 1, 16}},
        {"32-bit micro-op", 32, 1, {a, std::max(a, i), g}},
    };
  }
  constexpr int kHead = 11, kIterations = 16;
  return {
      {"256-bit GEMM instruction",
       kWordBits,
       4,
       {kHead, 1, u, u + 1, kIterations, kIterations, a, a, i, i, g, g, 1, 1}},
      {"256-bit ALU instruction",
       kWordBits,
       4,
       {kHead, 1, u, u + 1, kIterations, kIterations, a, a, a, a, 4, 1, 32, 32, 32}},
      {"64-bit micro-op", 64, 1, {a, std::max(a, i), g, 1}},
  };
}

}  // namespace

IndexWidths index_widths(const OverlayHardware& hardware) {
  return {floor_log2(hardware.accumulator_depth()), floor_log2(hardware.input_depth()),
          floor_log2(hardware.weight_depth()), floor_log2(hardware.uop_depth())};
}

int packed_words(const std::vector<int>& field_widths, int word_bits) {
  int words = 0, used = word_bits;
  for (const int width : field_widths) {
    if (used + width > word_bits) {
      ++words;
      used = 0;
    }
    used += width;
  }
  return words;
}

std::vector<std::string> formats_too_narrow(IsaVersion isa, const IndexWidths& widths) {
  std::vector<std::string> narrow;
  const int sram_base_bits = isa == IsaVersion::kVta ? 16 : 32;
  if (std::max({widths.accumulator, widths.input, widths.weight, widths.uop}) > sram_base_bits) {
    narrow.push_back("sram_base field of LOAD");
  }
  for (const Format& format : formats(isa, widths)) {
    if (packed_words(format.fields, format.word_bits) > format.words) narrow.push_back(format.name);
  }
  return narrow;
}

int reduced_buffers(const IndexWidths& given, const IndexWidths& reduced) {
  return (given.accumulator != reduced.accumulator) + (given.input != reduced.input) +
         (given.weight != reduced.weight) + (given.uop != reduced.uop);
}

std::vector<IndexWidths> least_reductions(IsaVersion isa, const IndexWidths& given) {
  std::vector<IndexWidths> found;
  const int most = given.accumulator + given.input + given.weight + given.uop - 4;
  for (int total = 0; total <= most && found.empty(); ++total) {
    for (int a = 0; a <= total && a < given.accumulator; ++a) {
      for (int i = 0; a + i <= total && i < given.input; ++i) {
        for (int w = 0; a + i + w <= total && w < given.weight; ++w) {
          const int u = total - a - i - w;
          if (u >= given.uop) continue;
          const IndexWidths tried{given.accumulator - a, given.input - i, given.weight - w, given.uop - u};
          if (formats_too_narrow(isa, tried).empty()) found.push_back(tried);
        }
      }
    }
  }
  const auto rank = [&](const IndexWidths& r) {
    int depth = 0;
    for (const auto width :
         {&IndexWidths::accumulator, &IndexWidths::input, &IndexWidths::weight, &IndexWidths::uop}) {
      if (r.*width != given.*width) depth += given.*width;
    }
    return std::pair(reduced_buffers(given, r), -depth);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const IndexWidths& a, const IndexWidths& b) { return rank(a) < rank(b); });
  return found;
}

}  // namespace tilewright
