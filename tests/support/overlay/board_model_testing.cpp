// The model is a shared library with a C interface (rtl/harness/board_harness.cpp), loaded at run time.
#include "support/overlay/board_model_testing.h"

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/shared_library.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

// An answer of four bytes follows its request by far less.
constexpr uint64_t kAnswerCycles = 100000;
constexpr const char* kIce40Cells = "/usr/share/yosys/ice40/cells_sim.v";

}  // namespace

struct BoardModel::Library {
  explicit Library(const fs::path& path) : library(path, "remove it from the cache to have it built again") {
    find(create, "board_create");
    find(destroy, "board_destroy");
    find(send, "board_send");
    find(receive, "board_receive");
    find(cycles, "board_cycles");
    find(complaint, "board_complaint");
    model = create(kCyclesPerBit);
  }
  ~Library() {
    if (model) destroy(model);
  }
  template <typename Function>
  void find(Function& function, const char* name) {
    function = library.symbol<Function>(name);
  }

  const SharedLibrary library;
  void* model = nullptr;
  void* (*create)(int) = nullptr;
  void (*destroy)(void*) = nullptr;
  void (*send)(void*, const uint8_t*, size_t) = nullptr;
  size_t (*receive)(void*, uint8_t*, size_t, uint64_t) = nullptr;
  uint64_t (*cycles)(const void*) = nullptr;
  const char* (*complaint)(const void*) = nullptr;
};

BoardModel::BoardModel(const std::vector<fs::path>& sources, const fs::path& rtl_folder,
                       const fs::path& cache_folder) {
  synthesis::VerilatedDesign design;
  design.top = "overlay_board";
  design.sources = sources;
  design.harness = rtl_folder / "harness" / "board_harness.cpp";
  design.headers = synthesis::harness_headers(rtl_folder);
  library_ = std::make_unique<Library>(synthesis::build_verilated(design, cache_folder));
}

BoardModel::~BoardModel() = default;

void BoardModel::send(std::span<const uint8_t> bytes) {
  library_->send(library_->model, bytes.data(), bytes.size());
}

bool BoardModel::receive(std::span<uint8_t> bytes) {
  return library_->receive(library_->model, bytes.data(), bytes.size(), kAnswerCycles) == bytes.size();
}

uint64_t BoardModel::cycles() const { return library_->cycles(library_->model); }
std::string BoardModel::complaint() const { return library_->complaint(library_->model); }

std::vector<fs::path> ice40_netlist_sources(const fs::path& netlist) {
  if (!fs::exists(kIce40Cells)) {
    throw Error(ErrorKind::kUnsupported, std::string("there is no '") + kIce40Cells + "'",
                "apt-get install yosys");
  }
  // Verilator knows no default values of ports, and the netlist connects all of them.
  const fs::path define = netlist.parent_path() / "cell_ports.v";
  write_text_file(define, "`define NO_ICE40_DEFAULT_ASSIGNMENTS\n");
  return {define, netlist, kIce40Cells};
}

}  // namespace tilewright::overlay
