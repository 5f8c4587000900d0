# SPDX-License-Identifier: GPL-2.0-only
"""Wrong arguments of markers, and values that cannot be converted.

usage: arguments.py [check NDJSON]     Prints what each call raised, which must not depend on a
recorder; RECORDED=1 if there is one.
"""
import collections
import fractions
import functools
import json
import os
import sys

import xsprof
from xsprof.profiler import record_function


class Raises:
    """Numbers by their type, whose conversion fails, as that of a tensor with several elements."""

    def __str__(self):
        raise KeyError("str")

    def __index__(self):
        raise KeyError("index")

    def __float__(self):
        raise KeyError("float")


class Index:
    """As NumPy's integers are."""

    def __index__(self):
        return 5

    def __and__(self, other):
        raise OverflowError(other)


class Text(str):
    def __str__(self):
        return "not this"


class Proxy:
    """As lazy proxies are that have no object yet: isinstance() asks it for its class."""

    @property
    def __class__(self):
        raise RuntimeError("no object yet")

    def __str__(self):
        return "a proxy"

    __repr__ = __str__


class Incomparable(int):
    """Its methods raise, as those of numbers with units do."""

    def refuse(self, *of):
        raise TypeError("another unit")

    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __rand__ = __int__ = __index__ = refuse


class Key(str):
    def refuse(self, *of):
        raise TypeError("no text")

    __contains__ = replace = encode = refuse


class Bytes(bytes):
    def __len__(self):
        raise TypeError("no length")


class NamelessType(type):
    @property
    def __name__(cls):
        raise TypeError("no name")


class Nameless(metaclass=NamelessType):
    def __str__(self):
        raise KeyError("str")

    def __float__(self):
        raise KeyError("float")


class RaisesBadly:
    """The exception has no text."""

    class Textless(Exception):
        def __str__(self):
            raise KeyError("str")

    def __float__(self):
        raise self.Textless()


class Adds:
    """Its text changes the arguments that it belongs to."""

    def __init__(self, to):
        self.to = to

    def __str__(self):
        self.to["added %d" % len(self.to)] = 1
        return "adds"


# Part of the message, and the call.
async def coroutine():
    pass


async def async_generator():
    yield


REFUSED = [
    ("counter(): value: expected an int or a float, not None (NoneType)",
     lambda: xsprof.counter("loss", None)),
    ("counter(): value: expected an int or a float, not 'a' (str)",
     lambda: xsprof.counter("c", "a")),
    ("not '3' (str)", lambda: xsprof.counter("c", "3")),
    ("(list)", lambda: xsprof.counter("c", [1])),
    ("(complex)", lambda: xsprof.counter("c", 1j)),
    ("counter(): name: expected a str or bytes, not 5 (int)", lambda: xsprof.counter(5, 1)),
    ("counter(): name: 'a\\x00b' contains a null character", lambda: xsprof.counter("a\0b", 1)),
    ("counter(): category: expected a name or None, not an empty string",
     lambda: xsprof.counter("c", 1, "")),
    ("step(): number: expected an int, not 'a' (str)", lambda: xsprof.step("a")),
    ("step(): number: expected an int, not 1.5 (float)", lambda: xsprof.step(1.5)),
    ("step(): name: ", lambda: xsprof.step(1, None)),
    ("range(): name: expected a str or bytes, not 5 (int)", lambda: xsprof.range(5)),
    ("range(): name: ", lambda: xsprof.range(["a"])),
    ("range(): name: ", lambda: xsprof.range("a\0b")),
    ("range(): name: ", lambda: xsprof.range(b"a\0b")),
    ("range(): category: ", lambda: xsprof.range("a", category=3)),
    ("range(): category: ", lambda: xsprof.range("a", category="")),
    ("range(): category: ", lambda: xsprof.range("a", category="a\0b")),
    ("range(): name: ", lambda: xsprof.annotate(5)),
    ("range(): category: ", lambda: xsprof.annotate(category=5)(Index)),
    ("range(): a range that is independent of threads has no arguments: leave out n, m",
     lambda: xsprof.range("a", n=1, m=2).__aenter__().send(None)),
    ("range(): a range that is independent", lambda: xsprof.range("a", n=1)(coroutine)),
    ("range(): a range that is independent", lambda: xsprof.annotate("a", n=1)(async_generator)),
    ("instant(): scope: expected thread, process or global, not 'all' (str)",
     lambda: xsprof.instant("x", scope="all")),
    ("instant(): scope: ", lambda: xsprof.instant("x", scope="all", n=1)),
    ("instant(): scope: ", lambda: xsprof.instant("x", scope=["thread"])),
    ("instant(): scope: ", lambda: xsprof.instant("x", scope=Proxy())),
    ("instant(): name: ", lambda: xsprof.instant(None)),
    ("range(): name: expected a str or bytes, not ", lambda: xsprof.range(Proxy())),
    ("counter(): value: ", lambda: xsprof.counter("c", Proxy())),
    ("step(): number: ", lambda: xsprof.step(Proxy())),
    ("instant(): category: ", lambda: xsprof.instant("x", "")),
    ("flow_begin(): number: ", lambda: xsprof.flow_begin("f", None)),
    ("flow_step(): number: ", lambda: xsprof.flow_step("f", 2.0)),
    ("flow_end(): name: ", lambda: xsprof.flow_end(1, 1)),
    ("async_begin(): number: ", lambda: xsprof.async_begin("a", "1")),
    ("async_end(): category: ", lambda: xsprof.async_end("a", 1, 7)),
    ("enabled(): category: ", lambda: xsprof.enabled(5)),
    ("enabled(): category: ", lambda: xsprof.enabled("")),
    ("category_enable(): category: ", lambda: xsprof.category_enable("")),
    ("thread_name(): name: ", lambda: xsprof.thread_name(5)),
    ("fact('a=b'): ", lambda: xsprof.fact("a=b", 1)),
    ("fact(): value: ", lambda: xsprof.fact("a", "a\0b")),
    ("flush(): timeout: ", lambda: xsprof.flush("1")),
    ("record_function(): name: ", lambda: record_function(5)),
]


def refused():
    for number, (message, call) in enumerate(REFUSED):
        try:
            # An unrecorded range(5) was noticed nowhere, and a recorded one at its begin.
            made = call()
            if hasattr(made, "__enter__"):
                with made:
                    pass
            raise SystemExit("%d: not refused: %s" % (number, message))
        except (TypeError, ValueError, xsprof.Error) as err:
            assert message in str(err), (number, message, err)
            print(number, type(err).__name__, err)


def dropped():
    """Of these the types are right; each is dropped, and said once."""
    before = xsprof.stats()["unconverted"]
    for _ in range(3):
        xsprof.counter("dropped", Raises())
    xsprof.counter("dropped", 10 ** 400)
    xsprof.counter("dropped", RaisesBadly())
    xsprof.counter("dropped", Nameless())
    xsprof.counter("dropped", fractions.Fraction(10 ** 400))
    for call in (xsprof.flow_begin, xsprof.flow_step, xsprof.flow_end, xsprof.async_begin,
                 xsprof.async_end):
        call("dropped", Raises())
    xsprof.step(Raises())
    return xsprof.stats()["unconverted"] - before


def recorded_as():
    xsprof.counter("half", fractions.Fraction(1, 2))
    xsprof.counter("index", Index())
    xsprof.counter("true", True)
    xsprof.step(Index())
    xsprof.step(-1)
    xsprof.counter("\ud800", 1)
    xsprof.counter(Text("a subclass"), 1)
    values = {"raises": Raises(), "nul\0key": 1, "s": "a\0b", "digits": 10 ** 5000}
    with xsprof.range("args", **values):
        xsprof.args(more=Raises())
    xsprof.instant("instant", **values)
    values = {"proxy": Proxy(), "number": Incomparable(7), "bytes": Bytes(b"abc"),
              "nameless": Nameless(), Key("key"): Key("text")}
    adding = xsprof.range("hard", category="of it", **values)
    adding.args["adds"] = Adds(adding.args)
    with adding:
        xsprof.args(**values)
    xsprof.instant("hard instant", scope=Key("thread"), **values)
    xsprof.counter("incomparable", Incomparable(8))
    xsprof.step(Incomparable(9))
    with record_function("function", Raises()):
        pass
    assert xsprof.enabled("cat") == (os.environ.get("RECORDED") == "1")
    xsprof.flush(1e9)
    xsprof.flush(0)


class Decorated:
    @xsprof.annotate
    @classmethod
    def of_class(cls, n):
        return cls, n

    @xsprof.range("static")
    @staticmethod
    def of_none(n):
        return n

    @xsprof.annotate()
    @staticmethod
    def also(n):
        return n

    @property
    @xsprof.annotate
    def getter(self):
        return 7


def decorators():
    thing = Decorated()
    assert thing.of_class(1) == Decorated.of_class(1) == (Decorated, 1)
    assert thing.of_none(2) == Decorated.of_none(2) == 2 and Decorated.also(3) == 3
    assert thing.getter == 7
    for what in (property(lambda self: 1), functools.partialmethod(print, 1), Decorated,
                 getattr(functools, "cached_property", property)(lambda self: 1)):
        for decorator in (xsprof.annotate, xsprof.annotate(), xsprof.range("r")):
            try:
                decorator(what)
                raise SystemExit("decorated: %r" % (what,))
            except TypeError as err:
                cure = "decorate its methods" if what is Decorated else \
                    "write the decorator below @" + type(what).__name__
                assert cure in str(err), err
    for what in (5, None):
        try:
            xsprof.range("r")(what)
            raise SystemExit("decorated: %r" % (what,))
        except TypeError as err:
            assert "decorates functions and methods" in str(err), err


def check(ndjson):
    with open(ndjson) as f:
        events = [json.loads(line) for line in f]
    of = collections.defaultdict(list)
    for e in events:
        of[e["type"]].append(e)
    assert [(e["name"], e.get("i64", e.get("f64"))) for e in of["counter"]] == [
        ("half", 0.5), ("index", 5), ("true", 1), ("\\ud800", 1), ("a subclass", 1),
        ("incomparable", 8)], of["counter"]
    assert [e["value"] for e in of["step"]] in ([5, -1, 9], [5, (1 << 64) - 1, 9]), of["step"]
    marked, = [e for e in of["begin"] if e["name"] == "args"]
    instant, hard_instant = of["instant"]
    assert instant["name"] == "instant", instant
    for e in (marked, instant):
        values = {a["key"]: a["value"] for a in e["args"]}
        assert values["raises"] == "<unprintable Raises object>", values
        assert values["nul\\0key"] == 1 and values["s"] == "a\0b", values
    hard, = [e for e in of["begin"] if e["name"] == "hard"]
    for e in hard, hard_instant:
        values = {a["key"]: a["value"] for a in e["args"]}
        assert (values["proxy"], values["number"], values["bytes"], values["nameless"],
                values["key"]) == ("a proxy", 7, "abc", "<unprintable Nameless object>",
                                   "text"), values
        assert values.get("adds", "adds") == "adds" and "added" not in str(values), values
    names = [e["name"] for e in of["begin"]]
    for name, count in (("Decorated.of_class", 2), ("static", 2), ("Decorated.also", 1),
                        ("Decorated.getter", 1)):
        assert names.count(name) == count, (name, names)
    assert not [e for e in events if e.get("name") == "dropped"]


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(sys.argv[2])
    else:
        assert xsprof.enabled() == bool(os.environ.get("RECORDED")), "recorded?"
        refused()
        decorators()
        recorded_as()
        count = dropped()
        assert count == (13 if xsprof.enabled() else 0), count
