"""Scrapy crawling a whole site by its links (run by crawl_peers.py in the peers' environment).

python peer_scrapy.py START_URL CONCURRENCY [JOBDIR]
"""

import json
import sys

import scrapy
from scrapy.crawler import CrawlerProcess


class Whole(scrapy.Spider):
    name = "whole"

    async def start(self):
        yield scrapy.Request(sys.argv[1])

    def parse(self, response):
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)


settings = {
    "CONCURRENT_REQUESTS": int(sys.argv[2]),
    "CONCURRENT_REQUESTS_PER_DOMAIN": int(sys.argv[2]),
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": False,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
}
if len(sys.argv) > 3:
    settings["JOBDIR"] = sys.argv[3]
process = CrawlerProcess(settings)
crawler = process.create_crawler(Whole)
process.crawl(crawler)
process.start()
print(json.dumps({"pages": crawler.stats.get_value("downloader/response_count")}))
