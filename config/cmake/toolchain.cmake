# ccache and mold shorten a build but are never needed for one.
find_program(BUREAU_CCACHE ccache)
if(BUREAU_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are safe to cache only with this sloppiness.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${BUREAU_CCACHE})
endif()
find_program(BUREAU_MOLD mold)
if(BUREAU_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Template code that no caller is left for goes; equal functions become one.
add_link_options(-Wl,--gc-sections)
