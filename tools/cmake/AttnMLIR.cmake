# Finds LLVM/MLIR 22.1 and sets what every compiler folder needs. A program
# links either the shared libMLIR and libLLVM or archives alone; archives of
# MLIR beside the shared library would register every dialect twice.
# Debian and apt.llvm.org install side by side under a versioned prefix.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR}) # add_mlir_doc writes to build/docs
set(LLVM_LINK_LLVM_DYLIB ON)
set(MLIR_LINK_MLIR_DYLIB ON)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(ATTN_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${ATTN_LLVM_DEFINITIONS})

# LLVM and MLIR for whatever links them: the shared libraries, quick to link
# against, or for a program with the property ATTN_LINKS_STATICALLY what it uses
# of the archives. A process takes 30 ms to load the shared ones, a quarter of
# what attnc takes to write PTX.
add_library(AttnSharedMLIR INTERFACE)
target_link_libraries(AttnSharedMLIR INTERFACE MLIR LLVM)

add_library(AttnStaticMLIR INTERFACE)
target_link_options(AttnStaticMLIR INTERFACE -Wl,--gc-sections -Wl,--as-needed)
target_link_libraries(AttnStaticMLIR INTERFACE -Wl,--start-group)
set(ATTN_HAS_MLIR_ARCHIVES OFF) # an LLVM built as shared libraries has none
foreach(lib IN LISTS MLIR_EXPORTED_TARGETS)
  get_target_property(type ${lib} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    set(ATTN_HAS_MLIR_ARCHIVES ON)
    # By file: as a target it brings the shared libLLVM.
    target_link_libraries(AttnStaticMLIR INTERFACE $<TARGET_FILE:${lib}>)
  endif()
endforeach()
llvm_map_components_to_libnames(ATTN_LLVM_ARCHIVES
  ${LLVM_NATIVE_ARCH} NVPTX OrcJIT Passes)
target_link_libraries(AttnStaticMLIR INTERFACE
  -Wl,--end-group ${ATTN_LLVM_ARCHIVES})

add_library(AttnMLIR INTERFACE)
target_link_libraries(AttnMLIR INTERFACE
  $<IF:$<BOOL:$<TARGET_PROPERTY:ATTN_LINKS_STATICALLY>>,AttnStaticMLIR,AttnSharedMLIR>)

# attn_mlir_library(NAME sources... [DEPENDS targets...] [LINK_LIBS libs...])
function(attn_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} AttnMLIR)
endfunction()
