// Tensors are placed by first fit over their lifetimes in the order of layers; the waits then follow from the
// rows that tasks read and write, and from places that are used twice.
#include "tilewright/pipeline/design/plan.h"

#include <algorithm>
#include <numeric>

#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/network/fit_tensors.h"
#include "tilewright/pipeline/network/tensor_parts.h"

namespace tilewright::pipeline {
namespace {

struct Interval {
  int64_t first = 0, last = 0;  // [first, last)
  bool meets(const Interval& other) const { return first < other.last && other.first < last; }
};

// Layers, by index, from the first that writes a tensor or a part of it to the last that reads it; one more
// unless `tight`. Of tensors that are no parts.
std::vector<Interval> lifetimes(const Network& network, const std::vector<TensorPart>& parts, bool tight) {
  const int64_t end = int64_t(network.layers.size());
  std::vector<Interval> lives(network.tensors.size(), Interval{end + 1, 0});
  const auto use = [&](int tensor, int64_t layer) {
    Interval& life = lives[size_t(parts[size_t(tensor)].whole)];
    life.first = std::min(life.first, layer);
    life.last = std::max(life.last, layer + 1);
  };
  for (int64_t i = 0; i < end; ++i) {
    const Layer& layer = network.layers[size_t(i)];
    use(layer.output, i);
    use(layer.input, i);
    if (layer.add) use(layer.add->tensor, i);
  }
  if (!tight) {
    for (Interval& life : lives) ++life.last;
  }
  lives[size_t(network.input)].first = -1;
  lives[size_t(network.output)].last = end + 1;
  return lives;
}

class Planner {
 public:
  Planner(const Network& network, const Allocation& allocation)
      : network_(network), allocation_(allocation), sources_(allocation.engines.size() + 1) {
    plan_.word_elements = allocation.engines.front().shape.pi;
    plan_.element_bits = element_bits(network);
    for (size_t i = 0; i < network.layers.size(); ++i) {
      geometries_.push_back(layer_geometry(network, allocation, i));
    }
    for (size_t t = 0; t < network.tensors.size(); ++t) parts_.push_back(place_in_whole(network, int(t)));
    lives_ = lifetimes(network, parts_, allocation.tight_memory);
  }

  Plan run() {
    measure_tensors();
    place_tensors();
    list_tasks();
    find_sharing();
    std::vector<int64_t> done(sources_, 0);
    for (size_t t = 0; t < plan_.tasks.size(); ++t) {
      wait(t);
      const int engine = plan_.tasks[t].engine;
      if (engine != PlannedTask::kStorer) number_[t] = ++done[size_t(engine + 1)];
    }
    return std::move(plan_);
  }

 private:
  void measure_tensors() {
    plan_.places.resize(network_.tensors.size());
    for (size_t i = 0; i < plan_.places.size(); ++i) {
      TensorShape shape = network_.tensors[i].shape;
      if (int(i) == network_.input) {
        for (size_t l = 0; l < network_.layers.size(); ++l) {
          if (allocation_.layers[l].unroll) shape = geometries_[l].input;
        }
      }
      TensorPlace& place = plan_.places[i];
      const NetworkTensor& tensor = network_.tensors[i];
      const bool unrolled = shape.channels != tensor.shape.channels;
      place.unit = allocation_.tensor_unit[size_t(parts_[i].whole)];
      place.pixel_words = ceil_div(unrolled ? shape.channels : channel_slots(tensor, plan_.word_elements),
                                   plan_.word_elements);
      place.column_words = place.pixel_words;
      place.row_words = shape.columns * place.pixel_words;
      place.words = shape.rows * place.row_words;
    }
  }

  // Once all others have their places.
  void place_parts() {
    for (size_t i = 0; i < plan_.places.size(); ++i) {
      if (!network_.tensors[i].part) continue;
      const TensorPart& part = parts_[i];
      const TensorPlace& whole = plan_.places[size_t(part.whole)];
      TensorPlace& place = plan_.places[i];
      const int64_t slot =
          slot_of_channel(network_.tensors[size_t(part.whole)], part.channel, plan_.word_elements);
      TILEWRIGHT_CHECK(slot % plan_.word_elements == 0, "a part that begins within a word");
      place.base = whole.base + part.row * whole.row_words + part.column * whole.column_words +
                   slot / plan_.word_elements;
      place.row_words = part.row_step * whole.row_words;
      place.column_words = part.column_step * whole.column_words;
      place.words = 0;
    }
  }

  void place_tensors() {
    std::vector<size_t> order(plan_.places.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::erase_if(order, [&](size_t tensor) { return network_.tensors[tensor].part.has_value(); });
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return plan_.places[a].words > plan_.places[b].words; });
    plan_.unit_words.assign(size_t(allocation_.units), 0);
    std::vector<size_t> placed;
    for (const size_t tensor : order) {
      TensorPlace& place = plan_.places[tensor];
      std::vector<Interval> taken;
      for (const size_t other : placed) {
        const TensorPlace& there = plan_.places[other];
        if (there.unit != place.unit || !lives_[other].meets(lives_[tensor])) continue;
        taken.push_back({there.base, there.base + there.words});
      }
      std::sort(taken.begin(), taken.end(),
                [](const Interval& a, const Interval& b) { return a.first < b.first; });
      for (const Interval& range : taken) {
        if (place.base + place.words <= range.first) break;
        place.base = std::max(place.base, range.last);
      }
      placed.push_back(tensor);
      int64_t& words = plan_.unit_words[size_t(place.unit)];
      words = std::max(words, place.base + place.words);
    }
    leave_room();
    place_parts();
  }

  // A residual reader of an array wider than the word reads all of a block's words of a pixel, beyond the
  // last channel too.
  void leave_room() {
    int64_t beyond = 0;
    for (const EngineAllocation& engine : allocation_.engines) {
      beyond = std::max(beyond, engine.shape.po / engine.shape.pi - 1);
    }
    for (int64_t& words : plan_.unit_words) words = std::max<int64_t>(1, words + beyond);
  }

  void list_tasks() {
    writers_.resize(network_.tensors.size());
    readers_.resize(network_.tensors.size());
    list_loader();
    for (size_t i = 0; i < network_.layers.size(); ++i) {
      const Layer& layer = network_.layers[i];
      const LayerAllocation& own = allocation_.layers[i];
      const int64_t rows = geometries_[i].output.rows, band = own.band_rows > 0 ? own.band_rows : rows;
      for (int64_t row = 0; row < rows; row += band) {
        writers_[whole_of(layer.output)].push_back(plan_.tasks.size());
        readers_[whole_of(layer.input)].push_back(plan_.tasks.size());
        if (layer.add && whole_of(layer.add->tensor) != whole_of(layer.input)) {
          readers_[whole_of(layer.add->tensor)].push_back(plan_.tasks.size());
        }
        plan_.tasks.push_back(
            {own.engine, int(i), row, std::min(band, rows - row), row + band < rows, {}, {}});
      }
    }
    const TensorShape& output = network_.tensors[size_t(network_.output)].shape;
    plan_.tasks.push_back({PlannedTask::kStorer, -1, 0, output.rows, false, {}, {}});
    number_.assign(plan_.tasks.size(), 0);
  }

  // The input comes in the pieces in which the first layer's bands need it; where layers read parts of it, as
  // a whole.
  void list_loader() {
    size_t first = 0;
    while (first < network_.layers.size() && network_.layers[first].input != network_.input) ++first;
    if (first == network_.layers.size()) {
      return add_loader(0, network_.tensors[size_t(network_.input)].shape.rows);
    }
    const LayerGeometry& geometry = geometries_[first];
    const int64_t rows = geometry.input.rows, band = allocation_.layers[first].band_rows;
    int64_t done = 0;
    for (int64_t row = 0; band > 0 && row + band < geometry.output.rows; row += band) {
      const int64_t need = rows_read(geometry, row, band).last;
      if (need <= done) continue;
      add_loader(done, need - done);
      done = need;
    }
    if (done < rows) add_loader(done, rows - done);
  }
  void add_loader(int64_t first_row, int64_t rows) {
    writers_[size_t(network_.input)].push_back(plan_.tasks.size());
    plan_.tasks.push_back({PlannedTask::kLoader, -1, first_row, rows, false, {}, {}});
  }

  // For every tensor the earlier ones whose words it takes over.
  void find_sharing() {
    const size_t count = plan_.places.size();
    takes_over_.resize(count);
    for (size_t a = 0; a < count; ++a) {
      const TensorPlace& one = plan_.places[a];
      for (size_t b = 0; b < count; ++b) {
        const TensorPlace& two = plan_.places[b];
        const bool parts = network_.tensors[a].part || network_.tensors[b].part;
        if (a == b || parts || one.unit != two.unit || lives_[b].last > lives_[a].first) continue;
        if (Interval{one.base, one.base + one.words}.meets({two.base, two.base + two.words})) {
          takes_over_[a].push_back(b);
        }
      }
    }
  }

  size_t whole_of(int tensor) const { return size_t(parts_[size_t(tensor)].whole); }

  // Rows of the whole tensor in which rows [first, last) of `tensor` lie.
  Interval whole_rows(int tensor, int64_t first, int64_t last) const {
    const TensorPart& part = parts_[size_t(tensor)];
    if (first >= last) return {0, 0};
    return {part.row + first * part.row_step, part.row + (last - 1) * part.row_step + 1};
  }
  // Words of the whole tensor from the first to the last in those rows.
  Interval words_of(int tensor, int64_t first_row, int64_t last_row) const {
    const TensorPlace& place = plan_.places[whole_of(tensor)];
    const Interval rows = whole_rows(tensor, first_row, last_row);
    return {place.base + rows.first * place.row_words, place.base + rows.last * place.row_words};
  }

  static void raise(std::vector<int64_t>& waits, int engine, int64_t number) {
    int64_t& wait = waits[size_t(engine + 1)];
    wait = std::max(wait, number);
  }

  // The tensor that a task writes.
  int written(const PlannedTask& task) const {
    return task.layer < 0 ? network_.input : network_.layers[size_t(task.layer)].output;
  }

  // Whether two tensors of one whole have channels in common.
  bool share_channels(int a, int b) const {
    const int64_t one = parts_[size_t(a)].channel, other = parts_[size_t(b)].channel;
    return one < other + network_.tensors[size_t(b)].shape.channels &&
           other < one + network_.tensors[size_t(a)].shape.channels;
  }

  // All tasks that write rows [first, last) of `tensor`.
  void wait_for_rows(std::vector<int64_t>& waits, int tensor, int64_t first, int64_t last) const {
    const Interval rows = whole_rows(tensor, first, last);
    for (const size_t t : writers_[whole_of(tensor)]) {
      const PlannedTask& writer = plan_.tasks[t];
      const int own = written(writer);
      if (!whole_rows(own, writer.first_row, writer.first_row + writer.rows).meets(rows)) continue;
      if (share_channels(own, tensor)) raise(waits, writer.engine, number_[t]);
    }
  }

  void wait(size_t t) {
    PlannedTask& task = plan_.tasks[t];
    task.waits.assign(sources_, 0);
    if (task.engine == PlannedTask::kLoader) return;
    if (task.engine == PlannedTask::kStorer) {
      wait_for_rows(task.waits, network_.output, 0, task.rows);
      return;
    }
    const Layer& layer = network_.layers[size_t(task.layer)];
    const RowRange rows = rows_read(geometries_[size_t(task.layer)], task.first_row, task.rows);
    wait_for_rows(task.waits, layer.input, rows.first, rows.last);
    if (layer.add) {
      task.residual_waits.assign(sources_, 0);
      wait_for_rows(task.residual_waits, layer.add->tensor, task.first_row, task.first_row + task.rows);
    }
    const Interval written = words_of(layer.output, task.first_row, task.first_row + task.rows);
    for (const size_t old : takes_over_[whole_of(layer.output)]) wait_for_users(task, int(old), written);
  }

  // Tasks of other engines that read or wrote those words when they were tensor `old`. An engine itself has
  // read all that its earlier tasks need before it writes for a later one.
  void wait_for_users(PlannedTask& task, int old, const Interval& words) const {
    for (const size_t t : writers_[size_t(old)]) {
      const PlannedTask& user = plan_.tasks[t];
      if (user.engine == task.engine) continue;
      if (words_of(written(user), user.first_row, user.first_row + user.rows).meets(words)) {
        raise(task.waits, user.engine, number_[t]);
      }
    }
    for (const size_t t : readers_[size_t(old)]) {
      const PlannedTask& user = plan_.tasks[t];
      if (user.engine == task.engine) continue;
      const Layer& layer = network_.layers[size_t(user.layer)];
      const RowRange rows = rows_read(geometries_[size_t(user.layer)], user.first_row, user.rows);
      const bool reads =
          whole_of(layer.input) == size_t(old) && words_of(layer.input, rows.first, rows.last).meets(words);
      const bool adds = layer.add && whole_of(layer.add->tensor) == size_t(old) &&
                        words_of(layer.add->tensor, user.first_row, user.first_row + user.rows).meets(words);
      if (reads || adds) raise(task.waits, user.engine, number_[t]);
    }
  }

  const Network& network_;
  const Allocation& allocation_;
  const size_t sources_;
  Plan plan_;
  std::vector<LayerGeometry> geometries_;
  std::vector<TensorPart> parts_;  // where each tensor lies
  std::vector<Interval> lives_;
  std::vector<std::vector<size_t>> writers_, readers_, takes_over_;  // by tensor that is no part
  std::vector<int64_t> number_;  // of a task among those of its engine, from 1
};

}  // namespace

int element_bits(const Network& network) {
  int bits = 1;
  for (const NetworkTensor& tensor : network.tensors) bits = std::max(bits, tensor.bipolar ? 2 : tensor.bits);
  return addressed_bits(bits);
}

int engine_weight_bits(const Network& network, const Allocation& allocation, int engine) {
  int bits = 1;
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    if (allocation.layers[i].engine == engine)
      bits = std::max(bits, layer.weight_bipolar ? 2 : layer.weight_bits);
  }
  return addressed_bits(bits);
}

Plan make_plan(const Network& network, const Allocation& allocation) {
  TILEWRIGHT_CHECK(!allocation.streaming && !allocation.engines.empty(), "a plan is for processors");
  return Planner(network, allocation).run();
}

}  // namespace tilewright::pipeline
