# Of a compiler's assembly for aarch64: the loops of one block with at least `least` multiply-adds of vectors, as regions
# for llvm-mca that are called after the function and the loop; the file `spilled` gets those that reach for the stack,
# where sums would be that fit no register.
/^[A-Za-z_.]/ {
    sub(/:.*/, "")
    if (/^\.L[A-Z]+[0-9]/) next # marks of the debugger
    if (!/^\./) within = $1
    label = $1; count = lines = 0; stack = ""
    next
}
/^\t[a-z]/ {
    line[++lines] = $0
    count += $1 == "fmla"
    if (/\[sp/) stack = $0
    if ($1 !~ /^(b|b\..*|b[a-z][a-z]|cbn?z|tbn?z|ret)$/) next
    if ($NF == label && count >= least) {
        print "# LLVM-MCA-BEGIN " within label
        for (i = 1; i <= lines; i++) print line[i]
        print "# LLVM-MCA-END"
        if (stack) print within label ":" stack >spilled
    }
    label = ""
}
