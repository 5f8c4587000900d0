// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with an embedded Python that runs 7 aten::mm; with an argument, 11 more in a second
 * interpreter, if PyTorch can be imported there. It prints how many it ran, or why not. A failed
 * import leaves broken classes, so the process exits before anything uses them.
 */
#include <Python.h>

int main(int argc, char **argv)
{
	PyThreadState *first, *second;
	int failed;

	(void)argv;
	Py_Initialize();
	failed = PyRun_SimpleString("import torch\n"
				    "x = torch.ones(2, 2)\n"
				    "for i in range(7):\n"
				    "    torch.mm(x, x)\n");
	if (argc > 1) {
		first = PyThreadState_Get();
		second = Py_NewInterpreter();
		failed |= PyRun_SimpleString("import os\n"
					     "try:\n"
					     "    import torch\n"
					     "    x = torch.ones(2, 2)\n"
					     "    for i in range(11):\n"
					     "        torch.mm(x, x)\n"
					     "    print(18)\n"
					     "except BaseException as e:\n"
					     "    print('none:', type(e).__name__, flush=True)\n"
					     "    os._exit(0)\n");
		Py_EndInterpreter(second);
		PyThreadState_Swap(first);
	}
	return Py_FinalizeEx() || failed;
}
