"""Several hosts at once, several processes, runs that are cut off, clocks that are set."""

import signal
import time
from itertools import pairwise

import pytest

from servers.lab import page


def test_hosts_do_not_wait_for_a_slow_one(crawl):  # FRO-09
    hosts = [f"fast{i}.test" for i in range(9)]
    slow = {"/robots.txt": {"b": "User-agent: *\nCrawl-delay: 8\n"}, "*": {"b": "s"}}
    listing = page(*(f"/page/{i}" for i in range(20)))
    fast = {"/robots.txt": {"s": 404}, "/": listing, "*": {"b": "f"}}
    crawl.serve({"slow.test": {**slow, "/": listing}, "*": fast}, now=crawl.clock.now)
    seeds = [f"http://{h}/" for h in (*hosts, "slow.test")]
    crawl.project(*seeds, politeness='delay = "1 s"\njitter = 0')
    crawl.passes()
    for host in hosts:
        times = [a.t for a in crawl.lab.asked if a.host == host]
        assert len(times) == 22
        assert min(b - a for a, b in pairwise(times)) >= 1.0
        assert times[-1] - times[0] < 40.0
    times = [a.t for a in crawl.lab.asked if a.host == "slow.test"]
    gaps = [b - a for a, b in pairwise(times[1:])]
    assert len(times) == 22 and 8.0 <= min(gaps) <= max(gaps) < 9.5


def test_many_links_of_one_host_keep_its_gap(crawl):  # FRO-07
    """On the wall clock: three hosts at once, each asked no sooner than its delay allows."""
    listing = page(*(f"/page/{i}" for i in range(8)))
    crawl.serve({"*": {"/robots.txt": {"s": 404}, "/": listing, "*": {"b": "x"}}})
    crawl.project(*(f"http://{c}.test/" for c in "abc"), politeness='delay = "0.2 s"\njitter = 0')
    began = time.monotonic()
    crawl.run()
    assert time.monotonic() - began < 6.0
    for host in ("a.test", "b.test", "c.test"):
        times = [a.t for a in crawl.lab.asked if a.host == host]
        assert len(times) == 10
        assert times[-1] - times[0] >= 9 * 0.2 - 0.05
        assert min(b - a for a, b in pairwise(times)) >= 0.15  # arrivals: a connection takes time


def test_a_second_process_on_one_store_is_told_so(crawl):  # FRO-07, STO-01
    crawl.serve({"*": {"/": page("/a"), "*": {"b": "x", "delay": 1.0}}})
    crawl.project("http://a.test/")
    first = crawl.start("run", "-q")
    wait_for(lambda: crawl.lab.asked or crawl.lab._counts)
    second = crawl.cli("run", "--json", "-q")
    assert second.code == 1
    assert "recrawl.db" in second.err and not second.out.strip()
    _, err = first.communicate(timeout=30)
    assert first.returncode == 0, err
    assert sorted(a.path for a in crawl.lab.pages()) == ["/", "/a"]


def wait_for(condition, seconds=20.0):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_run_goes_on_where_it_stopped(crawl, how):  # FRO-01
    n = 60
    slow = {"b": "<a href='/'>h</a>", "delay": 0.02}
    crawl.serve({"any.test": {"/": page(*(f"/page/{i}" for i in range(n))), "*": slow}})
    crawl.project("http://any.test/")
    process = crawl.start("run", "-q")
    wait_for(lambda: len(crawl.lab.pages()) >= 15)
    process.send_signal(how)
    process.communicate(timeout=30)
    assert process.returncode == 130
    first = len(crawl.lab.pages())
    assert 15 <= first < n
    said = crawl.run()
    asked = [a.path for a in crawl.lab.pages()]
    assert len(asked) == len(set(asked)) == n + 1
    assert said["new"] == n + 1 - first


def test_killed_again_and_again(crawl):  # FRO-03
    n, kills = 100, 4
    slow = {"b": "<a href='/'>h</a>", "delay": 0.02}
    crawl.serve({"any.test": {"/": page(*(f"/page/{i}" for i in range(n))), "*": slow}})
    crawl.project("http://any.test/", politeness='delay = "0 s"\nconcurrency = 4')
    for k in range(1, kills + 1):
        process = crawl.start("run", "-q")
        wait_for(lambda k=k: len(crawl.lab.pages()) >= 18 * k)
        process.kill()
        process.communicate()
    crawl.run()
    asked = [a.path for a in crawl.lab.pages()]
    assert len(set(asked)) == n + 1
    assert len(asked) - len(set(asked)) <= 4 * kills
    with crawl.store() as store:
        words = [e.verdict.word for e in store.entries() if e.key]
        assert store.open_reservations() == []
    assert words.count("new") == n + 1
    assert words.count("unknown") <= 4 * kills


@pytest.mark.parametrize("moment", ["robots", "page"])
def test_killed_before_the_first_page_was_read(crawl, moment):  # FRO-05
    running = []

    def kill(asked):
        if running and (moment == "robots" or asked.path != "/robots.txt"):
            running.pop().kill()

    crawl.serve({"any.test": {"/": page("/a"), "*": {"b": "x", "delay": 0.2}}}, on_request=kill)
    crawl.project("http://any.test/")
    process = crawl.start("run", "-q")
    running.append(process)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    assert crawl.run()["new"] == 2


@pytest.mark.parametrize("step", [-120.0, 120.0, -3600.0])
def test_the_wall_clock_steps_while_it_runs(crawl, monkeypatch, step):  # SCH-14
    """Pace is kept on a clock that nobody sets: the gaps stay what they were."""
    real, stepped = time.time, []
    monkeypatch.setattr(time, "time", lambda: real() + (step if stepped else 0.0))

    def count(asked):
        if asked.path == "/page/2":
            stepped.append(True)

    listing = page(*(f"/page/{i}" for i in range(6)))
    crawl.serve({"*": {"/": listing, "*": {"b": "x"}}}, now=time.monotonic, on_request=count)
    crawl.project("http://a.test/", politeness='delay = "0.3 s"\njitter = 0')
    crawl.run()
    assert len(crawl.lab.pages()) == 7 and stepped
    times = [a.t for a in crawl.lab.asked]
    gaps = [b - a for a, b in pairwise(times)]
    assert 0.28 <= min(gaps) <= max(gaps) < 2.0
