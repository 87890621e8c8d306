# gtmark's build. `make help` lists targets and variables.
#
# Sources are found by their place: a new file in a room is built, bench/bench_*.c and tests/test_*.c are programs.
# What the machine has is found out by tests/machine.sh, which writes config.mk. Each compiler, and SAN=1, has its
# own directory: build (gcc), build/clang, build/gcc-san, build/clang-san.

MAKEFLAGS += --no-print-directory --no-builtin-rules
# As many jobs as cores, unless -j says otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.SECONDEXPANSION:
.DELETE_ON_ERROR:
.PHONY: all install uninstall bench bench-full score submit results report compare compare-torch test tests tests-small no-cmocka soak mutants plugins style probe known known-small help FORCE
all:

## Variables
##   CC=clang                the compiler (gcc)
##   BLAS=none or "-lname"   the CBLAS (openblas): none, or the flags that link another
##   CUDA=0                  leave CUDA out
##   NVCC=/path/nvcc         the CUDA compiler (else CUDACXX, that of CUDA_HOME or CUDA_PATH, in PATH, in /usr/local/cuda)
##   NVCC_CCBIN=g++-13       its host compiler
##   CUDA_ARCH="sm_90"       GPUs to compile for (those of this machine, else sm_80); newer ones run the PTX, which
##                           their driver compiles at the first start
##   MPI=0 or mpicc.mpich    leave MPI out, or its compiler (mpicc)
##   METIS=0                 leave METIS out
##   CI=true                 warnings are errors; those of ptxas with the toolkit 13.0
##   ROOM=analysis           `test` runs, small and once, what includes this room's headers and nothing above it
##   SAN=1                   with AddressSanitizer and UndefinedBehaviorSanitizer
##   PREFIX=DIR              where to install (/usr/local); DESTDIR, bindir, ... as in GNU's makefiles
##   CFLAGS, LDFLAGS         added to ours
##   V=1                     show what was found on this machine, and the commands
ifeq ($(origin CC),default)
CC := gcc
endif
BLAS ?= openblas
CUDA ?= 1
MPI  ?= mpicc
METIS ?= 1
san  := $(if $(filter-out 0,$(SAN)),-san)
Q    := $(if $(V),,@)
# What is being made: on a terminal a line that is written again, elsewhere a line for each stage.
terminal := $(shell [ -t 2 ] && [ "$$TERM" != dumb ] && echo 1)
say   = $(if $(V),:,$(if $(terminal),printf '\033[K  %.70s\r' '$1 $2' >&2,$(if $(said_$1),:,$(eval said_$1 := 1)echo '  $1' >&2)))
clear = $(if $(terminal),printf '\033[K' >&2,:)

# `clean` and `setup` change what the other goals start from: they run first, the others in a second make.
ifneq ($(filter clean setup,$(MAKECMDGOALS)),)
goals := $(filter-out clean setup,$(MAKECMDGOALS))
for_tests := $(filter test tests tests-small test-aarch64 soak mutants style,$(goals))
.PHONY: $(MAKECMDGOALS) in-order
$(MAKECMDGOALS): in-order ; @:
in-order:
	$(if $(filter clean,$(MAKECMDGOALS)),rm -rf build)
	$(if $(filter setup,$(MAKECMDGOALS)),@CC='$(CC)' BLAS='$(BLAS)' MPI='$(MPI)' METIS='$(METIS)' \
	    tests/machine.sh setup $(if $(for_tests),tests))
	$(if $(filter setup,$(MAKECMDGOALS)),$(if $(for_tests),@tests/sysroot.sh aarch64 || :))
	$(if $(filter setup,$(MAKECMDGOALS)),@rm -f build/probed build/*/probed)
	$(if $(goals),@$(MAKE) $(goals))
else ifneq ($(MAKECMDGOALS),help)

BUILD    := $(patsubst build/gcc,build,build/$(notdir $(lastword $(CC)))$(san))
OBJ      := $(BUILD)/obj
# One line, before commands fail one after the other.
readonly := $(shell mkdir -p $(BUILD) 2>/dev/null; [ -d $(BUILD) ] && [ -w $(BUILD) ] || echo '$(CURDIR)/$(BUILD)'; \
              [ -d "$${TMPDIR:-/tmp}" ] && [ -w "$${TMPDIR:-/tmp}" ] || echo "TMPDIR=$${TMPDIR:-/tmp}")
$(if $(readonly),$(error cannot be written: $(readonly)))
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# A compiler that is newer than this tree may warn of more: that stops the tests that run by themselves, and no user.
# No warning where clang leaves a loop scalar that asks for SIMD; no fused multiply-add where it is not asked for, so
# that every machine gives the same bits.
strict   := $(if $(filter-out 0 false,$(CI)),-Werror)
# Tests that run by themselves need the lines of a trace, and not gigabytes of what a debugger reads.
debug    := $(if $(strict),-g1,-g)
warnings := -Wall -Wextra $(strict) -Wno-pass-failed
flags    := $(if $(san),-O1 -g1 $(sanitize),-O2 $(debug)) $(warnings) -fopenmp -ffp-contract=off $(CFLAGS)

# What the machine has. The file `probed` says when we looked; config.mk changes only when the findings do, and
# then everything is built again.
request := $(strip $(CC) $(flags) $(LDFLAGS) BLAS=$(BLAS) MPI=$(MPI) METIS=$(METIS) \
             $(if $(filter-out 0,$(CUDA) $(MPI)),in $(CURDIR)))
# Apart, so that it does not matter to objects for the CPU.
asked_of_cuda := $(strip CUDA=$(CUDA) $(CUDA_ARCH) $(foreach name,NVCC CUDACXX CUDA_HOME CUDA_PATH NVCC_CCBIN,$(name)=$($(name))))
-include $(BUILD)/config.mk $(BUILD)/cuda.mk
ifneq ($(request)$(asked_of_cuda)$(filter probe,$(MAKECMDGOALS)),$(CONFIGURED)$(CUDA_CONFIGURED))
look_again := $(if $(MAKE_RESTARTS),,FORCE)
endif
$(BUILD)/config.mk $(BUILD)/cuda.mk: $(BUILD)/probed ;
$(BUILD)/probed: tests/machine.sh tests/machine_cuda.sh $(look_again)
	@mkdir -p $(@D)
	@CC='$(CC)' EMULATOR='$(EMULATOR)' FLAGS='$(flags) $(LDFLAGS)' BLAS='$(BLAS)' MPI='$(MPI)' METIS='$(METIS)' REQUEST='$(request)' \
	    CUDA='$(CUDA)' CUDA_ARCH='$(CUDA_ARCH)' CUDA_REQUEST='$(asked_of_cuda)' \
	    $(if $(filter probe,$(MAKECMDGOALS))$(V),,QUIET=1) tests/machine.sh probe $(BUILD)/config.mk $(if $(filter probe,$(MAKECMDGOALS)),,>&2)
	@touch $@

# Objects. kernels/ref is compiled as float, as double and as the C++ counting type, kernels/oracle as float and as
# double, kernels/cpu for each instruction set, and its folder amx for that one; all else once. FILE.WAY.o is FILE.c
# compiled that way.
# Under sanitizers the baseline alone, compiled for the best set of this machine: others would repeat its loops.
cpu_has  = $(and $(filter $1,$(ISAS)),$(shell grep -om1 '$2' /proc/cpuinfo))
isas    := $(if $(san),base,$(ISAS))
v4      := -march=x86-64-v4 -mprefer-vector-width=512
best    := $(if $(call cpu_has,avx512,avx512vl),$(v4),$(if $(call cpu_has,avx2,avx2),-march=x86-64-v3))
mains   := $(wildcard bench/*.c)
checks  := $(patsubst %.c,%,$(wildcard tests/test_*.c))
# Tests of what is read, judged and written, as small as they are large: under sanitizers they find what they find
# without. Not those of arithmetic, which optimisation changes.
once_is_enough := $(patsubst %.c,%,$(shell \
    grep -LE -e '"(kernels|models|graphs|bench/(audit|flops|row|sweep))/' -e GTMARK_SMALL \
    -e '"tests/(graphs|encodings|tapes|spectra|rank_threads|every_row|sanitized|program|fake_device)\.h' tests/test_*.c))
dumps   := $(patsubst %.c,%,$(wildcard tests/dump_*.c))
fuzz    := $(patsubst %.c,%,$(wildcard tests/fuzz_*.c))
# Their seeds, replayed without libFuzzer.
replays := $(if $(san),,$(fuzz:tests/fuzz_%=$(BUILD)/tests/replay_%))
fuzzers := $(if $(and $(FUZZER),$(san),$(filter clang,$(notdir $(lastword $(CC))))),$(fuzz:%=$(BUILD)/%))
helpers := $(patsubst %.c,$(OBJ)/%.o,$(filter-out tests/test_% tests/dump_% tests/fuzz_%,$(wildcard tests/*.c)))
once    := $(foreach room,kernels graphs models/* analysis/* bench/*,\
             $(filter-out bench/base/build.c,$(wildcard $(room)/*.c)))
# Not in the library: each commit changes it.
version := $(OBJ)/bench/base/build.o
objects := $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(if $(SQLITE),,analysis/database/%),$(once)) \
             $(foreach way,f32 f64 count,$(patsubst %.c,%.$(way).c,$(wildcard kernels/ref/*.c))) \
             $(foreach way,f32 f64,$(patsubst %.c,%.$(way).c,$(wildcard kernels/oracle/*.c))) \
             $(foreach way,$(filter-out amx,$(isas)),$(patsubst %.c,%.$(way).c,$(wildcard kernels/cpu/*.c))) \
             $(if $(filter amx,$(isas)),$(patsubst %.c,%.amx.c,kernels/cpu/peak.c $(wildcard kernels/cpu/amx/*.c))))
mpi_obj := $(if $(MPI_FLAGS),$(patsubst %.c,$(OBJ)/%.o,$(wildcard kernels/mpi/*.c tests/pmpi/*.c)))
every   := $(objects) $(mpi_obj) $(version) $(helpers) $(mains:%.c=$(OBJ)/%.o) \
             $(patsubst %,$(OBJ)/%.o,$(checks) $(dumps) $(fuzz) tests/slower/slower tests/replay/replay tests/emulator/test_counters)
defines := -D_GNU_SOURCE -DHAVE_CBLAS=$(HAVE_CBLAS) -DHAVE_LAPACK=$(HAVE_LAPACK) -DHAVE_ARPACK=$(HAVE_ARPACK) \
           -DHAVE_MPI=$(if $(MPI_FLAGS),1,0) -DHAVE_METIS=$(HAVE_METIS) -DISA_X86=$(ISA_X86)
# Sanitizers and unrolled loops together take clang half a minute for each gemm.o; and whether a product and a sum are
# fused depends on the checks between them, so that one expression has different bits in two loops. Newer
# versions of gcc also leave some chains of sums unfused, as some processors like it.
chains  := $(if $(findstring clang,$(CC)),,--param avoid-fma-max-bits=0)
fast    := $(if $(san),-DROLLED,-O3 -ffp-contract=fast $(chains)) -fno-math-errno -fno-trapping-math
# Where git refuses the checkout of another user, as in `sudo make install`: the commit of the last build.
commit  := $(or $(shell git describe --always --dirty --abbrev=12 2>/dev/null),$(strip $(file <$(BUILD)/commit)),unknown)

$(OBJ)/%:                language := -std=c11
$(OBJ)/%.count.o:        language := -x c++
$(OBJ)/%.f32.o:          way := -DREF_F32
$(OBJ)/%.f64.o:          way := -DREF_F64
$(OBJ)/%.count.o:        way := -DREF_COUNT -O2 $(CXX_FLAGS)
$(OBJ)/%.base.o:         way := $(fast) -DISA=base $(if $(san),$(best))
$(OBJ)/%.avx2.o:         way := $(fast) -DISA=avx2 -march=x86-64-v3
$(OBJ)/%.avx512.o:       way := $(fast) -DISA=avx512 $(v4)
$(OBJ)/%.amx.o:          way := $(fast) -DISA=amx $(v4) -mamx-tile -mamx-bf16 -D__AMX_TILE__ -D__AMX_BF16__
with_isa := $(foreach way,avx2 avx512 amx,-DISA_$(way)=$(words $(filter $(way),$(isas))))
$(OBJ)/kernels/isa.o $(OBJ)/kernels/peak.o: way := $(with_isa)
$(OBJ)/tests/test_gemm.o: way := $(with_isa) $(if $(san),$(best))
$(OBJ)/kernels/blas.o:   way := -DBLAS_LIBRARIES='$(foreach name,$(BLAS_LIBRARIES),"$(name)",)'
$(OBJ)/bench/query.o $(OBJ)/tests/test_query.o: way := -DHAVE_SQLITE=$(if $(SQLITE),1,0)
$(foreach path,kernels/plugin bench/machine/machine tests/test_cuda_build,$(OBJ)/$(path).o): defines += -DHAVE_CUDA=$(HAVE_CUDA)
$(foreach path,kernels/plugin bench/machine/machine tests/test_cuda_build,$(OBJ)/$(path).o): $(BUILD)/cuda.mk
$(version): way := -DBUILD_FLAGS='"$(flags)"' -DBUILD_COMMIT='"$(commit)"'
$(version): $(BUILD)/commit
# What fuzzers feed says which of its branches they reach; where nobody asks, that costs a little time.
$(foreach path,bench/% analysis/% graphs/% models/encodings/encoding.o tests/fuzz_%,$(OBJ)/$(path)): \
                         cover := $(if $(fuzzers),-fsanitize=fuzzer-no-link)

# A test runs once and for a moment: it costs more to optimise.
$(checks:%=$(OBJ)/%.o): level := -O0

$(every): $(OBJ)/%.o: $$(basename $$*).c $(BUILD)/config.mk Makefile
	@mkdir -p $(@D) && $(call say,compiling,$(@:$(OBJ)/%=%))
	$(Q)$(CC) $(language) $(flags) $(level) $(pic) $(cover) $(defines) -I. $(filter -I%,$(PACKAGES) $(SQLITE)) $(way) -MMD -MP -c $< -o $@
$(BUILD)/commit: FORCE
	@echo '$(commit)' | cmp -s - $@ || echo '$(commit)' >$@
# The styles of charts as strings, without their comments.
$(OBJ)/analysis/charts/style.o: way := -I$(OBJ)
$(OBJ)/analysis/charts/style.o: $(OBJ)/analysis/charts/styles.inc
$(OBJ)/analysis/charts/styles.inc: $(wildcard analysis/plots/*.gp) Makefile
	@mkdir -p $(@D)
	@for style in $(filter %.gp,$^); do echo "const char style_$$(basename "$$style" .gp)[] =" && \
	    sed '/^#/d; s/[\\"]/\\&/g; s/.*/"&\\n"/' "$$style" && echo ';' || exit; done >$@
# The style and the script of reports as strings.
$(OBJ)/analysis/report/page.o: way := -I$(OBJ)
$(OBJ)/analysis/report/page.o: $(OBJ)/analysis/report/page.inc
$(OBJ)/analysis/report/page.inc: analysis/report/embed.sh analysis/report/page.css analysis/report/page.js Makefile
	@mkdir -p $(@D)
	@analysis/report/embed.sh analysis/report/page.css analysis/report/page.js >$@
-include $(every:.o=.d)

# What plug-ins and programs of others may call, by the headers that are installed: tape, layers, graphs and kernels.
# GTMARK_ID is the version of these headers. Benchmarks export it all, so that there is one copy of it in a process with a
# plug-in; the shared library, of the same objects, is for programs of one's own.
headers    := $(filter-out %_internal.h,$(wildcard kernels/*.h kernels/*.def graphs/*.h models/*/*.h models/*/*.def))
id         := $(shell cat $(headers) | cksum | tr ' ' -)
in_library := $(patsubst %,$(OBJ)/%,kernels/% graphs/% models/%)
offered    := $(filter $(in_library),$(objects))
library    := $(if $(san),,$(BUILD)/libgtmark.so)
$(in_library): pic := -fPIC -fno-semantic-interposition
$(OBJ)/bench/cli/plugin.o: way := -DGTMARK_ID=$(id)
$(OBJ)/bench/cli/plugin.o: $(BUILD)/id
$(BUILD)/id: FORCE
	@echo '$(id)' | cmp -s - $@ || echo '$(id)' >$@
$(BUILD)/exports: $(filter-out $(patsubst %,$(OBJ)/kernels/%,cpu/% ref/% oracle/%),$(offered))
	@nm -g --defined-only $^ | awk 'BEGIN { print "{" } $$3 ~ /^[a-z]/ { print $$3 ";" } END { print "};" }' >$@
$(BUILD)/libgtmark.so $(BUILD)/installed/libgtmark.so: $(offered) $(BUILD)/exports $(BUILD)/id
	@mkdir -p $(@D) && $(call say,linking,$@)
	@sed '1s/{/{ global:/; $$s/}/local: *; }/' $(BUILD)/exports >$@.map
	$(Q)$(CC) $(flags) -shared -Wl,-z,defs,-Bsymbolic,-soname,libgtmark.so.$(id),--version-script=$@.map $(offered) \
	    -Wl,--as-needed $(LDFLAGS) $(filter-out -I%,$(PACKAGES)) -ldl -lm $(cuda_here) $(mpi_here) -o $@

# CUDA: a library of its own, which programs open when they are asked for a GPU (kernels/plugin.c). nvcc and gcc
# compile it, without sanitizers, and all builds share it.
ifeq ($(HAVE_CUDA),1)
cuda      := build/cuda/libgtmark_cuda.so
endif
cuda_obj  := $(patsubst %,build/cuda/obj/%.o,$(wildcard kernels/cuda/*.c kernels/cuda/*.cu))
cuda_host := -fPIC,-Wall,-Wextra$(strict:%=,%)
nvcc      := $(CUDA_NVCC) -O3 -I. -Xcompiler $(cuda_host)
# The machine code of every GPU is made from PTX for the oldest: compiling for each takes twice the time. The PTX is
# embedded too, as text (tests/test_ptx.sh): from it the driver makes code for GPUs that are newer than all of these.
ptx       := $(firstword $(CUDA_ARCHS:sm_%=compute_%))
gpu       := $(foreach code,$(CUDA_ARCHS) $(ptx),-gencode arch=$(ptx),code=$(code)) \
             -std=c++17 -lineinfo -no-compress -Xptxas -warn-spills,-warn-lmem-usage,-v
# ptxas says what each kernel needs, which tests read (FILE.o.ptxas), and warns of registers that spill and of other local
# memory. Which kernels spill depends on its version, so warnings are errors only where the tests run by themselves
# (CI=true) with the toolkit that the kernels were tuned with.
gpu_strict := $(if $(filter-out 0 false,$(CI)),$(if $(filter 13.0,$(NVCC_RELEASE)),-Werror all-warnings))

# What the library is made from. It says so, and a program, which is built with the same text, opens no other.
ifeq ($(HAVE_CUDA),1)
cuda_id := $(shell { echo '$(nvcc) $(gpu)'; cat kernels/*.h kernels/*.def kernels/cuda/*; } | cksum | tr ' ' -)
$(OBJ)/kernels/plugin.o:                               way := -DCUDA_ID='"$(cuda_id)"'
build/cuda/obj/kernels/cuda/table.c.o:                 way := -DCUDA_ID='"$(cuda_id)"'
build/cuda/obj/kernels/cuda/refusal.c.o:               way := -DCUDA_ARCHS='"$(subst $() ,/,$(CUDA_ARCHS))"'
$(OBJ)/kernels/plugin.o build/cuda/obj/kernels/cuda/table.c.o: build/cuda/id
endif
build/cuda/id: FORCE
	@mkdir -p $(@D)
	@echo '$(cuda_id)' | cmp -s - $@ || echo '$(cuda_id)' >$@

build/cuda/obj/%.c.o: %.c build/cuda/request
	@mkdir -p $(@D) && $(call say,nvcc,$(@:build/cuda/obj/%=%))
	$(Q)$(nvcc) -Xcompiler -std=gnu11 $(way) -MMD -MP -c $< -o $@ || rm -f $@
build/cuda/obj/%.cu.o: %.cu build/cuda/request
	@mkdir -p $(@D) && $(call say,nvcc,$(@:build/cuda/obj/%=%))
	$(Q)$(nvcc) $(gpu) $(gpu_strict) -MMD -MP -c $< -o $@ 2>$@.ptxas || rm -f $@
	@sed '/^ptxas info/d; / bytes stack frame,/d' $@.ptxas >&2
# An object that cannot be made stops nothing before the library, and this comes after the programs: they run without.
build/cuda/libgtmark_cuda.so: $(cuda_obj) | $(programs) $(mpi)
	@$(call say,linking,$@)
	$(Q)ls $^ >/dev/null && $(nvcc) -shared -cudart static -Xlinker -z,defs $(CUDA_LIB:%=-Xlinker -rpath,%) $^ -o $@ \
	    -lcublas -lcublasLt -lcusparse || \
	    { echo 'gtmark: the CUDA kernels cannot be built (see above); the programs for the CPU are ready. make CUDA=0 leaves CUDA out' >&2; false; }
build/cuda/request: FORCE
	@mkdir -p $(@D)
	@echo '$(nvcc) $(gpu) $(CUDA_LIB)' | cmp -s - $@ || echo '$(nvcc) $(gpu) $(CUDA_LIB)' >$@
-include $(cuda_obj:.o=.d)

# MPI: a library of its own too, which programs open when they were started as ranks (kernels/ranks.c).
mpi_id := $(shell { echo '$(CC) $(flags) $(MPI_FLAGS)'; cat kernels/mat.h kernels/ranks.h kernels/mpi/*; } | cksum | tr ' ' -)
$(mpi_obj): way := -fPIC $(filter -I% -D%,$(MPI_FLAGS))
$(OBJ)/kernels/mpi/mpi.o $(OBJ)/kernels/ranks.o: defines += -DMPI_ID='"$(mpi_id)"'
$(OBJ)/kernels/mpi/mpi.o $(OBJ)/kernels/ranks.o: $(BUILD)/mpi/id
ifneq ($(MPI_FLAGS),)
mpi := $(BUILD)/mpi/libgtmark_mpi.so
endif
$(BUILD)/mpi/id: FORCE
	@mkdir -p $(@D)
	@echo '$(mpi_id)' | cmp -s - $@ || echo '$(mpi_id)' >$@
$(BUILD)/mpi/libgtmark_mpi.so: $(filter $(OBJ)/kernels/%,$(mpi_obj))
	@$(call say,linking,$@)
	$(Q)$(CC) $(flags) -shared $^ $(filter-out -I%,$(MPI_FLAGS)) $(LDFLAGS) -o $@

# Bytes between ranks, counted by MPI's profiling interface, and a program of known bytes (tests/test_pmpi.sh).
pmpi := $(if $(mpi),$(BUILD)/tests/pmpi/libcount.so $(BUILD)/tests/pmpi/known)
$(BUILD)/tests/pmpi/libcount.so: way := -shared
$(BUILD)/tests/pmpi/libcount.so: $(OBJ)/tests/pmpi/count.o
$(BUILD)/tests/pmpi/known: $(OBJ)/tests/pmpi/known.o
$(pmpi):
	@mkdir -p $(@D) && $(call say,linking,$@)
	$(Q)$(CC) $(flags) $(way) $^ $(filter-out -I%,$(MPI_FLAGS)) $(LDFLAGS) -o $@

# lld links a test in half of the time, with sanitizers in a third; older versions of valgrind cannot read its programs.
lld       := $(if $(EMULATOR),,$(if $(shell command -v ld.lld),-fuse-ld=lld))
linker    := $(if $(san),$(lld))
$(BUILD)/tests/%: linker := $(lld)
# Programs: each takes from the library what it calls.
programs  := $(patsubst %.c,$(BUILD)/%,$(notdir $(mains)))
tests     := $(checks:%=$(BUILD)/%)
dumpers   := $(dumps:%=$(BUILD)/%)
# Where they look for it: where it was built or installed. Beside the program, which may be in /tmp, anybody could put
# another.
look_in   := -Wl,--disable-new-dtags,-rpath,
cuda_here := $(if $(cuda),'$(look_in)$(CURDIR)/build/cuda')
mpi_here  := $(if $(mpi),'$(look_in)$(CURDIR)/$(BUILD)/mpi')
links     := $(version) $(BUILD)/libgtmark.a -Wl,--as-needed $(LDFLAGS) $(CMOCKA) $(filter-out -I%,$(PACKAGES)) -ldl -lm
# A program for another processor is a script, so that whatever starts it runs it under the emulator.
hash   := \#
emulate = $(if $(EMULATOR),@mv $@ $@.elf && printf '$(hash)!/bin/sh\nexec $(EMULATOR) -0 "$$0" "$$0.elf" "$$@"\n' >$@ && chmod +x $@)
define link
@mkdir -p $(@D) && $(call say,linking,$@)
$(Q)$(CC) $(flags) $(linker) $(filter-out $(version),$(filter %.o,$^)) $(fuzzer) $(wrap) $(exports) $(links) $(store) $(cuda_here) $(mpi_here) -o $@
$(emulate)
endef

$(BUILD)/libgtmark.a: $(objects)
	@rm -f $@
	$(Q)ar rcs $@ $^
$(BUILD)/bench_%: $(OBJ)/bench/bench_%.o $(BUILD)/libgtmark.a ; $(link)
$(BUILD)/audit $(BUILD)/plot $(BUILD)/compare $(BUILD)/findings $(BUILD)/graph $(BUILD)/merge $(BUILD)/query $(BUILD)/report $(BUILD)/score: $(BUILD)/%: $(OBJ)/bench/%.o $(BUILD)/libgtmark.a ; $(link)
open_plugins := $(filter $(BUILD)/bench_% $(BUILD)/audit,$(programs))
$(open_plugins) $(open_plugins:$(BUILD)/%=$(BUILD)/installed/%): $(filter $(OBJ)/models/%,$(offered)) $(BUILD)/exports
$(open_plugins) $(open_plugins:$(BUILD)/%=$(BUILD)/installed/%): exports := -Wl,--dynamic-list=$(BUILD)/exports
$(BUILD)/tests/%: $(OBJ)/tests/%.o $(helpers) $(BUILD)/libgtmark.a ; $(link)
$(BUILD)/tests/test_kept_ceilings: wrap := -Wl,--wrap=calibrate
$(BUILD)/tests/test_calibrate $(BUILD)/tests/test_bench: wrap := -Wl,--wrap=clock_now
$(BUILD)/tests/test_sections: wrap := -Wl,--wrap=clock_now,--wrap=plugin_listen
comma := ,
$(BUILD)/tests/test_fields: wrap := $(addprefix -Wl$(comma)--wrap=,calibrate probe_take \
    noise_probe stopwatch_resolve getrusage lost_now clock_cpu cold_start_measure link_measure executed_by_tape \
    executed_by_encoding exchange_measure)
$(BUILD)/query $(BUILD)/installed/query $(BUILD)/tests/test_query: store := $(filter-out -I%,$(SQLITE))
$(BUILD)/tests/fuzz_%: fuzzer := -fsanitize=fuzzer
$(BUILD)/tests/fuzz_%: $(OBJ)/tests/fuzz_%.o $(BUILD)/libgtmark.a ; $(link)
$(BUILD)/tests/replay_%: $(OBJ)/tests/fuzz_%.o $(OBJ)/tests/replay/replay.o $(BUILD)/libgtmark.a ; $(link)

# What is installed: with CUDA or MPI, programs that look for the library where it will be.
prefix    ?= $(or $(PREFIX),/usr/local)
libdir    ?= $(or $(exec_prefix),$(prefix))/lib
installed := $(if $(cuda)$(mpi),$(BUILD)/installed,$(BUILD))
ifneq ($(cuda)$(mpi),)
$(BUILD)/installed/%: mpi_here :=
$(BUILD)/installed/%: cuda_here := '$(look_in)$(libdir)/gtmark'
$(BUILD)/installed/libgtmark.so: $(BUILD)/libdir
$(programs:$(BUILD)/%=$(BUILD)/installed/%): $(BUILD)/installed/%: $(OBJ)/bench/%.o $(BUILD)/libgtmark.a $(version) \
                                             $(BUILD)/libdir ; $(link)
$(BUILD)/libdir: FORCE
	@echo '$(libdir)' | cmp -s - $@ || echo '$(libdir)' >$@
endif

# NVML as a test plays it: libraries that are opened as the driver's is (tests/nvml/played.h).
nvmls := $(foreach kind,whole old part,$(BUILD)/tests/nvml_$(kind).so)
$(BUILD)/tests/nvml_whole.so: soname := -Wl,-soname,libnvidia-ml.so.1
$(nvmls): $(BUILD)/tests/nvml_%.so: tests/nvml/played.c tests/nvml/played.h $(BUILD)/config.mk Makefile
	@mkdir -p $(@D) && $(call say,linking,$@)
	$(Q)$(CC) -std=c11 $(flags) -I. -DPLAYED_$* -fPIC -shared $< $(LDFLAGS) $(soname) -o $@

# What programs that are tested see of this machine's caches.
small_caches := $(BUILD)/tests/small_caches.so
preloaded    := $(if $(word 2,$(CURDIR)),,LD_PRELOAD=$(CURDIR)/$(small_caches))
$(small_caches): tests/caches/small.c Makefile
	@mkdir -p $(@D) && $(call say,linking,$@)
	$(Q)$(CC) -std=c11 -O1 $(warnings) -D_GNU_SOURCE -fPIC -shared $< -o $@ -ldl

# Kernels, functions and a model of others: docs/examples, one of ours, one on CBLAS, and one with each of the
# faults that the audit must name (tests/test_audit.sh). As their authors build them: without sanitizers.
faults   := $(shell sed -n '/^    NONE,/,/^}/s/^    \([A-Z_]*\).*/\1/p' tests/plugins/planted.c)
plugins  := $(if $(san),,$(patsubst %,$(BUILD)/tests/plugins/%.so,sparse_attention loader model own functions guests $(if $(filter 1,$(HAVE_CBLAS)),blas) $(faults)))
$(faults:%=$(BUILD)/tests/plugins/%.so): $(BUILD)/tests/plugins/%.so: tests/plugins/planted.c
$(BUILD)/tests/plugins/blas.so: with := $(patsubst %,-l:%,$(firstword $(BLAS_LIBRARIES)))
$(BUILD)/tests/plugins/model.so: $(BUILD)/id
$(plugins): kernels/gtmark_plugin.h $(BUILD)/config.mk Makefile
	@mkdir -p $(@D) && $(call say,linking,$@)
	$(Q)$(CC) -std=gnu11 -O2 -g $(warnings) -fopenmp -DFAULT=$* -DISA=base -DGTMARK_ID=$(id) -I. -Ikernels -fPIC -shared $(filter %.c,$^) \
	    $(LDFLAGS) $(with) -lm -o $@
$(filter-out $(faults:%=$(BUILD)/tests/plugins/%.so),$(plugins)): $(BUILD)/tests/plugins/%.so: tests/plugins/%.c
plugins: $(plugins)

# nvcc's objects linked with an emulated device (tests/emulator), in a library that these programs open instead, and in
# tests of the device. Failing calls go by x86-64's rules, and without sanitizers, which would have to know of them.
ifeq ($(HAVE_CUDA)$(ISA_X86)$(san),11)
counters       := $(BUILD)/emulated/tests/test_counters
emulated_gpu   := $(patsubst %,$(BUILD)/emulated/tests/test_%,\
                    $(addprefix cuda_,build kernels models bench faults) bias saturated)
emulator_tests := $(addprefix $(BUILD)/emulated/tests/,test_emulator test_matrices)
emulated       := $(emulated_gpu) $(emulator_tests) $(counters)
emulated_audit := $(BUILD)/emulated/audit $(patsubst %,$(BUILD)/emulated/plugins/%.so,NONE TAIL PAST_END INPUT)
endif
emulated_bench := $(BUILD)/emulated/bench_node_scaling
emulated_set   := $(patsubst %,$(BUILD)/emulated/bench_%,node_scaling batch_scaling presets kernels)
emulated_lib   := $(BUILD)/emulated/cuda/libgtmark_cuda.so
emulator_obj   := $(patsubst %,$(BUILD)/emulated/obj/%.o,$(wildcard tests/emulator/*.cc))
$(emulator_obj): $(BUILD)/emulated/obj/%.o: % $(BUILD)/config.mk $(BUILD)/cuda.mk Makefile
	@mkdir -p $(@D) && $(call say,compiling,$(@:$(BUILD)/%=%))
	$(Q)$(CC) -x c++ $(CXX_FLAGS) -O3 $(best) $(warnings) -g1 -fPIC -ffp-contract=off -I. $(CUDA_INCLUDE) $(CFLAGS) -MMD -MP -c $< -o $@
$(emulated_lib): $(cuda_obj) $(emulator_obj)
	@mkdir -p $(@D) && $(call say,linking,$@)
	$(Q)$(CC) -shared -Wl,-z,defs $^ $(LDFLAGS) -lstdc++ -lm -o $@

# The example for GPUs, as its author builds it; for the emulated device also with each of its faults.
ifeq ($(HAVE_CUDA)$(san),1)
plugins_gpu := $(BUILD)/tests/plugins/edge_mean.cuda.so
endif
emulated_plugins := $(filter %.so,$(emulated_audit))
$(emulated_plugins): with = -cudart none -DFAULT=$(basename $(@F)) $(emulated_lib)
$(emulated_plugins): $(emulated_lib)
$(plugins_gpu) $(emulated_plugins): tests/plugins/edge_mean.cu kernels/gtmark_plugin.h build/cuda/request
	@mkdir -p $(@D) && $(call say,nvcc,$(@:$(BUILD)/%=%))
	$(Q)$(CUDA_NVCC) -O2 $(gpu) -shared -Xcompiler $(cuda_host) -I kernels $< $(with) -o $@

# CUPTI as a test plays it, by the name under which the kernel library opens it (tests/cupti/played.c).
played_cupti := $(BUILD)/emulated/libcupti.so
$(played_cupti): tests/cupti/played.c $(BUILD)/config.mk $(BUILD)/cuda.mk Makefile
	@mkdir -p $(@D) && $(call say,linking,$@)
	$(Q)$(CC) -std=gnu11 $(flags) $(CUDA_INCLUDE) -fPIC -shared $< $(LDFLAGS) \
	    -Wl,-soname,$(@F).$(firstword $(subst ., ,$(NVCC_RELEASE))) -o $@
$(emulated_gpu): | $(played_cupti)
$(emulated_gpu) $(emulated_set) $(BUILD)/emulated/audit $(counters): cuda_here := '$(look_in)$(CURDIR)/$(dir $(emulated_lib))'
$(emulated_gpu): $(BUILD)/emulated/tests/%: $(OBJ)/tests/%.o $(helpers) $(BUILD)/libgtmark.a | $(emulated_lib) ; $(link)
$(emulated_gpu): | $(emulated_bench)
$(counters): $(OBJ)/tests/emulator/test_counters.o $(helpers) $(BUILD)/libgtmark.a | $(emulated_lib) ; $(link)
$(emulated_set) $(BUILD)/emulated/audit: $(BUILD)/emulated/%: $(OBJ)/bench/%.o $(BUILD)/libgtmark.a | $(emulated_lib) ; $(link)
$(emulator_tests): $(BUILD)/emulated/tests/%: build/cuda/obj/tests/emulator/%.cu.o $(emulator_obj)
	@mkdir -p $(@D) && $(call say,linking,$@)
	$(Q)$(CC) $^ $(LDFLAGS) $(CMOCKA) -lstdc++ -lm -ldl -o $@
-include $(emulator_obj:.o=.d) $(emulator_tests:$(BUILD)/emulated/tests/%=build/cuda/obj/tests/emulator/%.cu.d)

# The kernels for the CPU as ThreadSanitizer watches them (tests/races): those of the baseline, in place of the library's.
ifneq ($(ARCHER),)
races     := $(if $(san)$(EMULATOR),,$(BUILD)/tests/test_races)
endif
races_obj := $(patsubst %,$(OBJ)/races/%.o,tests/races/races.c $(wildcard kernels/cpu/*.c))
$(races_obj): $(OBJ)/races/%.o: % $(BUILD)/config.mk Makefile
	@mkdir -p $(@D) && $(call say,compiling,$(@:$(BUILD)/%=%))
	$(Q)clang -std=c11 -fopenmp -fsanitize=thread -O1 -g1 $(warnings) $(defines) -DROLLED -DISA=base -I. -MMD -MP -c $< -o $@
$(BUILD)/tests/test_races: $(races_obj) $(helpers) $(BUILD)/libgtmark.a
	@mkdir -p $(@D) && $(call say,linking,$@)
	$(Q)clang -fopenmp -fsanitize=thread $(filter %.o,$^) $(links) $(ARCHER) -o $@
-include $(races_obj:.o=.d)

# What tests/gpu.sh --carried needs on a machine without compilers: programs that find our library beside them, stripped.
carried := $(patsubst %,$(BUILD)/carried/bench_%,node_scaling batch_scaling presets kernels) \
           $(patsubst %,$(BUILD)/carried/tests/test_cuda_%,launch math kernels models bench)
$(carried): linker    := $(lld) -s
$(carried): mpi_here  :=
$(carried): cuda_here := '$(look_in)$$ORIGIN/lib:$$ORIGIN/../lib'
$(BUILD)/carried/bench_%: $(OBJ)/bench/bench_%.o $(BUILD)/libgtmark.a $(version) ; $(link)
$(BUILD)/carried/tests/%: $(OBJ)/tests/%.o $(helpers) $(BUILD)/libgtmark.a $(version) ; $(link)

# A benchmark that is slower by a known share, for the gates to find (tests/gates.sh).
slower := $(BUILD)/tests/slower_bench
$(slower): wrap := -Wl,--wrap=tape_run_marked
$(slower): $(OBJ)/bench/bench_node_scaling.o $(OBJ)/tests/slower/slower.o $(BUILD)/libgtmark.a
$(slower): ; $(link)

# A commit links the programs again, but no test.
$(programs): $(version)
$(tests) $(races) $(dumpers) $(fuzzers) $(replays) $(emulated) $(emulated_set) $(slower): | $(version)

## Targets
##   all          every benchmark, audit, plot, compare, findings, graph, merge, query, report and score (what a bare `make` does)
all: $(programs) $(library) $(cuda) $(mpi)
	@$(clear)
##   install      programs, man pages, bash completion, and the library with headers and gtmark.pc, in PREFIX;
##                uninstall removes them
install: all $(patsubst $(BUILD)/%,$(installed)/%,$(programs) $(library))
	@prefix='$(prefix)' libdir='$(libdir)' bench/install.sh install $(installed) $(cuda) $(mpi)
uninstall:
	@prefix='$(prefix)' bench/install.sh uninstall
##   bench        the quick set of all benchmarks, in five minutes: results and charts in results/local;
##                DEVICE=cuda: on a GPU
bench: $(programs) $(if $(DEVICE),$(cuda))
	@$(clear); bench/sets.sh quick $(BUILD) '$(DEVICE)'
##   bench-full   every benchmark over its whole default axis; MACHINE=NAME: published, in results/NAME
bench-full: all
	@$(clear); bench/sets.sh full $(BUILD) '$(DEVICE)' '$(MACHINE)'
##   score        the score of this machine, 100 being two cores of results/epyc-zen3-2core; three minutes
score: $(addprefix $(BUILD)/,bench_presets bench_node_scaling score) $(if $(DEVICE),$(cuda))
	@$(clear); bench/sets.sh score $(BUILD) '$(DEVICE)'
##   submit       what `score` measured as one archive, and the line for the table of results/README.md
submit: $(BUILD)/score $(BUILD)/report
	@bench/sets.sh submit $(BUILD)
##   results      measures again what results/MACHINE has; MACHINE=NAME
results: all
	@bench/sets.sh results $(BUILD) '$(DEVICE)' '$(MACHINE)'
##   report       results/local/report.html: the results of `bench` and `bench-full` on one page
report: $(BUILD)/report
	@bench/sets.sh report $(BUILD)
##   compare      all machines with results in results/ side by side, on one screen
compare: $(BUILD)/compare
	@$(BUILD)/compare --summary $(filter-out results/local/%,$(sort $(wildcard results/*/*.jsonl)))
##   compare-torch operations, models, presets and encodings against PyTorch, PyTorch Geometric and SciPy, alternately
##                (an hour; with ROUNDS=1, and no intervals, half an hour): tables, one of all ratios, and result
##                files in results/local/torch; installs the peers in build/torch (several GB), or uses
##                PYTHON=/venv/bin/python
compare-torch: $(addprefix $(BUILD)/,bench_kernels bench_node_scaling bench_pe_scaling compare tests/dump_encoding) \
    $(if $(PYTHON),,build/torch/installed)
	@ROUNDS='$(ROUNDS)' tests/golden/compare_all.sh $(BUILD) $(or $(PYTHON),build/torch/bin/python) results/local/torch
build/torch/installed:
	python3 -m venv $(@D) && $(@D)/bin/pip install numpy torch torch_geometric scipy pyamg && touch $@
ifneq ($(ROOM),)
# A loop for developers, of a minute or so. Includes run one way (tests/test_rooms.sh): who includes a room is above it.
above_kernels  := graphs|models|bench
above_graphs   := models|bench
above_models   := bench
above_analysis := bench
above_bench    := models/layers
of_room := $(patsubst %.c,$(BUILD)/%,$(if $(above_$(ROOM)),$(shell \
    grep -lE '"$(ROOM)/' tests/test_*.c | xargs grep -LE '"($(above_$(ROOM)))'),\
    $(error ROOM=$(ROOM): kernels, graphs, models, analysis or bench)))
test: $(programs) $(of_room) $(plugins) $(nvmls) $(slower) $(small_caches)
	@tests/run.sh $(preloaded) GTMARK_BUILD=$(BUILD) GTMARK_SMALL=1 $(of_room)
else
##   test         all tests, then their small shapes again with clang and both sanitizers
test: $(if $(CLANG),tests-small,tests)
	@tests/run.sh $(preloaded) GTMARK_BUILD=$(BUILD) $(tested) $(or $(races),\
	    --skipped 'data races: no clang with ThreadSanitizer and archer (make setup test)') \
	    $(wildcard tests/test_*.sh) GTMARK_SMALL=1 $(or $(emulated),\
	    --skipped 'kernels on an emulated GPU: they need the CUDA toolkit and x86-64') $(if $(CLANG),\
	    GTMARK_BUILD=build/clang-san GTMARK_SMALL=1 $(checks:%=build/clang-san/%),\
	    --skipped 'the tests under sanitizers: no clang with OpenMP and sanitizers (make setup test)')
endif
##   test-aarch64 the tests on aarch64, cross-compiled and under qemu, with their smallest shapes; test-riscv64 the same for
##                riscv64, where this system has its packages, and without a promise
.PHONY: test-aarch64 test-riscv64
test-aarch64 test-riscv64:
	@CC='$(CC)' tests/foreign.sh $(@:test-%=%)
##   emulated     what tests/gpu.sh --emulated runs
.PHONY: emulated
emulated: $(emulated) $(emulated_set)
##   gpu-archive  build/gpu.tar.gz: what tests/gpu.sh --carried runs on a machine with a GPU and without a compiler;
##                CUDA_ARCH=sm_90
.PHONY: gpu-archive
gpu-archive: $(if $(cuda),$(carried)) $(or $(cuda),no-cuda)
	@$(clear); tests/gpu_archive.sh $(BUILD)/carried $(cuda)
no-cuda:
	@echo 'gtmark: gpu-archive: built without CUDA (make probe)' >&2; false
##   gpu-counters results/gpu_counters.md: what the GPU's kernels do for each op, counted without a GPU (docs/cuda.md)
.PHONY: gpu-counters
gpu-counters: $(cuda) $(counters)
	@GTMARK_BUILD='$(BUILD)' tests/gpu_counters.sh >results/gpu_counters.md.new && \
	    mv results/gpu_counters.md.new results/gpu_counters.md
##   soak         the long tests: the parts that have not passed yet; PART='kills gates': these parts
soak: tests $(if $(CLANG),$(if $(filter fuzzers,$(or $(PART),fuzzers)),tests-small))
	@CC='$(CC)' GTMARK_BUILD='$(BUILD)' GTMARK_EMULATED='$(strip $(emulated))' tests/soak.sh $(PART)
##   mutants      are planted faults noticed? PART=2/4: the second of four parts; MUTANTS='NAME...'
mutants:
	@CC='$(CC)' GTMARK_BUILD='$(BUILD)' GTMARK_PART='$(PART)' tests/mutants.sh $(MUTANTS)
tested := $(filter-out $(if $(CLANG),$(once_is_enough:%=$(BUILD)/%)),$(tests))
needed := all $(if $(CMOCKA),$(tested) $(races) $(dumpers) $(plugins) $(plugins_gpu) $(nvmls) $(small_caches) $(slower) $(pmpi) \
    $(fuzzers) $(replays) $(emulated) $(emulated_audit),no-cmocka)
tests: $(needed) $(if $(CMOCKA),$(tests))
tests-small: $(needed) known-small
	@$(MAKE) CC=clang SAN=1 $(CUDA_HOST:%=NVCC_CCBIN=%) tests
# What clang can do is found out while gcc compiles.
known-small:
	@$(MAKE) CC=clang SAN=1 $(CUDA_HOST:%=NVCC_CCBIN=%) known
known: ; @:
no-cmocka:
	@echo 'gtmark: the tests need cmocka, and it was not found: make setup test' >&2; false
##   style        are the sources formatted as .clang-format says?
style:
	@tests/run.sh tests/test_style.sh
##   probe        look again what this machine has, and say what it means
probe: ; @:

endif
##   setup        install what is missing of what benchmarks need, and only that (by apt; elsewhere print the names);
##                `make setup test`, or tests, soak, mutants, style: also MPI, METIS and what tests need
##   clean        remove build/; results stay
##   help         this text
help:
	@sed -n 's/^## //p' Makefile
