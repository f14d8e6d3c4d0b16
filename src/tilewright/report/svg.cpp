// SVG 1.1 with plain attributes, so that every viewer and every editor shows the same.
#include "tilewright/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tilewright/base/plain_text.h"

namespace tilewright {
namespace {

// Two decimals, without trailing zeros.
std::string pixels(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string closing(const char* tag, const std::string& tooltip) {
  return tooltip.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escaped_xml(tooltip), tag);
}

// 1, 2, 2.5 or 5 times a power of ten, so that `span` has 4 to 8 of them.
double round_step(double span) {
  const double rough = span / 8;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

// Control characters, bytes that are no UTF-8 and U+FFFE and U+FFFF cannot stand in XML at all.
std::string escaped_xml(const std::string& text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const size_t length = utf8_length(rest);
    at += std::max<size_t>(1, length);
    const std::string_view character = rest.substr(0, length);
    if (length == 0 || character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf") {
      result += "\xef\xbf\xbd";  // U+FFFD, what stands for a character that cannot be shown
      continue;
    }
    if (length > 1) {
      result += character;
      continue;
    }
    const char c = rest[0];
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

void SvgDrawing::rectangle(double x, double y, double width, double height, const std::string& fill,
                           const std::string& tooltip) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}", pixels(x),
                       pixels(y), pixels(width), pixels(height), fill, closing("rect", tooltip));
}

void SvgDrawing::line(double x1, double y1, double x2, double y2, const std::string& colour, double width,
                      bool dashed) {
  body_ += fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n", pixels(x1),
      pixels(y1), pixels(x2), pixels(y2), colour, pixels(width), dashed ? " stroke-dasharray=\"4 3\"" : "");
}

void SvgDrawing::polyline(const std::vector<std::pair<double, double>>& points, const std::string& colour,
                          double width) {
  std::string list;
  for (const auto& point : points) list += pixels(point.first) + "," + pixels(point.second) + " ";
  body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n", list,
                       colour, pixels(width));
}

void SvgDrawing::circle(double x, double y, double radius, const std::string& fill,
                        const std::string& tooltip) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"{}", pixels(x), pixels(y),
                       pixels(radius), fill, closing("circle", tooltip));
}

void SvgDrawing::text(double x, double y, const std::string& content, const SvgText& style) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  const std::string turn = style.degrees == 0 ? ""
                                              : fmt::format(" transform=\"rotate({} {} {})\"",
                                                            pixels(style.degrees), pixels(x), pixels(y));
  body_ +=
      fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\"{}{}>{}</text>\n",
                  pixels(x), pixels(y), pixels(style.size), kAnchors[int(style.anchor)], style.colour,
                  style.bold ? " font-weight=\"bold\"" : "", turn, escaped_xml(content));
}

std::string SvgDrawing::document(double width, double height, const std::string& title) const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>{2}</title>\n"
      "<rect x=\"0\" y=\"0\" width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      pixels(width), pixels(height), escaped_xml(title), body_);
}

double estimated_text_width(const std::string& text, double size) {
  const auto characters = std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; });
  return 0.56 * size * double(characters);
}

std::vector<double> axis_ticks(double highest) {
  if (!(highest > 0) || !std::isfinite(highest)) return {0, 1};
  const double step = round_step(highest);
  std::vector<double> ticks = {0};
  while (ticks.back() < highest * (1 - 1e-9)) ticks.push_back(step * double(ticks.size()));
  return ticks;
}

std::vector<double> range_ticks(double lowest, double highest) {
  const double step = round_step(highest - lowest);
  const double first = std::floor(lowest / step + 1e-9) * step;
  std::vector<double> ticks = {first};
  while (ticks.back() < highest - step * 1e-9) ticks.push_back(first + step * double(ticks.size()));
  return ticks;
}

std::string tick_text(double value, double step) {
  const int decimals =
      step >= 1 ? (step == std::floor(step) ? 0 : 1) : int(std::ceil(-std::log10(step) - 1e-9));
  // Steps of 0.25 need one decimal more than their power of ten.
  const double scaled = step * std::pow(10, decimals);
  const int more = std::abs(scaled - std::round(scaled)) > 1e-6 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals + more);
}

}  // namespace tilewright
