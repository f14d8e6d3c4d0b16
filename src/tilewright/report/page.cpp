// The document as JSON and the page around it. '<' never stands inside of the JSON, so no text of a model can
// end the element that it stands in.
#include "tilewright/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"
#include "tilewright/report/page_text.h"
#include "tilewright/report/svg.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const PageValue& value) {
  if (const std::string* text = value.text()) return *text;
  const double* number = value.number();
  if (number == nullptr) return nullptr;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (*number == std::floor(*number) && std::abs(*number) < kExact) return int64_t(*number);
  return *number;
}

const char* better_name(PageBetter better) {
  return better == PageBetter::kLess ? "less" : better == PageBetter::kMore ? "more" : "";
}

const char* kind_name(PageChartKind kind) {
  constexpr const char* kNames[] = {"roofline", "timeline", "stacked", "grouped",
                                    "bullet",   "stairs",   "fabric",  "array"};
  return kNames[int(kind)];
}

Json chart_json(const PageChart& chart, const PageSection& section) {
  const auto check = [&](const std::string& id) {
    const bool known = std::any_of(section.columns.begin(), section.columns.end(),
                                   [&](const PageColumn& column) { return column.id == id; });
    TILEWRIGHT_CHECK(known, fmt::format("chart '{}' of section '{}' draws '{}', which is no column",
                                        chart.title, section.id, id));
  };
  for (const auto& [role, column] : chart.columns) check(column);
  for (const std::string& column : chart.series) check(column);
  return {{"kind", kind_name(chart.kind)}, {"title", chart.title},   {"caption", chart.caption},
          {"columns", chart.columns},      {"series", chart.series}, {"values", chart.values},
          {"links", chart.links}};
}

Json section_json(const PageSection& section) {
  Json columns = Json::array(), rows = Json::array(), charts = Json::array();
  for (const PageColumn& column : section.columns) {
    columns.push_back({{"id", column.id},
                       {"title", column.title},
                       {"unit", column.unit},
                       {"better", better_name(column.better)},
                       {"detail", column.detail}});
  }
  for (const std::vector<PageValue>& row : section.rows) {
    TILEWRIGHT_CHECK(row.size() == section.columns.size(),
                     fmt::format("a row of section '{}' has {} values for {} columns", section.id, row.size(),
                                 section.columns.size()));
    Json values = Json::array();
    for (const PageValue& value : row) values.push_back(value_json(value));
    rows.push_back(std::move(values));
  }
  for (const PageChart& chart : section.charts) charts.push_back(chart_json(chart, section));
  return {{"id", section.id},
          {"title", section.title},
          {"note", section.note},
          {"subject", section.subject},
          {"subject_column", section.subject_column},
          {"columns", columns},
          {"rows", rows},
          {"charts", charts},
          {"text", section.text}};
}

Json origin_json(const PageOrigin& origin) {
  Json inputs = Json::array();
  for (const PageInput& input : origin.inputs) {
    inputs.push_back({{"option", input.option},
                      {"path", input.path},
                      {"bytes", value_json(input.bytes)},
                      {"sha256", input.digest}});
  }
  return {{"command", origin.command}, {"version", origin.version}, {"inputs", inputs}};
}

std::string replaced(std::string text, char from, const std::string& to) {
  std::string result;
  for (const char c : text) {
    if (c == from) {
      result += to;
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string page_data(const Page& page) {
  Json facts = Json::array(), sections = Json::array();
  for (const PageFact& fact : page.facts) {
    facts.push_back({{"id", fact.id},
                     {"name", fact.name},
                     {"value", value_json(fact.value)},
                     {"unit", fact.unit},
                     {"better", better_name(fact.better)}});
  }
  for (const PageSection& section : page.sections) sections.push_back(section_json(section));
  return json_text(Json{{"format", "tilewright page 1"},
                        {"verb", page.verb},
                        {"title", page.title},
                        {"subtitle", page.subtitle},
                        {"notes", page.notes},
                        {"facts", facts},
                        {"sections", sections},
                        {"origin", origin_json(page.origin)}}) +
         "\n";
}

std::string page_html(const Page& page) {
  // The page may ask nobody for anything.
  constexpr const char* kPolicy =
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:";
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<title>{} - tilewright {}</title>\n<style>\n",
             kPolicy, escaped_xml(page.title), escaped_xml(page.verb)) +
         page_style() +
         "</style>\n</head>\n<body>\n<noscript>This report draws its data with JavaScript. The data are "
         "the JSON in this file.</noscript>\n<script type=\"application/json\" id=\"tilewright-data\">" +
         replaced(page_data(page), '<', "\\u003c") + "</script>\n<script>\n" + page_library() +
         "</script>\n<script>\n" + page_viewer() + "</script>\n</body>\n</html>\n";
}

}  // namespace tilewright
