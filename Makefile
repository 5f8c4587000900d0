# SPDX-License-Identifier: GPL-2.0-only
#
# The build of xsprof: libraries, tools, tests, installation.
#
# One non-recursive makefile; every source list is a wildcard, so a new .c file
# needs no edit here. It writes nothing outside $(BUILD), except `install` into
# $(DESTDIR), `demo` into demo/, and downloads into ~/.cache/xsprof. It never installs
# packages by itself: that is tests/install-deps.sh, called by the targets that need
# more than a compiler. `make help` lists targets and variables.

# One home for it: the module says it too, and is also built without this file.
VERSION		:= $(shell sed -n 's/^MODULE_VERSION("\(.*\)");$$/\1/p' kmod/main.c)
SOMAJOR		:= $(firstword $(subst ., ,$(VERSION)))
comma		:= ,

# Where the output goes: `make O=build/asan` and `make BUILD=build/asan` are the same.
O		?= build
BUILD		?= $(O)
export BUILD
V		?= 0
# Tests at once in check and check-full, one more than CPUs, as a third of their time is waiting;
# those marked alone never run beside another.
JOBS		?= $(shell expr $$(nproc) + 1)

CROSS_COMPILE	?=
ifneq ($(filter default undefined,$(origin CC)),)
CC		:= $(CROSS_COMPILE)gcc
endif
ifneq ($(filter default undefined,$(origin CXX)),)
CXX		:= $(if $(findstring clang,$(CC)),$(subst clang,clang++,$(CC)),$(CROSS_COMPILE)g++)
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR		:= $(CROSS_COMPILE)ar
endif
# The compiler knows which: it may be a cross compiler that CC= names alone.
ifeq ($(origin OBJCOPY),undefined)
OBJCOPY		:= $(shell $(CC) -print-prog-name=objcopy)
endif
INSTALL		?= install
# Compilers run through ccache where it is installed: CCACHE= for none.
ifeq ($(origin CCACHE),undefined)
CCACHE		:= $(if $(findstring ccache,$(CC) $(CXX)),,$(shell command -v ccache))
endif

CFLAGS		?= -O2 -g
CXXFLAGS	?= $(CFLAGS)
CPPFLAGS	?=
LDFLAGS		?=
# Sanitizers, as the compiler names them: SAN=address,undefined or SAN=thread.
SAN		?=
ZSTD_CFLAGS	?=
ZSTD_LIBS	?= -lzstd
# Results as .gz: without zlib, or with ZLIB_LIBS=, there are none.
ifeq ($(origin ZLIB_LIBS),undefined)
ZLIB_LIBS	:= $(if $(shell pkg-config --exists zlib 2>/dev/null && echo y),-lz)
endif
# The tracer of the kernel, and its events as text: pkg-config knows where.
ifeq ($(origin TRACEFS_CFLAGS),undefined)
TRACEFS_CFLAGS	:= $(shell pkg-config --cflags libtracefs libtraceevent 2>/dev/null)
endif
TRACEFS_LIBS	?= -ltracefs -ltraceevent
# Names of code by elfutils, where it is installed: without it stacks are places in files. Only
# results and the tools that write them need it: what links with the decoder alone does not.
ifeq ($(origin DW_LIBS),undefined)
DW_CFLAGS	:= $(shell pkg-config --cflags libdw 2>/dev/null)
DW_LIBS		:= $(shell pkg-config --libs libdw 2>/dev/null)
endif
# The same for the shared library: none where DW_LIBS are archives for programs only.
SO_DW_LIBS	?= $(DW_LIBS)

# Either spelling: prefix= is GNU's.
prefix		?= /usr/local
PREFIX		?= $(prefix)
BINDIR		?= $(PREFIX)/bin
LIBDIR		?= $(PREFIX)/lib
INCLUDEDIR	?= $(PREFIX)/include
MANDIR		?= $(PREFIX)/share/man
BASHCOMPDIR	?= $(PREFIX)/share/bash-completion/completions
PKGCONFIGDIR	?= $(LIBDIR)/pkgconfig
UDEVRULESDIR	?= /usr/lib/udev/rules.d
DKMSDIR		?= /usr/src/xsprof-$(VERSION)

# The kernel to build the module for.
KDIR		?= /lib/modules/$(shell uname -r)/build

san_flags	:= $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
warn_flags	:= -Wall -Wextra -Wshadow -Wpointer-arith -Wundef
c_warn_flags	:= $(warn_flags) -Wstrict-prototypes -Wmissing-prototypes
include_flags	:= -Ikmod/uapi -Ilib/include -Ilib
base_cflags	:= -std=gnu11 $(c_warn_flags) -pthread -fno-strict-aliasing $(san_flags)
base_cppflags	:= -D_GNU_SOURCE -DXSPROF_VERSION='"$(VERSION)"' $(include_flags)
base_cxxflags	:= -std=gnu++17 $(warn_flags) -pthread $(san_flags)
base_ldflags	:= -pthread $(san_flags)
# glibc has dlopen() in libc since 2.34; behind the objects, where it is an archive.
DL_LIBS		:= -ldl
# A sanitized shared library leaves the runtime to the executable: no -z defs then.
so_ldflags	:= -shared $(if $(SAN),,-Wl,-z,defs)

# Programs that load libxsprof-user.so hold rseq areas and TLS that point into its code:
# it is never unmapped (nodelete), and its few TLS words are reached without a call
# (initial-exec), which is what keeps a marker at the price of the clock read.  Its calls are bound
# when it is loaded (now): a handler's small stack has no room for the dynamic linker.
user_cflags	:= -fPIC -fvisibility=hidden -ftls-model=initial-exec
# Of the decoder the version map alone says what is public; its calls of itself stay direct.
trace_cflags	:= -fPIC -fno-semantic-interposition $(ZSTD_CFLAGS) $(DW_CFLAGS) \
		   $(if $(strip $(ZLIB_LIBS)),,-DXSPROF_NO_ZLIB)
tools_cflags	:= -fPIE -Itools -I$(BUILD)/gen $(ZSTD_CFLAGS) $(TRACEFS_CFLAGS)
itt_cflags	:= -fPIC -fvisibility=hidden
nvtx_cflags	:= -fPIC -fvisibility=hidden -iquote .
cupti_cflags	:= -fPIC -fvisibility=hidden -iquote .
# A few TLS words, reached without a call, as those of libxsprof-user.so.
opencl_cflags	:= -fPIC -fvisibility=hidden -ftls-model=initial-exec -iquote .
vulkan_cflags	:= $(opencl_cflags)
levelzero_cflags := $(cupti_cflags)
rocm_cflags	:= $(cupti_cflags)
# Preloaded into whatever a recorded command runs: no sanitizer's runtime is there.
torch_cflags	:= -fPIC -fvisibility=hidden -fno-sanitize=all
python_cflags	:= $(torch_cflags)
preload_cflags	:= $(torch_cflags) -iquote .
rocminit_cflags	:= $(torch_cflags) -iquote .

# Sources ----------------------------------------------------------------------------
# A library is a list of folders; Documentation/design.rst says which folder may include which.
# The producer's library also carries the reader of rings and the writer of captures, so that a
# program can record itself.
user_dirs	:= base text ring read capture drain forward process activity profiler ondemand
trace_dirs	:= base text decode ranges result export export/kineto
tools_dirs	:= cli cause watch format/common format/text format/chrome format/perfetto \
		   format/ndjson format/kineto format/folded ftrace snapshot list ctl report dump \
		   info inject record recover
# Without elfutils there are no names of symbols.
no_srcs		:= lib/result/symbols-$(if $(DW_LIBS),none,dw).c
user_srcs	:= $(sort $(wildcard $(user_dirs:%=lib/%/*.c)))
trace_srcs	:= $(filter-out $(no_srcs),$(sort $(wildcard $(trace_dirs:%=lib/%/*.c))))
tools_srcs	:= $(sort $(wildcard tools/*.c $(tools_dirs:%=tools/%/*.c)))
itt_srcs	:= $(sort $(wildcard lib/collect/itt/*.c))
nvtx_srcs	:= $(sort $(wildcard gpu/nvtx/*.c))
# What collectors share is linked into each; what knows Python into those that look into it.
collect_srcs	:= lib/collect/common/say.c
python_common	:= $(filter-out $(collect_srcs),$(sort $(wildcard lib/collect/common/*.c)))
# The same of collectors of devices.
gpu_common	:= $(sort $(wildcard gpu/common/*.c))
cupti_srcs	:= $(sort $(wildcard gpu/cupti/*.c)) $(gpu_common)
opencl_srcs	:= $(sort $(wildcard gpu/opencl/*.c)) gpu/common/refused.c
vulkan_srcs	:= $(sort $(wildcard gpu/vulkan/*.c))
levelzero_srcs	:= $(sort $(wildcard gpu/levelzero/*.c)) $(gpu_common)
# How arguments are passed, and the versions of dlsym(), are known for these machines: for others
# Level Zero alone.
preload_map	:= $(wildcard lib/libxsprof-preload.$(firstword $(subst -, ,$(shell $(CC) \
			-dumpmachine 2>/dev/null))).map)
preload_srcs	:= $(if $(preload_map),$(sort $(wildcard gpu/preload/*.c)), \
			gpu/preload/collector.c gpu/preload/zeinit.c)
rocm_srcs	:= $(sort $(wildcard gpu/rocm/*.c)) $(gpu_common)
rocminit_srcs	:= $(sort $(wildcard gpu/rocm/preload/*.c))
# How libtorch's C++ calls and is called is known for these machines alone.
torch_srcs	:= $(if $(filter x86_64-% aarch64-%,$(shell $(CC) -dumpmachine 2>/dev/null)),\
			$(sort $(wildcard lib/collect/torch/*.c)) $(collect_srcs) \
			$(python_common))
# So are the versions of the C library's functions that Python calls.
python_map	:= $(wildcard lib/libxsprof-python.$(firstword $(subst -, ,$(shell $(CC) \
			-dumpmachine 2>/dev/null))).map)
python_srcs	:= $(if $(python_map),$(sort $(wildcard lib/collect/python/*.c)) $(collect_srcs) \
			$(python_common))

user_objs	:= $(user_srcs:%.c=$(BUILD)/obj/user/%.o)
trace_objs	:= $(trace_srcs:%.c=$(BUILD)/obj/trace/%.o)
trace_so_objs	:= $(if $(SO_DW_LIBS),$(trace_objs), \
		   $(trace_objs:%/lib/result/symbols-dw.o=%/lib/result/symbols-none.o))
tools_objs	:= $(tools_srcs:%.c=$(BUILD)/obj/tools/%.o)
itt_objs	:= $(itt_srcs:%.c=$(BUILD)/obj/itt/%.o)
nvtx_objs	:= $(nvtx_srcs:%.c=$(BUILD)/obj/nvtx/%.o)
cupti_objs	:= $(cupti_srcs:%.c=$(BUILD)/obj/cupti/%.o)
opencl_objs	:= $(opencl_srcs:%.c=$(BUILD)/obj/opencl/%.o)
vulkan_objs	:= $(vulkan_srcs:%.c=$(BUILD)/obj/vulkan/%.o)
levelzero_objs	:= $(levelzero_srcs:%.c=$(BUILD)/obj/levelzero/%.o)
preload_objs	:= $(preload_srcs:%.c=$(BUILD)/obj/preload/%.o)
rocm_objs	:= $(rocm_srcs:%.c=$(BUILD)/obj/rocm/%.o)
rocminit_objs	:= $(rocminit_srcs:%.c=$(BUILD)/obj/rocminit/%.o)
torch_objs	:= $(torch_srcs:%.c=$(BUILD)/obj/torch/%.o)
python_objs	:= $(python_srcs:%.c=$(BUILD)/obj/python/%.o)

user_map	:= $(wildcard lib/libxsprof-user.map)
trace_map	:= $(wildcard lib/libxsprof-trace.map)

# Products; a library or a tool without any source yet is no product.
USER_A		:= $(if $(user_srcs),$(BUILD)/lib/libxsprof-user.a)
# Its objects as they are, for tools and tests that call what programs cannot.
USER_PARTS	:= $(BUILD)/obj/user-parts.a
USER_SO		:= $(if $(user_srcs),$(BUILD)/lib/libxsprof-user.so)
TRACE_A		:= $(if $(trace_srcs),$(BUILD)/lib/libxsprof-trace.a)
TRACE_SO	:= $(if $(trace_srcs),$(BUILD)/lib/libxsprof-trace.so)
ITT_SO		:= $(if $(itt_srcs),$(BUILD)/lib/libxsprof-itt.so)
NVTX_SO		:= $(if $(nvtx_srcs),$(BUILD)/lib/libxsprof-nvtx.so)
CUPTI_SO	:= $(if $(cupti_srcs),$(BUILD)/lib/libxsprof-cupti.so)
OPENCL_SO	:= $(if $(opencl_srcs),$(BUILD)/lib/libxsprof-opencl.so)
VULKAN_SO	:= $(if $(vulkan_srcs),$(BUILD)/lib/libxsprof-vulkan.so)
# Vulkan's loader reads what folders hold: ours is there alone.
VULKAN_LAYER	:= $(if $(vulkan_srcs),$(BUILD)/lib/xsprof-vulkan/layer.json)
LEVELZERO_SO	:= $(if $(levelzero_srcs),$(BUILD)/lib/libxsprof-levelzero.so)
PRELOAD_SO	:= $(BUILD)/lib/libxsprof-preload.so
ROCM_SO		:= $(if $(rocm_srcs),$(BUILD)/lib/libxsprof-rocm.so)
ROCMINIT_SO	:= $(if $(rocminit_srcs),$(BUILD)/lib/libxsprof-rocminit.so)
TORCH_SO	:= $(if $(torch_srcs),$(BUILD)/lib/libxsprof-torch.so)
PYTHON_SO	:= $(if $(python_srcs),$(BUILD)/lib/libxsprof-python.so)
XSPROF		:= $(if $(tools_srcs),$(BUILD)/bin/xsprof)
XSPROF_DUMP	:= $(if $(tools_srcs),$(BUILD)/bin/xsprof-dump)
PC_FILES	:= $(if $(USER_A),$(BUILD)/lib/pkgconfig/xsprof-user.pc) \
		   $(if $(TRACE_A),$(BUILD)/lib/pkgconfig/xsprof-trace.pc)

ifeq ($(V),0)
Q		:= @
say		= @printf '  %-8s%s\n' $(1) $(patsubst $(BUILD)/%,%,$@)
else
Q		:=
say		= @:
endif

.PHONY: all user trace tools kmod tests demo demo-kmod check check-full check-fresh bench \
	bench-torch wheel sdist install uninstall modules_install dkms_install clean help FORCE
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

all: user trace tools

user: $(USER_A) $(USER_SO)
trace: $(TRACE_A) $(TRACE_SO)
tools: $(XSPROF) $(XSPROF_DUMP) $(ITT_SO) $(NVTX_SO) $(CUPTI_SO) $(OPENCL_SO) $(VULKAN_SO) \
	$(VULKAN_LAYER) $(LEVELZERO_SO) $(PRELOAD_SO) $(ROCM_SO) $(ROCMINIT_SO) $(TORCH_SO) \
	$(PYTHON_SO)

# Compiling --------------------------------------------------------------------------
# Objects depend on a file that changes when the compiler or its flags do, so that
# `make CFLAGS=-O0` after `make` rebuilds instead of mixing.
flags_line	:= $(CC) $(CXX) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS) $(LDFLAGS) $(base_cflags) \
		   $(base_cppflags) $(user_cflags) $(trace_cflags)
FLAGS_FILE	:= $(BUILD)/obj/.flags

$(FLAGS_FILE): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call shquote,$(flags_line)) | cmp -s - $@ || \
		printf '%s\n' $(call shquote,$(flags_line)) > $@

shquote		= '$(subst ','\'',$(1))'

# $(call compile,FLAGS): one C file to one object, dependencies beside it.
define compile
$(call say,CC)
@mkdir -p $(@D)
$(Q)$(call keep_said,$(CCACHE) $(CC) $(base_cppflags) $(CPPFLAGS) $(base_cflags) $(1) \
	$(CFLAGS) -MMD -MP -c -o $@ $<)
endef

# $(call keep_said,COMPILER...): what the compiler says stays beside the object as well, so that
# tests/builds/warnings.sh need not compile anything again.
keep_said	= $(1) 2>$@.said; rc=$$?; cat $@.said >&2; \
		  [ -s $@.said ] || rm -f $@.said; exit $$rc

$(BUILD)/obj/user/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(user_cflags))
$(BUILD)/obj/trace/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(trace_cflags))
$(BUILD)/obj/tools/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(tools_cflags))
# Names of system calls: numbers and names are those of the machine that it is built for.
$(BUILD)/gen/syscalls.inc: $(FLAGS_FILE)
	@mkdir -p $(@D)
	$(Q)printf '#include <asm/unistd.h>\n' | $(CC) $(CPPFLAGS) -x c -E -dM - | \
		sed -n 's/^#define __NR_\([a-z][a-z0-9_]*\) .*/[__NR_\1] = "\1",/p' | \
		grep -v -e '"syscalls"' -e '"arch_specific_syscall"' | sort -u >$@
# Where a tool that is not installed beside the collector looks for it.
$(BUILD)/gen/libdir: FORCE
	@mkdir -p $(@D)
	@echo '$(LIBDIR)' | cmp -s - $@ || echo '$(LIBDIR)' >$@
$(BUILD)/obj/tools/tools/cli/library.o: $(BUILD)/gen/libdir
$(BUILD)/obj/tools/tools/cli/library.o: tools_cflags += -DXSPROF_LIBDIR='"$(LIBDIR)"'
$(BUILD)/obj/tools/tools/report/syscalls.o: $(BUILD)/gen/syscalls.inc
$(BUILD)/obj/tools/tools/report/syscalls.o: tools_cflags += -I$(BUILD)/gen

$(BUILD)/obj/itt/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(itt_cflags))
$(BUILD)/obj/nvtx/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(nvtx_cflags))
$(BUILD)/obj/cupti/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(cupti_cflags))
$(BUILD)/obj/opencl/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(opencl_cflags))
$(BUILD)/obj/vulkan/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(vulkan_cflags))
$(BUILD)/obj/levelzero/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(levelzero_cflags))
$(BUILD)/obj/preload/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(preload_cflags))
$(BUILD)/obj/rocm/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(rocm_cflags))
$(BUILD)/obj/rocminit/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(rocminit_cflags))
$(BUILD)/obj/torch/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(torch_cflags))
$(BUILD)/obj/python/%.o: %.c $(FLAGS_FILE)
	$(call compile,$(python_cflags))

# Libraries --------------------------------------------------------------------------
# One object: a program that calls no more than a marker gets the constructor too, which no
# marker names; and what is hidden in the shared library is no symbol here either.
$(BUILD)/obj/xsprof-user.o: $(user_objs) $(FLAGS_FILE)
	$(call say,LD)
	$(Q)$(CC) -r -nostdlib -o $@ $(filter %.o,$^) && $(OBJCOPY) --localize-hidden $@
$(BUILD)/lib/libxsprof-user.a: $(BUILD)/obj/xsprof-user.o
$(BUILD)/lib/libxsprof-trace.a: $(trace_objs)
$(USER_PARTS): $(user_objs)
$(BUILD)/lib/%.a $(BUILD)/obj/%.a:
	$(call say,AR)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

# $(call link_so,NAME,MAP,LIBS): the versioned file; the short names are links to it.
define link_so
$(call say,LD)
@mkdir -p $(@D)
$(Q)$(CC) $(base_ldflags) $(so_ldflags) -Wl,-soname,$(1).so.$(SOMAJOR) \
	$(if $(2),-Wl$(comma)--version-script=$(2)) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) \
	$(3) $(DL_LIBS)
endef

$(BUILD)/lib/libxsprof-user.so.$(VERSION): $(user_objs) $(user_map) $(FLAGS_FILE)
	$(call link_so,libxsprof-user,$(user_map),-Wl$(comma)-z$(comma)nodelete \
		-Wl$(comma)-z$(comma)now)
$(BUILD)/lib/libxsprof-trace.so.$(VERSION): $(trace_so_objs) $(trace_map) $(FLAGS_FILE)
	$(call link_so,libxsprof-trace,$(trace_map),-Wl$(comma)-Bsymbolic $(ZSTD_LIBS) \
		$(SO_DW_LIBS) $(ZLIB_LIBS))

$(BUILD)/lib/%.so.$(SOMAJOR): $(BUILD)/lib/%.so.$(VERSION)
	$(Q)ln -sf $(<F) $@
$(BUILD)/lib/libxsprof-user.so $(BUILD)/lib/libxsprof-trace.so: %.so: %.so.$(SOMAJOR)
	$(Q)ln -sf $(<F) $@

# The collectors of ITT and NVTX are dlopen()ed by the program's own stub, that of CUDA by libcuda,
# those of OpenCL and Vulkan by their loaders, that of Level Zero by SYCL or by what is preloaded,
# that of ROCm by rocprofiler-sdk or by what is preloaded, by their path, and find the producer's
# library beside themselves.
$(BUILD)/lib/libxsprof-itt.so: $(itt_objs)
$(BUILD)/lib/libxsprof-nvtx.so: $(nvtx_objs)
$(BUILD)/lib/libxsprof-cupti.so: $(cupti_objs)
$(BUILD)/lib/libxsprof-opencl.so: $(opencl_objs)
$(BUILD)/lib/libxsprof-vulkan.so: $(vulkan_objs)
$(BUILD)/lib/libxsprof-levelzero.so: $(levelzero_objs)
$(BUILD)/lib/libxsprof-rocm.so: $(rocm_objs)
$(ITT_SO) $(NVTX_SO) $(CUPTI_SO) $(OPENCL_SO) $(VULKAN_SO) $(LEVELZERO_SO) $(ROCM_SO): \
		$(USER_SO) $(FLAGS_FILE)
	$(call say,LD)
	$(Q)$(CC) $(base_ldflags) $(so_ldflags) -Wl,-soname,$(@F) -Wl,-z,nodelete \
		-Wl,-rpath,'$$ORIGIN' $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(USER_SO) \
		$(DL_LIBS)

$(VULKAN_LAYER): gpu/vulkan/layer.json
	@mkdir -p $(@D)
	$(Q)cp $< $@

# The PyTorch collector is preloaded, and opens the producer's library where PyTorch is.
$(BUILD)/lib/libxsprof-torch.so: $(torch_objs) lib/libxsprof-torch.map $(FLAGS_FILE)
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_ldflags) -shared -Wl,-z,defs -Wl,-soname,$(@F) -Wl,-z,nodelete \
		-Wl,--version-script=lib/libxsprof-torch.map -Wl,-rpath,'$$ORIGIN' \
		$(CFLAGS) $(LDFLAGS) -fno-sanitize=all -o $@ $(torch_objs) $(DL_LIBS)

# What opens the collectors of Level Zero, of ROCm and, where its loader does not, of OpenCL is
# preloaded.
$(BUILD)/lib/libxsprof-preload.so: $(preload_objs) $(preload_map) $(FLAGS_FILE)
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_ldflags) -shared -Wl,-z,defs -Wl,-soname,$(@F) -Wl,-z,nodelete \
		$(preload_map:%=-Wl,--version-script=%) -Wl,-rpath,'$$ORIGIN' $(CFLAGS) \
		$(LDFLAGS) -fno-sanitize=all -o $@ $(preload_objs) $(DL_LIBS)
$(BUILD)/lib/libxsprof-rocminit.so: $(rocminit_objs) $(FLAGS_FILE)
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_ldflags) -shared -Wl,-z,defs -Wl,-soname,$(@F) -Wl,-z,nodelete \
		-Wl,-rpath,'$$ORIGIN' $(CFLAGS) $(LDFLAGS) -fno-sanitize=all -o $@ \
		$(rocminit_objs) $(DL_LIBS)

# So is the collector of Python's waits.
$(BUILD)/lib/libxsprof-python.so: $(python_objs) $(python_map) $(FLAGS_FILE)
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_ldflags) -shared -Wl,-z,defs -Wl,-soname,$(@F) -Wl,-z,nodelete \
		-Wl,--version-script=$(python_map) -Wl,-rpath,'$$ORIGIN' \
		$(CFLAGS) $(LDFLAGS) -fno-sanitize=all -o $@ $(python_objs) $(DL_LIBS)

# Tools ------------------------------------------------------------------------------
# The decoder is linked in: a tool copied to another machine needs libc, libzstd, zlib, libtracefs,
# libtraceevent and, where there was elfutils, libdw only.
$(BUILD)/bin/xsprof: $(tools_objs) $(TRACE_A) $(USER_PARTS) $(FLAGS_FILE)
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_ldflags) -pie $(CFLAGS) $(LDFLAGS) -o $@ $(tools_objs) \
		$(TRACE_A) $(USER_PARTS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(TRACEFS_LIBS) $(DW_LIBS) \
		$(DL_LIBS)
$(BUILD)/bin/xsprof-dump: $(BUILD)/bin/xsprof
	$(Q)ln -sf $(<F) $@

# The kernel module ------------------------------------------------------------------
# Kbuild writes beside its sources: it gets links to them, below $(BUILD). What was given on
# this command line (O=, V=, CFLAGS=) is not meant for the kernel's makefiles.
kmod_files	:= Kbuild $(wildcard kmod/*.c kmod/*.h) kmod/uapi
kmod_links	= $(kmod_files:%=$(BUILD)/kmod/%)
kbuild		= $(MAKE) MAKEOVERRIDES= -C $(KDIR) M=$(abspath $(BUILD)/kmod)

$(kmod_links): $(BUILD)/kmod/%: %
	@mkdir -p $(@D)
	@ln -sfn $(abspath $<) $@

kmod: $(kmod_links)
	@test -e $(KDIR)/Makefile || { echo "kmod: $(KDIR): no kernel headers: install" \
		"linux-headers-$$(uname -r), or name others with KDIR=" >&2; exit 1; }
	+$(kbuild) W=1 modules

modules_install: kmod
	+$(kbuild) $(if $(DESTDIR),INSTALL_MOD_PATH=$(abspath $(DESTDIR))) modules_install
	@set -e; $(INSTALL) -d $(DESTDIR)$(UDEVRULESDIR); \
		$(INSTALL) -m 644 kmod/60-xsprof.rules $(DESTDIR)$(UDEVRULESDIR)/

# The sources where dkms looks for them; then `dkms install xsprof/VERSION`.
dkms_install:
	$(call inst_dir,$(DKMSDIR)/kmod/uapi/xsprof $(UDEVRULESDIR))
	$(INSTALL) -m 644 Kbuild $(DESTDIR)$(DKMSDIR)/
	$(INSTALL) -m 644 $(wildcard kmod/*.c kmod/*.h) $(DESTDIR)$(DKMSDIR)/kmod/
	$(INSTALL) -m 644 kmod/uapi/xsprof/*.h $(DESTDIR)$(DKMSDIR)/kmod/uapi/xsprof/
	sed 's/@VERSION@/$(VERSION)/' kmod/dkms.conf.in > $(DESTDIR)$(DKMSDIR)/dkms.conf
	$(INSTALL) -m 644 kmod/60-xsprof.rules $(DESTDIR)$(UDEVRULESDIR)/

# Tests ------------------------------------------------------------------------------
# A tests/DIR/Makefile.inc names its programs, TEST_PROGS += $(BUILD)/tests/DIR/NAME, and
# what each is linked with as ordinary prerequisites (.o .a .so), e.g.
#	$(BUILD)/tests/lib/fork: $(USER_A)
# tests/DIR/NAME.c (or .cc) is compiled with $(TEST_CFLAGS) and linked with $(TEST_LIBS);
# both may be set per target. See tests/README.
TEST_PROGS	:=
TEST_CFLAGS	:= -Itests -Itools
TEST_LIBS	:=
-include $(sort $(wildcard tests/*/Makefile.inc))

$(BUILD)/obj/tests/%.o: tests/%.c $(FLAGS_FILE)
	$(call compile,$(TEST_CFLAGS))
$(BUILD)/obj/tests/%.o: tests/%.cc $(FLAGS_FILE)
	$(call say,CXX)
	@mkdir -p $(@D)
	$(Q)$(call keep_said,$(CCACHE) $(CXX) $(base_cppflags) $(CPPFLAGS) $(base_cxxflags) \
		$(TEST_CFLAGS) $(CXXFLAGS) -MMD -MP -c -o $@ $<)

# g++ links a C++ test; everything else is linked as C, so that a C test shows that the
# libraries need nothing of libstdc++.
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(FLAGS_FILE)
	$(call say,LD)
	@mkdir -p $(@D)
	$(Q)$(if $(wildcard tests/$*.cc),$(CXX),$(CC)) $(base_ldflags) $(CFLAGS) $(LDFLAGS) \
		-Wl,-rpath,'$$ORIGIN/../../lib' -o $@ $(filter %.o %.a %.so,$^) $(TEST_LIBS) \
		$(DL_LIBS)

tests: $(TEST_PROGS)

# tests-DIR: the programs of one folder, for who runs its scripts in a build of their own
TEST_DIRS	:= $(sort $(patsubst $(BUILD)/tests/%/,%,$(dir $(TEST_PROGS))))
.PHONY: $(TEST_DIRS:%=tests-%)
$(foreach d,$(TEST_DIRS),$(eval tests-$(d): $(filter $(BUILD)/tests/$(d)/%,$(TEST_PROGS))))

# These install first and only then build, with a fresh look at what there is.
build_all	= $(MAKE) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc)) all

# The builds that tests run in beside this one. One that fails is a test's to report.
build_variants	= -tests/builds/make.sh clang asan asan-gcc tsan arm64

check:
	tests/install-deps.sh build check
	$(build_all) tests
	$(build_variants)
	tests/run.sh -j $(JOBS) quick

check-full:
	tests/install-deps.sh build check full
	$(build_all) tests
	$(build_variants)
	tests/run.sh -j $(JOBS) full

check-fresh:
	tests/install-deps.sh fresh
	tests/fresh/run.sh

bench:
	tests/install-deps.sh build demo bench
	$(build_all) tests
	tests/bench/run.sh

bench-torch:
	tests/install-deps.sh build check
	$(build_all) tests
	tests/bench/run.sh torch

demo:
	tests/install-deps.sh build demo
	$(build_all)
	tests/demo/demo.sh

demo-kmod:
	tests/install-deps.sh build demo kernel
	$(build_all)
	tests/demo/kmod.sh

# Installation -----------------------------------------------------------------------
# Programs linked by pkg-config find the libraries also where the loader does not look.
loader_dirs	:= /lib /lib64 /usr/lib /usr/lib64 /usr/local/lib \
		   /lib/%-linux-gnu /usr/lib/%-linux-gnu
pc_rpath	= $(if $(filter-out $(loader_dirs),$(LIBDIR)),-Wl$(comma)-rpath$(comma)$${libdir})

$(BUILD)/lib/pkgconfig/%.pc: lib/%.pc.in Makefile FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|g' -e 's|@VERSION@|$(VERSION)|g' \
		-e 's|@RPATH@|$(addsuffix $() ,$(pc_rpath))|g' \
		-e 's|@DW_LIBS@|$(DW_LIBS)|g' -e 's|@ZLIB_LIBS@|$(ZLIB_LIBS)|g' $< > $@

man_pages	:= $(sort $(wildcard Documentation/man/*.[1-8]))
public_headers	:= $(wildcard lib/include/xsprof/*.h lib/include/xsprof/*.hpp \
		   kmod/uapi/xsprof/*.h)
so_files	= $(foreach n,user trace,$(if $($(n)_srcs),libxsprof-$(n)))

install: all $(PC_FILES)
	$(call inst_dir,$(LIBDIR) $(BINDIR) $(INCLUDEDIR)/xsprof $(PKGCONFIGDIR) $(BASHCOMPDIR))
	@set -e; for l in $(so_files); do \
		$(INSTALL) -m 755 $(BUILD)/lib/$$l.so.$(VERSION) $(DESTDIR)$(LIBDIR)/; \
		ln -sf $$l.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$$l.so.$(SOMAJOR); \
		ln -sf $$l.so.$(SOMAJOR) $(DESTDIR)$(LIBDIR)/$$l.so; \
		$(INSTALL) -m 644 $(BUILD)/lib/$$l.a $(DESTDIR)$(LIBDIR)/; \
	done
	$(if $(ITT_SO),$(INSTALL) -m 755 $(ITT_SO) $(NVTX_SO) $(CUPTI_SO) $(OPENCL_SO) \
		$(VULKAN_SO) $(LEVELZERO_SO) $(PRELOAD_SO) $(ROCM_SO) $(ROCMINIT_SO) $(TORCH_SO) \
		$(PYTHON_SO) $(DESTDIR)$(LIBDIR)/)
	$(if $(VULKAN_LAYER),$(INSTALL) -d $(DESTDIR)$(LIBDIR)/xsprof-vulkan)
	$(if $(VULKAN_LAYER),$(INSTALL) -m 644 $(VULKAN_LAYER) $(DESTDIR)$(LIBDIR)/xsprof-vulkan/)
	$(if $(XSPROF),$(INSTALL) -m 755 $(XSPROF) $(DESTDIR)$(BINDIR)/)
	$(if $(XSPROF),ln -sf xsprof $(DESTDIR)$(BINDIR)/xsprof-dump)
	$(if $(public_headers),$(INSTALL) -m 644 $(public_headers) $(DESTDIR)$(INCLUDEDIR)/xsprof/)
	$(if $(strip $(PC_FILES)),$(INSTALL) -m 644 $(PC_FILES) $(DESTDIR)$(PKGCONFIGDIR)/)
	@set -e; for m in $(man_pages); do \
		d=$(DESTDIR)$(MANDIR)/man$${m##*.}; $(INSTALL) -d $$d; \
		$(INSTALL) -m 644 $$m $$d/; \
	done
	$(if $(wildcard tools/completion/xsprof),$(INSTALL) -m 644 tools/completion/xsprof \
		$(DESTDIR)$(BASHCOMPDIR)/xsprof)
	$(if $(wildcard tools/completion/xsprof),ln -sf xsprof $(DESTDIR)$(BASHCOMPDIR)/xsprof-dump)
	@# Only an installation into the running system changes the loader's cache.
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

# The Python package: tools/python/setup.py calls install.
wheel sdist:
	tests/install-deps.sh wheel
	+tools/python/wheel.sh $@

inst_dir	= $(INSTALL) -d $(addprefix $(DESTDIR),$(1))

uninstall:
	rm -f $(foreach l,libxsprof-user libxsprof-trace,$(addprefix $(DESTDIR)$(LIBDIR)/$(l), \
		.a .so .so.$(SOMAJOR) .so.$(VERSION)))
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libxsprof-itt.so libxsprof-nvtx.so \
		libxsprof-cupti.so libxsprof-opencl.so libxsprof-vulkan.so libxsprof-torch.so \
		libxsprof-levelzero.so libxsprof-preload.so libxsprof-python.so \
		libxsprof-rocm.so libxsprof-rocminit.so \
		xsprof-vulkan/layer.json)
	-rmdir $(DESTDIR)$(LIBDIR)/xsprof-vulkan
	rm -f $(addprefix $(DESTDIR)$(BINDIR)/,xsprof xsprof-dump)
	rm -f $(addprefix $(DESTDIR)$(PKGCONFIGDIR)/,xsprof-user.pc xsprof-trace.pc)
	rm -f $(addprefix $(DESTDIR)$(INCLUDEDIR)/xsprof/,$(notdir $(public_headers)))
	rm -f $(foreach m,$(man_pages), \
		$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m)))
	rm -f $(addprefix $(DESTDIR)$(BASHCOMPDIR)/,xsprof xsprof-dump)
	-rmdir $(DESTDIR)$(INCLUDEDIR)/xsprof

clean:
	rm -rf $(BUILD)

help:
	@echo 'Targets:'
	@echo '  all          libraries and tools (default); also one by one: user trace tools'
	@echo '  kmod         the kernel module, for the running kernel or KDIR=; modules_install'
	@echo '  dkms_install the sources of the module where dkms looks for them'
	@echo '  tests        the test programs'
	@echo '  demo         install what is needed, build, record real programs, write demo/'
	@echo '  demo-kmod    in a virtual machine: what a killed program was doing'
	@echo '  check        install what is needed, build, run the tests (minutes)'
	@echo '  check-full   the same with the full figures'
	@echo '  check-fresh  demo and check inside a minimal Debian 12 root (as root)'
	@echo '  bench        measure, print the table of bars, write build/bench.json'
	@echo '  bench-torch  the same of what recording PyTorch costs; downloads its wheel'
	@echo '  install      DESTDIR, prefix=$(PREFIX), LIBDIR, INCLUDEDIR, MANDIR'
	@echo '  wheel sdist  the Python package with tools and libraries, into build/dist'
	@echo '  uninstall, clean, help'
	@echo 'Variables:'
	@echo '  BUILD=dir or O=dir  output directory (default build)'
	@echo '  JOBS=1              tests at once in check and check-full (CPUs + 1)'
	@echo '  KDIR=dir            kernel headers to build the module with'
	@echo '  V=1                 show the commands'
	@echo '  CC=clang CFLAGS=... compiler and flags'
	@echo '  SAN=address,undefined   sanitizers, e.g. with BUILD=build/asan'
	@echo '  CROSS_COMPILE=aarch64-linux-gnu-'

-include $(shell test -d $(BUILD)/obj && find $(BUILD)/obj -name '*.d')
