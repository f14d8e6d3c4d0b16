// The layers of the execution form that are neither convolutions nor products: pools and LRN with channels
// last, activations, views. All but views are primitives of oneDNN.
#include <algorithm>
#include <cmath>

#include "tilewright/base/parallel.h"
#include "tilewright/graph/window.h"
#include "tilewright/host/element_dispatch.h"
#include "tilewright/host/execution_form.h"
#include "tilewright/host/image_layout.h"
#include "tilewright/host/kernel_inputs.h"
#include "tilewright/host/kernel_table.h"
#include "tilewright/host/onednn.h"
#include "tilewright/host/onednn_layers.h"

namespace tilewright {
namespace {

using dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

BoundKernel running(std::shared_ptr<const onednn::UnaryRunner> runner, Shape output) {
  return [runner = std::move(runner), output = std::move(output)](KernelInputs inputs,
                                                                  const HostOptions& options) {
    Tensor y = Tensor::uninitialized(ElementType::kF32, output);
    onednn::guarded([&] { runner->run(*inputs[0], y, options.threads); });
    return std::vector<Tensor>{y};
  };
}

bool is_global(const Node& node) { return node.op == "GlobalAveragePool" || node.op == "GlobalMaxPool"; }

Window window_of(const Node& node, const Shape& x) {
  return is_global(node) ? global_window(node, x) : pool_window(node, x);
}

// What the last window needs beyond the input. Negative where it ends before.
int64_t end_padding(const WindowAxis& axis) {
  return (axis.output - 1) * axis.stride + axis.effective_kernel() - axis.pad_begin - axis.input;
}

dnnl::algorithm pool_algorithm(const Node& node) {
  if (node.op == "MaxPool" || node.op == "GlobalMaxPool") return dnnl::algorithm::pooling_max;
  return node.int_or("count_include_pad", 0) != 0 ? dnnl::algorithm::pooling_avg_include_padding
                                                  : dnnl::algorithm::pooling_avg_exclude_padding;
}

BoundKernel bind_pool(const Node& node, std::span<const KernelOperand> operands, const HostOptions& options) {
  const Shape x = channels_first(operands[0].shape);
  const Window window = window_of(node, x);
  const Shape y = window.output_shape(x[0], x[1]);
  memory::dims strides, kernel, begins, ends;
  for (const WindowAxis& axis : window.axes) {
    strides.push_back(axis.stride);
    kernel.push_back(axis.kernel);
    begins.push_back(axis.pad_begin);
    ends.push_back(end_padding(axis));
  }
  return onednn::guarded([&] {
    const onednn::ThreadScope scope(options.threads);
    const dnnl::pooling_forward::desc desc(
        dnnl::prop_kind::forward_inference, pool_algorithm(node), onednn::plain_channels_last(x.dims()),
        onednn::plain_channels_last(y.dims()), strides, kernel, begins, ends);
    const dnnl::pooling_forward::primitive_desc primitive(desc, user_scratchpad(), engine());
    return running(
        std::make_shared<const onednn::UnaryRunner>(engine(), primitive, dnnl::pooling_forward(primitive)),
        channels_last(y));
  });
}

BoundKernel bind_lrn(const Node& node, std::span<const KernelOperand> operands, const HostOptions& options) {
  const Shape x = channels_first(operands[0].shape);
  return onednn::guarded([&] {
    const onednn::ThreadScope scope(options.threads);
    const dnnl::lrn_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels,
        onednn::plain_channels_last(x.dims()), node.int_or("size", 1), node.float_or("alpha", 1e-4f),
        node.float_or("beta", 0.75f), node.float_or("bias", 1));
    const dnnl::lrn_forward::primitive_desc primitive(desc, user_scratchpad(), engine());
    return running(
        std::make_shared<const onednn::UnaryRunner>(engine(), primitive, dnnl::lrn_forward(primitive)),
        operands[0].shape);
  });
}

// One long row: an activation does not see the shape.
BoundKernel bind_activation(const Node& node, std::span<const KernelOperand> operands,
                            const HostOptions& options) {
  const std::vector<PostOperation> operations = post_operations(node);
  TILEWRIGHT_CHECK(operations.size() == 1, "an activation is one operation");
  return onednn::guarded([&] {
    const onednn::ThreadScope scope(options.threads);
    const dnnl::eltwise_forward::desc desc(
        dnnl::prop_kind::forward_inference, onednn::eltwise_algorithm(operations[0].name),
        onednn::plain({operands[0].shape.element_count()}), operations[0].alpha, operations[0].beta);
    const dnnl::eltwise_forward::primitive_desc primitive(desc, user_scratchpad(), engine());
    return running(
        std::make_shared<const onednn::UnaryRunner>(engine(), primitive, dnnl::eltwise_forward(primitive)),
        operands[0].shape);
  });
}

// Element i of every row of C by factor i, plus offset i. NaN stays NaN.
std::vector<Tensor> channel_scale(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor& x = required_input(inputs, 0);
  const bool relu = !post_operations(node).empty();
  const int64_t channels = inputs[1]->size(), rows = x.size() / channels;
  Tensor y = Tensor::uninitialized(ElementType::kF32, x.shape());
  const float *in = storage<float>(x), *factor = storage<float>(*inputs[1]),
              *offset = storage<float>(*inputs[2]);
  float* out = mutable_storage<float>(y);
  parallel_for(options.threads, rows, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* from = in + row * channels;
      float* to = out + row * channels;
      if (relu) {
        for (int64_t c = 0; c < channels; ++c) {
          const float value = from[c] * factor[c] + offset[c];
          to[c] = value < 0 ? 0 : value;
        }
      } else {
        for (int64_t c = 0; c < channels; ++c) to[c] = from[c] * factor[c] + offset[c];
      }
    }
  });
  return {y};
}

// Sums of the rows of one image, by channel, in f64: of x - mean to the given power.
void sum_rows(const float* x, int64_t rows, const std::vector<double>& mean, bool squared,
              std::vector<double>& sums) {
  const size_t channels = sums.size();
  std::ranges::fill(sums, 0.0);
  for (int64_t row = 0; row < rows; ++row, x += channels) {
    if (squared) {
      for (size_t c = 0; c < channels; ++c) sums[c] += (double(x[c]) - mean[c]) * (double(x[c]) - mean[c]);
    } else {
      for (size_t c = 0; c < channels; ++c) sums[c] += double(x[c]);
    }
  }
}

std::vector<Tensor> normalized_instances(const Node& node, KernelInputs inputs, const HostOptions& options) {
  const Tensor &x = required_input(inputs, 0), &scale = *inputs[1], &bias = *inputs[2];
  const int64_t images = x.shape()[0], channels = scale.size(), rows = x.size() / (images * channels);
  const double epsilon = double(node.float_or("epsilon", 1e-5f));
  Tensor y = Tensor::uninitialized(ElementType::kF32, x.shape());
  float* const out = mutable_storage<float>(y);
  parallel_for(options.threads, images, [&](int64_t begin, int64_t end) {
    std::vector<double> mean(static_cast<size_t>(channels)), squares(mean);
    std::vector<float> factor(mean.size()), offset(mean.size());
    for (int64_t image = begin; image < end; ++image) {
      const float* from = storage<float>(x) + image * rows * channels;
      float* to = out + image * rows * channels;
      sum_rows(from, rows, mean, false, mean);
      for (double& value : mean) value /= double(rows);
      sum_rows(from, rows, mean, true, squares);
      for (size_t c = 0; c < mean.size(); ++c) {
        const double f = double(storage<float>(scale)[c]) / std::sqrt(squares[c] / double(rows) + epsilon);
        factor[c] = float(f);
        offset[c] = float(double(storage<float>(bias)[c]) - mean[c] * f);
      }
      for (int64_t row = 0; row < rows; ++row, from += channels, to += channels) {
        for (size_t c = 0; c < mean.size(); ++c) to[c] = from[c] * factor[c] + offset[c];
      }
    }
  });
  return {y};
}

std::vector<Tensor> as_other_shape(const Node& node, KernelInputs inputs, const HostOptions&) {
  return {required_input(inputs, 0).reshaped(Shape(node.ints_or("shape", {})))};
}

constexpr KernelEntry kImageKernels[] = {
    {kHostDomain, "Activation", nullptr, bind_activation},
    {kHostDomain, "AveragePool", nullptr, bind_pool},
    {kHostDomain, "ChannelScale", channel_scale},
    {kHostDomain, "GlobalAveragePool", nullptr, bind_pool},
    {kHostDomain, "GlobalMaxPool", nullptr, bind_pool},
    {kHostDomain, "InstanceNormalization", normalized_instances},
    {kHostDomain, "LRN", nullptr, bind_lrn},
    {kHostDomain, "MaxPool", nullptr, bind_pool},
    {kHostDomain, "View", as_other_shape},
};

}  // namespace

bool onednn_pools(const Node& node, const Shape& x) {
  if (x.rank() > 5 || x.element_count() == 0 || node.int_or("storage_order", 0) != 0) return false;
  const Window window = window_of(node, x);
  if (window.has_dilation()) return false;
  return std::ranges::all_of(window.axes, [&](const WindowAxis& axis) {
    // With padding counted, oneDNN also counts what ceil_mode adds beyond it, ONNX does not.
    const bool beyond = end_padding(axis) > axis.pad_end && node.int_or("count_include_pad", 0) != 0;
    return !beyond && axis.pad_begin < axis.kernel && end_padding(axis) < axis.kernel &&
           end_padding(axis) + axis.stride > 0;
  });
}

std::span<const KernelEntry> image_kernels() { return kImageKernels; }

}  // namespace tilewright
