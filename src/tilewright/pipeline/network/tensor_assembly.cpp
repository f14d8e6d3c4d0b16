// A tensor is cut into boxes greedily: from the first element that is in none yet, as many channels, then
// columns, then rows as follow each other in the same way.
#include "tilewright/pipeline/network/tensor_assembly.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/network/fit_tensors.h"
#include "tilewright/pipeline/network/tensor_parts.h"

namespace tilewright::pipeline {
namespace {

constexpr int64_t kMostPieces = 64;
constexpr int64_t kMostStep = 16;  // of phases that are looked for

}  // namespace

int32_t ElementNumbers::first(int tensor) {
  first_.resize(network_.tensors.size(), -1);
  if (first_[size_t(tensor)] < 0) {
    firsts_.push_back({next_, tensor});
    first_[size_t(tensor)] = next_;
    next_ += network_.tensors[size_t(tensor)].shape.elements();
    if (next_ > INT32_MAX) {
      throw Error(ErrorKind::kUnsupported, "the tensors have more elements than 31 bits can count",
                  "generate hardware for a smaller image");
    }
  }
  return int32_t(first_[size_t(tensor)]);
}

int32_t ElementNumbers::constant(int32_t value) {
  const auto [known, fresh] = constant_numbers_.try_emplace(value, int32_t(-1 - int64_t(constants_.size())));
  if (fresh) constants_.push_back(value);
  return known->second;
}

ElementNumbers::Element ElementNumbers::at(int32_t number) const {
  if (number < 0) return {-1, 0, 0, 0, constants_.at(size_t(-1 - number))};
  const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), std::pair{int64_t{number}, INT32_MAX});
  const auto& [begin, tensor] = *std::prev(after);
  const TensorShape& shape = network_.tensors[size_t(tensor)].shape;
  const int64_t at = number - begin, pixel = at / shape.channels;
  return {tensor, pixel / shape.columns, pixel % shape.columns, at % shape.channels, 0};
}

int TensorAssembly::tensor_like(int like, const std::string& name, const TensorShape& shape) {
  NetworkTensor tensor = network_.tensors[size_t(like)];
  tensor.name = name;
  tensor.shape = shape;
  tensor.part.reset();
  network_.tensors.push_back(std::move(tensor));
  return int(network_.tensors.size()) - 1;
}

int TensorAssembly::part(const std::string& name, const TensorPart& place, const TensorShape& shape) {
  for (size_t t = 0; t < network_.tensors.size(); ++t) {
    const NetworkTensor& known = network_.tensors[t];
    if (known.part == place && known.shape == shape && !is_written(network_, int(t))) return int(t);
  }
  const int tensor = tensor_like(place.whole, name, shape);
  network_.tensors[size_t(tensor)].part = place;
  return tensor;
}

Layer TensorAssembly::copy_layer(const std::string& name, int input) const {
  const bool fixed = network_.number == NumberType::kFixed;
  const int64_t channels = network_.tensors[size_t(input)].shape.channels;
  Layer layer;
  layer.name = name;
  layer.nodes = {name};
  layer.kind = LayerKind::kMap;
  layer.copy = true;
  layer.input = input;
  layer.finish.clip_low = fixed ? INT32_MIN : -128;
  layer.finish.clip_high = fixed ? INT32_MAX : 127;
  layer.finish.bias.assign(size_t(channels), 0);
  if (fixed) {
    layer.weights.assign(size_t(channels), int32_t{1} << network_.fraction);
    layer.weight_bits = 32;
  } else {
    layer.finish.scale.assign(size_t(channels), Requantization{});
  }
  return layer;
}

void TensorAssembly::append(Layer layer) {
  const TensorShape& out = network_.tensors[size_t(layer.output)].shape;
  const bool products = layer.kind == LayerKind::kConvolution || layer.kind == LayerKind::kDepthwise;
  if (!layer.weights.empty() && (products || !layer.copy)) {
    layer.macs = out.rows * out.columns * int64_t(layer.weights.size());
  }
  network_.layers.push_back(std::move(layer));
}

// Whether the channels of `piece` at target pixel (y, x) are those from `from` on.
bool TensorAssembly::line_matches(const Target& target, const std::vector<bool>& taken, const Piece& piece,
                                  int64_t y, int64_t x, const ElementNumbers::Element& from) const {
  const int64_t first = (y * target.shape.columns + x) * target.shape.channels;
  if (from.tensor >= 0) {
    const TensorShape& shape = network_.tensors[size_t(from.tensor)].shape;
    if (from.row < 0 || from.row >= shape.rows || from.column < 0 || from.column >= shape.columns)
      return false;
  }
  if (numbers_.at(target.at(y, x, piece.channel)) != from) return false;
  const int32_t number = target.at(y, x, piece.channel);
  for (int64_t c = 0; c < piece.channels; ++c) {
    if (taken[size_t(first + piece.channel + c)]) return false;
    if (target.at(y, x, piece.channel + c) != number + (from.tensor < 0 ? 0 : int32_t(c))) return false;
  }
  return true;
}

TensorAssembly::Piece TensorAssembly::piece_at(const Target& target, const std::vector<bool>& taken,
                                               int64_t y, int64_t x, int64_t c) const {
  using Element = ElementNumbers::Element;
  const TensorShape& shape = target.shape;
  Piece piece;
  piece.row = y, piece.column = x, piece.channel = c;
  piece.first = numbers_.at(target.at(y, x, c));
  const bool constant = piece.first.tensor < 0;
  const int64_t most =
      constant ? shape.channels
               : c + network_.tensors[size_t(piece.first.tensor)].shape.channels - piece.first.channel;
  const auto same = [&](int64_t channel) {
    const int64_t at = (y * shape.columns + x) * shape.channels + channel;
    return !taken[size_t(at)] &&
           target.at(y, x, channel) == target.at(y, x, c) + (constant ? 0 : int32_t(channel - c));
  };
  while (c + piece.channels < std::min(most, shape.channels) && same(c + piece.channels)) ++piece.channels;
  // Columns, in the step that takes the most of them.
  for (int64_t step = 1; step <= kMostStep && x + step < shape.columns; ++step) {
    const Element next = numbers_.at(target.at(y, x + step, c));
    const int64_t from_step = constant ? 0 : next.column - piece.first.column;
    if (from_step < 0) continue;
    int64_t count = 1;
    for (; x + count * step < shape.columns; ++count) {
      Element from = piece.first;
      from.column += count * from_step;
      if (!line_matches(target, taken, piece, y, x + count * step, from)) break;
    }
    if (count > piece.columns)
      piece.columns = count, piece.column_step = step, piece.from_column_step = from_step;
  }
  // Rows likewise, of all these columns.
  for (int64_t step = 1; step <= kMostStep && y + step < shape.rows; ++step) {
    const Element next = numbers_.at(target.at(y + step, x, c));
    const int64_t from_step = constant ? 0 : next.row - piece.first.row;
    if (from_step < 0) continue;
    int64_t count = 1;
    for (bool matches = true; matches && y + count * step < shape.rows;) {
      for (int64_t i = 0; matches && i < piece.columns; ++i) {
        Element from = piece.first;
        from.row += count * from_step;
        from.column += constant ? 0 : i * piece.from_column_step;
        matches = line_matches(target, taken, piece, y + count * step, x + i * piece.column_step, from);
      }
      if (matches) ++count;
    }
    if (count > piece.rows) piece.rows = count, piece.row_step = step, piece.from_row_step = from_step;
  }
  return piece;
}

// Empty: more than can be worth it.
std::vector<TensorAssembly::Piece> TensorAssembly::pieces(const Target& target) const {
  const TensorShape& shape = target.shape;
  std::vector<bool> taken(size_t(shape.elements()), false);
  std::vector<Piece> result;
  for (int64_t at = 0; at < shape.elements(); ++at) {
    if (taken[size_t(at)]) continue;
    if (int64_t(result.size()) == kMostPieces) return {};
    const int64_t pixel = at / shape.channels;
    const Piece piece =
        piece_at(target, taken, pixel / shape.columns, pixel % shape.columns, at % shape.channels);
    for (int64_t i = 0; i < piece.rows * piece.columns; ++i) {
      const int64_t y = piece.row + i / piece.columns * piece.row_step,
                    x = piece.column + i % piece.columns * piece.column_step;
      const int64_t first = (y * shape.columns + x) * shape.channels + piece.channel;
      std::fill_n(taken.begin() + ptrdiff_t(first), piece.channels, true);
    }
    result.push_back(piece);
  }
  return result;
}

// What a piece is, as a tensor: one that is there, or a part of one. Of a constant: any element, repeated.
int TensorAssembly::source(const Target& target, const Piece& piece) {
  const TensorShape shape{piece.rows, piece.columns, piece.channels};
  const TensorPart place{piece.first.tensor,  piece.first.row,     piece.first.column,
                         piece.first.channel, piece.from_row_step, piece.from_column_step};
  const TensorShape& whole = network_.tensors[size_t(place.whole)].shape;
  const bool steps =
      (shape.rows == 1 || place.row_step == 1) && (shape.columns == 1 || place.column_step == 1);
  if (shape == whole && steps) return place.whole;
  return part(target.name, place, shape);
}

// Whether a tensor may come to lie in another one.
bool TensorAssembly::movable(int tensor) const {
  return !network_.tensors[size_t(tensor)].part && tensor != network_.input && is_written(network_, tensor);
}

// A box with the same constant all around it: the padding of a copy. -1: it is no such thing.
int TensorAssembly::padded(const Target& target, const std::vector<Piece>& all) {
  const TensorShape& shape = target.shape;
  const ElementNumbers::Element* constant = nullptr;
  int64_t top = shape.rows, left = shape.columns, bottom = 0, right = 0;
  for (const Piece& piece : all) {
    if (piece.first.tensor < 0) {
      if (constant != nullptr && constant->value != piece.first.value) return -1;
      constant = &piece.first;
      continue;
    }
    top = std::min(top, piece.row), left = std::min(left, piece.column);
    bottom = std::max(bottom, piece.row + (piece.rows - 1) * piece.row_step + 1);
    right = std::max(right, piece.column + (piece.columns - 1) * piece.column_step + 1);
  }
  if (constant == nullptr || bottom == 0 || top > 255 || left > 255) return -1;
  std::vector<int32_t> inner;
  for (int64_t y = top; y < bottom; ++y) {
    for (int64_t x = left; x < right; ++x) {
      for (int64_t c = 0; c < shape.channels; ++c) {
        inner.push_back(target.at(y, x, c));
        if (inner.back() < 0) return -1;
      }
    }
  }
  const int box = assembled(target.name, {bottom - top, right - left, shape.channels}, inner);
  if (box < 0) return -1;
  Layer layer = copy_layer(target.name, box);
  layer.window.top = top;
  layer.window.left = left;
  layer.window.pad_value = constant->value;
  layer.output = tensor_like(box, target.name, shape);
  append(layer);
  return layer.output;
}

// Channels of some tensors in any order, or several times: a convolution with ones on all their channels. -1:
// pixels differ in more than that.
int TensorAssembly::gathered(const Target& target) {
  using Element = ElementNumbers::Element;
  const TensorShape& shape = target.shape;
  // The tensors, and where each one's channels begin among all of them.
  std::vector<std::pair<int, int64_t>> tensors;
  int64_t all = 0;
  const auto begin_of = [&](int tensor) {
    for (const auto& [known, begin] : tensors) {
      if (known == tensor) return begin;
    }
    tensors.push_back({tensor, all});
    all += network_.tensors[size_t(tensor)].shape.channels;
    return tensors.back().second;
  };
  std::vector<Element> first;
  std::vector<int64_t> channels;
  for (int64_t c = 0; c < shape.channels; ++c) {
    first.push_back(numbers_.at(target.at(0, 0, c)));
    if (first.back().tensor < 0) return -1;
    channels.push_back(begin_of(first.back().tensor) + first.back().channel);
  }
  bool moved = shape.channels != all;
  for (int64_t c = 0; c < shape.channels; ++c) moved |= channels[size_t(c)] != c;
  if (!moved) return -1;  // it is the pixels that lie wildly
  std::vector<int32_t> pixels;
  for (int64_t y = 0; y < shape.rows; ++y) {
    for (int64_t x = 0; x < shape.columns; ++x) {
      const Element own = numbers_.at(target.at(y, x, 0));
      for (int64_t c = 0; c < shape.channels; ++c) {
        Element expected = first[size_t(c)];
        expected.row = own.row;
        expected.column = own.column;
        if (numbers_.at(target.at(y, x, c)) != expected) return -1;
      }
      for (const auto& [tensor, begin] : tensors) {
        const TensorShape from = network_.tensors[size_t(tensor)].shape;
        if (own.row >= from.rows || own.column >= from.columns) return -1;
        const int64_t pixel = (own.row * from.columns + own.column) * from.channels;
        for (int64_t c = 0; c < from.channels; ++c)
          pixels.push_back(numbers_.first(tensor) + int32_t(pixel + c));
      }
    }
  }
  const int input = assembled(target.name, {shape.rows, shape.columns, all}, pixels);
  if (input < 0) return -1;
  Layer layer = copy_layer(target.name, input);
  layer.kind = LayerKind::kConvolution;
  layer.copy = false;
  layer.finish.bias.assign(size_t(shape.channels), 0);
  if (!layer.finish.scale.empty()) layer.finish.scale.assign(size_t(shape.channels), Requantization{});
  const bool fixed = network_.number == NumberType::kFixed;
  layer.weights.assign(size_t(shape.channels * all), 0);
  layer.weight_bits = fixed ? 32 : 2;
  for (int64_t c = 0; c < shape.channels; ++c) {
    layer.weights[size_t(c * all + channels[size_t(c)])] = fixed ? int32_t{1} << network_.fraction : 1;
  }
  layer.output = tensor_like(input, target.name, shape);
  append(layer);
  return layer.output;
}

// A box of one constant in `place`: what sums of any tensor times 0 are clipped to.
void TensorAssembly::constants(const Target& target, const Piece& piece, int any, const TensorPart& place) {
  const TensorShape box{piece.rows, piece.columns, piece.channels};
  const int64_t channels = network_.tensors[size_t(any)].shape.channels;
  const int input = part(target.name, {any, 0, 0, 0, 0, 0}, {box.rows, box.columns, channels});
  Layer layer = copy_layer(target.name, input);
  layer.copy = false;
  layer.kind = LayerKind::kConvolution;
  layer.weights.assign(size_t(channels * box.channels), 0);
  layer.finish.bias.assign(size_t(box.channels), 0);
  layer.finish.clip_low = layer.finish.clip_high = piece.first.value;
  if (network_.number == NumberType::kInteger) {
    layer.weight_bits = 2;
    layer.finish.scale.assign(size_t(box.channels), Requantization{});
    NetworkTensor& own = network_.tensors[size_t(place.whole)];
    own.bits = std::max({2, own.bits, bits_for(piece.first.value, piece.first.value)});
    own.bipolar = false;
  }
  layer.output = tensor_like(place.whole, target.name, box);
  network_.tensors[size_t(layer.output)].part = place;
  append(std::move(layer));
}

int TensorAssembly::assembled(const std::string& name, const TensorShape& shape,
                              const std::vector<int32_t>& elements) {
  if (elements.empty()) return -1;
  const Target target{name, shape, &elements};
  const std::vector<Piece> all = pieces(target);
  const auto from_tensor = [](const Piece& piece) { return piece.first.tensor >= 0; };
  const auto known = std::find_if(all.begin(), all.end(), from_tensor);
  if (known == all.end()) return gathered(target);
  if (all.size() == 1) return source(target, all[0]);
  const bool constants_too = !std::all_of(all.begin(), all.end(), from_tensor);
  // Pieces of few channels would leave most of their words empty.
  const bool scattered = int64_t(all.size()) > std::max<int64_t>(4, shape.channels / 8);
  if (constants_too || scattered) {
    const int other = constants_too ? padded(target, all) : gathered(target);
    if (other >= 0) return other;
  }
  const int whole = tensor_like(known->first.tensor, name, shape);
  const auto widen = [&](int tensor) {
    NetworkTensor &one = network_.tensors[size_t(whole)], &other = network_.tensors[size_t(tensor)];
    if (one.bits == other.bits && one.bipolar == other.bipolar) return;
    one.bits = std::max({2, one.bits, other.bits});
    one.bipolar = false;
  };
  for (const Piece& piece : all) {
    const TensorPart place{whole, piece.row, piece.column, piece.channel, piece.row_step, piece.column_step};
    const TensorShape box{piece.rows, piece.columns, piece.channels};
    if (!from_tensor(piece)) {
      constants(target, piece, known->first.tensor, place);
      continue;
    }
    const int from = source(target, piece);
    widen(from);
    if (movable(from)) {
      network_.tensors[size_t(from)].part = place;
      continue;
    }
    Layer layer = copy_layer(name, from);
    layer.output = tensor_like(from, name, box);
    network_.tensors[size_t(layer.output)].part = place;
    append(layer);
  }
  return whole;
}

}  // namespace tilewright::pipeline
