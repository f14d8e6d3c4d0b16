// The components that move data: random parameters, tables and stalls in one compiled model; what their
// checks refuse; the identity of a design and the page of registers.
#include <gtest/gtest.h>

#include "support/error_text_testing.h"
#include "support/pipeline/axi_case_testing.h"
#include "support/pipeline/bench_testing.h"
#include "support/pipeline/component_cases_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/pipeline/component/rom_walker.h"
#include "tilewright/pipeline/component/tensor_reader.h"
#include "tilewright/pipeline/component/tensor_writer.h"
#include "tilewright/pipeline/component/weight_ring.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {
namespace {

TEST(Movers, EqualTheirModelsAndMoveTheRightWords) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  constexpr int kEach = 5;  // twelve more of each: tests/pipeline/pipeline_components
  Random random(20);
  std::vector<std::unique_ptr<BenchCase>> cases;
  for (const MakeCase make :
       {random_rom_walker, random_weight_ring, random_tensor_memory, random_tensor_reader,
        random_tensor_writer, random_dma_read, random_dma_write, random_read_share, random_control}) {
    for (int i = 0; i < kEach; ++i) cases.push_back(make(random));
  }
  expect_models_agree(cases);
}

// The memory of a large board: the latency is paid once per transfer, the bus's idle cycles always.
TEST(Movers, LatencyOfTheMemoryCostsNothing) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const netlist::Parameters parameters = {
      {"DATA", int64_t{512}}, {"BURST", int64_t{64}}, {"QUEUE", int64_t{256}}};
  DmaReadCase read(parameters, "fixed:128:1:90");
  DmaWriteCase write(parameters, "fixed:128:1:90");
  BenchOptions options;
  options.rtl = rtl_options();
  options.runs = 1;
  options.cycles = 30000;
  const BenchResult result = run_bench({&read, &write}, options);
  for (const std::string& problem : result.problems) ADD_FAILURE() << problem;
  for (const DmaCase* one : std::initializer_list<const DmaCase*>{&read, &write}) {
    EXPECT_GT(one->beats_moved(), 10000) << one->component;
    // Per transfer: the latency, a first or last burst that is short, a few cycles of the component.
    EXPECT_LT(one->cycles_busy(), double(one->beats_moved()) / 0.9 + double(one->transfers()) * (128 + 16))
        << one->component;
  }
}

TEST(Movers, RefuseParametersThatDoNotFit) {
  struct Wrong {
    const char* component;
    netlist::Parameters parameters;
    const char* text;
  };
  const auto ultra = std::string("ultra");
  const Wrong wrong[] = {
      {"rom_walker",
       {{"WIDTH", int64_t{8}}, {"WORDS", int64_t{9}}, {"KIND", ultra}},
       "no contents at the start"},
      {"rom_walker", {{"WIDTH", int64_t{8}}, {"WORDS", int64_t{0}}}, "WORDS is 0; 1 to"},
      {"weight_ring",
       {{"WIDTH", int64_t{24}}, {"BEAT", int64_t{16}}, {"DEPTH", int64_t{4}}},
       "of WIDTH 24 and BEAT 16 neither divides the other"},
      {"tensor_memory",
       {{"WIDTH", int64_t{24}}, {"PARTS", int64_t{5}}, {"WORDS", int64_t{4}}},
       "5 PARTS do not divide a WIDTH of 24"},
      {"tensor_reader",
       {{"AW", int64_t{8}}, {"PI", int64_t{4}}, {"A", int64_t{9}}, {"PROGRESS", int64_t{9}}},
       "PROGRESS is 9; 0 to 8"},
      {"tensor_writer",
       {{"AW", int64_t{8}}, {"PI", int64_t{4}}, {"PF", int64_t{3}}, {"A", int64_t{9}}},
       "PF 3 does not divide PI 4"},
      {"dma_read",
       {{"DATA", int64_t{48}}, {"BURST", int64_t{4}}, {"QUEUE", int64_t{8}}},
       "dma_read: DATA 48 is not a power of two"},
      {"dma_write",
       {{"DATA", int64_t{512}}, {"BURST", int64_t{128}}, {"QUEUE", int64_t{256}}},
       "dma_write: BURST 128 of 64 bytes"},
      {"dma_read",
       {{"DATA", int64_t{64}}, {"BURST", int64_t{16}}, {"QUEUE", int64_t{8}}},
       "QUEUE 8 holds no burst of 16"},
      {"read_share", {{"DATA", int64_t{64}}, {"A", int64_t{65}}}, "A is 65; 12 to 64"},
      {"control", {{"CHANNELS", int64_t{5}}}, "CHANNELS is 5; 1 to 4"},
  };
  for (const Wrong& one : wrong) {
    const std::string text = error_text([&] { component_type(one.component)->ports(one.parameters); });
    EXPECT_NE(text.find(one.text), std::string::npos) << text;
  }
}

TEST(Movers, RefuseTablesThatDoNotFit) {
  const auto model = [](const char* component, netlist::Parameters parameters, MemoryImage table) {
    parameters["TABLE"] = std::string("tasks");
    return error_text([&] {
      component_type(component)->cycle_model(parameters, MemoryImages{{"tasks", std::move(table)}});
    });
  };
  const auto find = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const netlist::Parameters rom = {{"WIDTH", int64_t{8}}, {"WORDS", int64_t{10}}, {"N_BITS", int64_t{3}}};
  find(model("rom_walker", rom, encode(std::vector<RomWalkerRow>{{4, 2, 1, 4}})), "beyond the last word");
  find(model("rom_walker", rom, encode(std::vector<RomWalkerRow>{{0, 1, 1, 8}})), "N of a task is 8");
  find(model("rom_walker", rom, encode(std::vector<RomWalkerRow>{{0, 1, 0, 1}})), "PX of a task is 0");
  find(model("rom_walker", rom, MemoryImage(9)), "has 0 rows of 9 bits, 1 of 112 are expected");
  const netlist::Parameters ring = {{"WIDTH", int64_t{8}}, {"BEAT", int64_t{8}}, {"DEPTH", int64_t{5}}};
  find(model("weight_ring", ring, encode(std::vector<WeightRingRow>{{1, 2, 6, false}})),
       "DEPTH is 5, a task reads 6 words again");
  find(model("weight_ring", ring, encode(std::vector<WeightRingRow>{{2, 1, 3, true}})),
       "reads 6 words again");
  EXPECT_EQ(model("weight_ring", ring, encode(std::vector<WeightRingRow>{{7, 1, 30, false}})), "no error");
  const netlist::Parameters reader = {{"AW", int64_t{8}},
                                      {"PI", int64_t{4}},
                                      {"A", int64_t{9}},
                                      {"PROGRESS", int64_t{0}},
                                      {"K_BITS", int64_t{2}}};
  TensorReaderRow read;
  read.kernel_rows = 4;
  find(model("tensor_reader", reader, encode({read}, 8, 0)), "KH of a task is 4");
  read.kernel_rows = 1;
  read.unit = 1;
  find(model("tensor_reader", reader, encode({read}, 8, 0)), "there is no unit 1");
  const netlist::Parameters writer = {
      {"AW", int64_t{8}}, {"PI", int64_t{4}}, {"PF", int64_t{4}}, {"A", int64_t{9}}, {"W_BITS", int64_t{3}}};
  TensorWriterRow write;
  write.outer = 4;
  write.outer_step = 2;
  find(model("tensor_writer", writer, encode(std::vector<TensorWriterRow>{write})),
       "the last word of a pixel of a task is 10");
  write.outer = 1;
  write.unit = 2;
  find(model("tensor_writer", writer, encode(std::vector<TensorWriterRow>{write})), "there is no unit 2");
  find(error_text([] {
         component_type("control")->cycle_model({{"IDENTITY", std::string("who")}}, {});
       }),
       "there is no identity 'who'");
  find(error_text([&] { component_type("rom_walker")->cycle_model(rom, {}); }), "there is no task table ''");
}

TEST(Registers, IdentityReadsBack) {
  const DesignIdentity identity{0x123456789ABCDEF0, 784, 16, 1 << 20, 64, 4};
  EXPECT_EQ(decode_identity(encode(identity)), identity);
}

TEST(Registers, PageIsTheTable) {
  const std::string page = read_text_file(TILEWRIGHT_SOURCE_DIR "/docs/reference/pipeline_registers.md");
  EXPECT_NE(page.find(register_table()), std::string::npos) << register_table();
}

}  // namespace
}  // namespace tilewright::pipeline
