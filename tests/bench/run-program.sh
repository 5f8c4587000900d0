# SPDX-License-Identifier: GPL-2.0-only
#
# The rows of whole programs: Python and PyTorch.
# Sourced by run.sh.

part_python()
{
	tests/bench/python-cost.py "$bin/xsprof" "$BUILD/lib/libxsprof-python.so" "$work" \
		/usr/bin/python3 >"$work/python.tsv" ||
		{ fail "python: a measurement failed, see above"; return; }
	cat "$work/python.tsv" >>"$raw"
}

# Programs as users run them, so that all is as it is for these: processes in turn, no priority.
part_torch()
{
	local rc id

	(cd "$work" && rm -f torch.data)
	tests/torch/wheel.sh 2.13.0+cpu python3 "$PWD/tests/bench/torch-cost.py" "$bin/xsprof" \
		"$BUILD/lib/libxsprof-torch.so" "$work" >"$work/torch.tsv"
	rc=$?
	if [ $rc = 77 ]; then
		for id in names shapes all count off step growth exit; do
			skip "torch_$id" "$(sed -n 's/^1\.\.0 # SKIP //p' "$work/torch.tsv")"
		done
		return
	fi
	[ $rc = 0 ] || { fail "torch: a measurement failed, see above"; return; }
	cat "$work/torch.tsv" >>"$raw"
}
