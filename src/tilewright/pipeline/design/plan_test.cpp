#include "tilewright/pipeline/design/plan.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <set>

#include "support/pipeline/allocation_testing.h"
#include "support/pipeline/network_testing.h"
#include "support/pipeline/random_branchy_graph_testing.h"
#include "tilewright/base/error.h"
#include "tilewright/pipeline/network/tensor_parts.h"

namespace tilewright::pipeline {
namespace {

// Runs the tasks of a plan in a random order that its waits allow, with the memory's words knowing which row
// of which tensor they hold. A task reads from its start to its end of reading, and its writes may land at
// any time from its start on.
class Machine {
 public:
  Machine(const Network& network, const Allocation& allocation, const Plan& plan, uint64_t seed)
      : network_(network), allocation_(allocation), plan_(plan), random_(seed) {
    for (const int64_t words : plan.unit_words) memory_.emplace_back(size_t(words), Content{});
    queues_.resize(allocation.engines.size() + 2);
    for (size_t t = 0; t < plan.tasks.size(); ++t) queues_[queue(plan.tasks[t])].tasks.push_back(t);
  }

  void run() {
    size_t left = 3 * plan_.tasks.size();
    while (left > 0) {
      bool moved = false;
      const size_t first = size_t(random_.between(0, int64_t(queues_.size()) - 1));
      for (size_t i = 0; i < queues_.size() && !moved; ++i)
        moved = step(queues_[(first + i) % queues_.size()]);
      ASSERT_TRUE(moved) << "the tasks wait for each other";
      --left;
    }
  }

 private:
  struct Content {
    int tensor = -1;
    int64_t row = -1;
    bool operator==(const Content&) const = default;
  };
  struct Queue {
    std::vector<size_t> tasks;
    size_t started = 0, read = 0, written = 0;
  };

  size_t queue(const PlannedTask& task) const {
    return task.engine == PlannedTask::kStorer ? queues_.size() - 1 : size_t(task.engine + 1);
  }
  bool ready(const std::vector<int64_t>& waits) const {
    for (size_t s = 0; s < waits.size(); ++s) {
      if (int64_t(queues_[s].written) < waits[s]) return false;
    }
    return true;
  }

  bool step(Queue& q) {
    const bool finish = random_.chance(0.5);
    if (finish && q.written < q.read) {
      write(plan_.tasks[q.tasks[q.written++]], true);
      return true;
    }
    if (q.read < q.started) {
      read(plan_.tasks[q.tasks[q.read++]]);
      return true;
    }
    if (q.started < q.tasks.size()) {
      const PlannedTask& task = plan_.tasks[q.tasks[q.started]];
      if (ready(task.waits) && ready(task.residual_waits)) {
        ++q.started;
        write(task, false);
        return true;
      }
    }
    if (q.written < q.read) {
      write(plan_.tasks[q.tasks[q.written++]], true);
      return true;
    }
    return false;
  }

  // Calls visit(word of the memory, what it holds when the row is complete) for each word of a row.
  template <typename Visit>
  void each_word(int tensor, int64_t row, Visit&& visit) {
    const TensorPlace& place = plan_.places[size_t(tensor)];
    const NetworkTensor& own = network_.tensors[size_t(tensor)];
    const TensorPart part = place_in_whole(network_, tensor);
    const int64_t columns = own.part ? own.shape.columns : place.row_words / place.column_words;
    for (int64_t x = 0; x < columns; ++x) {
      for (int64_t w = 0; w < place.pixel_words; ++w) {
        visit(memory_[size_t(place.unit)].at(
                  size_t(place.base + row * place.row_words + x * place.column_words + w)),
              Content{part.whole, part.row + row * part.row_step});
      }
    }
  }
  void write(const PlannedTask& task, bool complete) {
    if (task.engine == PlannedTask::kStorer) return;
    const int tensor = task.layer < 0 ? network_.input : network_.layers[size_t(task.layer)].output;
    for (int64_t row = task.first_row; row < task.first_row + task.rows; ++row) {
      each_word(tensor, row, [&](Content& word, const Content& held) { word = complete ? held : Content{}; });
    }
  }
  void expect_rows(int tensor, int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      each_word(tensor, row, [&](const Content& word, const Content& held) {
        ASSERT_EQ(word, held) << "tensor " << tensor << " row " << row;
      });
    }
  }
  void read(const PlannedTask& task) {
    if (task.engine == PlannedTask::kLoader) return;
    if (task.engine == PlannedTask::kStorer) {
      for (const int output : network_.output_tensors())
        expect_rows(output, 0, network_.tensors[size_t(output)].shape.rows);
      return;
    }
    const Layer& layer = network_.layers[size_t(task.layer)];
    const LayerGeometry geometry = layer_geometry(network_, allocation_, size_t(task.layer));
    const RowRange rows = rows_read(geometry, task.first_row, task.rows);
    expect_rows(layer.input, rows.first, rows.last);
    if (layer.add) expect_rows(layer.add->tensor, task.first_row, task.first_row + task.rows);
  }

  const Network& network_;
  const Allocation& allocation_;
  const Plan& plan_;
  Random random_;
  std::vector<std::vector<Content>> memory_;
  std::vector<Queue> queues_;
};

TEST(Plan, AnyOrderThatTheWaitsAllowReadsWhatWasWritten) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = random_network(seed, false);
    const Allocation allocation = random_processors(network, seed);
    const Plan plan = make_plan(network, allocation);
    Machine(network, allocation, plan, seed).run();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Plan, AnyOrderReadsWhatWasWrittenOfPartsOfTensors) {
  int64_t parts = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Network network;
    try {
      network = extract_network(random_branchy_graph(seed));
    } catch (const Error&) {
      continue;  // shapes that do not go together
    }
    for (const NetworkTensor& tensor : network.tensors) parts += tensor.part ? 1 : 0;
    const Allocation allocation = random_processors(network, seed);
    const Plan plan = make_plan(network, allocation);
    Machine(network, allocation, plan, seed).run();
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(parts, 300);
}

TEST(Plan, AMissingWaitIsNoticed) {
  int noticed = 0, tried = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Network network = random_network(seed, false);
    const Allocation allocation = random_processors(network, seed);
    Plan plan = make_plan(network, allocation);
    for (PlannedTask& task : plan.tasks) {
      for (int64_t& wait : task.waits) wait = std::max<int64_t>(0, wait - 1);
    }
    testing::TestPartResultArray failures;
    {
      testing::ScopedFakeTestPartResultReporter reporter(&failures);
      Machine(network, allocation, plan, seed).run();
    }
    ++tried;
    noticed += failures.size() > 0 ? 1 : 0;
  }
  EXPECT_GT(noticed, tried / 2);
}

TEST(Plan, WaitsPointToEarlierTasks) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Network network = random_network(seed, false);
    const Allocation allocation = random_processors(network, seed);
    const Plan plan = make_plan(network, allocation);
    std::vector<int64_t> before(allocation.engines.size() + 1, 0);
    for (const PlannedTask& task : plan.tasks) {
      for (const std::vector<int64_t>* waits : {&task.waits, &task.residual_waits}) {
        for (size_t s = 0; s < waits->size(); ++s) EXPECT_LE((*waits)[s], before[s]) << "seed " << seed;
      }
      if (task.engine != PlannedTask::kStorer) ++before[size_t(task.engine + 1)];
    }
  }
}

TEST(Plan, TasksCoverEveryRowOnce) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const Network network = random_network(seed, false);
    const Allocation allocation = random_processors(network, seed);
    std::set<std::pair<int, int64_t>> rows;
    int64_t expected = network.tensors[size_t(network.input)].shape.rows;
    for (const Layer& layer : network.layers) expected += network.tensors[size_t(layer.output)].shape.rows;
    for (const PlannedTask& task : make_plan(network, allocation).tasks) {
      if (task.engine == PlannedTask::kStorer) continue;
      for (int64_t row = 0; row < task.rows; ++row) {
        EXPECT_TRUE(rows.insert({task.layer, task.first_row + row}).second);
      }
      if (task.layer >= 0) {
        const int64_t end = network.tensors[size_t(network.layers[size_t(task.layer)].output)].shape.rows;
        EXPECT_EQ(task.hold, task.first_row + task.rows < end);
      }
    }
    EXPECT_EQ(int64_t(rows.size()), expected);
  }
}

TEST(Plan, TensorsShareWords) {
  const Network network = resnet50_shapes();
  Allocation a;
  a.engines = {{"mac", false, {64, 128, 64}}, {"lanes", true, {64, 64, 64}}};
  a.tensor_unit.assign(network.tensors.size(), 0);
  for (const Layer& layer : network.layers) {
    a.layers.push_back({layer.name, {}, works_in_lanes(layer.kind) ? 1 : 0});
  }
  a.tight_memory = true;
  // The input's pixels take a word each, the first layer's result as well; no later step needs more.
  EXPECT_EQ(make_plan(network, a).unit_words[0], 224 * 224 + 112 * 112 + 1);
  // The rest: two maps of 56 x 56 x 256 and one of 64 channels.
  a.units = 2;
  a.tensor_unit[0] = 1;
  EXPECT_EQ(make_plan(network, a).unit_words[0], 56 * 56 * (4 + 4 + 1) + 1);
  a.tight_memory = false;
  EXPECT_GT(make_plan(network, a).unit_words[0], 56 * 56 * (4 + 4 + 1) + 1);
}

TEST(Plan, SignsTakeTwoBitsOnEngines) {
  NetworkBuilder builder("signs", {4, 4, 8}, 1, false);
  Network network = builder.finish(builder.convolution(0, 8, 3));
  for (NetworkTensor& tensor : network.tensors) tensor.bits = 1;
  network.layers[0].weight_bits = 1;
  Allocation a;
  a.engines = {{"mac", false, {4, 8, 4}}};
  a.layers = {{"layer1", {}, 0}};
  EXPECT_EQ(element_bits(network), 1);
  EXPECT_EQ(engine_weight_bits(network, a, 0), 1);
  for (NetworkTensor& tensor : network.tensors) tensor.bipolar = true;
  network.layers[0].weight_bipolar = true;
  EXPECT_EQ(element_bits(network), 2);
  EXPECT_EQ(engine_weight_bits(network, a, 0), 2);
}

TEST(Plan, UnrollingMakesTheInputDeeper) {
  NetworkBuilder builder("unrolled", {8, 8, 3}, 1, false);
  const Network network = builder.finish(builder.convolution(0, 8, 3, 2));
  Allocation a;
  a.engines = {{"mac", false, {4, 8, 4}}};
  a.tensor_unit = {0, 0};
  a.layers = {{"layer1"}};
  a.layers[0].unroll = true;
  const Plan plan = make_plan(network, a);
  EXPECT_EQ(plan.places[0].pixel_words, 7);  // 27 channels in words of 4
  EXPECT_EQ(plan.places[0].words, 4 * 4 * 7);
  const LayerGeometry geometry = layer_geometry(network, a, 0);
  EXPECT_EQ(geometry.words, 7);
  EXPECT_EQ(geometry.window.stride_y, 1);
}

}  // namespace
}  // namespace tilewright::pipeline
