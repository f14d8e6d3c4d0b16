// Damaged models: ONNX, TensorFlow and TFLite files.
#pragma once

#include <filesystem>

#include "fuzz/fuzz_targets.h"

namespace tilewright {

// Damage that walks the kinds of mutation in turn.
std::function<Bytes(const Bytes&, size_t, Random&)> damage_protobuf(std::span<const std::byte> original);
// The same for TFLite files: everything but the weights counts as structure.
std::function<Bytes(const Bytes&, size_t, Random&)> damage_tflite(std::span<const std::byte> original);

// Reading an ONNX file, and writing what was read. Errors: the file cannot be read.
FuzzTarget onnx_target(const std::filesystem::path& file);
// Five ONNX models: float and quantised, with weights and without; relative to the shared models.
inline constexpr const char* kOnnxFiles[] = {"onnx_mnist8/model.onnx", "onnx_from_tflite/ic_resnet8_qdq.onnx",
                                             "onnx_light_topologies/light_resnet50.onnx",
                                             "dory_frontnet/Frontnet.onnx",
                                             "onnx_super_resolution10/model.onnx"};

// Networks of 1, 2 and 4 bits with the quantisers of QONNX; onnx_target reads them.
inline constexpr const char* kQonnxFiles[] = {"qonnx_tfc/TFC_1W1A.onnx", "qonnx_tfc/TFC_2W2A.onnx",
                                              "qonnx_espcn/espcn_subpixel_quant.onnx",
                                              "finn_tfc_w1a1/model.onnx"};

// Reading a TensorFlow file; `output` (empty: inferred) keeps the weights that are made for a graph without
// any small. Errors: the file cannot be read.
FuzzTarget tensorflow_target(const std::filesystem::path& file, const std::string& output = {});
// Reading the variables of a SavedModel in a folder, whose index is damaged; every second time with checksums
// that are right. Errors: the files cannot be read.
FuzzTarget checkpoint_target(const std::filesystem::path& folder);
struct TensorflowFile {
  const char* file;
  const char* output;
};
inline constexpr TensorflowFile kTensorflowFiles[] = {
    {"tf_lenet/lenet.pb", ""},
    {"tf_kws_graphdef/DS_CNN_S.pb", ""},
    {"tf_resnet50_official/saved_model.pb", "resnet_model/block_layer1"}};

// Reading a TFLite file, writing what was read, and its integer form. Errors: the file cannot be read.
FuzzTarget tflite_target(const std::filesystem::path& file);
inline constexpr const char* kTfliteFiles[] = {
    "tflite_mlperf_tiny/ic_resnet8_int8.tflite",      "tflite_mlperf_tiny/kws_dscnn_int8.tflite",
    "tflite_mlperf_tiny/ad_autoencoder_fp32.tflite",  "tflite_mobilenet/mobilenet_v1_0.25_128_uint8.tflite",
    "tflite_micro_examples/micro_speech_int8.tflite", "tflite_micro_examples/hello_world_float.tflite",
    "tflite_micro_examples/person_detect_int8.tflite"};  // the last is malformed as shipped

}  // namespace tilewright
