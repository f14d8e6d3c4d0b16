// What can be turned: a list of knobs, each with finitely many values, and a rule that says which
// combinations are valid. A point of the space is the number of its combination, counted in mixed radix with
// the first knob as the slowest digit: small, comparable, and the same in every run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/random.h"

namespace tilewright {

struct Knob {
  std::string name;
  std::vector<int64_t> values;      // distinct; ascending where `labels` is empty
  std::vector<std::string> labels;  // of a categorical knob: one per value; empty: the values are numbers

  bool categorical() const { return !labels.empty(); }
  // The text of value number `index`: its label, or the number.
  std::string text(size_t index) const;

  static Knob integers(std::string name, std::vector<int64_t> values);
  static Knob choices(std::string name, std::vector<std::string> labels);  // values 0, 1, ...
  // The divisors of `total`, ascending.
  static Knob divisors(std::string name, int64_t total);
  // Every size up to `total`, but only the smallest of those that cut it into equally many parts.
  static Knob tile_sizes(std::string name, int64_t total, int64_t multiple_of = 1);
};

class KnobSpace {
 public:
  using Point = uint64_t;
  // Of the values of a combination, in the order of the knobs.
  using Rule = std::function<bool(const std::vector<int64_t>&)>;

  KnobSpace() = default;
  // Errors (invalid input): a knob without values or named twice, more than 2^62 combinations.
  explicit KnobSpace(std::vector<Knob> knobs, Rule valid = {});

  const std::vector<Knob>& knobs() const { return knobs_; }
  // All combinations, valid or not.
  uint64_t size() const { return size_; }
  // The index of the knob called `name`. Errors (invalid input): there is none; lists the knobs.
  size_t knob(const std::string& name) const;

  std::vector<int64_t> values(Point point) const;
  int64_t value(Point point, size_t knob) const { return knobs_[knob].values[digit(point, knob)]; }
  size_t digit(Point point, size_t knob) const {
    return size_t(point / strides_[knob] % knobs_[knob].values.size());
  }
  Point with_digit(Point point, size_t knob, size_t digit) const {
    return point + (Point(digit) - Point(this->digit(point, knob))) * strides_[knob];
  }
  // Nothing where a knob does not have that value.
  std::optional<Point> find(const std::vector<int64_t>& values) const;
  bool valid(Point point) const { return point < size_ && (!rule_ || rule_(values(point))); }

  // A valid point, each with the same probability; nothing after `attempts` draws that were not valid.
  std::optional<Point> sample(Random& random, int attempts = 100000) const;
  // A valid point in which one knob (now and then two) has another value; for a numeric knob, a near one in
  // three of four cases. `point` itself after many failures.
  Point neighbour(Point point, Random& random) const;
  // A valid point that takes each knob from one of the two; `a` after many failures.
  Point crossover(Point a, Point b, Random& random) const;
  // One line: knob=value, separated by blanks.
  std::string print(Point point) const;

 private:
  std::vector<Knob> knobs_;
  std::vector<Point> strides_;
  Point size_ = 0;
  Rule rule_;
};

}  // namespace tilewright
