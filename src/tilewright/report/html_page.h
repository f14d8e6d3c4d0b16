// The pieces of the pages that verbs write: one HTML file each (well-formed XML) with its plots inside,
// readable on light and dark ground, without scripts.
#pragma once

#include <string>
#include <vector>

#include "tilewright/report/plot_drawing.h"

namespace tilewright {

// `body`: made of the pieces below, and <p> elements.
std::string html_page(const std::string& title, const std::string& body);
std::string html_heading(const std::string& text);
// A name and a large value; facts stand between <dl> and </dl>.
std::string html_fact(const std::string& name, const std::string& value);
std::string html_figure(const PlotDrawing& plot, const std::string& title, const std::string& caption);

// Cells in turn; a heading that begins with '>' stands over numbers. Texts are escaped.
class HtmlTable {
 public:
  explicit HtmlTable(const std::vector<std::string>& headings);
  void row(const std::vector<std::string>& cells);
  std::string html() const;

 private:
  std::vector<bool> right_;
  std::string rows_;
};

}  // namespace tilewright
