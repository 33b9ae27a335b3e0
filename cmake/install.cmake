# What is installed, and where. The components are those of the packages (package.cmake): runtime, development, tools.

# mcgen_pkg_config(NAME DESCRIPTION FLAGS): FLAGS are for those who link with the archive (--static). As Requires.private the libraries among
# them would be looked for by who takes the shared one, too, whose header needs none of theirs.
function(mcgen_pkg_config name description private)
  # Relocatable, unless whoever configured it gave a folder for libraries that is not below the prefix.
  set(prefix ${CMAKE_INSTALL_PREFIX})
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    set(prefix "\${pcfiledir}/${up}")
  endif()
  foreach(folder LIBDIR INCLUDEDIR DATADIR)
    set(pc_${folder} ${CMAKE_INSTALL_${folder}})
    if(NOT IS_ABSOLUTE ${pc_${folder}})
      set(pc_${folder} "\${prefix}/${CMAKE_INSTALL_${folder}}")
    endif()
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/library.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  if(MCGEN_INSTALL)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
  endif()
endfunction()

function(mcgen_install_program name)
  if(MCGEN_INSTALL)
    install(TARGETS ${name} COMPONENT tools)
  endif()
endfunction()

# find_package(mcrt) and the target uninstall.
function(mcgen_install_config)
  include(CMakePackageConfigHelpers)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/mcrt)
  set(specs ${CMAKE_INSTALL_DATADIR}/mcgen/specs)
  get_property(archives GLOBAL PROPERTY MCGEN_ARCHIVES)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mcrtConfig.cmake.in ${PROJECT_BINARY_DIR}/mcrtConfig.cmake
                                INSTALL_DESTINATION ${folder} PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR specs)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/mcrtConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(EXPORT mcrtTargets NAMESPACE mcrt:: DESTINATION ${folder} COMPONENT development)
  install(FILES ${PROJECT_BINARY_DIR}/mcrtConfig.cmake ${PROJECT_BINARY_DIR}/mcrtConfigVersion.cmake
                ${PROJECT_SOURCE_DIR}/cmake/mcrtKernels.cmake DESTINATION ${folder} COMPONENT development)
endfunction()

function(mcgen_uninstall_target)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  set(own ${CMAKE_INSTALL_INCLUDEDIR}/mcgen ${CMAKE_INSTALL_LIBDIR}/cmake/mcrt ${CMAKE_INSTALL_DATADIR}/mcgen ${CMAKE_INSTALL_DOCDIR})
  list(JOIN own "|" own)
  add_custom_target(uninstall VERBATIM COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR} -D OWN=${own}
                                               -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
endfunction()

function(mcgen_install_all)
  install(DIRECTORY specs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/mcgen/specs COMPONENT tools FILES_MATCHING PATTERN "*.lua")
  install(DIRECTORY records/ DESTINATION ${CMAKE_INSTALL_DATADIR}/mcgen/records COMPONENT tools FILES_MATCHING PATTERN "*.jsonl" PATTERN problems EXCLUDE)
  install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
  install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
  mcgen_install_config()
  mcgen_uninstall_target()
endfunction()
