# Shared by the tests in shell: they compare texts and report in TAP.

# check NAME RESULT WANTED: prints one line of TAP, and the result if it differs
checked=0 differ=0
check()
{
    checked=$((checked + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $checked - $1"
    else
        echo "not ok $checked - $1"
        printf '%s\n' "got:" "$2" "wanted:" "$3" | sed 's/^/# /'
        differ=1
    fi
}

tap_end()
{
    echo "1..$checked"
    exit $differ
}

# skip_without_mpi WHAT: ends a test of what was built without MPI
skip_without_mpi()
{
    if ! grep -q '^MPI_FLAGS *:= *-' "${GTMARK_BUILD:-build}/config.mk"; then
        echo "ok 1 # SKIP $1: built without MPI (make setup tests)"
        echo '1..1'
        exit
    fi
}

# in_part NUMBER: whether this item is to be done, where GTMARK_PART asks for a part of them: 2/4 is the second of four
in_part()
{
    [ -z "${GTMARK_PART:-}" ] || [ $((($1 - ${GTMARK_PART%/*}) % ${GTMARK_PART#*/})) -eq 0 ]
}
