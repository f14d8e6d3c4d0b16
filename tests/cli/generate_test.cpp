// Designs of their own for networks, through the command: what stands in the folder, what it computes, and
// what is refused how.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "command.h"
#include "small_model.h"
#include "tilewright/base/file.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

void expect_failure(const std::string& arguments, int exit_code, const std::vector<std::string>& texts) {
  const CommandResult result = command(arguments);
  EXPECT_EQ(result.exit_code, exit_code) << arguments << "\n" << result.output;
  for (const std::string& text : texts) {
    EXPECT_NE(result.output.find(text), std::string::npos) << arguments << "\n" << result.output;
  }
}

// By path inside the folder.
std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[fs::relative(entry.path(), folder).string()] = read_text_file(entry.path());
  }
  return files;
}

nlohmann::json report_of(const fs::path& folder) {
  return nlohmann::json::parse(read_text_file(folder / "report.json"));
}

void expect_complete(const std::string& options) {
  const fs::path folder = small_design("complete", options);
  for (const char* file :
       {"model.onnx", "allocation.yaml", "device.yaml", "report.html", "report.json", "README.md",
        "rtl/tilewright_pipeline.sv", "rtl/tilewright_axi.sv", "memory/identity.hex",
        "testbench/testbench.sv", "host/host.cpp", "host/driver.py", "host/simulated.py", "build.tcl",
        "clock.xdc", "package_ip.tcl", "block_design.tcl", "tilewright.core", "registers.rdl"}) {
    EXPECT_TRUE(fs::exists(folder / file)) << file;
  }
  const nlohmann::json report = report_of(folder);
  EXPECT_EQ(report["layers"].size(), 3u);
  EXPECT_EQ(report["shape"], options.find("processors") != std::string::npos ? "processors" : "streaming");
  EXPECT_TRUE(report["simulated"]);
  const std::string page = read_text_file(folder / "report.html");
  for (const char* text : {"\"module", "\"module_", "\"reg", "tilewright generate ", "\"sha256\""}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
  // One image takes as long as the report says, and the host gives what the model gives.
  const std::string input = " --input " + small_model().images.string();
  const nlohmann::json one = nlohmann::json::parse(
      expect_success("run " + folder.string() + input + " --input-count 1 --engine cycle --json").output);
  EXPECT_EQ(one["cycles"], report["cycles"]);
  expect_success("run " + folder.string() + input + " --engine host --verify");
}

TEST(Generate, FoldersAreCompleteAndComputeTheModel) {
  for (const std::string& form : small_model_forms()) {
    SCOPED_TRACE(form);
    expect_complete(form);
  }
}

TEST(Generate, AnAllocationFileGivesTheSameFolder) {
  const fs::path first = small_design("first", calibrated() + " --objective throughput");
  const fs::path second =
      small_design("second", calibrated() + " --allocation " + (first / "allocation.yaml").string());
  const auto a = files_of(first), b = files_of(second);
  EXPECT_GT(a.size(), 10u);
  EXPECT_EQ(a.size(), b.size());
  for (const auto& [name, text] : a) {
    ASSERT_EQ(b.count(name), 1u) << name;
    const bool names_the_command = name == "report.html" || name == ".tilewright";  // the page, its digest
    EXPECT_TRUE(names_the_command || text == b.at(name)) << name;
  }
}

TEST(Generate, ExplainsAndPrintsJson) {
  const fs::path folder = fresh_folder("explain") / "design";
  const std::string arguments = "generate " + small_model().path.string() + " --device xc7z020 " +
                                calibrated() + " --explain --clock 50 -o " + folder.string();
  const nlohmann::json json = nlohmann::json::parse(expect_success(arguments + " --json").output);
  EXPECT_EQ(json["clock_mhz"], 50);
  EXPECT_GT(json["allocations_estimated"], 0);
  EXPECT_NE(json["explanation"].get<std::string>().find("multipliers"), std::string::npos);
  // A folder with a design is replaced.
  const std::string text = expect_success(arguments).output;
  for (const char* part : {"simulated:", "estimated:", "module_", "DSP", "at 50 MHz", "bound by"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const std::string estimated = expect_success(arguments + " --no-simulate").output;
  EXPECT_EQ(estimated.find("simulated:"), std::string::npos) << estimated;
}

// Its folder computes what the quantised file does, which another run of generate takes; the page has the
// front.
TEST(Generate, ChoosesBitsForABudget) {
  const fs::path folder = fresh_folder("bits"), design = folder / "design", file = folder / "q.onnx";
  const std::string model = "generate " + small_model().path.string() + " --device xc7z020 " + calibrated();
  const nlohmann::json json =
      nlohmann::json::parse(expect_success(model + " --bits-for lut=0.8 --widths 4,6,8 --format qonnx" +
                                           " --quantized " + file.string() + " --json -o " + design.string())
                                .output);
  const nlohmann::json& precision = json["precision"];
  EXPECT_LE(precision["chosen"]["lut"], precision["limit"]);
  EXPECT_EQ(precision["chosen"]["weight_bits"].size(), 3u);
  EXPECT_GT(precision["front"].size(), 0u);
  EXPECT_NE(read_text_file(design / "report.html").find("Bits per layer"), std::string::npos);
  expect_success("run " + design.string() + " --input " + small_model().images.string() +
                 " --input-count 2 --engine cycle --verify");
  const fs::path again = folder / "again";
  expect_success("generate " + file.string() + " --device xc7z020 --allocation " +
                 (design / "allocation.yaml").string() + " --no-simulate -o " + again.string());
  // Values have other names in the file, and comments name them.
  const auto hardware = [](const fs::path& made) {
    return std::regex_replace(read_text_file(made / "rtl/tilewright_pipeline.sv"), std::regex("//[^\n]*"),
                              "");
  };
  EXPECT_EQ(hardware(design), hardware(again));

  const std::string out = " -o " + (folder / "none").string();
  expect_failure(model + " --bits-for lut=0.01" + out, 3, {"the nearest of", "allow lut=0."});
  expect_failure(model + " --bits-for luts=0.5" + out, 1, {"luts", "did you mean 'lut'"});
  expect_failure(model + " --bits-for lut=0.5 --widths 1,4" + out, 1, {"'1' bits cannot be chosen"});
  expect_failure("generate " + small_model().path.string() + " --device xc7z020 --bits-for lut=0.5" + out, 1,
                 {"--calibration"});
  expect_failure(
      "generate " + file.string() + " --device xc7z020 " + calibrated() + " --bits-for lut=0.5" + out, 1,
      {"quantised already"});
  EXPECT_FALSE(fs::exists(folder / "none"));
}

TEST(Generate, RefusesFoldersThatHoldSomethingElse) {
  const fs::path folder = fresh_folder("taken");
  write_text_file(folder / "thesis.txt", "work of years");
  const std::string model = "generate " + small_model().path.string() + " --device xc7z020 " + calibrated();
  expect_failure(model + " -o " + folder.string(), 1, {"that 'generate' did not write (thesis.txt)"});
  expect_failure(model + " -o " + (folder / "thesis.txt").string(), 1, {"is not a folder"});
  expect_failure(model + " -o " + (folder / "thesis.txt/design").string(), 1, {"thesis.txt"});
  EXPECT_EQ(read_text_file(folder / "thesis.txt"), "work of years");
  EXPECT_EQ(files_of(folder).size(), 1u);
}

// The folder of an earlier design is replaced; what somebody put there is not.
TEST(Generate, KeepsWhatWasAddedToADesign) {
  const fs::path parent = fresh_folder("kept"), folder = parent / "design";
  const std::string generate = "generate " + small_model().path.string() + " --device xc7z020 " +
                               calibrated() + " --no-simulate -o " + folder.string();
  expect_success(generate);
  write_text_file(folder / "notes.md", "mine");
  fs::create_directories(folder / "rtl/board");
  write_text_file(folder / "rtl/board/top.sv", "mine too");
  fs::create_directories(parent / "design.partial");
  write_text_file(parent / "design.partial/thesis.txt", "work of years");
  expect_success(generate + " --clock 50");
  EXPECT_EQ(report_of(folder)["clock_mhz"], 50);
  EXPECT_EQ(read_text_file(folder / "notes.md"), "mine");
  EXPECT_EQ(read_text_file(folder / "rtl/board/top.sv"), "mine too");
  EXPECT_EQ(read_text_file(parent / "design.partial/thesis.txt"), "work of years");
  EXPECT_EQ(std::distance(fs::directory_iterator(parent), {}), 2);
  write_text_file(folder / "host/host.cpp", "changed");
  expect_failure(generate, 1,
                 {"files that 'generate' wrote and that were changed afterwards (host/host.cpp)"});
  EXPECT_EQ(read_text_file(folder / "host/host.cpp"), "changed");
  EXPECT_EQ(report_of(folder)["clock_mhz"], 50);
}

TEST(Generate, AFullDiskLeavesNothingBehind) {
  const fs::path parent = fresh_folder("full");
  const CommandResult result = command("generate " + small_model().path.string() + " --device xc7z020 " +
                                           calibrated() + " -o " + (parent / "design").string(),
                                       "trap '' XFSZ; ulimit -f 4;");
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_NE(result.output.find("File too large"), std::string::npos) << result.output;
  EXPECT_TRUE(fs::is_empty(parent));
}

TEST(Generate, SaysWhatIsWrong) {
  const std::string model = "generate " + small_model().path.string();
  const std::string out = " -o " + (fresh_folder("wrong") / "design").string();
  const std::string device = " --device xc7z020 ";
  expect_failure(model + device + out, 1, {"calibration", "--number-type q10.22"});
  expect_failure(model + " --device xc7z999 " + calibrated() + out, 1, {"xc7z020"});
  expect_failure(model + device + calibrated() + " --clock 0" + out, 1, {"--clock"});
  expect_failure(model + device + calibrated() + " --budget dsp=few,gold=1" + out, 1, {"dsp", "gold"});
  expect_failure(model + device + " --number-type q9.22" + out, 1, {"q9.22"});
  expect_failure(model + device + " --number-type q10.22 --weight-bits 4" + out, 1, {"--weight-bits"});
  expect_failure(model + device + calibrated() + " --allocation /nowhere.yaml" + out, 1, {"/nowhere.yaml"});
  expect_failure(model + device + calibrated() + " --budget lut=100,bram=0" + out, 3,
                 {"LUT", "BRAM", "a sufficient budget"});
  expect_failure("generate /nowhere.onnx" + device + out, 1, {"/nowhere.onnx"});
}

TEST(Generate, SaysWhichPartIsHardwareAndNamesEveryOperatorInTheWay) {
  const fs::path path = unsupported_model(fresh_folder("unsupported"));
  const std::string out = " -o " + (fresh_folder("unsupported_out") / "design").string();
  const std::string text =
      expect_success("generate " + path.string() + " --device xc7z020 --number-type q10.22" + out).output;
  for (const char* part : {"% of the network's products, the rest on the host", "node 'middle_one' (Sin)",
                           "node 'middle_two' (Sin)", "layers need its result"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Generate, ABatchIsALoopAndBranchesMeet) {
  const fs::path path = batch_model(fresh_folder("batch")), design = fresh_folder("batch_out") / "design";
  const std::string made = expect_success("generate " + path.string() + " --device xc7z020 " + calibrated() +
                                          " -o " + design.string())
                               .output;
  EXPECT_NE(made.find("batch of 4 is a loop"), std::string::npos) << made;
  const std::string run =
      expect_success("run " + design.string() + " --input " + small_model().images.string() + " --verify")
          .output;
  EXPECT_NE(run.find("all 8 outputs are bit-identical"), std::string::npos) << run;
  expect_failure("generate " + path.string() + " --device xc7z020 --form streaming " + calibrated() + " -o " +
                     (design.parent_path() / "other").string(),
                 2, {"no shape of hardware computes", "which streams cannot (--form processors can)"});
}

TEST(Generate, AGivenAllocationIsChecked) {
  const fs::path first = small_design("given", calibrated() + " --form processors");
  const std::string text = read_text_file(first / "allocation.yaml");
  const fs::path broken = fresh_folder("given_broken") / "broken.yaml";
  write_text_file(broken, text.substr(0, text.size() / 2) + "\n  : [");
  const std::string model = "generate " + small_model().path.string() + " --device xc7z020 " + calibrated();
  const std::string out = " -o " + (fresh_folder("given_out") / "design").string();
  expect_failure(model + " --allocation " + broken.string() + out, 1, {"broken.yaml"});
  expect_failure(
      model + " --allocation " + (first / "allocation.yaml").string() + " --budget lut=10,ff=10" + out, 3,
      {"LUT", "FF", "too few"});
}

TEST(RunDesign, RefusesWhatItHasNoUseFor) {
  const fs::path folder = small_design("refuse", calibrated());
  const std::string run = "run " + folder.string() + " --input " + small_model().images.string();
  expect_failure(run + " --hardware overlay-16x16", 1, {"--hardware does not apply"});
  expect_failure(run + " --engine cycle --trace t.json", 1, {"--trace does not apply"});
  expect_failure(run + " --engine host --memory ddr", 1, {"--memory does not apply"});
  fs::remove(folder / "device.yaml");
  expect_failure(run, 1, {"device.yaml"});
}

TEST(Generate, ConstantWeightsAreWires) {
  const fs::path folder = fresh_folder("constant");
  const SmallModel model = dense_model(folder);
  const std::string command_line = "generate " + model.path.string() +
                                   " --device xczu3eg --form constant -o " + (folder / "wires").string() +
                                   " --calibration " + model.images.string();
  const nlohmann::json report = nlohmann::json::parse(expect_success(command_line + " --json").output);
  EXPECT_EQ(report["interval_cycles"], 1);
  EXPECT_EQ(report["dsp"], 0);
  ASSERT_EQ(report["layers"].size(), 3u);
  EXPECT_EQ(report["layers"][0]["inputs"], 12);
  EXPECT_GT(report["lut"], 0);
  int latency = 1;  // the last elements' registers
  for (const nlohmann::json& layer : report["layers"]) latency += int(layer["latency_cycles"]);
  EXPECT_EQ(report["latency_cycles"], latency);
  for (const char* file : {"constant_network.sv", "testbench.sv", "vectors.hex", "results.hex", "README.md",
                           "report.json", "model.onnx"}) {
    EXPECT_TRUE(fs::exists(folder / "wires" / file)) << file;
  }
  EXPECT_NE(expect_success(command_line).output.find("a result in every cycle"), std::string::npos);
  expect_failure(command_line + " --budget lut=1000", 1, {"--budget has no effect with --form constant"});
  expect_failure(
      "generate " + small_model().path.string() + " --device xczu3eg --form constant -o " +
          (folder / "none").string() + " " + calibrated(),
      2,
      {"layer 'module_1' (constant weights): its window does not see the whole input at once; constant "
       "weights take a chain of dense layers; use --form auto"});
  EXPECT_FALSE(fs::exists(folder / "none"));
}

}  // namespace
}  // namespace tilewright
