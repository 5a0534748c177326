# The plugin for a card, libsock-cuda.so (docs/scale.md), where there is a CUDA toolkit: a guest, of which the library knows
# nothing but src/base/device.h. One file is nvcc's; it is compiled by a command of its own, since CMake's CUDA language
# would try the compiler in every configuration. The card is not needed to build it.
set(CUDA_FOLDER /usr/local/cuda CACHE PATH "Where the CUDA toolkit is")
find_program(NVCC nvcc HINTS ${CUDA_FOLDER}/bin)
find_path(CUBLAS_INCLUDE cublas_v2.h HINTS ${CUDA_FOLDER}/include)
find_path(CUSOLVER_INCLUDE cusolverDn.h HINTS ${CUDA_FOLDER}/include)
foreach(name cublas cusolver cudart)
  find_library(CUDA_${name} ${name} HINTS ${CUDA_FOLDER}/lib64)
endforeach()
set(SOCK_CUDA_DEFAULT OFF)
if(NVCC AND CUBLAS_INCLUDE AND CUSOLVER_INCLUDE AND CUDA_cublas AND CUDA_cusolver AND CUDA_cudart)
  set(SOCK_CUDA_DEFAULT ON)
endif()
option(SOCK_CUDA "Build libsock-cuda.so" ${SOCK_CUDA_DEFAULT})
if(SOCK_CUDA AND NOT SOCK_CUDA_DEFAULT)
  message(WARNING "SOCK_CUDA is ON, but nvcc, cuBLAS or cuSOLVER was not found under ${CUDA_FOLDER}: libsock-cuda.so is left out")
endif()

file(GLOB CUDA_SOURCES CONFIGURE_DEPENDS cuda/*.c)
if(SOCK_CUDA AND SOCK_CUDA_DEFAULT AND NOT SOCK_SANITIZE AND NOT SOCK_COVERAGE)
  set(CUDA_OBJECT ${PROJECT_BINARY_DIR}/cudaengine.o)
  # A100, H100 and H200, and code for later ones.
  add_custom_command(OUTPUT ${CUDA_OBJECT}
    COMMAND ${NVCC} -O3 -std=c++17 --threads 3 -Xcompiler -fPIC,-fvisibility=hidden,-fstack-protector-strong
      -I${PROJECT_SOURCE_DIR}/src -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90
      -gencode arch=compute_90,code=compute_90 -c ${PROJECT_SOURCE_DIR}/cuda/cudaengine.cu -o ${CUDA_OBJECT}
    DEPENDS cuda/cudaengine.cu cuda/engine.h cuda/elements.h src/base/device.h VERBATIM)
  add_library(sock_cuda MODULE ${CUDA_SOURCES} ${CUDA_OBJECT})
  set_target_properties(sock_cuda PROPERTIES OUTPUT_NAME sock-cuda LINKER_LANGUAGE C BUILD_WITH_INSTALL_RPATH ON)
  target_include_directories(sock_cuda PRIVATE src)
  get_filename_component(CUDA_LIBRARIES_FOLDER ${CUDA_cublas} DIRECTORY)
  set_target_properties(sock_cuda PROPERTIES INSTALL_RPATH ${CUDA_LIBRARIES_FOLDER})
  target_link_libraries(sock_cuda PRIVATE sock_flags ${CUDA_cublas} ${CUDA_cusolver} ${CUDA_cudart} stdc++ m)
  install(TARGETS sock_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sock)
endif()
