// The options of figures with random cases: --quick, --seed S, --cases N.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "tilewright/base/error.h"

namespace tilewright {

struct CaseOptions {
  bool quick = false;
  uint64_t seed = 1;
  int64_t cases = 0;
};

// `usual` cases, a tenth of them with --quick. Errors (invalid input): another option, or a value that is no
// number.
inline CaseOptions case_options(int argc, char** argv, int64_t usual) {
  CaseOptions options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--quick") {
      options.quick = true;
      continue;
    }
    unsigned long long value = 0;
    int end = 0;
    if ((name != "--seed" && name != "--cases") || i + 1 == argc ||
        std::sscanf(argv[i + 1], "%llu%n", &value, &end) != 1 || argv[i + 1][end] != '\0') {
      throw Error(ErrorKind::kInvalidInput, "'" + name + "' is not an option or lacks its number",
                  "options: --quick, --seed S, --cases N");
    }
    if (name == "--seed") options.seed = value;
    if (name == "--cases") options.cases = int64_t(value);
    ++i;
  }
  if (options.cases == 0) options.cases = options.quick ? usual / 10 : usual;
  return options;
}

// The main program of such a figure: prints what it is about to do and what went wrong.
inline int case_main(const char* figure, int64_t usual, int (*run)(const CaseOptions&), int argc,
                     char** argv) {
  try {
    const CaseOptions options = case_options(argc, argv, usual);
    std::printf("%s --seed %llu --cases %lld\n", figure, (unsigned long long)options.seed,
                (long long)options.cases);
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", figure, error.what());
    return 1;
  }
}

}  // namespace tilewright
