#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Jobs that use libraries above PyTorch, recorded unchanged and compared with torch.profiler's
# events of the same run: torch.compile, the transformers library's Trainer, a torchvision model.
# Usage: libraries.sh PYTHON, which needs its own PyTorch 2.13. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
python=$1
compare=$PWD/tests/torch/compare.py
jobs=$PWD/tests/torch/jobs
unset XSPROF_TORCH LD_PRELOAD PYTHONPATH
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 TORCHINDUCTOR_CACHE_DIR=$dir/inductor
mkdir "$dir/shm"
export XSPROF_SHM_DIR=$dir/shm

record() # NAME: records its ops, and those of its child processes
{
	"$xsprof" record -o "$dir/data" --torch shapes -- "$python" -W ignore "$jobs/$1.py" \
		"$dir/theirs" shapes >"$dir/out" 2>"$dir/log" &&
		! grep '^xsprof: PyTorch' "$dir/log" &&
		"$dump" -q -f kineto -o "$dir/ours" "$dir/data" 2>>"$dir/log" &&
		"$dump" -q -f ndjson -o "$dir/ndjson" "$dir/data" 2>>"$dir/log" &&
		"$xsprof" info --json "$dir/data" >"$dir/info" 2>>"$dir/log" &&
		python3 "$compare" "$dir/theirs" "$dir/ours" "$dir/ndjson" "$dir/info" shapes \
			>>"$dir/log"
}

record compiled && "$xsprof" report "$dir/data" >"$dir/table" 2>>"$dir/log" &&
	grep -q 'Torch-Compiled Region' "$dir/table" &&
	grep -q 'CompiledFunctionBackward' "$dir/table"
status=$?
result "torch.compile: the ops that torch.profiler has, $(tail -n 1 "$dir/log")" $status

if python_packages transformers transformers==4.57.6 accelerate==1.15.0 huggingface_hub==0.36.2 \
	numpy==2.4.6 packaging==26.3 PyYAML==6.0.3 regex==2026.11.15 safetensors==0.8.0 \
	tokenizers==0.22.2 tqdm==4.70.1 psutil==7.2.2 requests==2.34.2 certifi==2026.10.18 \
	charset-normalizer==3.5.2 idna==3.20 urllib3==2.8.0; then
	export PYTHONPATH=$(echo "$venv"/lib/python3*/site-packages)
	record trainer && "$xsprof" report --steps --json "$dir/data" 2>>"$dir/log" >"$dir/steps" &&
		python3 - "$dir/steps" "$dir/theirs.steps" 2>>"$dir/log" <<-'END'
		import json, sys
		steps = [s for s in json.load(open(sys.argv[1]))["steps"] if s["ended"]]
		assert len(steps) == int(open(sys.argv[2]).read()) == 6, steps
		assert all(s[k + "_ns"] for s in steps for k in ("forward", "backward", "optimizer",
		                                                 "data")), steps
		END
	status=$?
	result "transformers: the steps of Trainer, and of one the $(tail -n 1 "$dir/log")" $status
	unset PYTHONPATH
else
	skipped transformers "$why"
fi

if python_packages torchvision torchvision==0.28.0 pillow==11.3.0 numpy==2.4.6; then
	export PYTHONPATH=$(echo "$venv"/lib/python3*/site-packages)
	record vision
	status=$?
	result "torchvision: the ops that torch.profiler has, $(tail -n 1 "$dir/log")" $status
else
	skipped torchvision "$why"
fi
finish
