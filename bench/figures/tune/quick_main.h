// The main program of a figure whose only option is --quick.
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>

namespace tilewright {

inline int quick_main(const char* figure, int (*run)(bool quick), int argc, char** argv) {
  try {
    return run(argc > 1 && std::strcmp(argv[1], "--quick") == 0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", figure, error.what());
    return 1;
  }
}

}  // namespace tilewright
