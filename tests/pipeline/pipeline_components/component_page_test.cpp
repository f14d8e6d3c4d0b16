// docs/guides/components.md: every component has its steps, each missing step is noticed, and the steps
// suffice. This program's list of components has the template in it (CMakeLists.txt).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "support/error_text_testing.h"
#include "support/pipeline/bench_testing.h"
#include "support/pipeline/component_cases_testing.h"
#include "support/pipeline/measured_runs_testing.h"
#include "tilewright/base/file.h"
#include "tilewright/pipeline/design/wiring.h"
#include "tilewright/pipeline/emit/design_synthesis.h"
#include "tilewright/pipeline/estimate/bill.h"
#include "tilewright/pipeline/estimate/resource_features.h"
#include "tilewright/pipeline/verilog/design_sources.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TILEWRIGHT_SOURCE_DIR;
const fs::path kTemplate = kRoot / "tests/pipeline/pipeline_components/template";
const std::string kAdded = "stream_offset";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The files of the page's table, with NAME and MODULE left in.
std::vector<std::string> files_of_the_page() {
  const std::string page = read_text_file(kRoot / "docs/guides/components.md");
  static const std::regex row("\n\\| \\d+ \\| `([^`]+)` \\|");
  std::vector<std::string> files;
  for (std::sregex_iterator at(page.begin(), page.end(), row), end; at != end; ++at)
    files.push_back((*at)[1]);
  return files;
}

std::string file_of(const std::string& step, const std::string& name) {
  return replaced(replaced(step, "MODULE", component_module(name)), "NAME", name);
}

// kStreamOffset of stream_offset.
std::string constant_of(const std::string& name) {
  std::string constant = "k";
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '_') constant += i == 0 || name[i - 1] == '_' ? char(std::toupper(name[i])) : name[i];
  }
  return constant;
}

// What a step writes into its file, all of it.
std::vector<std::string> marks_of(const std::string& step, const std::string& name) {
  if (step.ends_with("MODULE.sv")) return {"module " + component_module(name) + " "};
  if (step.ends_with("/NAME.cpp")) return {"\nconst ComponentType " + constant_of(name) + " = {"};
  if (step.ends_with("/list.h")) return {"  component(" + constant_of(name) + ", " + name + ")"};
  if (step.ends_with("/NAME_case_testing.cpp"))
    return {"\nstd::unique_ptr<BenchCase> random_" + name + "(Random& random) {"};
  if (step.ends_with("/pipeline.md")) return {"\n| " + name + " | "};
  if (step.ends_with("/measured.txt")) return {"\n" + name + " xc7 ", "\n" + name + " xcup "};
  if (step.ends_with("/resource_coefficients.cpp")) return {"\n      {\"" + name + "\",\n"};
  ADD_FAILURE() << "the page names a file that this test does not know: " << step;
  return {};
}

// The steps that a component lacks in the tree at `root`.
std::vector<std::string> missing_steps(const fs::path& root, const std::string& name) {
  std::vector<std::string> missing;
  for (const std::string& step : files_of_the_page()) {
    const fs::path file = root / file_of(step, name);
    std::string text;
    if (step.ends_with("/NAME_case_testing.cpp")) {  // cases of the first components stand together
      for (const auto& entry : fs::directory_iterator(file.parent_path())) {
        if (entry.path().extension() == ".cpp") text += read_text_file(entry.path());
      }
    } else if (fs::exists(file)) {
      text = read_text_file(file);
    }
    for (const std::string& mark : marks_of(step, name)) {
      if (text.find(mark) != std::string::npos) continue;
      missing.push_back(step);
      break;
    }
  }
  return missing;
}

class Folder {
 public:
  explicit Folder(const std::string& name)
      : path(fs::temp_directory_path() / fmt::format("tilewright-{}-{}", name, ::getpid())) {
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path path;
};

// The folder rtl with step 1.
void add_rtl(const fs::path& folder) {
  const std::string file = component_module(kAdded) + ".sv";
  fs::copy(kRoot / "rtl", folder, fs::copy_options::recursive);
  fs::copy_file(kTemplate / file, folder / "pipeline" / file);
}

netlist::Parameters sizes(int64_t bits) { return {{"BITS", bits}, {"OFFSET", int64_t{5}}}; }

// One use, in a netlist and in a bill alike.
Stream offset(ComponentSink& sink, Stream in) {
  Stream out = sink.stream("offset", in.elements, in.element_bits);
  sink.add("offset", kAdded.c_str(), sizes(in.width), {{"in", &in}, {"out", &out}});
  return out;
}

TEST(ComponentPage, HasSevenSteps) { EXPECT_EQ(files_of_the_page().size(), 7u); }

TEST(ComponentPage, EveryComponentHasThem) {
  for (const ComponentType* const type : component_types()) {
    if (type->name == kAdded) continue;
    for (const std::string& step : missing_steps(kRoot, type->name))
      ADD_FAILURE() << type->name << ": " << step;
  }
}

// All steps in a copy of the files that they touch: none is missing. Without one of them, that one is.
TEST(ComponentPage, AMissingStepIsNoticed) {
  EXPECT_EQ(missing_steps(kRoot, kAdded), files_of_the_page());
  const Folder copy("component-page");
  for (const std::string& step : files_of_the_page()) {
    const std::string name = file_of(step, kAdded), own = fs::path(name).filename();
    fs::create_directories((copy.path / name).parent_path());
    if (fs::exists(kTemplate / own)) {
      fs::copy_file(kTemplate / own, copy.path / name);
    } else if (own == "list.h") {
      fs::copy_file(TILEWRIGHT_ADDED_LIST, copy.path / name);
    } else {
      std::string text = read_text_file(kRoot / name);
      for (const std::string& mark : marks_of(step, kAdded)) text += mark;
      write_text_file(copy.path / name, text);
    }
  }
  EXPECT_EQ(missing_steps(copy.path, kAdded), std::vector<std::string>{});
  for (const std::string& step : files_of_the_page()) {
    const fs::path file = copy.path / file_of(step, kAdded);
    const std::string text = read_text_file(file);
    for (const std::string& mark : marks_of(step, kAdded)) {
      write_text_file(file, replaced(text, mark, "\n"));
      EXPECT_EQ(missing_steps(copy.path, kAdded), std::vector<std::string>{step});
    }
    fs::remove(file);
    EXPECT_EQ(missing_steps(copy.path, kAdded), std::vector<std::string>{step});
    write_text_file(file, text);
  }
}

// Steps 2 and 3: by its name everything knows it, and its parameters are checked.
TEST(ComponentPage, TheListRegistersTheTemplate) {
  const ComponentType* const type = component_type(kAdded);
  ASSERT_NE(type, nullptr);
  std::vector<std::string> others;
  for (const ComponentType* const one : component_types()) {
    if (one != type) others.push_back(one->name);
  }
  EXPECT_TRUE(std::is_sorted(others.begin(), others.end()));
  EXPECT_EQ(component_cases().size(), others.size() + 1);
  const std::vector<std::string>& modelled = modelled_components();
  EXPECT_EQ(std::count(modelled.begin(), modelled.end(), kAdded), 1);
  std::vector<netlist::Port> ports;
  ASSERT_TRUE(component_library().ports(kAdded, sizes(8), ports));
  EXPECT_EQ(ports.size(), 6u);
  EXPECT_NE(error_text([] { component_type(kAdded)->ports(sizes(0)); }).find("BITS is 0"), std::string::npos);
}

// The Timing of step 1: a beat taken in t is at the output in t + 1, and one passes in each cycle.
TEST(ComponentPage, TheModelOfTheTemplateHasItsLatency) {
  const netlist::Parameters parameters = sizes(8);
  const std::vector<ComponentPort> ports = component_type(kAdded)->ports(parameters);
  std::vector<uint64_t> values(ports.size());
  std::vector<uint64_t*> cells;
  for (uint64_t& value : values) cells.push_back(&value);
  const auto pin = [&](const std::string& name) -> uint64_t& {
    for (size_t i = 0; i < ports.size(); ++i) {
      if (ports[i].port.name == name) return values[i];
    }
    throw std::logic_error(name);
  };
  Pins pins(cells);
  const std::unique_ptr<CycleModel> model = component_type(kAdded)->cycle_model(parameters, {});
  model->reset(pins);
  const auto cycle = [&](uint64_t offered, uint64_t taken) {
    pin("in_valid") = offered;
    pin("out_ready") = taken;
    model->settle(pins);
    const std::string seen = fmt::format("{}{}", pin("in_ready"), pin("out_valid"));
    model->tick(pins);
    return seen;
  };
  EXPECT_EQ(cycle(1, 1), "10");
  EXPECT_EQ(cycle(1, 1), "11");
  EXPECT_EQ(cycle(1, 0), "01");  // held
  EXPECT_EQ(cycle(0, 1), "11");
  EXPECT_EQ(cycle(0, 1), "10");
}

BenchCases template_cases(size_t count) {
  Random random(3);
  BenchCases cases;
  for (const MakeCase make : component_cases()) {
    while (cases.size() < count) {
      auto one = make(random);
      if (one->component != kAdded) break;
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

// Steps 1, 2 and 4: in Verilator equal to the model in every cycle, with the data that the case wants.
TEST(ComponentPage, TheTemplateEqualsItsModel) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  const BenchCases cases = template_cases(3);
  ASSERT_EQ(cases.size(), 3u);
  const Folder folder("component-template");
  add_rtl(folder.path / "rtl");
  BenchOptions options;
  options.rtl = rtl_options();
  options.rtl.rtl_folder = folder.path / "rtl";
  options.rtl.cache_folder = folder.path / "cache";
  const BenchResult result = run_bench({cases[0].get(), cases[1].get(), cases[2].get()}, options);
  for (const std::string& problem : result.problems) ADD_FAILURE() << problem;
  EXPECT_GT(result.beats, 7500u);
}

// Step 4: the case is content with sums, not with what came in, nor with nothing.
TEST(ComponentPage, TheCaseOfTheTemplateFindsWrongData) {
  const std::unique_ptr<BenchCase> one = std::move(template_cases(1).at(0));
  const int bits = int(netlist::integer(one->parameters, "BITS"));
  Beat in(bits), sum(bits);
  sum.set(0, bits, uint64_t(netlist::integer(one->parameters, "OFFSET")));
  ASSERT_NE(in, sum);
  const auto said = [&](const std::vector<Beat>& out) {
    one->begin();
    for (int i = 0; i < 2; ++i) one->transferred("in", in, false);
    for (const Beat& beat : out) one->transferred("out", beat, false);
    return one->finish();
  };
  EXPECT_EQ(said({sum, sum}), "");
  EXPECT_EQ(said({sum}), "");
  EXPECT_EQ(said({sum, in}), "a beat is not the one before plus OFFSET");
  EXPECT_EQ(said({sum, sum, sum}), "a beat is not the one before plus OFFSET");
  EXPECT_EQ(said({}), "beats are missing");
}

// One call of add gives the instance with its nets, the item of the bill with the same sizes, and the
// sources.
TEST(ComponentPage, OneCallPutsTheTemplateIntoADesign) {
  netlist::Module module("top");
  MemoryImages images;
  Wiring wiring(module, images);
  EXPECT_EQ(offset(wiring, wiring.stream("given", 3, 4)).width, 12);
  Bill bill;
  EXPECT_EQ(offset(bill, bill.stream("given", 3, 4)).width, 12);
  const std::vector<BillItem> items = bill.take();
  ASSERT_EQ(module.instances.size(), 1u);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(module.instances[0].module, items[0].component);
  EXPECT_EQ(module.instances[0].parameters, items[0].parameters);
  EXPECT_EQ(module.instances[0].connections.size(), 6u);
  const std::vector<fs::path> sources = component_files({"top", {module}});
  EXPECT_EQ(sources.back(), fs::path("pipeline/tw_stream_offset.sv"));
}

// Step 2's features are those that Yosys counts: a flip-flop per unit of them, and LUTs that do not depend on
// the width. The line of step 6 can be read.
TEST(ComponentPage, TheFeaturesOfTheTemplateAreItsArea) {
  const auto family = synthesis::DeviceFamily::kXc7;
  const auto features = [&](int64_t bits) { return resource_features(kAdded, sizes(bits), family); };
  EXPECT_EQ(std::string(features(8).form), kAdded);
  if (!synthesis::tool_installed("yosys")) GTEST_SKIP() << "yosys is not installed";
  const Folder folder("component-area");
  add_rtl(folder.path / "rtl");
  netlist::Instance narrow, wide;
  narrow.module = wide.module = kAdded;
  narrow.parameters = sizes(8);
  wide.parameters = sizes(24);
  DesignSynthesisOptions options;
  options.rtl_folder = folder.path / "rtl";
  options.folder = folder.path / "yosys";
  options.family = family;
  const std::vector<ComponentCount> counts = count_components({&narrow, &wide}, {}, options);
  const synthesis::Resources &few = counts[0].count.resources, &many = counts[1].count.resources;
  EXPECT_EQ(double(few.ff), features(8).ff[0] + features(8).ff[1]);
  EXPECT_EQ(double(many.ff), features(24).ff[0] + features(24).ff[1]);
  EXPECT_EQ(features(8).lut, features(24).lut);
  EXPECT_EQ(few.lut, many.lut);
  EXPECT_EQ(many.dsp + many.bram + many.uram, 0);
  const MeasuredRun run = parse_measured_run(
      fmt::format("{} lut={} ff={} dsp=0 bram=0 uram=0",
                  replaced(component_signature(wide, {}), " ", " xc7 "), many.lut, many.ff));
  EXPECT_EQ(run.component, kAdded);
  EXPECT_EQ(run.parameters, wide.parameters);
}

}  // namespace
}  // namespace tilewright::pipeline
