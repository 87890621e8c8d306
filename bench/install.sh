#!/bin/sh
# Installs gtmark, or removes what was installed: bench/install.sh install BUILD [LIBRARY...] | uninstall
#
# BUILD is the directory of the programs and of libgtmark.so. The environment says where to, as in GNU's makefiles: prefix, exec_prefix,
# bindir, libdir, includedir, datarootdir, datadir, mandir, docdir, DESTDIR; INSTALL, INSTALL_PROGRAM, INSTALL_DATA; and
# bashcompletiondir.
#
# The programs bench_* keep their names; the others, whose names are common words, get the prefix gtmark-. Man pages
# and completion are made from what the installed programs print as help. $datadir/gtmark/installed lists the files,
# and the directories that did not exist before: this is what uninstall removes.
set -u
cd "$(dirname "$0")/.." || exit 2
: "${prefix:=/usr/local}" "${DESTDIR:=}"
: "${exec_prefix:=$prefix}" "${datarootdir:=$prefix/share}"
: "${bindir:=$exec_prefix/bin}" "${libdir:=$exec_prefix/lib}" "${includedir:=$prefix/include}" "${datadir:=$datarootdir}"
: "${mandir:=$datarootdir/man}" "${docdir:=$datarootdir/doc/gtmark}"
: "${bashcompletiondir:=$datadir/bash-completion/completions}"
: "${INSTALL:=install}"
: "${INSTALL_PROGRAM:=$INSTALL}" "${INSTALL_DATA:=$INSTALL -m 644}"
list=$datadir/gtmark/installed

# remove LIST: removes what is in this list
remove()
{
    tac "$1" | while IFS= read -r path; do
        if [ -d "$DESTDIR$path" ]; then
            rmdir "$DESTDIR$path" 2>/dev/null # unless somebody else put something there
        else
            rm -f "$DESTDIR$path"
        fi
    done
}

# An installation that fails leaves nothing.
fail()
{
    echo "gtmark: $*" >&2
    [ -z "${work:-}" ] || [ ! -s "$work/list" ] || remove "$work/list"
    exit 2
}

# run COMMAND...
run()
{
    "$@" 2>"$work/error" || fail "$(head -n 1 "$work/error"); PREFIX=DIR chooses another place"
}

# directory PATH: creates it, and lists what did not exist
directory()
{
    [ -d "$DESTDIR$1" ] && return
    directory "$(dirname "$1")"
    run $INSTALL -d "$DESTDIR$1"
    echo "$1" >>"$work/list"
}

# put COMMAND FILE PATH: installs a file with this command
put()
{
    directory "$(dirname "$3")"
    # shellcheck disable=SC2086 # a command with options
    run $1 "$2" "$DESTDIR$3"
    echo "$3" >>"$work/list"
}

# man_page NAME VERSION NAME...: from the help on stdin; the other names are all programs
man_page()
{
    name=$1 version=$2
    shift 2
    sed 's/\\/\\e/g; s/-/\\-/g' | awk -v version="$version" -f bench/man_page.awk
    echo '.SH SEE ALSO'
    {
        printf '%s\n' "$@" | grep -vx -e "$name" | sed 's/$/(1),/'
        echo "guide.md and other pages in $docdir"
    } | sed 's/-/\\-/g'
}

# completion NAME: for bash, of the flags in the help on stdin; other words are files
completion()
{
    function=_$(echo "$1" | tr - _)
    flags=$(sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p' | tr '\n' ' ')
    cat <<END_OF_COMPLETION
# Completion of the flags of $1 for bash, made from its help.
$function()
{
    COMPREPLY=()
    [[ \$2 != -* ]] || mapfile -t COMPREPLY < <(compgen -W '$flags' -- "\$2")
}
complete -o default -F $function $1
END_OF_COMPLETION
}

installed_name()
{
    case $1 in
    bench_*) echo "$1" ;;
    *) echo "gtmark-$1" ;;
    esac
}

# describe NAME VERSION NAME...: the man page and the completion of a program
describe()
{
    run "$1" --help >"$work/help"
    man_page "$@" <"$work/help" >"$work/page"
    completion "$1" <"$work/help" >"$work/completion"
    put "$INSTALL_DATA" "$work/page" "$mandir/man1/$1.1"
    put "$INSTALL_DATA" "$work/completion" "$bashcompletiondir/$1"
}

# development LIBRARY VERSION: what compiles models and programs of others. The library goes by its name in the system, and
# by one that the linker looks for; its end is the version of the headers.
development()
{
    soname=$(LC_ALL=C readelf -d "$1" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
    [ -n "$soname" ] || fail "$1: readelf finds no name in it"
    put "$INSTALL_PROGRAM" "$1" "$libdir/$soname"
    put 'ln -sf' "$soname" "$libdir/libgtmark.so"
    for header in kernels/*.h kernels/*.def graphs/*.h models/*/*.h models/*/*.def; do
        [ "${header%_internal.h}" = "$header" ] || continue
        put "$INSTALL_DATA" "$header" "$includedir/gtmark/$header"
    done
    cat >"$work/gtmark.pc" <<END_OF_PACKAGE
Name: gtmark
Description: Graph Transformers as tapes of ops
Version: $2
Cflags: -I$includedir/gtmark -I$includedir -DGTMARK_ID=${soname#libgtmark.so.}
Libs: -L$libdir -lgtmark
END_OF_PACKAGE
    put "$INSTALL_DATA" "$work/gtmark.pc" "$libdir/pkgconfig/gtmark.pc"
}

# install_all BUILD [LIBRARY...]
install_all()
{
    build=$1
    shift
    for library; do
        put "$INSTALL_PROGRAM" "$library" "$libdir/gtmark/$(basename "$library")"
    done
    set --
    for main in bench/*.c; do
        name=$(basename "$main" .c)
        set -- "$@" "$(installed_name "$name")"
        put "$INSTALL_PROGRAM" "$build/$name" "$bindir/$(installed_name "$name")"
    done
    PATH=$DESTDIR$bindir:$PATH
    version=$(gtmark-plot --version | sed -n 's/.* commit //p')
    for program; do
        describe "$program" "$version" "$@"
    done
    for file in LICENSE docs/*.md docs/*/*.md docs/examples/*; do
        put "$INSTALL_DATA" "$file" "$docdir/${file#docs/}"
    done
    put "$INSTALL_DATA" kernels/gtmark_plugin.h "$includedir/gtmark_plugin.h"
    [ ! -e "$build/libgtmark.so" ] || development "$build/libgtmark.so" "$version"
    directory "$(dirname "$list")"
    echo "$list" >>"$work/list"
    put "$INSTALL_DATA" "$work/list" "$list"
}

work=$(mktemp -d 2>/dev/null) || fail "TMPDIR=${TMPDIR:-/tmp}: no directory that can be written"
trap 'rm -rf "$work"' EXIT
case $DESTDIR in
'' | /*) ;;
*) DESTDIR=$PWD/$DESTDIR ;;
esac
for place in "$prefix" "$bindir" "$libdir" "$includedir" "$datadir" "$mandir" "$docdir" "$bashcompletiondir"; do
    [ "${place#/}" != "$place" ] || fail "$place: not an absolute path"
done
[ ! -e "$DESTDIR$list" ] || [ -w "$DESTDIR$list" ] || fail "$DESTDIR$list: cannot be written"
case ${1:-} in
install)
    [ ! -e "$DESTDIR$list" ] || remove "$DESTDIR$list" # an earlier version
    run mkdir -p "$DESTDIR/"
    shift
    install_all "$@"
    echo "Installed in $DESTDIR$prefix."
    ;;
uninstall)
    [ -e "$DESTDIR$list" ] || fail "$DESTDIR$list: no such file: nothing is installed there"
    remove "$DESTDIR$list"
    ;;
*) fail "install.sh: '${1:-}': install or uninstall" ;;
esac
