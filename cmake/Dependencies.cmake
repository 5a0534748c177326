# BLAS and LAPACK, JSON, threads: one interface target, sock_deps. Installed as well, for those who link statically.
#
# The OpenMP flavour of OpenBLAS is asked for by its folder, and remembered in the rpath: its thread count belongs to the
# calling thread, which is what lets parallel loops of our own hold BLAS to one thread without touching global state. The
# system's default flavour (an alternative that any package may change) would be picked up otherwise.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)

find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-openmp REQUIRED NO_CMAKE_SYSTEM_PATH
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib /usr/local/lib)
find_path(OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas-openmp REQUIRED
  PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} /usr/include/openblas)
get_filename_component(OPENBLAS_FOLDER ${OPENBLAS_LIBRARY} DIRECTORY)

add_library(sock_deps INTERFACE)
target_include_directories(sock_deps SYSTEM INTERFACE ${OPENBLAS_INCLUDE})
target_link_libraries(sock_deps INTERFACE ${OPENBLAS_LIBRARY} OpenMP::OpenMP_C PkgConfig::JANSSON Threads::Threads m)
include(CheckLibraryExists)
check_library_exists(mvec _ZGVdN4v_exp "" HAVE_MVEC)
if(HAVE_MVEC)
  target_link_libraries(sock_deps INTERFACE mvec)
else()
  target_compile_definitions(sock_deps INTERFACE SK_NO_LIBMVEC)
endif()
