// A small writer of SVG drawings: coordinates in pixels, y downwards. Text is escaped.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

enum class SvgAnchor { kStart, kMiddle, kEnd };

struct SvgText {
  double size = 12;
  SvgAnchor anchor = SvgAnchor::kStart;
  double degrees = 0;  // rotation about its anchor, clockwise
  bool bold = false;
  std::string colour = "#222222";
};

class SvgDrawing {
 public:
  void rectangle(double x, double y, double width, double height, const std::string& fill,
                 const std::string& tooltip = {});
  void line(double x1, double y1, double x2, double y2, const std::string& colour, double width = 1,
            bool dashed = false);
  void polyline(const std::vector<std::pair<double, double>>& points, const std::string& colour,
                double width);
  void circle(double x, double y, double radius, const std::string& fill, const std::string& tooltip = {});
  void text(double x, double y, const std::string& content, const SvgText& style = {});
  // The document, on white.
  std::string document(double width, double height, const std::string& title) const;

 private:
  std::string body_;
};

// Text as written in XML and HTML, in elements and attributes.
std::string escaped_xml(const std::string& text);

// About how wide sans-serif text is drawn; SVG leaves the exact font to the viewer.
double estimated_text_width(const std::string& text, double size);

// Round numbers that divide [0, highest] into 4 to 8 steps: 0, 1, 2, ... or 0, 0.25, ... The last one is at
// least `highest`. highest <= 0 gives {0, 1}.
std::vector<double> axis_ticks(double highest);
// Round numbers that enclose [lowest, highest] without starting at zero; lowest < highest.
std::vector<double> range_ticks(double lowest, double highest);
std::string tick_text(double value, double step);

}  // namespace tilewright
