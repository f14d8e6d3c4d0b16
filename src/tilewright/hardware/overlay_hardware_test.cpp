#include "tilewright/hardware/overlay_hardware.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/hardware/encoding_fit.h"

namespace tilewright {
namespace {

const std::filesystem::path kOverlayPresets = std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware";

std::string problems(const OverlayHardware& hardware) {
  Diagnostics diagnostics;
  hardware.verify(diagnostics);
  std::string all;
  for (const Diagnostic& d : diagnostics.errors()) all += to_string(d) + "\n";
  return all;
}

OverlayHardware named(const char* name) {
  OverlayHardware hardware;
  hardware.name = name;
  return hardware;
}

TEST(EncodingFit, FieldsThatDoNotFitStartTheNextWord) {
  EXPECT_EQ(packed_words({}, 64), 0);
  EXPECT_EQ(packed_words({60, 4}, 64), 1);
  EXPECT_EQ(packed_words({60, 5}, 64), 2);
  EXPECT_EQ(packed_words({60, 5, 60}, 64), 3);
  EXPECT_EQ(packed_words({11, 11, 10}, 32), 1);
}

TEST(EncodingFit, TheDefaultFillsThePlainEncoding) {
  const OverlayHardware h = named("default");
  const IndexWidths widths = index_widths(h);
  EXPECT_EQ(widths, (IndexWidths{11, 11, 10, 13}));
  EXPECT_TRUE(formats_too_narrow(IsaVersion::kVta, widths).empty());
  for (const auto width :
       {&IndexWidths::accumulator, &IndexWidths::input, &IndexWidths::weight, &IndexWidths::uop}) {
    IndexWidths larger = widths;
    ++(larger.*width);
    EXPECT_FALSE(formats_too_narrow(IsaVersion::kVta, larger).empty());
    EXPECT_TRUE(formats_too_narrow(IsaVersion::kWide, larger).empty());
  }
}

// All ways to halve buffers, tried one by one.
TEST(EncodingFitClass, LeastReductionsAreAllOfTheFewestHalvings) {
  Random random(test_seed());
  const int64_t cases = test_cases(60);
  RecordProperty("cases", int(cases));
  for (int64_t n = 0; n < cases; ++n) {
    const IsaVersion isa = random.chance(0.5) ? IsaVersion::kVta : IsaVersion::kWide;
    const int most = isa == IsaVersion::kVta ? 17 : 22;
    const auto width = [&] { return int(random.between(most - 7, most)); };
    const IndexWidths given{width(), width(), width(), width()};
    std::vector<IndexWidths> fitting;
    int fewest = 1000;
    for (int a = given.accumulator; a >= 1; --a) {
      for (int i = given.input; i >= 1; --i) {
        for (int w = given.weight; w >= 1; --w) {
          for (int u = given.uop; u >= 1; --u) {
            const int halvings = given.accumulator + given.input + given.weight + given.uop - a - i - w - u;
            if (halvings > fewest || !formats_too_narrow(isa, {a, i, w, u}).empty()) continue;
            if (halvings < fewest) fitting.clear();
            fewest = halvings;
            fitting.push_back({a, i, w, u});
          }
        }
      }
    }
    const std::vector<IndexWidths> found = least_reductions(isa, given);
    EXPECT_EQ(found.size(), fitting.size()) << "seed " << test_seed() << ", case " << n;
    for (const IndexWidths& one : fitting) {
      EXPECT_NE(std::find(found.begin(), found.end(), one), found.end())
          << "seed " << test_seed() << ", case " << n;
    }
    for (size_t i = 1; i < found.size(); ++i) {
      EXPECT_LE(reduced_buffers(given, found[i - 1]), reduced_buffers(given, found[i]));
    }
  }
}

// The address field of LOAD and STORE holds an index into any buffer.
TEST(EncodingFitClass, EveryBufferIsWithinReachOfSramBase) {
  for (const IsaVersion isa : {IsaVersion::kVta, IsaVersion::kWide}) {
    const int reach = isa == IsaVersion::kVta ? 16 : 32;
    for (const auto width :
         {&IndexWidths::accumulator, &IndexWidths::input, &IndexWidths::weight, &IndexWidths::uop}) {
      for (const int bits : {reach, reach + 1}) {
        IndexWidths widths{1, 1, 1, 1};
        widths.*width = bits;
        const std::vector<std::string> narrow = formats_too_narrow(isa, widths);
        EXPECT_EQ(std::count(narrow.begin(), narrow.end(), "sram_base field of LOAD"), bits > reach ? 1 : 0);
      }
    }
  }
}

TEST(OverlayVerify, DefaultIsLegal) { EXPECT_EQ(problems(named("default")), ""); }

TEST(OverlayVerify, EveryGeometryProblemAtOnce) {
  OverlayHardware h = named("bad");
  h.batch = 3;
  h.block_in = 0;
  h.block_out = 512;
  h.input_bits = 6;
  h.accumulator_bits = 64;
  h.memory_width_bits = 48;
  h.dram_bytes = 100;
  h.clock_mhz = 0;
  EXPECT_EQ(problems(h),
            "overlay 'bad' (batch): 3 is not a power of two in 1..64; 2 would fit\n"
            "overlay 'bad' (block_in): 0 is not a power of two in 1..256; 1 would fit\n"
            "overlay 'bad' (block_out): 512 is not a power of two in 1..256; 256 would fit\n"
            "overlay 'bad' (input_bits): 6 is not a power of two in 1..8; 4 would fit\n"
            "overlay 'bad' (accumulator_bits): 64 is not a power of two in 8..32; 32 would fit\n"
            "overlay 'bad' (dram_bytes): 100 is not in 4096..1099511627776; 4096 would fit\n"
            "overlay 'bad' (memory_width_bits): 48 is not a power of two in 8..1024; 32 would fit\n"
            "overlay 'bad' (clock_mhz): 0 is not above 0 and at most 10000; 100 would fit\n");
}

// Reports in JSON could not hold any other name.
TEST(OverlayVerify, NamesAreUtf8) {
  EXPECT_EQ(problems(named("gr\xc3\xb6\xc3\x9f")), "");
  EXPECT_NE(problems(named("a\xff")).find("(name): is not UTF-8; write it in UTF-8"), std::string::npos);
}

TEST(OverlayVerify, GemmBesideAluNeedsTheBitAndTwoHalves) {
  OverlayHardware h = named("bad");
  h.gemm_beside_alu = true;
  EXPECT_EQ(
      problems(h),
      "overlay 'bad' (gemm_beside_alu): isa 'vta' has no bit that allows it; use isa 'wide', or false\n");
  h.isa = IsaVersion::kWide;
  EXPECT_EQ(problems(h), "");
  h.accumulator_buffer_bytes = 2 * h.accumulator_bytes();
  EXPECT_EQ(problems(h),
            "overlay 'bad' (gemm_beside_alu): ACC has no two halves of at least two elements; enlarge "
            "accumulator_buffer_bytes\n");
}

TEST(OverlayVerify, RowFunctionsNameEverythingTheyNeed) {
  OverlayHardware h = named("bad");
  h.row_functions = true;
  h.batch = 2;
  h.block_in = 32;
  h.weight_bits = 4;
  h.accumulator_bits = 16;
  const std::string text = problems(h);
  for (const char* what : {"lookup_table", "batch 1", "block_in equal to block_out",
                           "input_bits 8 and weight_bits 8", "accumulator_bits 32"}) {
    EXPECT_NE(text.find(std::string("overlay 'bad' (row_functions): they need ") + what +
                        "; change that field, or use false\n"),
              std::string::npos)
        << text;
  }
  OverlayHardware good = named("good");
  good.isa = IsaVersion::kWide;
  good.lookup_table = good.row_functions = true;
  EXPECT_EQ(problems(good), "");
}

TEST(OverlayVerify, ElementsAreWholeBytes) {
  OverlayHardware h = named("bad");
  h.isa = IsaVersion::kWide;
  h.block_in = 2;
  h.input_bits = 1;
  EXPECT_EQ(problems(h),
            "overlay 'bad' (input_bits): one INP element has 2 bits, which is not a whole number of bytes; "
            "make the "
            "element 4 times larger\n");
}

TEST(OverlayVerify, SingleBitsNeedTheWideInstructions) {
  OverlayHardware h = named("bad");
  h.input_bits = h.weight_bits = 1;
  h.block_in = 128;
  h.input_buffer_bytes = 1 << 10;
  h.weight_buffer_bytes = 1 << 12;
  EXPECT_EQ(problems(h),
            "overlay 'bad' (input_bits): isa 'vta' has no arithmetic on single bits; use isa 'wide', or 2 "
            "bits\n"
            "overlay 'bad' (weight_bits): isa 'vta' has no arithmetic on single bits; use isa 'wide', or 2 "
            "bits\n");
  h.isa = IsaVersion::kWide;
  EXPECT_EQ(problems(h), "");
}

TEST(OverlayVerify, BuffersHoldTwoElements) {
  OverlayHardware h = named("bad");
  h.weight_buffer_bytes = 256;
  h.uop_buffer_bytes = 3000;
  EXPECT_EQ(
      problems(h),
      "overlay 'bad' (weight_buffer_bytes): 256 is not a power of two in 512..1073741824; 512 would "
      "fit\n"
      "overlay 'bad' (uop_buffer_bytes): 3000 is not a power of two in 8..1073741824; 2048 would fit\n");
}

TEST(OverlayVerify, LargerAccumulatorDoesNotFitThePlainEncoding) {
  OverlayHardware h = named("bad");
  h.accumulator_buffer_bytes = 1 << 18;
  EXPECT_EQ(
      problems(h),
      "overlay 'bad' (accumulator_buffer_bytes): 262144 bytes are 4096 ACC elements, whose 12-bit index "
      "does not fit the 128-bit GEMM instruction, the 128-bit ALU instruction, the 32-bit micro-op; at "
      "most 131072 bytes fit; isa 'wide' has room for more\n");
  h.isa = IsaVersion::kWide;
  EXPECT_EQ(problems(h), "");
}

TEST(OverlayVerify, LargerInputCanBePaidForElsewhere) {
  OverlayHardware h = named("bad");
  h.input_buffer_bytes = 1 << 16;
  EXPECT_EQ(problems(h),
            "overlay 'bad' (input_buffer_bytes): 65536 bytes are 4096 INP elements, whose 12-bit index does "
            "not fit the 128-bit GEMM instruction, the 32-bit micro-op; at most 32768 bytes fit; or "
            "accumulator_buffer_bytes 65536, or weight_buffer_bytes 131072; isa 'wide' has room for more\n");
  h.weight_buffer_bytes = 131072;
  EXPECT_EQ(problems(h), "");
}

TEST(OverlayVerify, SeveralBuffersTooLargeTogether) {
  OverlayHardware h = named("bad");
  h.uop_buffer_bytes = 1 << 16;
  h.accumulator_buffer_bytes = 1 << 18;
  const std::string all = problems(h);
  EXPECT_NE(all.find("(accumulator_buffer_bytes): 262144 bytes"), std::string::npos) << all;
  EXPECT_NE(all.find("(uop_buffer_bytes): 65536 bytes are 16384 UOP elements, whose 14-bit index"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("with the other buffers reported here"), std::string::npos) << all;
}

TEST(OverlayVerify, WideEncodingHasItsOwnLimit) {
  OverlayHardware h = named("bad");
  h.isa = IsaVersion::kWide;
  h.accumulator_buffer_bytes = 1 << 23;
  EXPECT_EQ(problems(h),
            "overlay 'bad' (accumulator_buffer_bytes): 8388608 bytes are 131072 ACC elements, whose 17-bit "
            "index does not fit the 256-bit ALU instruction; at most 4194304 bytes fit\n");
}

TEST(OverlayVerify, DramWithinReachOfItsField) {
  OverlayHardware h = named("bad");
  h.dram_bytes = int64_t{1} << 35;
  EXPECT_EQ(problems(h),
            "overlay 'bad' (dram_bytes): 34359738368 bytes are more than the 32-bit dram_base reaches in "
            "elements of 4 bytes; at most 17179869184 bytes fit\n");
}

// What a diagnostic says would fit does fit, alone or together with the other suggestions.
TEST(OverlayVerify, SuggestedSizesFit) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    OverlayHardware h = named("random");
    h.isa = random.chance(0.5) ? IsaVersion::kVta : IsaVersion::kWide;
    h.batch = 1 << random.between(0, 2);
    h.block_in = h.block_out = 1 << random.between(2, 5);
    h.uop_buffer_bytes = int64_t{1} << random.between(8, 24);
    h.input_buffer_bytes = int64_t{1} << random.between(8, 24);
    h.weight_buffer_bytes = int64_t{1} << random.between(12, 24);
    h.accumulator_buffer_bytes = int64_t{1} << random.between(12, 24);
    Diagnostics diagnostics;
    h.verify(diagnostics);
    for (const Diagnostic& d : diagnostics.errors()) {
      int64_t bytes = 0;
      if (std::sscanf(d.hint.c_str(), "at most %ld bytes", &bytes) != 1) continue;
      if (d.op == "uop_buffer_bytes") h.uop_buffer_bytes = bytes;
      if (d.op == "input_buffer_bytes") h.input_buffer_bytes = bytes;
      if (d.op == "weight_buffer_bytes") h.weight_buffer_bytes = bytes;
      if (d.op == "accumulator_buffer_bytes") h.accumulator_buffer_bytes = bytes;
    }
    EXPECT_EQ(problems(h), "") << print_overlay_hardware(h);
  }
}

TEST(OverlayPresets, AllAreLegalAndRoundTrip) {
  const std::vector<std::string> names = overlay_preset_names(kOverlayPresets);
  EXPECT_GE(names.size(), 10u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const OverlayHardware h = find_overlay_hardware(name, kOverlayPresets);
    EXPECT_EQ(h.name, name);
    EXPECT_EQ(parse_overlay_hardware(print_overlay_hardware(h), "printed.yaml"), h);
  }
}

TEST(OverlayPresets, DefaultIsThePublicConfiguration) {
  OverlayHardware expected = named("vta-default");
  EXPECT_EQ(find_overlay_hardware("vta-default", kOverlayPresets), expected);
  EXPECT_EQ(overlay_short_form(expected), "1x16_i8w8a32_15_15_18_17");
}

// The same words, buffers and port, with more lanes in the words.
TEST(OverlayPresets, NarrowOverlaysMultiplyMoreFromTheSameWords) {
  const OverlayHardware eight = find_overlay_hardware("overlay-16x16", kOverlayPresets);
  for (const int bits : {4, 2, 1}) {
    const OverlayHardware h = find_overlay_hardware(fmt::format("overlay-w{0}a{0}", bits), kOverlayPresets);
    SCOPED_TRACE(h.name);
    EXPECT_EQ(h.macs_per_uop() * bits, eight.macs_per_uop() * 8);
    EXPECT_EQ(h.input_bytes(), eight.input_bytes());
    EXPECT_EQ(h.weight_bytes(), eight.weight_bytes());
    EXPECT_EQ(h.input_depth(), eight.input_depth());
    EXPECT_EQ(h.weight_depth(), eight.weight_depth());
    EXPECT_EQ(h.accumulator_depth(), eight.accumulator_depth());
    EXPECT_EQ(h.memory_width_bits, eight.memory_width_bits);
  }
}

TEST(OverlayPresets, UnknownNameListsThePresets) {
  try {
    find_overlay_hardware("vta-defualt", kOverlayPresets);
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("'vta-defualt' is neither an overlay preset nor a file; did you mean 'vta-default'? "
                         "known presets: overlay-16x16, "
                         "overlay-1x8x8-batch8, overlay-32x32, overlay-4x16x16, overlay-8x8, ",
                         0),
              0u)
        << text;
    EXPECT_NE(text.find("vta-1x32, vta-1x8, vta-2x16, vta-default, vta-pynq-z1, vta-small, vta-ultra96"),
              std::string::npos)
        << text;
  }
}

TEST(OverlayPresets, NoFolderNoPresets) {
  EXPECT_TRUE(overlay_preset_names(kOverlayPresets / "absent").empty());
  try {
    find_overlay_hardware("x", "absent");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "'x' is neither an overlay preset nor a file; no presets in 'absent'");
  }
}

}  // namespace
}  // namespace tilewright
