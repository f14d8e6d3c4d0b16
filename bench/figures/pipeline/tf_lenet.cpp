// The pipeline paper's LeNet, from its TensorFlow file to hardware: accuracy on 100 MNIST digits in Q10.22
// and int8, cycles against the paper's 81,750, all digits through the generated Verilog, and the multipliers
// in that Verilog against the budget.
//
//   tf_lenet [--quick]    --quick: 10 digits through the Verilog instead of 100
#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "generated_designs.h"
#include "support/outside_testing.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/samples/samples.h"

using namespace tilewright;

namespace {

constexpr int64_t kPaperCycles = 81'750;

struct Digits {
  std::vector<Tensor> images;  // [1, 784], 0..1
  std::vector<int64_t> labels;
};

Digits read_digits(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorKind::kInvalidInput, "cannot read '" + path.string() + "'");
  Digits digits;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string field;
    std::getline(fields, field, ',');
    digits.labels.push_back(std::stoll(field));
    Tensor image(ElementType::kF32, {1, 784});
    for (int64_t i = 0; i < 784 && std::getline(fields, field, ','); ++i) {
      image.set_number(i, std::stod(field) / 255.0);
    }
    digits.images.push_back(image);
  }
  return digits;
}

struct Result {
  int64_t correct = 0;
  uint64_t cycles = 0;
  figures::CountedMultipliers counted;
  figures::RtlComparison rtl;
};

Result measure(const Graph& graph, const std::string& device, const std::string& budget, const Digits& digits,
               size_t rtl_images) {
  const GeneratedDesign generated = figures::generate_for(graph, device, budget);
  Result result;
  result.cycles = generated.simulation->cycles;
  const HostBorder border(generated.network);
  std::vector<std::vector<int32_t>> images;
  for (size_t i = 0; i < digits.images.size(); ++i) {
    images.push_back(border.image({digits.images[i]}));
    const auto values = pipeline::evaluate(generated.network, images.back());
    const Tensor scores = border.outputs(values[size_t(generated.network.output)])[0];
    result.correct += argmax(scores) == digits.labels[i] ? 1 : 0;
  }
  images.resize(std::min(images.size(), rtl_images));
  result.rtl = figures::run_verilog(generated, figures::memory_of(device, budget), images);
  std::printf(
      "%s on %s with %s: %ld of %zu right, %lu cycles, %ld multipliers; Verilog: %ld images, %ld mismatches, "
      "%lu cycles in all, %s the simulator's\n",
      generated.allocated.allocation.streaming ? "stages" : "processors", device.c_str(), budget.c_str(),
      long(result.correct), digits.images.size(), static_cast<unsigned long>(result.cycles),
      long(generated.design.multipliers), long(result.rtl.images), long(result.rtl.mismatches),
      static_cast<unsigned long>(result.rtl.cycles), result.rtl.cycles_equal ? "equal to" : "NOT");
  result.counted = figures::count_in_verilog(generated, device, budget);
  return result;
}

}  // namespace

int main(int argc, char** argv) try {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const std::filesystem::path models = outside_models();
  const Digits digits = read_digits(models / "data_mnist" / "mnist_test_first100.csv");
  const Graph model = load_model(models / "tf_lenet" / "lenet.pb");
  const size_t rtl_images = quick ? 10 : digits.images.size();

  NumberFormat fixed;
  fixed.fixed = true;
  const Result wide =
      measure(hardware_form(model, fixed, {}, 2), "f1-vu9p", "multipliers=705", digits, rtl_images);
  // Calibrated on the first 20 of the digits.
  Tensor calibration(ElementType::kF32, {20, 784});
  for (int64_t i = 0; i < calibration.size(); ++i) {
    calibration.set_number(i, digits.images[size_t(i / 784)].number_at(i % 784));
  }
  const Result narrow =
      measure(hardware_form(model, {}, {calibration}, 2), "xc7z020", "dsp=220", digits, rtl_images);

  const int64_t mismatches = wide.rtl.mismatches + narrow.rtl.mismatches;
  const bool equal = wide.rtl.cycles_equal && narrow.rtl.cycles_equal;
  std::printf(
      "{\"figure\": \"tf_lenet\", \"accuracy_percent\": %ld, \"accuracy_int8_percent\": %ld, \"cycles\": "
      "%lu, "
      "\"cycles_int8\": %lu, \"paper_cycles\": %ld, \"multipliers_q10_22\": %ld, \"multipliers_int8\": %ld, "
      "\"dsp_multiplications_int8\": %ld, "
      "\"rtl_images\": %ld, \"mismatches\": %ld, \"cycles_equal_rtl\": %s}\n",
      long(wide.correct), long(narrow.correct), static_cast<unsigned long>(wide.cycles),
      static_cast<unsigned long>(narrow.cycles), long(kPaperCycles), long(wide.counted.products()),
      long(narrow.counted.products()), long(narrow.counted.operators),
      long(wide.rtl.images + narrow.rtl.images), long(mismatches), equal ? "true" : "false");
  const bool counted = wide.counted.ok() && narrow.counted.ok();
  return mismatches == 0 && equal && counted && !digits.images.empty() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
