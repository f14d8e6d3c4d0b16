// For tests: where compiled models are kept, and what is missing to make them.
#pragma once

#include <string>

#include "tilewright/pipeline/verilog/rtl_model.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::pipeline {

inline RtlModelOptions rtl_options() {
  RtlModelOptions options;
  options.rtl_folder = TILEWRIGHT_SOURCE_DIR "/rtl";
  options.cache_folder = TILEWRIGHT_RTL_CACHE;
  return options;
}

// Empty when RtlModel can be used; else the reason to skip.
inline std::string missing_for_rtl() { return synthesis::missing_tools({"verilator", "g++"}); }

}  // namespace tilewright::pipeline
