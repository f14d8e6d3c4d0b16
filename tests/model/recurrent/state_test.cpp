// A recurrent cell whose state goes from call to call: pairs found in the network, calibration call after
// call, bundles, and the file between two runs.
#include <gtest/gtest.h>

#include <filesystem>

#include "model/recurrent/recurrent_networks.h"
#include "support/error_text_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/flow/model/quantize_model.h"
#include "tilewright/flow/run/compile_model.h"
#include "tilewright/flow/run/overlay_target.h"
#include "tilewright/flow/samples/npz.h"
#include "tilewright/frontend/onnx/onnx_reader.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

const std::vector<StatePair> kPairs = {{"h0", "hn"}, {"c0", "cn"}};

Tensor random_calls(int64_t count, uint64_t seed) {
  Random random(seed);
  Tensor x(ElementType::kF32, {count, 1, 6});
  for (float& value : x.mutable_data<float>()) value = float(2 * random.uniform() - 1);
  return x;
}

SampleRequest samples_of(const Tensor& array) {
  SampleRequest request;
  request.sources.push_back({.input = "", .path = "", .array = array});
  return request;
}

// The cell of cell_file(), quantised with its state and compiled.
Bundle cell_bundle(uint64_t seed = 1) {
  QuantizeRequest request;
  request.model.graph = std::make_shared<const Graph>(parse_onnx(cell_file(seed)));
  request.calibration = samples_of(random_calls(40, 2));
  request.states = kPairs;
  CompileRequest compile;
  compile.hardware = "overlay-8x8";
  compile.no_records = true;
  compile.states = kPairs;
  compile.folders.hardware = std::string(TILEWRIGHT_SOURCE_DIR) + "/hardware";
  return parse_bundle(format_bundle(compile_model(quantize_model(request).graph, compile).bundle));
}

std::vector<std::pair<std::string, Tensor>> run_calls(const Bundle& bundle, const Tensor& x,
                                                      const fs::path& state) {
  RunRequest request;
  request.input = samples_of(x);
  request.verify = true;
  request.state = state;
  request.threads = 2;
  RunReport report = run_bundle(PreparedBundle(bundle), request);
  EXPECT_FALSE(report.disagreement);
  return report.outputs;
}

Tensor first_calls(const Tensor& x, int64_t begin, int64_t end) {
  Tensor part(x.type(), {end - begin, 1, 6});
  for (int64_t i = 0; i < part.size(); ++i) part.set_number(i, x.number_at(begin * 6 + i));
  return part;
}

TEST(NetworkState, TwoRunsWithAFileAreOneLongRun) {
  const Bundle bundle = cell_bundle();
  EXPECT_EQ(bundle.states, kPairs);
  const TemporaryFolder folder(fs::temp_directory_path(), "state_test");
  const Tensor x = random_calls(12, 3);
  const auto whole = run_calls(bundle, x, {});
  const auto first = run_calls(bundle, first_calls(x, 0, 5), folder.path() / "state.npz");
  const auto second = run_calls(bundle, first_calls(x, 5, 12), folder.path() / "state.npz");
  const int64_t each = whole[0].second.size() / 12;
  for (int64_t i = 0; i < whole[0].second.size(); ++i) {
    const double again =
        i < 5 * each ? first[0].second.number_at(i) : second[0].second.number_at(i - 5 * each);
    ASSERT_EQ(whole[0].second.number_at(i), again) << i;
  }
  // Without the file, the second part begins with zeros and differs.
  const auto alone = run_calls(bundle, first_calls(x, 5, 12), {});
  EXPECT_FALSE(alone[0].second.identical(second[0].second));
}

TEST(NetworkState, WrongFilesAreRefused) {
  const Bundle bundle = cell_bundle();
  const TemporaryFolder folder(fs::temp_directory_path(), "state_test");
  const Tensor x = random_calls(2, 3);
  const fs::path file = folder.path() / "state.npz";
  run_calls(cell_bundle(7), x, file);
  EXPECT_EQ(error_text([&] { run_calls(bundle, x, file); }),
            "state '" + file.string() +
                "': is not a state of this bundle; give the file that this bundle wrote; without a file it "
                "begins with zeros");
  write_npz(file, {{"h0", Tensor(ElementType::kF32, {1, 1, 4})}});
  EXPECT_NE(error_text([&] { run_calls(bundle, x, file); }).find("is not a state of this bundle"),
            std::string::npos);
  run_calls(bundle, x, folder.path() / "good.npz");
  NamedArrays arrays = parse_npz(read_file(folder.path() / "good.npz"));
  arrays.pop_back();
  write_npz(file, arrays);
  EXPECT_NE(error_text([&] { run_calls(bundle, x, file); }).find("lacks the state 'c0'"), std::string::npos);
  arrays.emplace_back("c0", Tensor(ElementType::kF32, {3}));
  write_npz(file, arrays);
  EXPECT_NE(error_text([&] { run_calls(bundle, x, file); }).find("its states have other types or shapes"),
            std::string::npos);
  write_file(file, std::vector<std::byte>(10));
  EXPECT_NE(error_text([&] { run_calls(bundle, x, file); }).find("state '" + file.string()),
            std::string::npos);
  Bundle plain = bundle;
  plain.states.clear();
  EXPECT_EQ(error_text([&] { run_calls(plain, x, file); }),
            "--state is for bundles that keep a state between runs, and this one has none; compile it with "
            "--state INPUT=OUTPUT");
}

TEST(NetworkState, DamagedSectionsOfABundleAreNamed) {
  Bundle bundle = cell_bundle();
  bundle.states[0].output = "nowhere";
  EXPECT_EQ(
      error_text([&] { parse_bundle(format_bundle(bundle)); }),
      "section 'states.json': state 'h0=nowhere': the network has no output 'nowhere'; its outputs: 'y', "
      "'hn', 'cn'");
}

TEST(NetworkState, PairsThatDoNotFitAreRefusedTogether) {
  const Graph graph = parse_onnx(cell_file(1));
  EXPECT_EQ(error_text([&] {
              find_states(graph, {{"h", "hn"}, {"h0", "y"}, {"c0", "cn"}, {"c0", "hm"}});
            }),
            "4 problems\n"
            "  state 'h=hn': the network has no input 'h'; its inputs: 'x', 'h0', 'c0'\n"
            "  state 'h0=y': the output is f32[1x3], the input f32[1x1x4]; a state keeps its type and shape\n"
            "  state 'c0=hm': the network has no output 'hm'; its outputs: 'y', 'hn', 'cn'\n"
            "  state 'c0=hm': the input is named twice; one output becomes the next input");
  Graph next = graph;
  next.value(next.outputs[1]).name = "h0.next";
  EXPECT_EQ(find_states(next, {}), (std::vector<StatePair>{{"h0", "h0.next"}}));
}

}  // namespace
}  // namespace tilewright
