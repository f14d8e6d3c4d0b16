// A finished plot, for a file of its own.
#pragma once

#include <string>

#include "tilewright/report/svg.h"

namespace tilewright {

struct PlotDrawing {
  SvgDrawing drawing;
  double width = 0, height = 0;
  std::string title;

  std::string document() const { return drawing.document(width, height, title); }
};

}  // namespace tilewright
