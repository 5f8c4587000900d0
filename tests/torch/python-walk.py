# SPDX-License-Identifier: GPL-2.0-only
"""
python-walk.py LIBRARY: compares the place of an op in a Python program, as the collector finds it,
with Python's own answer. The library is python-walk.c; DIR has a stand-in for
torch.nn.modules.module. TAP.
"""
import contextlib
import ctypes
import gc
import os
import random
import sys
import tempfile
import threading
import traceback
import weakref

MODULE = """
class Module:
    def __init__(self):
        self._modules = {}
    def __setattr__(self, name, value):
        if isinstance(value, Module):
            self._modules[name] = value
        object.__setattr__(self, name, value)
    def _wrapped_call_impl(self, *args, **kwargs):
        if self.__class__.__name__ == "Compiled":
            return self.forward(*args, **kwargs)
        else:
            return self._call_impl(*args, **kwargs)
    def _call_impl(self, *args, **kwargs):
        result = None
        def inner():
            nonlocal result, args
            result = self.forward(*args, **kwargs)
            return result
        try:
            return inner()
        except ZeroDivisionError:
            raise
    __call__ = _wrapped_call_impl
"""

unlocked = ctypes.CDLL(sys.argv[1])
locked = ctypes.PyDLL(sys.argv[1])
unlocked.walk_init.restype = locked.walk_init.restype = ctypes.c_char_p
results = []


def result(what, ok, seen=""):
    results.append(ok)
    print("%s %d %s" % ("ok" if ok else "not ok", len(results), what))
    if not ok:
        print("# %s" % (seen,))


def below(path):
    for part in ("/site-packages/", "/dist-packages/"):
        if part in path:
            return path.split(part, 1)[1]
    return path


def mine(skip=0):
    """Returns Python's answer: frames, innermost first, without this function."""
    frame, frames = sys._getframe(1 + skip), []
    while frame:
        code = frame.f_code
        frames.append("%s(%d): %s" % (below(code.co_filename), frame.f_lineno,
                                      getattr(code, "co_qualname", code.co_name)))
        frame = frame.f_back
    return frames


def here(library=unlocked):
    """Returns the collector's answer, without this function: module, frames, number left out."""
    text = ctypes.create_string_buffer(1 << 20)
    library.walk_here(text, ctypes.c_size_t(len(text)))
    if not text.value:
        return None
    module, rest = text.value.decode().split("|", 1)
    frames, left = rest.rsplit("|", 1)
    return module, frames.split(";")[1:], int(left)


def both(library=unlocked):
    """Returns both answers for one line."""
    return here(library), mine(1)


def agree(pair):
    (seen, _) = pair
    return seen is not None and seen[1] == pair[1][:63] and seen[2] == max(0, len(pair[1]) - 63)


# ---- stacks

said = locked.walk_init()
if sys.version_info < (3, 9):
    result("one that is too old is told", b"3.9 has them" in said and here() is None, said)
    print("1..1")
    sys.exit(not all(results))
result("frames are where they were found", not said, said)
for name, library in (("without the lock", unlocked), ("with it", locked)):
    pair = here(library), mine()
    result("a stack, %s" % name, agree(pair), pair)
pair = here(unlocked), mine()
result("again, from another line", agree(pair), pair)


def deep(n):
    if n:
        return deep(n - 1)
    return here(), mine()


for n in (1, 61, 62, 63, 200):
    pair = deep(n)
    result("%d deep" % n, agree(pair), (len(pair[0][1]), pair[0][2], len(pair[1])))


def generator():
    yield here(), mine()
    yield from (both() for _ in range(2))


pairs = list(generator())
result("in generators", all(agree(p) for p in pairs[:1]) and len(pairs) == 3, pairs)
pair = (lambda: (here(), mine()))()
result("in a lambda", agree(pair), pair)
pair = sorted([1, 2], key=lambda x: (here(), mine()) and x)
pairs = []
sorted([1, 2], key=lambda x: pairs.append((here(), mine())) or x)
result("called by C", all(agree(p) for p in pairs), pairs)
try:
    raise KeyError("x")
except KeyError:
    pair = here(), mine()
result("while something is raised", agree(pair), pair)


class Late:
    def __del__(self):
        pairs.append((here(), mine()))


del pairs[:]
Late()
result("in a destructor", len(pairs) == 1 and agree(pairs[0]), pairs)


async def coroutine(n):
    if n:
        return await coroutine(n - 1)
    return here(), mine()


try:
    coroutine(3).send(None)
except StopIteration as e:
    result("in coroutines", agree(e.value), e.value)

source = "def f(x):\n" + "    x += 1\n" * 300 + "    return here(), mine()\n"
scope = {"here": here, "mine": mine}
exec(compile(source, "site.py", "exec"), scope)
pair = scope["f"](1)
result("far into its code", agree(pair) and pair[0][1][0].startswith("site.py(302): "), pair)

# ---- many, and code that comes and goes


def churn(n):
    wrong = []
    for i in range(n):
        text = "\n" * random.randrange(50) + "def g%d():\n    return here(), mine()\n" % (i % 7)
        name = "<made %d>" % random.randrange(10)
        own = dict(scope)
        exec(compile(text, name, "exec"), own)
        pair = own["g%d" % (i % 7)]()
        if not agree(pair):
            wrong.append(pair)
    return wrong


wrong = churn(2000)
result("2000 functions, each of which is freed", not wrong, wrong[:1])

wrong = []
threads = [threading.Thread(target=lambda: wrong.extend(churn(300))) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
result("in 4 threads", not wrong, wrong[:1])
before = unlocked.walk_stacks()
for i in range(100):
    pair = here(), mine()
result("a stack is named once", unlocked.walk_stacks() == before + 1, unlocked.walk_stacks())
done = []
callback = ctypes.CFUNCTYPE(None)(lambda: done.append((here(), mine())))
ctypes.CDLL(None).qsort  # fails without the C library
run = ctypes.CFUNCTYPE(None)
libc = ctypes.CDLL(None)
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
array = (ctypes.c_int * 2)(1, 2)
libc.qsort(array, 2, 4, compare(lambda a, b: done.append((here(), mine())) or 0))
result("called by C that was called by Python", len(done) == 1 and agree(done[0]), done)

# ---- modules

with tempfile.TemporaryDirectory() as top:
    folder = os.path.join(top, "torch", "nn", "modules")
    os.makedirs(folder)
    with open(os.path.join(folder, "module.py"), "w") as f:
        f.write(MODULE)
    sys.path.insert(0, folder)
    Module = __import__("module").Module


class Leaf(Module):
    def forward(self):
        return here()[0]


class List(Module):
    """A container that is never called itself."""

    def __init__(self, items):
        super().__init__()
        for i, item in enumerate(items):
            self._modules[str(i)] = item


class Block(Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Leaf(), Leaf()
        self._modules["none"] = None

    def forward(self):
        return [self.a(), here()[0], self.b()]


class Net(Module):
    def __init__(self):
        super().__init__()
        self.stem = Leaf()
        self.blocks = List([Block() for _ in range(3)])

    def forward(self):
        out = [self.stem()]
        for b in self.blocks._modules.values():
            out += b()
        return out


expected = ["Net.stem"] + ["Net.blocks.%d%s" % (i, part) for i in range(3)
                           for part in (".a", "", ".b")]
net = Net()
for i in range(3):
    seen = net()
    result("modules by their names, %d" % i, seen == expected, seen)
result("outside of all of them", here()[0] == "", here())
leaf = Leaf()
seen = leaf()
result("one that nothing has", seen == "Leaf", seen)
other = Leaf()
seen = other()
result("and another", seen == "Leaf#2", seen)
ref = weakref.ref(leaf)
del leaf
gc.collect()
result("none is kept alive", ref() is None)
wrong = []
for i in range(3000):
    temporary = Block()
    seen = temporary()
    if not all(s.startswith("Block") and s.endswith(end)
               for s, end in zip(seen, (".a", "", ".b"))):
        wrong.append(seen)
    kind = random.choice([Leaf, Block])
    if kind is Leaf:
        temporary = Leaf()
        if not temporary().startswith("Leaf"):
            wrong.append(temporary())
result("3000 that come and go, where others were", not wrong, wrong[:1])


class Extra(Module):
    """Calls a module of another one, which has called that before."""

    def __init__(self):
        super().__init__()
        self.block = Block()
        self.block._modules["extra"] = Leaf()

    def forward(self):
        self.block()
        return self.block._modules["extra"]()


seen = Extra()()
result("what a named module has", seen == "Extra.block.extra", seen)


class Part(Module):
    def __init__(self):
        super().__init__()
        self.leaf = Leaf()

    def forward(self):
        return self.leaf()


class Whole(Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self):
        return self.part()


whole = Whole()
seen = whole.part(), whole(), whole.part(), here()[0]
result("a part that was called alone before",
       seen == ("Part.leaf", "Whole.part.leaf", "Whole.part.leaf", ""), seen)


class Borrows(Module):
    """Calls a module that it does not contain."""

    def forward(self, what):
        return what(), what()


first, borrowed = Borrows(), Part()
seen = first(borrowed)
result("one that its caller has not", seen == ("Part.leaf", "Part.leaf"), seen)
a, b, c = Borrows(), Borrows(), Borrows()


class Name(Module):
    def forward(self):
        return here()[0]


a, b, c = Name(), Name(), Name()
seen = [a(), b(), c()]
del a
d = Name()
seen.append(d())
del b, c, d
e = Name()
seen.append(e())
result("a name is free when its module is gone, and no other's before",
       seen == ["Name", "Name#2", "Name#3", "Name", "Name"], seen)
many = [Name() for i in range(3000)]
seen = [m() for m in many]
result("3000 of a class", len(set(seen)) == 1023 and seen[-1] == "Name#1024", len(set(seen)))
many = [Name() for i in range(17000)]
seen = [m() for m in many]
seen = seen[-1], many[-1]()
result("more than there is room for", seen == ("(no room for its name)",) * 2, seen)
del many
gc.collect()
seen = [Name()() for i in range(100)]
result("and room again when they are gone", set(seen) == {"Name#2"}, set(seen))


class Fails(Module):
    def forward(self):
        here()
        return 1 // 0


with contextlib.suppress(ZeroDivisionError):
    Fails()()
result("one that raises", here()[0] == "", here())


class Slots(Module):
    """The collector must not run its code for attribute access."""
    asked = 0

    def __getattribute__(self, name):
        if name == "_modules":
            Slots.asked += 1
        return object.__getattribute__(self, name)

    def forward(self):
        return here()[0]


seen = Slots()()
result("no code of a module is run", seen == "Slots" and Slots.asked == 0, (seen, Slots.asked))

wrong = []


def use():
    own = Net()
    for _ in range(50):
        seen = own()
        if [s.split(".", 1)[1] for s in seen] != [e.split(".", 1)[1] for e in expected]:
            wrong.append(seen)


threads = [threading.Thread(target=use) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
result("modules in 4 threads", not wrong, wrong[:1])
unlocked.walk_forget()
seen = net()
result("after a fork stacks are named anew", seen == expected, seen)
print("1..%d" % len(results))
sys.exit(not all(results))
