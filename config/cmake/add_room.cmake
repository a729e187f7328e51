# add_room(NAME <room> SRCS <files…> [DEPS <targets…>] [ACTORS])
#
# One room is one static library bureau_<room>. DEPS is the whole list of what
# the room may use; anything else fails to link. ACTORS adds CAF's actor headers
# as a precompiled header for the shells; _core files never get them. Shells are
# compiled for size, since they pass messages on and wait; cores, and all of a
# room that says SPEED, for speed (ADR 0013).
function(add_room)
  cmake_parse_arguments(ROOM "ACTORS;SPEED" "NAME" "SRCS;DEPS" ${ARGN})
  set(target bureau_${ROOM_NAME})
  add_library(${target} STATIC ${ROOM_SRCS})
  add_library(bureau::${ROOM_NAME} ALIAS ${target})
  target_link_libraries(${target} PRIVATE bureau_flags PUBLIC ${ROOM_DEPS})
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_compile_definitions(${target} PUBLIC CAF_ENABLE_TYPE_ID_CHECKS)
  if(ROOM_ACTORS)
    if(NOT ROOM_SPEED)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
    endif()
    bureau_precompile_actors(${target} ${ROOM_SPEED})
    foreach(source IN LISTS ROOM_SRCS)
      if(source MATCHES "_core\\.cpp$")
        set_source_files_properties(${source} PROPERTIES
          SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
      endif()
    endforeach()
  endif()
endfunction()

# One precompiled <caf/all.hpp> is built once, in the kit, and shared by all that
# are compiled alike.
function(bureau_precompile_actors target speed)
  if(target STREQUAL bureau_kit OR speed)
    target_precompile_headers(${target} PRIVATE <caf/all.hpp> <string> <vector>)
  else()
    target_precompile_headers(${target} REUSE_FROM bureau_kit)
  endif()
endfunction()

# Test code runs once and compiles often: it is not optimised. What it tests is.
function(bureau_compile_as_test target)
  target_compile_options(${target} PRIVATE
    $<$<CONFIG:Release>:-O0> $<$<CONFIG:Release>:-U_FORTIFY_SOURCE>)
endfunction()

# add_suite(NAME <suite> SRCS <files…> [DEPS <targets…>] [LABELS <labels…>])
#
# One test executable test_<suite>, one CTest entry. A run that selects no test
# case fails: an empty suite must never look green. A suite that uses the node
# fixture shares that library's precompiled headers.
function(add_suite)
  cmake_parse_arguments(SUITE "" "NAME" "SRCS;DEPS;LABELS" ${ARGN})
  set(target test_${SUITE_NAME})
  add_executable(${target} ${SUITE_SRCS})
  target_link_libraries(${target} PRIVATE bureau_flags bureau_test_main ${SUITE_DEPS})
  bureau_compile_as_test(${target})
  if("bureau_test_support" IN_LIST SUITE_DEPS)
    target_precompile_headers(${target} REUSE_FROM bureau_test_support)
  endif()
  target_compile_definitions(${target} PRIVATE
    BUREAU_TEST_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    BUREAU_TEST_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${SUITE_NAME} COMMAND ${target})
  set_tests_properties(${SUITE_NAME} PROPERTIES
    TIMEOUT 300
    FAIL_REGULAR_EXPRESSION "test cases: +0 \\|"
    LABELS "${SUITE_LABELS}")
endfunction()
