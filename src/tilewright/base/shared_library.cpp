// dlopen with all symbols resolved at once and kept local to the library; copies share the handle.
#include "tilewright/base/shared_library.h"

#include <dlfcn.h>

#include "tilewright/base/error.h"

namespace tilewright {

SharedLibrary::SharedLibrary(const std::filesystem::path& path, std::string hint, Unload unload)
    : path_(path), hint_(std::move(hint)) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw Error(ErrorKind::kUnsupported,
                "cannot load '" + path.string() + "': " + (reason != nullptr ? reason : "no reason given"),
                hint_);
  }
  handle_ = std::shared_ptr<void>(handle, [unload](void* loaded) {
    if (unload == Unload::kWithLastCopy) dlclose(loaded);
  });
}

void* SharedLibrary::find(const std::string& name) const {
  void* const address = dlsym(handle_.get(), name.c_str());
  if (address == nullptr) {
    throw Error(ErrorKind::kUnsupported, "'" + path_.string() + "' has no symbol '" + name + "'", hint_);
  }
  return address;
}

}  // namespace tilewright
