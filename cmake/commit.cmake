# Writes the header OUTPUT with the commit of the tree SOURCE, only if it has changed: from git, or from what `git archive`
# has put into cmake/archived-commit. Run at every build: cmake -DSOURCE=.. -DOUTPUT=.. -P commit.cmake
set(commit unknown)
string(TIMESTAMP date "%Y-%m-%d" UTC)  # of now, or of SOURCE_DATE_EPOCH
file(STRINGS ${SOURCE}/cmake/archived-commit archived LIMIT_COUNT 1)
if(archived MATCHES "^([0-9a-f]+) ([0-9-]+)$")
  set(commit ${CMAKE_MATCH_1})
  set(date ${CMAKE_MATCH_2})
elseif(EXISTS ${SOURCE}/.git)  # not that of a repository around an unpacked archive
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 "--exclude=*"
                  OUTPUT_VARIABLE described RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C ${SOURCE} log -1 --format=%cs OUTPUT_VARIABLE dated RESULT_VARIABLE undated
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(failed EQUAL 0 AND undated EQUAL 0)
    set(commit ${described})
    set(date ${dated})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "// Made by cmake/commit.cmake.
#pragma once
#define TILEWRIGHT_COMMIT \"${commit}\"
#define TILEWRIGHT_COMMIT_DATE \"${date}\"
")
