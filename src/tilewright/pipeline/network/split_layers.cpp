// One step at a time: groups, then rows and columns of what is left.
#include "tilewright/pipeline/network/split_layers.h"

#include <algorithm>

namespace tilewright::pipeline {
namespace {

constexpr int64_t kGroupChannels = 16;  // fewer share a layer, with zeros for the other groups
constexpr int64_t kMostGroups = 64;

int64_t floor_div(int64_t a, int64_t b) { return (a >= 0 ? a : a - b + 1) / b; }

class Splitter {
 public:
  Splitter(TensorAssembly& assembly, Network& network) : assembly_(assembly), network_(network) {}

  bool split(const Layer& layer, WideWindow wide) {
    if (wide.groups > 1 && layer.kind == LayerKind::kConvolution) return split_groups(layer, wide);
    if (layer.window.rows == 1) wide.dilation_y = 1;
    if (layer.window.columns == 1) wide.dilation_x = 1;
    const bool dilated = wide.dilation_y > 1 || wide.dilation_x > 1;
    if (dilated && !wide.transposed && in_phases(layer, wide)) {
      split_dilated(layer, wide);
      return true;
    }
    if (dilated && layer.weights.empty()) return false;  // a maximum knows no zeros
    const Layer own = dilated ? stretched(layer, wide) : layer;
    if (wide.transposed) {
      split_transposed(own);
    } else {
      assembly_.append(own);
    }
    return true;
  }

 private:
  const TensorShape& shape(int tensor) const { return network_.tensors[size_t(tensor)].shape; }

  // A part of a layer's output, of its own.
  int output_part(const Layer& layer, TensorPart place, const TensorShape& own) {
    const int tensor = assembly_.tensor_like(layer.output, layer.name, own);
    place.whole = layer.output;
    network_.tensors[size_t(tensor)].part = place;
    return tensor;
  }

  // How many groups share a layer.
  static int64_t together(int64_t groups, int64_t channels) {
    int64_t best = 1;
    for (int64_t count = 1; count <= groups; ++count) {
      if (groups % count != 0) continue;
      if (count * channels <= kGroupChannels || groups / best > kMostGroups) best = count;
    }
    return best;
  }

  bool split_groups(const Layer& layer, WideWindow wide) {
    const int64_t groups = wide.groups, taps = layer.window.rows * layer.window.columns;
    const int64_t in = shape(layer.input).channels / groups, out = shape(layer.output).channels / groups;
    const int64_t count = together(groups, std::max(in, out));
    wide.groups = 1;
    for (int64_t first = 0; first < groups; first += count) {
      Layer own = layer;
      if (count < groups) {
        TensorShape from = shape(layer.input), to = shape(layer.output);
        from.channels = count * in;
        to.channels = count * out;
        own.input = assembly_.part(layer.name, {layer.input, 0, 0, first * in}, from);
        own.output = output_part(layer, {-1, 0, 0, first * out}, to);
      }
      own.weights.assign(size_t(count * out * taps * count * in), 0);
      for (int64_t o = 0; o < count * out; ++o) {
        for (int64_t t = 0; t < taps; ++t) {
          for (int64_t c = 0; c < in; ++c) {
            own.weights[size_t((o * taps + t) * count * in + o / out * in + c)] =
                layer.weights[size_t(((first * out + o) * taps + t) * in + c)];
          }
        }
      }
      keep_channels(own, first * out, count * out);
      if (!split(own, wide)) return false;
    }
    return true;
  }

  static void keep_channels(Layer& layer, int64_t first, int64_t count) {
    const auto keep = [&](auto& values) {
      if (!values.empty()) values = {values.begin() + first, values.begin() + first + count};
    };
    keep(layer.finish.bias);
    keep(layer.finish.scale);
  }

  // Along one axis: which rows of the input a phase of the output reads, and the padding before them.
  struct Phase {
    int64_t first = 0, rows = 0, pad = 0;
  };
  static Phase phase_of(int64_t output, int64_t pad, int64_t dilation, int64_t size) {
    const int64_t at = output - pad, back = floor_div(at, dilation);
    const int64_t first = at - back * dilation;
    return {first, first < size ? (size - first + dilation - 1) / dilation : 0, -back};
  }

  // Output phase p of stride 1 reads one phase of the input, where its taps are neighbours. Not so where
  // strides and dilations meet, or where a phase has no rows or begins inside the input.
  bool in_phases(const Layer& layer, const WideWindow& wide) const {
    const LayerWindow& w = layer.window;
    const TensorShape &in = shape(layer.input), &out = shape(layer.output);
    const auto fits = [](int64_t dilation, int64_t pad, int64_t from, int64_t to) {
      for (int64_t p = 0; p < std::min(dilation, to); ++p) {
        const Phase phase = phase_of(p, pad, dilation, from);
        if (phase.rows <= 0 || phase.pad < 0) return false;
      }
      return true;
    };
    return w.stride_y == 1 && w.stride_x == 1 && fits(wide.dilation_y, w.top, in.rows, out.rows) &&
           fits(wide.dilation_x, w.left, in.columns, out.columns);
  }

  void split_dilated(const Layer& layer, const WideWindow& wide) {
    const LayerWindow& w = layer.window;
    const TensorShape in = shape(layer.input), out = shape(layer.output);
    for (int64_t y = 0; y < std::min(wide.dilation_y, out.rows); ++y) {
      for (int64_t x = 0; x < std::min(wide.dilation_x, out.columns); ++x) {
        const Phase row = phase_of(y, w.top, wide.dilation_y, in.rows);
        const Phase column = phase_of(x, w.left, wide.dilation_x, in.columns);
        Layer own = layer;
        own.window.top = row.pad;
        own.window.left = column.pad;
        own.input = assembly_.part(
            layer.name, {layer.input, row.first, column.first, 0, wide.dilation_y, wide.dilation_x},
            {row.rows, column.rows, in.channels});
        own.output = output_part(layer, {-1, y, x, 0, wide.dilation_y, wide.dilation_x},
                                 {(out.rows - y + wide.dilation_y - 1) / wide.dilation_y,
                                  (out.columns - x + wide.dilation_x - 1) / wide.dilation_x, out.channels});
        assembly_.append(own);
      }
    }
  }

  // A larger window with zeros between the taps: of what phases cannot do.
  Layer stretched(const Layer& layer, const WideWindow& wide) const {
    const LayerWindow& w = layer.window;
    Layer own = layer;
    own.window.rows = (w.rows - 1) * wide.dilation_y + 1;
    own.window.columns = (w.columns - 1) * wide.dilation_x + 1;
    const int64_t inner = layer.kind == LayerKind::kConvolution ? shape(layer.input).channels : 1;
    const int64_t outer = int64_t(layer.weights.size()) / (w.rows * w.columns * inner);
    own.weights.assign(size_t(outer * own.window.rows * own.window.columns * inner), 0);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t t = 0; t < w.rows * w.columns; ++t) {
        const int64_t at =
            t / w.columns * wide.dilation_y * own.window.columns + t % w.columns * wide.dilation_x;
        for (int64_t c = 0; c < inner; ++c) {
          own.weights[size_t((o * own.window.rows * own.window.columns + at) * inner + c)] =
              layer.weights[size_t((o * w.rows * w.columns + t) * inner + c)];
        }
      }
    }
    return own;
  }

  // Along one axis: the taps that reach output phase p, last first, and the padding before the first.
  struct Taps {
    int64_t first = 0, count = 0, pad = 0;
  };
  static Taps taps_of(int64_t phase, int64_t pad, int64_t stride, int64_t kernel) {
    const int64_t first = (phase + pad) % stride;
    const int64_t count = first < kernel ? (kernel - first + stride - 1) / stride : 0;
    return {first, count, count - 1 - (phase + pad - first) / stride};
  }

  void split_transposed(const Layer& layer) {
    const LayerWindow& w = layer.window;
    const TensorShape out = shape(layer.output);
    for (int64_t y = 0; y < std::min(w.stride_y, out.rows); ++y) {
      for (int64_t x = 0; x < std::min(w.stride_x, out.columns); ++x) {
        transposed_phase(layer, y, x, taps_of(y, w.top, w.stride_y, w.rows),
                         taps_of(x, w.left, w.stride_x, w.columns));
      }
    }
  }

  void transposed_phase(const Layer& layer, int64_t y, int64_t x, Taps rows, Taps columns) {
    const LayerWindow& w = layer.window;
    const TensorShape in = shape(layer.input), out = shape(layer.output);
    const bool none =
        rows.count <= 0 || columns.count <= 0 || -rows.pad >= in.rows || -columns.pad >= in.columns;
    if (none) rows = columns = {0, 1, 0};
    Layer own = layer;
    // Without padding, the first rows reach no output of this phase.
    const int64_t skip_y = std::max<int64_t>(0, -rows.pad), skip_x = std::max<int64_t>(0, -columns.pad);
    own.window = {rows.count, columns.count, 1, 1, rows.pad + skip_y, columns.pad + skip_x, 0};
    const int64_t inner = layer.kind == LayerKind::kConvolution ? in.channels : 1;
    const int64_t outer = int64_t(layer.weights.size()) / (w.rows * w.columns * inner);
    own.weights.clear();
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t t = 0; t < rows.count * columns.count; ++t) {
        const int64_t ky = rows.first + (rows.count - 1 - t / columns.count) * w.stride_y;
        const int64_t kx = columns.first + (columns.count - 1 - t % columns.count) * w.stride_x;
        for (int64_t c = 0; c < inner; ++c) {
          own.weights.push_back(
              none ? 0 : layer.weights[size_t((o * w.rows * w.columns + ky * w.columns + kx) * inner + c)]);
        }
      }
    }
    if (skip_y > 0 || skip_x > 0) {
      own.input = assembly_.part(layer.name, {layer.input, skip_y, skip_x},
                                 {in.rows - skip_y, in.columns - skip_x, in.channels});
    }
    own.output = output_part(layer, {-1, y, x, 0, w.stride_y, w.stride_x},
                             {(out.rows - y + w.stride_y - 1) / w.stride_y,
                              (out.columns - x + w.stride_x - 1) / w.stride_x, out.channels});
    assembly_.append(own);
  }

  TensorAssembly& assembly_;
  Network& network_;
};

}  // namespace

bool append_split(TensorAssembly& assembly, Network& network, const Layer& layer, const WideWindow& wide) {
  return Splitter(assembly, network).split(layer, wide);
}

}  // namespace tilewright::pipeline
