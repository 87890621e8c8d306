# What ptxas says of the kernels that it compiled, for scripts that include this.

# compiled_kernels: a line for each kernel and GPU: "GPU KERNEL REGISTERS STACK SPILLS"; bytes
compiled_kernels()
{
    find build/cuda/obj/kernels/cuda -name '*.cu.o.ptxas' -exec cat {} + | awk -F "[ ']+" '
        /Compiling entry function/           { name = $7; gpu = $9 }
        /Function properties for/            { whose = $NF }
        /bytes stack frame/ && whose == name { stack = $2; spills = $6 + $10 }
        /: Used [0-9]+ registers/            { print gpu, name, $5, stack, spills }'
}
