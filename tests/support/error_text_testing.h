// What tests look at of an Error: its text.
#pragma once

#include <string>

#include "tilewright/base/error.h"

namespace tilewright {

// What the Error says that `body` throws; "no error" when it throws none.
template <typename Body>
std::string error_text(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The same where wrong input is expected: the text of any other error has its kind before it.
template <typename Body>
std::string refusal_text(Body&& body) {
  return error_text([&] {
    try {
      body();
    } catch (Error& error) {
      if (error.kind() != ErrorKind::kInvalidInput) error.add_context(error_kind_name(error.kind()));
      throw;
    }
  });
}

}  // namespace tilewright
