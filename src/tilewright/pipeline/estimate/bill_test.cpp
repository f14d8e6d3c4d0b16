#include "tilewright/pipeline/estimate/bill.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/estimate/resource_features.h"

namespace tilewright::pipeline {
namespace {

// A component with its sizes; without the files that netlists alone name.
std::string text(const std::string& component, const netlist::Parameters& parameters) {
  std::string line = component;
  for (const auto& [name, value] : parameters) {
    if (name == "FILE" || name == "TABLE" || name == "IDENTITY") continue;
    line += std::holds_alternative<int64_t>(value)
                ? fmt::format(" {}={}", name, std::get<int64_t>(value))
                : fmt::format(" {}={}", name, std::get<std::string>(value));
  }
  return line;
}

using Counts = std::map<std::string, int64_t>;
void count(const std::vector<BillItem>& bill, int64_t sign, Counts& counts) {
  for (const BillItem& item : bill) counts[text(item.component, item.parameters)] += sign;
}
void expect_zeros(const Counts& counts) {
  for (const auto& [line, count] : counts) EXPECT_EQ(count, 0) << line;
}

// Every instance of the design that is built is on the bill, with the same sizes.
void expect_same(const Network& network, const Allocation& allocation, const std::vector<BillItem>& bill) {
  Counts counts;
  count(bill, 1, counts);
  const Design design = build(network, allocation);
  for (const netlist::Instance& instance : design.netlist.modules.at(0).instances) {
    counts[text(instance.module, instance.parameters)] -= 1;
  }
  expect_zeros(counts);
}

TEST(Bill, HasTheInstancesOfStreamingDesigns) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    Allocation allocation = random_stages(network, seed);
    if (seed % 3 == 0) {
      for (LayerAllocation& layer : allocation.layers) layer.input_fifo = layer.residual_fifo = int64_t(seed);
    }
    if (seed % 4 == 0) allocation.max_burst_beats = 256;
    expect_same(network, allocation, streaming_bill(network, network_facts(network), allocation));
    if (HasFailure()) return;
  }
}

// An allocator weighs the parts up one by one.
TEST(Bill, StagesBorderAndFrameAreTheWhole) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    const Allocation allocation = random_stages(network, seed);
    const std::vector<LayerFacts> facts = network_facts(network);
    Counts counts;
    count(streaming_bill(network, facts, allocation), 1, counts);
    for (size_t l = 0; l < network.layers.size(); ++l) {
      count(stage_bill(network, facts, allocation, l), -1, counts);
    }
    count(border_bill(network, facts, allocation), -1, counts);
    count(frame_bill(network, allocation), -1, counts);
    expect_zeros(counts);
    if (HasFailure()) return;
  }
}

// Windows that are larger than the map: what counts their lag is wider than what counts the map's words.
TEST(Bill, CountsTheLagOfLargeWindows) {
  NetworkBuilder builder("pixel", {1, 1, 8});
  const Network network = builder.finish(builder.depthwise(0, 5));
  Allocation allocation;
  allocation.streaming = true;
  allocation.layers = {{"layer1", {1, 1, 1, Multiplier::kDsp, Feeder::kRowMajor}}};
  const std::vector<BillItem> bill = streaming_bill(network, network_facts(network), allocation);
  expect_same(network, allocation, bill);
  const auto window = std::find_if(bill.begin(), bill.end(), [](const BillItem& item) {
    return std::string(item.component) == "sliding_window";
  });
  ASSERT_NE(window, bill.end());
  EXPECT_EQ(netlist::integer(window->parameters, "COUNT_BITS"), 6);
}

TEST(Bill, HasTheInstancesOfProcessors) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed);
    Allocation allocation = random_processors(network, seed);
    if (seed % 3 == 0) {
      allocation.weights_on_chip = false;
      allocation.ring_words = 4096;
      allocation.weight_channels = int64_t{1} << (seed % 2);
    }
    if (seed % 4 == 0) allocation.max_burst_beats = 256;
    const Plan plan = make_plan(network, allocation);
    expect_same(network, allocation, processor_bill(network, network_facts(network), allocation, plan));
    if (HasFailure()) return;
  }
}

TEST(Bill, EveryComponentHasAResourceModel) {
  for (const char* component :
       {"stream_frame", "stream_fifo", "finish", "mac_array", "tensor_reader", "control"}) {
    const std::vector<std::string>& names = modelled_components();
    EXPECT_NE(std::find(names.begin(), names.end(), component), names.end());
  }
  EXPECT_THROW(resource_features("no_such_component", {}, synthesis::DeviceFamily::kXc7), Error);
}

}  // namespace
}  // namespace tilewright::pipeline
