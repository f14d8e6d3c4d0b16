// Tensors put together from elements of others, as cheaply as the elements allow: as a part of a tensor, as a
// tensor whose parts their own layers write, with copies where both fail.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// Numbers for the elements of all tensors, in the order row, column, channel; constants have negative ones.
class ElementNumbers {
 public:
  explicit ElementNumbers(const Network& network) : network_(network) {}

  // Of a tensor's first element. Errors (unsupported): more elements than 31 bits can count.
  int32_t first(int tensor);
  int32_t constant(int32_t value);

  struct Element {
    int tensor = -1;  // -1: a constant
    int64_t row = 0, column = 0, channel = 0;
    int32_t value = 0;
    bool operator==(const Element&) const = default;
  };
  Element at(int32_t number) const;

 private:
  const Network& network_;
  std::vector<std::pair<int64_t, int>> firsts_;  // ascending, and the tensor
  std::vector<int64_t> first_;                   // by tensor, -1: none yet
  std::vector<int32_t> constants_;
  std::map<int32_t, int32_t> constant_numbers_;
  int64_t next_ = 0;
};

class TensorAssembly {
 public:
  // Layers and tensors are added to `network`.
  explicit TensorAssembly(Network& network) : network_(network), numbers_(network) {}

  ElementNumbers& numbers() { return numbers_; }
  // A new tensor at `place`.
  int part(const std::string& name, const TensorPart& place, const TensorShape& shape);
  // A new tensor of the bits of another.
  int tensor_like(int like, const std::string& name, const TensorShape& shape);
  // A layer that hands its input on, whose output has yet to be set.
  Layer copy_layer(const std::string& name, int input) const;
  void append(Layer layer);

  // The tensor whose elements, in the order row, column, channel, are the numbered ones; -1 if they lie too
  // wildly. `name`: of the node that moves them.
  int assembled(const std::string& name, const TensorShape& shape, const std::vector<int32_t>& elements);

 private:
  // A box of the tensor, rows and columns in steps, and the box of another that it is.
  struct Piece {
    int64_t row = 0, column = 0, channel = 0, rows = 1, columns = 1, channels = 1;
    int64_t row_step = 1, column_step = 1;
    ElementNumbers::Element first;
    int64_t from_row_step = 1, from_column_step = 1;
  };
  struct Target {
    std::string name;
    TensorShape shape;
    const std::vector<int32_t>* elements;
    int32_t at(int64_t y, int64_t x, int64_t c) const {
      return (*elements)[size_t((y * shape.columns + x) * shape.channels + c)];
    }
  };

  std::vector<Piece> pieces(const Target& target) const;
  Piece piece_at(const Target& target, const std::vector<bool>& taken, int64_t y, int64_t x, int64_t c) const;
  bool line_matches(const Target& target, const std::vector<bool>& taken, const Piece& piece, int64_t y,
                    int64_t x, const ElementNumbers::Element& from) const;
  int source(const Target& target, const Piece& piece);
  bool movable(int tensor) const;
  int padded(const Target& target, const std::vector<Piece>& pieces);
  int gathered(const Target& target);
  void constants(const Target& target, const Piece& piece, int any, const TensorPart& place);

  Network& network_;
  ElementNumbers numbers_;
};

}  // namespace tilewright::pipeline
