// Conv and ConvTranspose: oneDNN for f32 in one to three spatial axes, plain loops for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tilewright/graph/window.h"
#include "tilewright/host/execution_form.h"
#include "tilewright/host/floating/plain_convolution.h"
#include "tilewright/host/image_layout.h"
#include "tilewright/host/kernel_inputs.h"
#include "tilewright/host/kernel_table.h"
#include "tilewright/host/onednn.h"
#include "tilewright/host/onednn_layers.h"

namespace tilewright {
namespace {

using dnnl::memory;

// oneDNN's form of a window.
struct WindowDims {
  memory::dims strides, dilations, pads_begin, pads_end;
};

// Weights with the group axis that oneDNN wants when there is more than one group; `axes` are the ONNX
// weights' axes as oneDNN orders them (outputs, inputs, kernel...).
memory::desc weights_desc(const Shape& weights, int64_t group, bool transposed) {
  const std::vector<int64_t> strides = weights.strides();
  memory::dims dims = weights.dims(), steps = strides;
  // Split axis 0 (outputs, or inputs when transposed) into (group, rest).
  dims[0] /= group;
  if (transposed) {
    std::swap(dims[0], dims[1]);
    std::swap(steps[0], steps[1]);
  }
  if (group > 1) {
    dims.insert(dims.begin(), group);
    steps.insert(steps.begin(), strides[0] * (weights[0] / group));
  }
  return memory::desc(dims, memory::data_type::f32, steps);
}

memory::desc any_layout(const memory::desc& desc) {
  return memory::desc(desc.dims(), memory::data_type::f32, memory::format_tag::any);
}

struct Bound {
  Window window;
  int64_t group = 1;
  Shape output;
  bool has_bias = false;
};

// What ONNX asks of the operands of both operators, so that nothing is read out of bounds.
Bound check_operands(const Node& node, std::span<const KernelOperand> operands, bool transposed) {
  if (operands.size() < 2 || !operands[0].present || !operands[1].present) {
    throw Error(ErrorKind::kInvalidInput, "data and weights are needed");
  }
  const KernelOperand &x = operands[0], &weights = operands[1];
  if (x.type != ElementType::kF32 && x.type != ElementType::kF64) throw_unsupported_type(x.type);
  Bound bound;
  bound.window = transposed ? transposed_window(node, x.shape, weights.shape)
                            : convolution_window(node, x.shape, weights.shape);
  bound.group = node.int_or("group", 1);
  bound.has_bias = operands.size() > 2 && operands[2].present;
  const int64_t g = bound.group, w0 = weights.shape[0], w1 = weights.shape[1];
  const bool fits = weights.type == x.type && g >= 1 && x.shape[1] % g == 0 && w0 % g == 0 && w0 > 0 &&
                    w1 > 0 && (transposed ? w0 == x.shape[1] : w1 * g == x.shape[1]);
  if (!fits) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("weights {} do not fit data {} in {} groups",
                            to_string(weights.type, weights.shape), to_string(x.type, x.shape), g));
  }
  const int64_t outputs = transposed ? w1 * g : w0;
  if (bound.has_bias && (operands[2].type != x.type || operands[2].shape != Shape{outputs})) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the bias is {}, not {}", to_string(operands[2].type, operands[2].shape),
                            to_string(x.type, Shape{outputs})));
  }
  bound.output = bound.window.output_shape(x.shape[0], outputs);
  return bound;
}

WindowDims window_dims(const Window& window, bool transposed) {
  WindowDims dims;
  for (const WindowAxis& axis : window.axes) {
    dims.strides.push_back(axis.stride);
    dims.dilations.push_back(axis.dilation - 1);
    dims.pads_begin.push_back(axis.pad_begin);
    // What is left of the plane after the last window; never counts as padding of its own.
    const int64_t span = transposed ? (axis.input - 1) * axis.stride : (axis.output - 1) * axis.stride;
    const int64_t used = span + axis.effective_kernel() - axis.pad_begin;
    dims.pads_end.push_back(transposed ? used - axis.output : used - axis.input);
  }
  return dims;
}

bool fits_onednn(ElementType type, const Shape& x, const Window& window, const WindowDims& dims) {
  if (type != ElementType::kF32 || window.rank() > 3 || x.element_count() == 0) return false;
  for (size_t axis = 0; axis < dims.strides.size(); ++axis) {
    // oneDNN refuses an end padding that skips a whole stride.
    if (dims.pads_end[axis] + dims.strides[axis] <= 0) return false;
  }
  return true;
}

bool has_avx512() {
  const auto isa = dnnl::get_effective_cpu_isa();
  using enum dnnl::cpu_isa;
  return isa != sse41 && isa != avx && isa != avx2 && isa != avx2_vnni;
}

// Whether eight channels side by side, plane after plane, serve a convolution better than all channels of a
// pixel, by enough to pay for moving its images there and back. oneDNN 2.6 without AVX-512 takes eight input
// channels at a time through all rows of a window: with the channels last these are 32 bytes of each pixel.
// From a third of a level-1 cache per row, or 512 bytes between two pixels, they push each other out.
// Measured on AVX2: 0.5 to 0.8 of the time beyond these limits, 1.0 to 1.4 within.
bool prefers_blocks(const Shape& x, const Shape& weights, int64_t group) {
  constexpr int64_t kLanes = 8, kRowBytes = 12 << 10, kPixelBytes = 512;
  const int64_t taps = weights.element_count() / (weights[0] * weights[1]);
  const int64_t pixel_bytes = x[1] * int64_t(sizeof(float));
  return !has_avx512() && x.rank() == 4 && group == 1 && taps > 1 && x[1] % kLanes == 0 &&
         weights[0] % kLanes == 0 && (pixel_bytes >= kPixelBytes || pixel_bytes * x[3] >= kRowBytes);
}

// Whether oneDNN has only its general code for a convolution, at times a hundred times slower: its generated
// code takes no padding at the left that is wider than the pixels it computes at a time, 3 or 4.
bool is_general(const char* implementation) {
  const std::string_view name = implementation;
  return name.find("gemm:") != name.npos || name.starts_with("ref");
}

// The padded source, of which the padding is part of the image.
WindowDims padding_inside(WindowDims dims, memory::dims& source) {
  for (size_t axis = 0; axis < dims.pads_begin.size(); ++axis) {
    const int64_t end = std::max<int64_t>(0, dims.pads_end[axis]);
    source[axis + 2] += dims.pads_begin[axis] + end;
    dims.pads_begin[axis] = 0;
    dims.pads_end[axis] -= end;
  }
  return dims;
}

template <typename Primitive, bool kTransposed>
std::shared_ptr<const onednn::Runner> make_runner(const Node& node, std::span<const KernelOperand> operands,
                                                  const Bound& bound, const WindowDims& dims,
                                                  bool images_last, int threads) {
  return onednn::guarded([&] {
    const onednn::ThreadScope scope(threads);  // the implementation is chosen for this number of threads
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const auto layout = images_last ? onednn::plain_channels_last : onednn::plain;
    const memory::desc source = layout(operands[0].shape.dims());
    const memory::desc weights = weights_desc(operands[1].shape, bound.group, kTransposed);
    const memory::desc target = layout(bound.output.dims());
    const bool blocks =
        images_last && !kTransposed && prefers_blocks(operands[0].shape, operands[1].shape, bound.group);
    const auto computed = [&](const memory::desc& given) {
      if (blocks) return memory::desc(given.dims(), given.data_type(), memory::format_tag::nChw8c);
      return images_last ? given : any_layout(given);
    };
    const onednn::PostOps post(node, operands, 3, blocks ? computed(target) : target);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    attributes.set_post_ops(post.operations);
    const memory::desc bias = bound.has_bias ? onednn::plain({bound.output[1]}) : memory::desc();
    const auto algorithm =
        kTransposed ? dnnl::algorithm::deconvolution_direct : dnnl::algorithm::convolution_direct;
    using Description = typename Primitive::primitive_desc;
    const auto describe = [&](const memory::desc& from, const WindowDims& window) {
      const typename Primitive::desc desc(dnnl::prop_kind::forward_inference, algorithm, computed(from),
                                          any_layout(weights), bias, computed(target), window.strides,
                                          window.dilations, window.pads_begin, window.pads_end);
      return Description(desc, attributes, engine);
    };
    onednn::Runner::Layouts layouts{source, weights, target, {}};
    Description primitive = describe(source, dims);
    if (images_last && !kTransposed && is_general(primitive.impl_info_str())) {
      memory::dims padded = source.dims();
      const WindowDims inside = padding_inside(dims, padded);
      const Description other = describe(layout(padded), inside);
      if (padded != source.dims() && !is_general(other.impl_info_str())) {
        memory::dims offsets(padded.size(), 0);
        std::copy(dims.pads_begin.begin(), dims.pads_begin.end(), offsets.begin() + 2);
        layouts.source_within = other.src_desc().submemory_desc(source.dims(), offsets);
        primitive = other;
      }
    }
    return std::make_shared<const onednn::Runner>(engine, primitive, Primitive(primitive), layouts,
                                                  operands[1].constant, post.added);
  });
}

using PlainKernel = decltype(&plain_convolution);

template <typename Primitive, bool kTransposed>
BoundKernel bind(const Node& node, std::span<const KernelOperand> operands, const HostOptions& options) {
  const Bound bound = check_operands(node, operands, kTransposed);
  const WindowDims dims = window_dims(bound.window, kTransposed);
  if (!fits_onednn(operands[0].type, operands[0].shape, bound.window, dims)) {
    const PlainKernel kernel = kTransposed ? plain_transposed_convolution : plain_convolution;
    return [bound, kernel](KernelInputs inputs, const HostOptions& run_options) {
      return std::vector<Tensor>{kernel(*inputs[0], *inputs[1], bound.has_bias ? inputs[2] : nullptr,
                                        bound.window, bound.group, run_options.threads)};
    };
  }
  const auto runner =
      make_runner<Primitive, kTransposed>(node, operands, bound, dims, false, options.threads);
  return [bound, runner](KernelInputs inputs, const HostOptions& run_options) {
    Tensor y = Tensor::uninitialized(ElementType::kF32, bound.output);
    onednn::guarded([&] { runner->run(inputs, y, run_options.threads); });
    return std::vector<Tensor>{y};
  };
}

// With channels last and post-operations. Only what fits oneDNN comes here.
template <typename Primitive, bool kTransposed>
BoundKernel bind_images(const Node& node, std::span<const KernelOperand> operands,
                        const HostOptions& options) {
  std::vector<KernelOperand> seen(operands.begin(), operands.end());
  seen[0].shape = channels_first(operands[0].shape);
  const Bound bound = check_operands(node, seen, kTransposed);
  const WindowDims dims = window_dims(bound.window, kTransposed);
  const auto runner = make_runner<Primitive, kTransposed>(node, seen, bound, dims, true, options.threads);
  return [shape = channels_last(bound.output), runner](KernelInputs inputs, const HostOptions& run_options) {
    Tensor y = Tensor::uninitialized(ElementType::kF32, shape);
    onednn::guarded([&] { runner->run(inputs, y, run_options.threads); });
    return std::vector<Tensor>{y};
  };
}

constexpr KernelEntry kConvolutionKernels[] = {
    {"", "Conv", nullptr, bind<dnnl::convolution_forward, false>},
    {"", "ConvTranspose", nullptr, bind<dnnl::deconvolution_forward, true>},
    {kHostDomain, "Conv", nullptr, bind_images<dnnl::convolution_forward, false>},
    {kHostDomain, "ConvTranspose", nullptr, bind_images<dnnl::deconvolution_forward, true>},
};

}  // namespace

bool onednn_convolves(const Node& node, const Shape& x, const Shape& weights) {
  const bool transposed = node.op == "ConvTranspose";
  const Window window =
      transposed ? transposed_window(node, x, weights) : convolution_window(node, x, weights);
  return fits_onednn(ElementType::kF32, x, window, window_dims(window, transposed));
}

std::span<const KernelEntry> convolution_kernels() { return kConvolutionKernels; }

}  // namespace tilewright
