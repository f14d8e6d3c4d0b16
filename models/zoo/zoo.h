// The networks that the accelerator papers report, as float graphs built here: topologies from their papers,
// weights from the linear congruential stream of graph/lcg_weights.h (constant number k draws with seed
// 1000 + k), so that a network is the same on every machine and nothing has to be downloaded.
//
// Sources: ResNet (He et al. 2015, v1: the stride of a bottleneck is in its first convolution), MobileNet v1
// (Howard et al. 2017), AlexNet (Krizhevsky et al. 2012, two groups, with local response normalisation),
// VGG-16 (Simonyan and Zisserman 2014), DCGAN (Radford et al. 2015, generator), fast style transfer (Johnson
// et al. 2016, batch normalisation, reflection padding of 40, residual blocks without padding). MobileNetG is
// MobileNet v1 with groups of 16 channels in place of depthwise layers, as the VTA papers ran it.
//
// Of Hadjis and Olukotun (FPL 2019): TensorFlow's CIFAR-10 tutorial network on 24x24 crops, without its local
// response normalisation, which that paper's operators do not cover either, and DjiNN's acoustic model
// (Hauswald et al. 2015), a perceptron with six hidden layers of sigmoids.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tilewright/graph/graph.h"

namespace tilewright::zoo {

// How large a network is built. Papers: {0, 1}.
struct NetworkSize {
  int64_t image = 0;   // rows and columns of the input image; 0: the paper's. DCGAN has no input image
  int64_t divide = 1;  // every channel count but the image's and the classes' is divided by this
};

struct Network {
  const char* name;
  Graph (*build)(const NetworkSize& size);
  NetworkSize small;  // the same topology at a size that tests simulate in a moment
};

// Those of the programmable accelerators' papers, in the order of the file's first comment.
std::span<const Network> networks();
// The small benchmarks of the TensorFlow-to-FPGA paper.
std::span<const Network> tensorflow_networks();
// Topologies of today's networks, at sizes for small devices: activations and gates as exporters spell them
// out, Concat, Split, Slice, Resize, DepthToSpace, channel shuffles, several inputs and outputs, one spatial
// axis. Their `image` is the length where there is one axis.
std::span<const Network> modern_networks();
// Of any list. Errors (invalid input): no such network, naming those there are.
const Network& network(const std::string& name);

// Inputs are f32[1x3xSxS] (DCGAN: f32[1x100x1x1]), channels in the order of the paper's images; outputs are
// class scores before the softmax, or the image. Errors (invalid input): an image too small for the layers.
Graph resnet18(const NetworkSize& size);
Graph resnet34(const NetworkSize& size);
Graph resnet50(const NetworkSize& size);
Graph mobilenet_v1(const NetworkSize& size);
Graph mobilenet_g(const NetworkSize& size);
Graph dcgan_generator(const NetworkSize& size);
Graph fast_style(const NetworkSize& size);
Graph alexnet(const NetworkSize& size);
Graph vgg16(const NetworkSize& size);
Graph cifar10_tutorial(const NetworkSize& size);
Graph djinn_asr(const NetworkSize& size);  // input f32[1x440]; `image` is not used

Graph yolo_silu(const NetworkSize& size);
Graph yolox_focus(const NetworkSize& size);
Graph u_net_transposed(const NetworkSize& size);
Graph u_net_bilinear(const NetworkSize& size);
Graph u_net_attention(const NetworkSize& size);
Graph mobilenet_v3(const NetworkSize& size);
Graph efficientnet(const NetworkSize& size);
Graph mish_darknet(const NetworkSize& size);
Graph densenet(const NetworkSize& size);
Graph shufflenet_v2(const NetworkSize& size);
Graph shufflenet_v1(const NetworkSize& size);
Graph espcn(const NetworkSize& size);
Graph tracker(const NetworkSize& size);
Graph autoencoder_1d(const NetworkSize& size);
Graph lstm_spotter(const NetworkSize& size);
Graph temporal_network(const NetworkSize& size);
Graph dilated_segmenter(const NetworkSize& size);
Graph squeezenet_fire(const NetworkSize& size);
Graph inception_small(const NetworkSize& size);
Graph ghostnet(const NetworkSize& size);
Graph resnext(const NetworkSize& size);
Graph feature_pyramid(const NetworkSize& size);
Graph convmixer(const NetworkSize& size);
Graph prelu_landmarks(const NetworkSize& size);

// Blocks of transformers on f32[1 x tokens x width]: self-attention with `heads` heads and two dense layers
// with GELU between them, a residual sum after each; norms before them (Dosovitskiy et al. 2020) or after the
// sums (Devlin et al. 2018).
struct BlockShape {
  int64_t tokens, width, heads, hidden;
  bool norms_first;
};
inline constexpr BlockShape kVitTinyBlock{197, 192, 3, 768, true};      // ViT-Tiny/16 at 224 x 224
inline constexpr BlockShape kBertBaseBlock{128, 768, 12, 3072, false};  // BERT-base
Graph transformer_block(const std::string& name, const BlockShape& shape);

// Single layers (and one residual block) with what follows them, small enough for a simulation of every gate:
// ResNet-18's first residual block, a depthwise, a transposed and a grouped convolution; `image` rows and
// columns.
Graph residual_block(int64_t channels, int64_t image);
Graph depthwise_layer(int64_t channels, int64_t image);
Graph transposed_layer(int64_t inputs, int64_t outputs, int64_t image);
Graph grouped_layer(int64_t channels, int64_t group_channels, int64_t image);

}  // namespace tilewright::zoo
