"""Names: one lookup for many askers, kept for a while, and whom a silence is blamed on."""

import asyncio
import socket
import threading

import pytest

from recrawl.fetch.resolve import ResolveError, Resolver, system_lookup
from recrawl.model import Blame


class Names:
    """A resolver's other end: answers, counts, and can be made to wait or fail."""

    def __init__(self, **names):
        self.names = names
        self.asked = []
        self.wait = threading.Event()
        self.wait.set()

    def __call__(self, host):
        self.asked.append(host)
        self.wait.wait(5)
        answer = self.names.get(host, socket.gaierror(socket.EAI_NONAME, "Name unknown"))
        if isinstance(answer, Exception):
            raise answer
        return answer


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


def run(use, names, **options):
    async def go():
        resolver = Resolver(names, **options)
        try:
            return await use(resolver)
        finally:
            names.wait.set()
            resolver.close()

    return asyncio.run(go())


async def failing(resolver, host, seconds=5.0):
    with pytest.raises(ResolveError) as caught:
        await resolver.addresses(host, seconds)
    return caught.value


def test_addresses_are_kept_until_their_time_is_over():
    names, clock = Names(a=("192.0.2.1", "2001:db8::1")), Clock()

    async def use(resolver):
        for _ in range(3):
            assert await resolver.addresses("a", 5) == ("192.0.2.1", "2001:db8::1")
        clock.now += 301
        names.names["a"] = ("192.0.2.9",)
        assert await resolver.addresses("a", 5) == ("192.0.2.9",)

    run(use, names, now=clock)
    assert names.asked == ["a", "a"]


def test_no_such_name_is_kept_for_less():
    names, clock = Names(), Clock()

    async def use(resolver):
        for _ in range(3):
            error = await failing(resolver, "a")
            assert error.blame is Blame.TARGET and "Name unknown" in str(error)
        clock.now += 61
        await failing(resolver, "a")

    run(use, names, now=clock)
    assert names.asked == ["a", "a"]


def test_many_askers_share_one_lookup():
    names = Names(a=("192.0.2.1",))
    names.wait.clear()

    async def use(resolver):
        tasks = [asyncio.create_task(resolver.addresses("a", 5)) for _ in range(50)]
        await asyncio.sleep(0.02)
        tasks[0].cancel()  # one gives up: the others still get theirs
        names.wait.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(results[0], asyncio.CancelledError)
        assert set(results[1:]) == {("192.0.2.1",)}

    run(use, names)
    assert names.asked == ["a"]


def test_a_failure_to_answer_is_not_kept():
    names = Names(a=socket.gaierror(socket.EAI_AGAIN, "Try again"))

    async def use(resolver):
        error = await failing(resolver, "a")
        assert error.blame is Blame.LOCAL  # nothing shows that our resolver works at all
        names.names["a"] = ("192.0.2.1",)
        assert await resolver.addresses("a", 5) == ("192.0.2.1",)

    run(use, names)


def test_a_resolver_that_answers_others_shifts_the_blame():
    names = Names(a=socket.gaierror(socket.EAI_AGAIN, "Try again"), b=("192.0.2.1",))
    clock = Clock()

    async def use(resolver):
        await resolver.addresses("b", 5)
        assert (await failing(resolver, "a")).blame is Blame.TARGET
        clock.now += 61
        assert (await failing(resolver, "a")).blame is Blame.LOCAL

    run(use, names, now=clock)


def test_a_silent_resolver_holds_nobody_up_for_longer_than_asked():
    names = Names(a=("192.0.2.1",))
    names.wait.clear()

    async def use(resolver):
        started = asyncio.get_running_loop().time()
        error = await failing(resolver, "a", 0.05)
        assert "no answer from the resolver in 0.05 s" in str(error)
        assert error.blame is Blame.LOCAL
        assert asyncio.get_running_loop().time() - started < 1

    run(use, names)


def test_what_still_waits_when_it_is_closed_is_told():
    names = Names()
    names.wait.clear()

    async def use(resolver):
        tasks = [asyncio.create_task(resolver.addresses(f"h{i}", 5)) for i in range(3)]
        await asyncio.sleep(0.02)
        resolver.close()
        names.wait.set()
        errors = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(e) for e in errors] == [ResolveError] * 3
        assert "the resolver was closed" in str(errors[-1])

    run(use, names, threads=1)


def test_the_cache_is_bounded_and_forgets_the_oldest():
    names = Names(a=("192.0.2.1",), b=("192.0.2.2",), c=("192.0.2.3",))

    async def use(resolver):
        for host in ("a", "b", "a", "c", "b", "c", "a"):
            await resolver.addresses(host, 5)

    run(use, names, capacity=2)
    assert names.asked == ["a", "b", "c", "a"]


def test_odd_names_are_the_targets_fault():
    names = Names(a=UnicodeError("label too long"), b=OSError("no route"), c=())

    async def use(resolver):
        assert (await failing(resolver, "a")).blame is Blame.TARGET
        assert (await failing(resolver, "c")).blame is Blame.TARGET

    run(use, names)


def test_at_most_eight_addresses_are_kept():
    names = Names(a=tuple(f"192.0.2.{i}" for i in range(50)))

    async def use(resolver):
        assert len(await resolver.addresses("a", 5)) == 8

    run(use, names)


def test_the_systems_resolver():
    assert "127.0.0.1" in system_lookup("localhost")
    assert system_lookup("192.0.2.7") == ("192.0.2.7",)
    with pytest.raises(UnicodeError):
        system_lookup("a" * 70 + ".test")
