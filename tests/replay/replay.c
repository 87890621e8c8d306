/* Passes the files named in its arguments to a fuzzer, one after another: for builds without libFuzzer. */
#include "tests/fuzz.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        static uint8_t data[1 << 16];
        FILE *in = fopen(argv[i], "rb");
        require(in != NULL, argv[i]);
        size_t size = fread(data, 1, sizeof data, in);
        require(!ferror(in) && feof(in), argv[i]);
        fclose(in);
        LLVMFuzzerTestOneInput(data, size);
    }
    return argc > 1 ? 0 : 1;
}
