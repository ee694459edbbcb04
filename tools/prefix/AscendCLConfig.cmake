# AscendCL::ascendcl, and AscendCL::dvpp and AscendCL::dvpp_mpi for media memory.
# Everything is found relative to this file, so the toolkit may be moved.

get_filename_component(AscendCL_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
set(AscendCL_INCLUDE_DIRS "${AscendCL_PREFIX}/include")
set(AscendCL_LIBRARIES AscendCL::ascendcl)

function(_ascendcl_import name file)
  if(TARGET AscendCL::${name})
    return()
  endif()
  if(NOT EXISTS "${AscendCL_PREFIX}/lib64/${file}")
    message(FATAL_ERROR "AscendCL: ${AscendCL_PREFIX}/lib64/${file} is missing")
  endif()
  add_library(AscendCL::${name} SHARED IMPORTED)
  set_target_properties(AscendCL::${name} PROPERTIES
    IMPORTED_LOCATION "${AscendCL_PREFIX}/lib64/${file}"
    IMPORTED_SONAME "${file}"
    INTERFACE_INCLUDE_DIRECTORIES "${AscendCL_INCLUDE_DIRS}")
endfunction()

_ascendcl_import(ascendcl libascendcl.so)
foreach(_ascendcl_media dvpp dvpp_mpi)
  _ascendcl_import(${_ascendcl_media} libacl_${_ascendcl_media}.so)
  set_property(TARGET AscendCL::${_ascendcl_media}
    PROPERTY INTERFACE_LINK_LIBRARIES AscendCL::ascendcl)
endforeach()
unset(_ascendcl_media)
