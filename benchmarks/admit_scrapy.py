"""Scrapy's scheduler taking in discovered URLs (run by admit_peers.py in the peers' environment).

    python admit_scrapy.py KNOWN N JOBDIR

Request fingerprint, RFPDupeFilter and the disk queue, as JOBDIR switches them on. Nothing is
fetched; what stands in for the downloader only names a request's slot.
"""

import json
import sys
import time
from types import MappingProxyType, SimpleNamespace

from discovered import discovered, preload
from scrapy import Request, Spider
from scrapy.core.downloader import Downloader
from scrapy.core.scheduler import Scheduler
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

known, n, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


class Idle(Spider):
    name = "idle"


class Slots:
    """As much of the downloader as the queue asks for."""

    DOWNLOAD_SLOT = Downloader.DOWNLOAD_SLOT
    ip_concurrency = 0
    slots = MappingProxyType({})
    get_slot_key = Downloader.get_slot_key


crawler = get_crawler(Idle, {"JOBDIR": folder})
crawler.spider = crawler._create_spider()
crawler.stats = load_object(crawler.settings["STATS_CLASS"])(crawler)
crawler.engine = SimpleNamespace(downloader=Slots())
scheduler = Scheduler.from_crawler(crawler)
scheduler.open(crawler.spider)


def admit(pages):
    admitted = 0
    for page in pages:
        for url in page:
            admitted += scheduler.enqueue_request(Request(url))
    return admitted


began = time.perf_counter()
loaded = admit(preload(known))
load_seconds = time.perf_counter() - began
pages = discovered(known, n)
began, cpu = time.perf_counter(), time.process_time()
new = admit(pages)
seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
scheduler.close("finished")
print(
    json.dumps(
        {
            "loaded": loaded,
            "load_per_second": known / load_seconds,
            "n": n,
            "new": new,
            "per_second": n / seconds,
            "per_cpu_second": n / cpu,
        }
    )
)
