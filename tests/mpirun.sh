#!/bin/sh
# Starts ranks on this machine: tests/mpirun.sh RANKS PROGRAM [ARGUMENT]...
#
# With the launcher of the MPI that was built with, in the directory GTMARK_BUILD (build). As many ranks as asked for,
# whatever the number of processors; each may use all of them, where Open MPI would give it one; and root may start them.
set -u
mpirun=$(sed -n 's/^MPIRUN *:= *//p' "${GTMARK_BUILD:-build}/config.mk")
ranks=$1
shift
case $("${mpirun:=mpirun}" --version 2>/dev/null) in
*'Open MPI'*) exec "$mpirun" --allow-run-as-root --oversubscribe --bind-to none -n "$ranks" "$@" ;;
*) exec "$mpirun" -bind-to none -n "$ranks" "$@" ;;
esac
