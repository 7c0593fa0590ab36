"""Helpers of the wire tests: fetch some URLs, one after the other or at once."""

import asyncio
import os

from recrawl.model import Request


def serve(make, *requests, at_once=False, **options):
    """The outcomes of the requests with one fetcher, which is closed again."""

    async def run():
        fetcher = make(**options)
        try:
            if at_once:
                return await asyncio.gather(*map(fetcher.fetch, requests))
            return [await fetcher.fetch(request) for request in requests]
        finally:
            await fetcher.aclose()

    return asyncio.run(run())


def ask(url, limits, *headers, **options):
    return Request(url, headers, limits, **options)


def open_files():
    return len(os.listdir("/proc/self/fd"))


class Peak:
    """Growth of the resident memory of this process within the block, in bytes."""

    def __enter__(self):
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the high-water mark falls to the present size
        self._before = self._read("VmRSS")
        return self

    def __exit__(self, *exc):
        self.grown = self._read("VmHWM") - self._before

    @staticmethod
    def _read(name):
        with open("/proc/self/status") as file:
            line = next(line for line in file if line.startswith(name))
        return int(line.split()[1]) * 1024
