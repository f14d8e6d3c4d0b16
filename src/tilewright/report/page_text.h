// The files of the viewer as they are built into the library (viewer/embed.cmake).
#pragma once

#include <string>

namespace tilewright {

std::string page_style();    // CSS
std::string page_library();  // the modules of D3 with their licence
std::string page_viewer();   // JavaScript

}  // namespace tilewright
