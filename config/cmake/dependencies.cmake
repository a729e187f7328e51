# Imported targets of the libraries Bureau stands on. Debian packages them all;
# config/dev/packages lists the package names.
find_package(Threads REQUIRED)
find_package(CAF REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Poco 1.11 REQUIRED COMPONENTS Foundation Net)

# Debian keeps the JSON-capable Boost beside the default one.
find_path(BOOST_JSON_INCLUDE_DIR boost/json.hpp REQUIRED)
find_library(BOOST_JSON_LIBRARY NAMES boost_json libboost_json.so.1.81.0 REQUIRED)
add_library(bureau_boost_json INTERFACE IMPORTED)
target_include_directories(bureau_boost_json SYSTEM INTERFACE ${BOOST_JSON_INCLUDE_DIR})
target_link_libraries(bureau_boost_json INTERFACE ${BOOST_JSON_LIBRARY})

foreach(entry IN ITEMS "curl:libcurl" "ssl:libcrypto" "seccomp:libseccomp" "edit:libedit")
  string(REPLACE ":" ";" pair "${entry}")
  list(GET pair 0 name)
  list(GET pair 1 module)
  pkg_check_modules(BUREAU_${name} REQUIRED IMPORTED_TARGET ${module})
  add_library(bureau_${name} INTERFACE IMPORTED)
  target_link_libraries(bureau_${name} INTERFACE PkgConfig::BUREAU_${name})
endforeach()

find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(date REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(doctest REQUIRED)
