// Building, caching and loading of models, on a small counter.
#include "tilewright/synthesis/verilator.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::synthesis {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCounter = R"(module counter (
    input  logic clk,
    input  logic [31:0] step,
    output logic [31:0] value
);
  always_ff @(posedge clk) begin
    value <= value + step;
    assert (value != 32'd30);
  end
endmodule
)";

constexpr const char* kHarness = R"(#include "Vcounter.h"
static int stops = 0;
void vl_stop(const char*, int, const char*) { ++stops; }
void vl_finish(const char*, int, const char*) {}
void vl_fatal(const char*, int, const char*, const char*) { ++stops; }
extern "C" __attribute__((visibility("default"))) unsigned count(unsigned step, unsigned cycles, int* stopped) {
  VerilatedContext context;
  Vcounter model(&context);
  model.step = step;
  for (unsigned i = 0; i < 2 * cycles; ++i) model.clk = i & 1, model.eval();
  *stopped = stops;
  return model.value;
}
)";

class Verilated : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = missing_tools({"verilator"});
    if (!missing.empty()) GTEST_SKIP() << missing;
    root_ = fs::path(testing::TempDir()) / ("verilated_" + std::to_string(::getpid()));
    create_folder(root_);
    write_text_file(root_ / "counter.sv", kCounter);
    write_text_file(root_ / "harness.cpp", kHarness);
    design_ = {"counter", {root_ / "counter.sv"}, root_ / "harness.cpp", {}, Watched::kNothing};
  }
  void TearDown() override {
    if (!root_.empty()) fs::remove_all(root_);
  }

  unsigned run(const fs::path& library, unsigned step, unsigned cycles, int& stopped) {
    const std::unique_ptr<void, int (*)(void*)> handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL),
                                                       dlclose);
    EXPECT_NE(handle.get(), nullptr) << dlerror();
    if (handle == nullptr) return 0;
    const auto count = reinterpret_cast<unsigned (*)(unsigned, unsigned, int*)>(dlsym(handle.get(), "count"));
    return count(step, cycles, &stopped);
  }

  fs::path root_;
  VerilatedDesign design_;
};

TEST_F(Verilated, BuildsRunsAndCaches) {
  fs::path library, same;  // two builders at once
  std::thread other_builder([&] { same = build_verilated(design_, root_ / "cache"); });
  library = build_verilated(design_, root_ / "cache");
  other_builder.join();
  EXPECT_EQ(library, same);
  int stopped = 0;
  EXPECT_EQ(run(library, 3, 100, stopped), 300u);
  EXPECT_EQ(stopped, 1);  // its assertion
  const auto time = fs::last_write_time(library);
  EXPECT_EQ(build_verilated(design_, root_ / "cache"), library);
  EXPECT_EQ(fs::last_write_time(library), time);

  std::string changed = kCounter;
  changed.replace(changed.find("value + step"), 12, "value - step");
  write_text_file(root_ / "counter.sv", changed);
  const fs::path other = build_verilated(design_, root_ / "cache");
  EXPECT_NE(other, library);
  EXPECT_EQ(run(other, 3, 2, stopped), unsigned(-6));
  for (const auto& entry : fs::directory_iterator(root_ / "cache")) {
    EXPECT_FALSE(entry.is_directory()) << entry.path() << " was left behind";
  }
}

TEST_F(Verilated, WrongSourcesAreNamed) {
  write_text_file(root_ / "counter.sv", "module counter (input logic clk);\n  asign x = 1;\nendmodule\n");
  try {
    build_verilated(design_, root_ / "cache");
    FAIL() << "built";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("counter.sv:2"), std::string::npos) << error.what();
  }
  EXPECT_NE(lint("counter", {root_ / "counter.sv"}).find("counter.sv:2"), std::string::npos);
  write_text_file(root_ / "counter.sv", kCounter);
  EXPECT_EQ(lint("counter", {root_ / "counter.sv"}), "");
}

}  // namespace
}  // namespace tilewright::synthesis
