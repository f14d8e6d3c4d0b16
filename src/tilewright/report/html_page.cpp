// The drawings have the colours of paper; the page's style sheet turns those of text, grid and ground into
// the reader's.
#include "tilewright/report/html_page.h"

#include <fmt/format.h>

namespace tilewright {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1d2226; --ground: #ffffff; --soft: #5c666e; --grid: #e4e4e4; --fine: #f3f3f3; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9eb; --ground: #14181b; --soft: #9aa5ad; --grid: #39434a; --fine: #252c31; }
}
body { font: 15px/1.5 Helvetica, Arial, 'DejaVu Sans', sans-serif; color: var(--text); background: var(--ground);
  max-width: 1120px; margin: 2em auto; padding: 0 1.2em; }
h1 { font-size: 1.6em; margin-bottom: 0.1em; }
h2 { font-size: 1.15em; margin: 2em 0 0.5em; }
p.soft, figcaption, dt { color: var(--soft); }
dl { display: flex; flex-wrap: wrap; gap: 0.6em 2.4em; margin: 1.2em 0; }
dd { margin: 0; font-size: 1.3em; }
figure { margin: 0.8em 0; overflow-x: auto; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.87em; }
th, td { padding: 0.25em 0.7em; border-bottom: 1px solid var(--grid); text-align: left; white-space: nowrap; }
th { color: var(--soft); font-weight: normal; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { font-family: Helvetica, Arial, 'DejaVu Sans', sans-serif; }
svg text[fill="#222222"] { fill: var(--text); }
svg [fill="#e4e4e4"] { fill: var(--grid); }
svg [stroke="#e4e4e4"] { stroke: var(--grid); }
svg [stroke="#f3f3f3"] { stroke: var(--fine); }
svg [stroke="#333333"] { stroke: var(--text); }
)";

std::string cell(const char* tag, const std::string& text, bool right) {
  return fmt::format("<{0}{1}>{2}</{0}>", tag, right ? " class=\"n\"" : "", escaped_xml(text));
}

}  // namespace

HtmlTable::HtmlTable(const std::vector<std::string>& headings) {
  rows_ = "<thead><tr>";
  for (const std::string& heading : headings) {
    right_.push_back(!heading.empty() && heading[0] == '>');
    rows_ += cell("th", heading.substr(right_.back() ? 1 : 0), right_.back());
  }
  rows_ += "</tr></thead>\n<tbody>\n";
}

void HtmlTable::row(const std::vector<std::string>& cells) {
  rows_ += "<tr>";
  for (size_t c = 0; c < cells.size(); ++c) rows_ += cell("td", cells[c], right_[c]);
  rows_ += "</tr>\n";
}

std::string HtmlTable::html() const {
  return "<div class=\"wide\"><table>\n" + rows_ + "</tbody>\n</table></div>\n";
}

std::string html_figure(const PlotDrawing& plot, const std::string& title, const std::string& caption) {
  return "<figure>\n" + plot.drawing.element(plot.width, plot.height, title) + "<figcaption>" +
         escaped_xml(caption) + "</figcaption>\n</figure>\n";
}

std::string html_heading(const std::string& text) { return fmt::format("<h2>{}</h2>\n", escaped_xml(text)); }

std::string html_fact(const std::string& name, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped_xml(name), escaped_xml(value));
}

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\" />\n<meta name=\"viewport\" content=\"width=device-width\" />\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}</body>\n</html>\n",
      escaped_xml(title), kStyle, body);
}

}  // namespace tilewright
