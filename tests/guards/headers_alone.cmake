# Every header compiles alone. One that its own source file includes first is
# proven by that file; each of the others gets a translation unit of its own.
function(bureau_check_headers target)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}"
       "${CMAKE_SOURCE_DIR}/actors/*.hpp" "${CMAKE_SOURCE_DIR}/adapters/*.hpp"
       "${CMAKE_SOURCE_DIR}/config/*.hpp" "${CMAKE_SOURCE_DIR}/messages/*.hpp"
       "${CMAKE_SOURCE_DIR}/sandbox/*.hpp" "${CMAKE_SOURCE_DIR}/tests/*.hpp"
       "${CMAKE_SOURCE_DIR}/vault/*.hpp" "${CMAKE_SOURCE_DIR}/web/*.hpp")
  set(units "")
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "\\.hpp$" ".cpp" source "${header}")
    if(EXISTS "${CMAKE_SOURCE_DIR}/${source}")
      file(STRINGS "${CMAKE_SOURCE_DIR}/${source}" includes REGEX "^#include"
           LIMIT_COUNT 1)
      if(includes STREQUAL "#include \"${header}\"")
        continue()
      endif()
    endif()
    string(REPLACE "/" "_" name "${header}")
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/alone/${name}.cpp")
    # Twice: it must be guarded against that as well.
    file(CONFIGURE OUTPUT "${unit}" @ONLY
         CONTENT "#include \"@header@\"\n#include \"@header@\"\n")
    list(APPEND units "${unit}")
  endforeach()
  add_library(${target} OBJECT ${units})
  target_link_libraries(${target} PRIVATE bureau_flags bureau::messages
                                          doctest::doctest)
  bureau_compile_as_test(${target})
endfunction()
