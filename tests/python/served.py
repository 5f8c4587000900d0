#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs of packages from the Python package index, and checks of their samples, for served.sh.

Usage: served.py web SECONDS, served.py greenlets SECONDS, served.py calls: Flask in the threads of
waitress under load; Flask in greenlets of gevent, with two that compute; functions of greenlets.
Then served.py check-web|check-greenlets EVENTS, served.py check-calls REPORT.
"""
import collections
import json
import logging
import subprocess
import sys
import threading
import time

from real import CLIENT, follow, render, samples

THREADS = 3
CALLS = 20
# The outermost function of a greenlet, and the one that works in it.
JOBS = {"counts": "count_up", "sums": "sum_up", "handle": "page"}
END = [0.0]


def load(port, seconds, run=subprocess.run):
    run([sys.executable, "-S", "-c", CLIENT, str(port), str(seconds)], env={}, check=True)


def application(pause):
    import flask

    app = flask.Flask("served")

    @app.route("/")
    def page():
        rows = render(5000)
        pause()
        return rows + render(5000)

    return app


def web(seconds):
    import waitress

    # It says when more requests come than it has threads.
    logging.getLogger("waitress").setLevel(logging.ERROR)
    server = waitress.create_server(application(lambda: None), host="127.0.0.1", port=0,
                                    threads=THREADS)
    thread = threading.Thread(target=server.run)
    thread.start()
    load(server.effective_port, seconds)
    server.close()
    thread.join()


def count_up():
    return sum(i & 1 for i in range(3000))


def sum_up():
    return sum(i * i for i in range(3000))


def deeper(work, deep):
    """Switches to another greenlet while it is on the stack."""
    import gevent

    if deep:
        return deeper(work, deep - 1)
    work()
    gevent.sleep(0)
    return work()


def counts():
    while time.monotonic() < END[0]:
        deeper(count_up, 3)


def sums():
    while time.monotonic() < END[0]:
        deeper(sum_up, 6)


def greenlets(seconds):
    import gevent
    import gevent.pywsgi
    import gevent.subprocess

    server = gevent.pywsgi.WSGIServer(("127.0.0.1", 0), application(lambda: gevent.sleep(0)),
                                      log=None)
    server.start()
    jobs = [gevent.spawn(counts), gevent.spawn(sums)]
    load(server.server_port, seconds, gevent.subprocess.run)
    gevent.joinall(jobs, raise_error=True)
    server.stop()


def brief():
    import gevent
    gevent.sleep(0.01)


def lengthy():
    import gevent
    gevent.sleep(0.04)


def same(seconds):
    import gevent
    gevent.sleep(seconds)


def calls():
    import gevent

    def each(function, *arguments):
        for _ in range(CALLS):
            function(*arguments)

    gevent.joinall([gevent.spawn(each, brief), gevent.spawn(each, lengthy),
                    gevent.spawn(each, same, 0.01), gevent.spawn(each, same, 0.04)],
                   raise_error=True)


# ---- what is known of their samples ----------------------------------------------------------

def check_web(path):
    ran, workers, waits = collections.Counter(), set(), collections.Counter()
    for how, stack, event in samples(path):
        if "render" in stack:
            assert follow(stack, "render", "page", "dispatch_request", "wsgi_app", "execute",
                          "handler_thread"), stack
        if "handler_thread" in stack:
            workers.add(event["of"])
            if how == "runs" and "wsgi_app" in stack:
                ran["render" if "render" in stack else "other"] += 1
        if "handler_thread" not in stack and how == "off":
            waits[event["of"]] += 1
    assert ran["render"] > 0.5 * sum(ran.values()) > 50, ran
    # The threads of the server are its own number; the one that accepts waits, and the main one.
    assert len(workers) == THREADS and len(waits) >= 2 and not workers & set(waits), (
        workers, waits)


def check_greenlets(path):
    """Checks that a sample is of one greenlet, and all of its frames."""
    found, threads = collections.Counter(), set()
    for how, stack, event in samples(path):
        jobs = [job for job in JOBS if job in stack]
        works = [work for work in JOBS.values() if work in stack]
        assert len(jobs) <= 1, stack
        if how == "runs" and works:
            assert works == [JOBS[jobs[0]]], stack
            assert stack.count("deeper") == {"counts": 4, "sums": 7, "handle": 0}[jobs[0]], stack
            if jobs == ["handle"]:
                assert follow(stack, "page", "dispatch_request", "wsgi_app", "run_application",
                              "handle_one_response", "handle"), stack
            found[jobs[0]] += 1
            threads.add(event["of"])
    assert set(found) == set(JOBS) and min(found.values()) >= 20 and len(threads) == 1, (
        found, threads)


def check_calls(path):
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    assert report["unmatched_ends"] == report["open"] == report["lost_records"] == 0, report
    rows = {row["name"].split("): ")[-1]: row for row in report["ranges"]}
    assert {name: rows[name]["count"] for name in ("brief", "lengthy", "same")} == {
        "brief": CALLS, "lengthy": CALLS, "same": 2 * CALLS}, sorted(rows)
    assert rows["brief"]["min_ns"] >= 10e6 and rows["lengthy"]["min_ns"] >= 40e6, rows
    # Calls of one function in several greenlets may have each other's times: their sum is right.
    assert rows["same"]["total_ns"] >= CALLS * 50e6, rows["same"]


def main():
    what = sys.argv[1]
    if what.startswith("check-"):
        {"check-web": check_web, "check-greenlets": check_greenlets,
         "check-calls": check_calls}[what](sys.argv[2])
    elif what == "calls":
        calls()
    else:
        END[0] = time.monotonic() + float(sys.argv[2])
        {"web": web, "greenlets": greenlets}[what](float(sys.argv[2]))


if __name__ == "__main__":
    main()
