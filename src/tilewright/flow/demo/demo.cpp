// The steps in their order. The commands beside them are what a user would type for the same files;
// tests/cli/demo_test.cpp types them and compares.
#include "tilewright/flow/demo/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/base/json.h"
#include "tilewright/flow/model/inspect_model.h"
#include "tilewright/flow/model/quantize_model.h"
#include "tilewright/flow/run/compile_model.h"
#include "tilewright/flow/run/layer_table.h"
#include "tilewright/flow/targets.h"

namespace tilewright {
namespace {

constexpr const char* kMaker = "demo";
constexpr double kPixel = 0.00392156862745098;  // 1/255
constexpr int64_t kCalibrationImages = 512;
constexpr const char* kTrainingImages = "train-images-idx3-ubyte.gz";
constexpr const char* kTestImages = "t10k-images-idx3-ubyte.gz";
constexpr const char* kTestLabels = "t10k-labels-idx1-ubyte.gz";

// The two ways of scaling, each with an overlay made for it.
struct Arithmetic {
  const char *scales, *hardware;
};
constexpr Arithmetic kArithmetics[] = {{"real", "overlay-16x16"}, {"power-of-two", "vta-default"}};

// One word of a shell's command line.
std::string shell_word(const std::filesystem::path& path) {
  const std::string text = path.string();
  const bool plain = text.find_first_not_of(
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                         "_-./+,:@%=") == std::string::npos;
  if (plain && !text.empty()) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

class Demo {
 public:
  explicit Demo(const DemoRequest& request) : request_(request), writer_(request.output, kMaker) {}

  Answer run() {
    const std::filesystem::path model = model_path();
    step("The trained network", fmt::format("inspect {}", shell_word(model)),
         [&] { return inspect_model(load_shapes({.path = model})); });
    for (const Arithmetic& arithmetic : kArithmetics) run(arithmetic);
    check_deadline();
    writer_.commit();
    const double seconds = since(begin_);
    json_["seconds"] = seconds;
    json_["outputs"] = checked_;
    json_["folder"] = request_.output.string();
    return {closing(seconds), json_text(json_, 2) + "\n"};
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  // A network that comes with Tilewright: lenet, residual, depthwise.
  std::filesystem::path model_path(const std::string& network = "lenet") const {
    return request_.folders.models / (network + "-fashion") / (network + "_fashion.onnx");
  }
  // A file of the demo: where it is written now, and where the user finds it.
  std::filesystem::path written(const std::string& name) const { return writer_.path() / name; }
  std::string word(const std::string& name) const { return shell_word(request_.output / name); }
  std::string data_word(const char* name) const { return shell_word(request_.data / name); }

  // `work` gives the step's answer.
  template <typename Work>
  void step(const std::string& title, const std::string& arguments, const Work& work) {
    const std::string command = request_.command + " " + arguments;
    show(fmt::format("\n== {}\n$ {}\n", title, command));
    check_deadline();
    const Clock::time_point begin = Clock::now();
    const Answer answer = work();
    json_["steps"].push_back({{"title", title},
                              {"command", command},
                              {"seconds", since(begin)},
                              {"report", nlohmann::json::parse(answer.json)}});
    show(answer.text);
  }

  void check_deadline() const {
    if (request_.deadline) request_.deadline->check();
  }

  void show(const std::string& text) const {
    if (request_.show) request_.show(text);
  }

  SampleSource source_of(const char* file) const {
    return {.input = "", .path = request_.data / file, .array = {}};
  }

  SampleRequest pixels_of(const char* file, int64_t count) const {
    return {.sources = {source_of(file)}, .count = count, .scale = kPixel, .preprocess = ""};
  }

  void run(const Arithmetic& arithmetic) {
    const std::string model = fmt::format("lenet_{}.onnx", arithmetic.scales);
    const std::string bundle = fmt::format("lenet_{}.twb", arithmetic.scales);
    const SampleRequest images = pixels_of(kTestImages, request_.images);
    Graph quantised;
    step(fmt::format("Quantise with {} scales; calibration on {} training images", arithmetic.scales,
                     kCalibrationImages),
         fmt::format("quantize {} --scales {} -o {} \\\n"
                     "    --calibration {} --calibration-count {} --calibration-scale {} \\\n"
                     "    --evaluate {} --evaluate-count {} --evaluate-scale {} \\\n    --labels {}",
                     shell_word(model_path()), arithmetic.scales, word(model), data_word(kTrainingImages),
                     kCalibrationImages, kPixel, data_word(kTestImages), request_.images, kPixel,
                     data_word(kTestLabels)),
         [&] {
           QuantizedModel result =
               quantize_model({.model = {.path = model_path()},
                               .calibration = pixels_of(kTrainingImages, kCalibrationImages),
                               .evaluation = images,
                               .labels = source_of(kTestLabels),
                               .output = written(model),
                               .scales = arithmetic.scales,
                               .threads = request_.threads});
           return result.report;
         });
    step(fmt::format("Compile for {}", arithmetic.hardware),
         fmt::format("compile {} --hardware {} -o {}", word(model), arithmetic.hardware, word(bundle)), [&] {
           const Compilation compilation =
               compile_model(load_quantized({.path = written(model)}),
                             {.hardware = arithmetic.hardware, .folders = request_.folders});
           write_bundle(written(bundle), compilation.bundle);
           const LayerTable table = layer_table(compilation);
           return Answer{to_string(table), to_json(table)};
         });
    simulate(bundle, images);
  }

  void simulate(const std::string& bundle, const SampleRequest& images) {
    RunRequest question;
    question.model.path = written(bundle);
    question.input = images;
    question.labels = request_.data / kTestLabels;
    question.verify = true;
    question.threads = request_.threads;
    question.folders = request_.folders;
    question.engine.deadline = request_.deadline;
    RunReport report;
    step(fmt::format("Run {} test images on the functional simulator, each output compared bit for bit with "
                     "the integer reference",
                     request_.images),
         fmt::format("run {} --engine functional --verify \\\n"
                     "    --input {} --input-count {} --input-scale {} \\\n    --labels {}",
                     word(bundle), data_word(kTestImages), request_.images, kPixel, data_word(kTestLabels)),
         [&] {
           report = tilewright::run(question);
           check_deadline();  // what is left of a run that was ended is no step of the demo
           const RunAccuracy accuracy = run_accuracy(report, question);
           nlohmann::json facts = nlohmann::json::parse(report.facts);
           facts["top1"] = accuracy.share();
           return Answer{report.summary + to_string(accuracy) + report.verdict, facts.dump()};
         });
    if (report.disagreement) throw Error(*report.disagreement);
    checked_ += request_.images;
  }

  std::string closing(double seconds) const {
    const auto file = [&](const std::string& name, const std::string& what) {
      return fmt::format("  {:<44} {}\n", (request_.output / name).string(), what);
    };
    std::string text = fmt::format(
        "\n== Done in {:.1f} s: {} simulated outputs, each bit-identical to the integer reference\n"
        "Made:\n",
        seconds, checked_);
    for (const Arithmetic& arithmetic : kArithmetics) {
      text += file(fmt::format("lenet_{}.onnx", arithmetic.scales),
                   fmt::format("8 bits, {} scales: ONNX, for other tools too", arithmetic.scales));
      text += file(fmt::format("lenet_{}.twb", arithmetic.scales),
                   fmt::format("compiled for {}", arithmetic.hardware));
    }
    return text + next_steps();
  }

  std::string next_steps() const {
    const std::string bundle = fmt::format("lenet_{}.twb", kArithmetics[0].scales);
    const std::string quantised = fmt::format("lenet_{}.onnx", kArithmetics[0].scales);
    const std::pair<const char*, std::string> steps[] = {
        {"what bounds each layer", fmt::format("explain {}", word(bundle))},
        {"cycle by cycle, with counters",
         fmt::format("run {} --engine cycle --counters --input {} --input-count 1 --input-scale {}",
                     word(bundle), data_word(kTestImages), kPixel)},
        {"another machine: a spatial array",
         fmt::format("map {} --hardware eyeriss-256 --dataflow all", shell_word(model_path()))},
        {"hardware for this network alone: Verilog",
         fmt::format("generate {} --device xc7z020 -o {}", word(quantised),
                     shell_word(request_.output.lexically_normal().string() + "-verilog"))},
        {"another network, with residual blocks; a third one has depthwise convolutions",
         fmt::format("inspect {}", shell_word(model_path("residual")))},
        {"everything else", "--help"},
    };
    std::string text = "Try next:\n";
    for (const auto& [what, arguments] : steps)
      text += fmt::format("  # {}\n  {} {}\n", what, request_.command, arguments);
    return text;
  }

  const DemoRequest& request_;
  FolderWriter writer_;
  const Clock::time_point begin_ = Clock::now();
  int64_t checked_ = 0;
  nlohmann::json json_ = {{"steps", nlohmann::json::array()}};
};

void check_data(const std::filesystem::path& folder) {
  Diagnostics problems;
  for (const char* name : {kTrainingImages, kTestImages, kTestLabels}) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / name, ignored)) continue;
    problems.error(
        ErrorKind::kInvalidInput, "", "", fmt::format("'{}' is not there", (folder / name).string()),
        "install the package dataset-fashion-mnist, or name a folder with the files of Fashion-MNIST");
  }
  problems.raise_if_any();
}

}  // namespace

Answer run_demo(const DemoRequest& request) {
  check_data(request.data);
  return Demo(request).run();
}

}  // namespace tilewright
