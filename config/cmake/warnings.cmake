# Every target of ours links bureau_flags; libraries come in as system headers.
add_library(bureau_flags INTERFACE)
target_compile_features(bureau_flags INTERFACE cxx_std_20)
target_compile_options(bureau_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast
  -Wnon-virtual-dtor -Wextra-semi -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these two inside the standard library at -O2 (false alarms).
  target_compile_options(bureau_flags INTERFACE
    -Wno-error=restrict -Wno-error=maybe-uninitialized -fpch-preprocess)
endif()
target_compile_definitions(bureau_flags INTERFACE
  CAF_ENABLE_TYPE_ID_CHECKS _FILE_OFFSET_BITS=64)
target_include_directories(bureau_flags INTERFACE "${CMAKE_SOURCE_DIR}")
if(BUREAU_SANITIZE)
  string(REPLACE "," ";" sanitizers "${BUREAU_SANITIZE}")
  foreach(sanitizer IN LISTS sanitizers)
    target_compile_options(bureau_flags INTERFACE -fsanitize=${sanitizer})
    target_link_options(bureau_flags INTERFACE -fsanitize=${sanitizer})
  endforeach()
  # The distribution's CAF binds references to empty tuples through null
  # pointers when it spawns actors; a real null access still ends in ASan.
  target_compile_options(bureau_flags INTERFACE
    -fno-omit-frame-pointer -fno-sanitize-recover=all -fno-sanitize=null)
  target_compile_definitions(bureau_flags INTERFACE BUREAU_SANITIZED)
else()
  target_compile_options(bureau_flags INTERFACE -fstack-protector-strong)
  target_compile_definitions(bureau_flags INTERFACE
    $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
  target_link_options(bureau_flags INTERFACE -Wl,-z,relro,-z,now)
endif()
