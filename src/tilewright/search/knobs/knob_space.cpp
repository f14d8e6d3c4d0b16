// Mixed-radix points. Samples are drawn from all combinations until one is valid, which keeps them uniform.
#include "tilewright/search/knobs/knob_space.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/base/words/nearest_word.h"

namespace tilewright {

std::string Knob::text(size_t index) const {
  return categorical() ? labels[index] : std::to_string(values[index]);
}

Knob Knob::integers(std::string name, std::vector<int64_t> values) {
  return {std::move(name), std::move(values), {}};
}

Knob Knob::choices(std::string name, std::vector<std::string> labels) {
  std::vector<int64_t> values(labels.size());
  std::iota(values.begin(), values.end(), int64_t(0));
  return {std::move(name), std::move(values), std::move(labels)};
}

Knob Knob::divisors(std::string name, int64_t total) {
  Knob knob{std::move(name), {}, {}};
  for (int64_t d = 1; d <= total; ++d) {
    if (total % d == 0) knob.values.push_back(d);
  }
  return knob;
}

Knob Knob::tile_sizes(std::string name, int64_t total, int64_t multiple_of) {
  Knob knob{std::move(name), {}, {}};
  int64_t last_parts = 0;
  for (int64_t size = multiple_of; size < total + multiple_of; size += multiple_of) {
    const int64_t tile = std::min(size, total), parts = ceil_div(total, tile);
    if (parts != last_parts) knob.values.push_back(tile);
    last_parts = parts;
  }
  return knob;
}

KnobSpace::KnobSpace(std::vector<Knob> knobs, Rule valid)
    : knobs_(std::move(knobs)), strides_(knobs_.size()), size_(1), rule_(std::move(valid)) {
  constexpr Point kMost = Point(1) << 62;
  Diagnostics problems;
  std::set<std::string> names;
  const auto refuse = [&](const Knob& knob, const char* message) {
    problems.error(ErrorKind::kInvalidInput, "knobs", knob.name, message);
  };
  for (const Knob& knob : knobs_) {
    if (knob.values.empty()) refuse(knob, "has no values");
    if (!names.insert(knob.name).second) refuse(knob, "is there twice");
    const std::set<int64_t> distinct(knob.values.begin(), knob.values.end());
    if (distinct.size() != knob.values.size()) refuse(knob, "has a value twice");
    if (!knob.labels.empty() && knob.labels.size() != knob.values.size()) {
      refuse(knob, "needs one label per value");
    }
  }
  problems.raise_if_any();
  for (size_t k = knobs_.size(); k-- > 0;) {
    strides_[k] = size_;
    if (Point(knobs_[k].values.size()) > kMost / size_) {
      throw Error(ErrorKind::kInvalidInput, "the knobs have more than 2^62 combinations");
    }
    size_ *= knobs_[k].values.size();
  }
}

size_t KnobSpace::knob(const std::string& name) const {
  std::vector<std::string> known;
  for (size_t k = 0; k < knobs_.size(); ++k) {
    if (knobs_[k].name == name) return k;
    known.push_back(knobs_[k].name);
  }
  throw Error(ErrorKind::kInvalidInput, "there is no knob '" + name + "'",
              words_hint(name, known, "there are"));
}

std::vector<int64_t> KnobSpace::values(Point point) const {
  std::vector<int64_t> all(knobs_.size());
  for (size_t k = 0; k < knobs_.size(); ++k) all[k] = value(point, k);
  return all;
}

std::optional<KnobSpace::Point> KnobSpace::find(const std::vector<int64_t>& values) const {
  if (values.size() != knobs_.size()) return std::nullopt;
  Point point = 0;
  for (size_t k = 0; k < knobs_.size(); ++k) {
    const std::vector<int64_t>& known = knobs_[k].values;
    const auto at = std::find(known.begin(), known.end(), values[k]);
    if (at == known.end()) return std::nullopt;
    point += Point(at - known.begin()) * strides_[k];
  }
  return point;
}

std::optional<KnobSpace::Point> KnobSpace::sample(Random& random, int attempts) const {
  for (int i = 0; i < attempts && size_ > 0; ++i) {
    const Point point = random.next() % size_;
    if (valid(point)) return point;
  }
  return std::nullopt;
}

KnobSpace::Point KnobSpace::neighbour(Point point, Random& random) const {
  constexpr int kAttempts = 200;
  for (int i = 0; i < kAttempts; ++i) {
    Point next = point;
    const int changes = random.chance(0.2) ? 2 : 1;
    for (int c = 0; c < changes; ++c) {
      const size_t k = size_t(random.next() % knobs_.size());
      const auto count = int64_t(knobs_[k].values.size());
      if (count == 1) continue;
      const auto at = int64_t(digit(next, k));
      int64_t to = random.between(0, count - 2);
      if (to >= at) ++to;
      if (!knobs_[k].categorical() && random.chance(0.75)) {
        const int64_t step = random.between(1, 2);
        to = std::clamp<int64_t>(random.chance(0.5) ? at + step : at - step, 0, count - 1);
      }
      next = with_digit(next, k, size_t(to));
    }
    if (next != point && valid(next)) return next;
  }
  return point;
}

KnobSpace::Point KnobSpace::crossover(Point a, Point b, Random& random) const {
  constexpr int kAttempts = 50;
  for (int i = 0; i < kAttempts; ++i) {
    Point child = a;
    for (size_t k = 0; k < knobs_.size(); ++k) {
      if (random.chance(0.5)) child = with_digit(child, k, digit(b, k));
    }
    if (valid(child)) return child;
  }
  return a;
}

std::string KnobSpace::print(Point point) const {
  std::string text;
  for (size_t k = 0; k < knobs_.size(); ++k) {
    text += (k == 0 ? "" : " ") + knobs_[k].name + "=" + knobs_[k].text(digit(point, k));
  }
  return text;
}

}  // namespace tilewright
