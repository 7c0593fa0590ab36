"""ultimate-sitemap-parser over files on disk (run by sitemaps.py in that package's environment).

python peer_usp.py FOLDER URL
"""

import json
import logging
import re
import sys
import time
from pathlib import Path

from usp.fetch_parse import SitemapFetcher
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientSuccessResponse,
)

FOLDER, START = Path(sys.argv[1]), sys.argv[2]


class Answer(AbstractWebClientSuccessResponse):
    def __init__(self, url):
        self._url = url

    def status_code(self):
        return 200

    def status_message(self):
        return "OK"

    def header(self, case_insensitive_name):
        return None

    def raw_data(self):
        return (FOLDER / self._url.rpartition("/")[2]).read_bytes()

    def url(self):
        return self._url


class Disk(AbstractWebClient):
    def set_max_response_data_length(self, max_response_data_length):
        """Its own limit is 100 MB, the files are smaller."""

    def get(self, url):
        return Answer(url)


logging.disable(logging.CRITICAL)
began = time.perf_counter()
tree = SitemapFetcher(START, 0, web_client=Disk()).sitemap()
urls = dated = 0
for page in tree.all_pages():
    urls += 1
    dated += page.last_modified is not None
seconds = time.perf_counter() - began
peak = int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
print(json.dumps({"seconds": seconds, "urls": urls, "dated": dated, "peak": peak}))
