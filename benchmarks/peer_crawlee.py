"""Crawlee crawling a whole site by its links (run by crawl_peers.py in the peers' environment).

python peer_crawlee.py START_URL CONCURRENCY
"""

import asyncio
import json
import logging
import sys

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler
from crawlee.storage_clients import MemoryStorageClient


async def main():
    n = int(sys.argv[2])
    crawler = ParselCrawler(
        concurrency_settings=ConcurrencySettings(
            min_concurrency=n, max_concurrency=n, desired_concurrency=n
        ),
        storage_client=MemoryStorageClient(),
        configure_logging=False,
        max_request_retries=0,
        use_session_pool=False,
    )

    @crawler.router.default_handler
    async def handle(context):
        await context.enqueue_links()

    logging.disable(logging.CRITICAL)
    statistics = await crawler.run([sys.argv[1]])
    print(json.dumps({"pages": statistics.requests_finished}), flush=True)


asyncio.run(main())
