// A model in a library that build_verilated() made, driven through the interface that its harness exports: a
// struct of function pointers, of which create(wave file or nullptr, ...) and destroy(model) are used here.
#pragma once

#include <filesystem>
#include <utility>

#include "tilewright/base/shared_library.h"

namespace tilewright::synthesis {

template <typename Interface, typename Model>
class VerilatedModel {
 public:
  // `entry`: the library's function that gives its interface. `waves`: file for the waves; empty: none. There
  // is no model before restart(). Errors (unsupported): those of SharedLibrary.
  VerilatedModel(const std::filesystem::path& library, const char* entry, std::filesystem::path waves)
      : library_(library, "remove it from the cache to have it built again", kUnload),
        waves_(std::move(waves)),
        interface(library_.symbol<const Interface* (*)()>(entry)()) {}
  ~VerilatedModel() { end(); }
  VerilatedModel(const VerilatedModel&) = delete;
  VerilatedModel& operator=(const VerilatedModel&) = delete;

  // A model as after power-up. `rest`: what create() takes after the wave file.
  template <typename... Rest>
  void restart(Rest... rest) {
    end();
    model = interface->create(waves_.empty() ? nullptr : waves_.c_str(), rest...);
  }

 private:
  // Verilator's runtime keeps a small buffer in every library and never frees it. The leak checker reports it
  // once the library is unloaded.
#ifdef __SANITIZE_ADDRESS__
  static constexpr SharedLibrary::Unload kUnload = SharedLibrary::Unload::kNever;
#else
  static constexpr SharedLibrary::Unload kUnload = SharedLibrary::Unload::kWithLastCopy;
#endif

  void end() {
    if (model != nullptr) interface->destroy(std::exchange(model, nullptr));
  }

  const SharedLibrary library_;
  const std::filesystem::path waves_;

 public:
  const Interface* const interface;
  Model* model = nullptr;
};

}  // namespace tilewright::synthesis
