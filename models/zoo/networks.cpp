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

const Network& network(const std::string& name) {
  std::string known;
  for (const std::span<const Network> list : {networks(), tensorflow_networks()}) {
    for (const Network& candidate : list) {
      if (name == candidate.name) return candidate;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate.name);
    }
  }
  throw Error(ErrorKind::kInvalidInput, fmt::format("there is no network '{}' in the zoo", name),
              "one of: " + known);
}

}  // namespace tilewright::zoo
