// Any netlist as a model: odd names, wide ports, memories with contents, restarting.
#include "tilewright/pipeline/verilog/rtl_model.h"

#include <gtest/gtest.h>

#include "support/pipeline/rtl_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/base/random.h"

namespace tilewright::pipeline {
namespace {

using netlist::Direction;
using netlist::Module;
using netlist::NetId;
using netlist::Operation;

// Inverts a wide input, reads a memory, and keeps the last word read under a keyword's name.
netlist::Netlist odd_design() {
  Module top("always");
  const NetId wide = top.add_port("wide__in", Direction::kInput, 1000);
  const NetId inverted = top.add_port("out put", Direction::kOutput, 1000);
  top.connect(inverted, top.add_assign(Operation::kNot, {wide}, 1000));
  const NetId address = top.add_port("address", Direction::kInput, 3);
  const NetId word = top.add_port("reg", Direction::kOutput, 40);
  const NetId one = top.add_constant(1, 1);
  const NetId write = top.add_port("write", Direction::kInput, 1);
  const NetId data = top.add_port("data", Direction::kInput, 40);
  top.memories.push_back({"store",
                          8,
                          40,
                          1,
                          netlist::MemoryKind::kBlockRam,
                          {{one, address, word}},
                          {{write, address, data}},
                          "store.hex"});
  return {"always", {top}};
}

MemoryImages odd_images() {
  MemoryImage image(40);
  for (int64_t i = 0; i < 8; ++i) image.set(image.add_word(), 0, 40, 0x1234567800 + i);
  return {{"store.hex", image}};
}

TEST(RtlModel, PortsByTheirNetlistNames) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  RtlModel model(odd_design(), odd_images(), rtl_options());
  const int wide = model.port("wide__in"), inverted = model.port("out put");
  ASSERT_EQ(model.bits(wide), 1000);
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    std::vector<uint32_t> words(32);
    for (uint32_t& word : words) word = uint32_t(random.next());
    words.back() &= 0xFF;
    model.set_words(wide, words.data());
    model.settle();
    const std::vector<uint32_t> result = model.get_words(inverted);
    for (size_t i = 0; i < 31; ++i) EXPECT_EQ(result[i], ~words[i]);
    EXPECT_EQ(result[31], ~words[31] & 0xFF);
  }
  EXPECT_THROW(model.port("nothing"), Error);
}

TEST(RtlModel, MemoriesStartFromTheirImages) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  RtlModel model(odd_design(), odd_images(), rtl_options());
  for (int start = 0; start < 2; ++start) {
    model.reset();
    const int address = model.port("address"), word = model.port("reg"), write = model.port("write");
    for (uint64_t i = 0; i < 8; ++i) {
      model.set(address, i);
      model.set(write, 1);
      model.set(model.port("data"), 7);
      model.settle();
      model.edge();
      EXPECT_EQ(model.get(word), 0x1234567800 + i) << "before the write";
      model.set(write, 0);
      model.settle();
      model.edge();
      EXPECT_EQ(model.get(word), 7u);
    }
    model.restart();
  }
}

}  // namespace
}  // namespace tilewright::pipeline
