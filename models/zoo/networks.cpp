#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {

std::span<const Network> networks() {
  static constexpr Network kNetworks[] = {{"resnet18", resnet18, {32, 4}},
                                          {"resnet34", resnet34, {32, 4}},
                                          {"resnet50", resnet50, {32, 4}},
                                          {"mobilenet_v1", mobilenet_v1, {32, 2}},
                                          {"mobilenet_g", mobilenet_g, {32, 2}},
                                          {"alexnet", alexnet, {67, 8}},
                                          {"vgg16", vgg16, {32, 8}},
                                          {"dcgan_generator", dcgan_generator, {0, 8}},
                                          {"fast_style", fast_style, {48, 4}}};
  return kNetworks;
}

std::span<const Network> tensorflow_networks() {
  static constexpr Network kNetworks[] = {{"cifar10_tutorial", cifar10_tutorial, {24, 8}},
                                          {"djinn_asr", djinn_asr, {0, 16}}};
  return kNetworks;
}

std::span<const Network> modern_networks() {
  static constexpr Network kNetworks[] = {{"yolo_silu", yolo_silu, {64, 4}},
                                          {"yolox_focus", yolox_focus, {32, 4}},
                                          {"u_net_transposed", u_net_transposed, {32, 4}},
                                          {"u_net_bilinear", u_net_bilinear, {32, 4}},
                                          {"u_net_attention", u_net_attention, {32, 4}},
                                          {"mobilenet_v3", mobilenet_v3, {32, 2}},
                                          {"efficientnet", efficientnet, {32, 2}},
                                          {"mish_darknet", mish_darknet, {32, 2}},
                                          {"densenet", densenet, {32, 2}},
                                          {"shufflenet_v2", shufflenet_v2, {32, 2}},
                                          {"shufflenet_v1", shufflenet_v1, {32, 2}},
                                          {"espcn", espcn, {16, 4}},
                                          {"tracker", tracker, {32, 2}},
                                          {"autoencoder_1d", autoencoder_1d, {64, 2}},
                                          {"lstm_spotter", lstm_spotter, {10, 4}},
                                          {"temporal_network", temporal_network, {48, 2}},
                                          {"dilated_segmenter", dilated_segmenter, {32, 2}},
                                          {"squeezenet_fire", squeezenet_fire, {32, 2}},
                                          {"inception_small", inception_small, {32, 2}},
                                          {"ghostnet", ghostnet, {32, 2}},
                                          {"resnext", resnext, {24, 2}},
                                          {"feature_pyramid", feature_pyramid, {32, 2}},
                                          {"convmixer", convmixer, {28, 2}},
                                          {"prelu_landmarks", prelu_landmarks, {32, 2}}};
  return kNetworks;
}

const Network& network(const std::string& name) {
  std::string known;
  for (const std::span<const Network> list : {networks(), tensorflow_networks(), modern_networks()}) {
    for (const Network& candidate : list) {
      if (name == candidate.name) return candidate;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate.name);
    }
  }
  throw Error(ErrorKind::kInvalidInput, fmt::format("there is no network '{}' in the zoo", name),
              "one of: " + known);
}

}  // namespace tilewright::zoo
