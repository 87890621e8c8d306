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
