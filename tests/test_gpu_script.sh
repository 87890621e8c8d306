#!/bin/sh
# tests/gpu.sh says what it would run, and stops at once, with the reason, where no GPU answers.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
. tests/fake_machine.sh
PATH=$house/bin:$PATH

# said WORD...: the last line of the script, without its name, and its exit status
said()
{
    tests/gpu.sh "$@" >"$house/said" 2>&1
    echo "$? $(tail -n 1 "$house/said" | sed 's/^tests.gpu.sh: //')"
}

fake nvidia-smi 'echo "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver." && exit 9'
check 'no GPU' "$(said)" \
    '1 no GPU answers (nvidia-smi: NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.); --emulated needs none'
fake timeout 'exit 124'
check 'a driver that hangs' "$(said ops)" '1 no GPU answers (nvidia-smi: no answer in 10 s); --emulated needs none'
check 'nothing else is run' "$(wc -l <"$house/said")" 1
check 'a part that is not known' "$(said optical | cut -c 1-31)" '2 optical is not one of build o'
check 'an option that is not known' "$(said --dry-run | cut -c 1-22)" '2 --dry-run: --plan, -'
fake python3 'exit 1'
plan=$(tests/gpu.sh --plan)
check 'the plan has all parts, in order' "$(echo "$plan" | sed -n '/^[a-z_]*$/p' | tr '\n' ' ')" \
    'build ops models canonical batches dense sparse presets pytorch pytorch_batch memcheck racecheck initcheck synccheck '
check 'and what they run' "$(echo "$plan" | sed -n '/^dense/{n;p;}')" \
    '    build/bench_node_scaling --device cuda --format csv-full --output build/gpu/dense.jsonl --model graph_transformer --layers 1 --nodes 1k,10k,100k --budget 120'
check 'emulated, programs are those of the emulated device' \
    "$(tests/gpu.sh --plan --emulated sparse | sed -n '2s/ --.*//p')" '    build/emulated/bench_node_scaling'
tap_end
