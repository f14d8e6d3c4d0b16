// A shared library that is loaded while the program runs: compiled models of RTL, training with libtorch.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace tilewright {

class SharedLibrary {
 public:
  enum class Unload { kWithLastCopy, kNever };

  // `hint`: what to do when it cannot be used. Errors (unsupported): it cannot be loaded, with the loader's
  // reason.
  explicit SharedLibrary(const std::filesystem::path& path, std::string hint = {},
                         Unload unload = Unload::kWithLastCopy);

  // The C symbol `name` as a pointer of type T. Errors (unsupported): it has none.
  template <typename T>
  T symbol(const std::string& name) const {
    return reinterpret_cast<T>(find(name));
  }

 private:
  void* find(const std::string& name) const;

  std::filesystem::path path_;
  std::string hint_;
  std::shared_ptr<void> handle_;  // unloads it with the last copy, or never
};

}  // namespace tilewright
