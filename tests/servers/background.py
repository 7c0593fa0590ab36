"""A loopback server with an event loop in a thread of its own: tests use any loop, or none."""

import asyncio
import threading


class Background:
    """Runs coroutines on a private loop; a context manager. Subclasses serve in `begin`."""

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        self._servers = []
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.call(self.begin())
        return self

    def __exit__(self, *exc):
        self.call(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()

    def call(self, coroutine):
        """Run on the server's loop, return the result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(20)

    async def begin(self):
        """Start serving."""

    async def listen(self, handler, host="127.0.0.1", port=0, ssl=None):
        """Serve connections with `handler(reader, writer)`; returns the port."""

        async def guarded(reader, writer):
            try:
                await handler(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                pass
            except asyncio.CancelledError:
                writer.transport.abort()
            finally:
                writer.close()

        server = await asyncio.start_server(guarded, host, port, ssl=ssl, limit=1 << 20)
        self._servers.append(server)
        return server.sockets[0].getsockname()[1]

    async def _end(self):
        for server in self._servers:
            server.close()
        tasks = [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.02)  # transports close in the next rounds of the loop
