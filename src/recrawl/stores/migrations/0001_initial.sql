-- Everything a crawl must not forget. Reasons and measurements: docs/decisions/0004-sqlite-layout.md.
-- Times in page, visit and change are whole milliseconds (0 = never, 140737488355327 = for ever);
-- enums are the numbers of recrawl.model.words; key = 64-bit hash of the page's address within
-- its host.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE host (
    host_id INTEGER PRIMARY KEY,
    origin TEXT NOT NULL UNIQUE,
    n_pages INTEGER NOT NULL,
    delay REAL NOT NULL,
    next_ok REAL NOT NULL,
    crawl_delay REAL,
    penalty REAL NOT NULL,
    throttled_until REAL NOT NULL,
    fails INTEGER NOT NULL,
    latency REAL NOT NULL,
    robots_status TEXT NOT NULL,
    robots_at REAL NOT NULL,
    robots_until REAL NOT NULL,
    handshake REAL NOT NULL,
    n_validator INTEGER NOT NULL,
    n_304 INTEGER NOT NULL,
    note TEXT NOT NULL
) STRICT;

-- Apart from the host, whose row is rewritten at every visit: a robots.txt may have 500 KiB.
CREATE TABLE robots (
    host_id INTEGER PRIMARY KEY,
    body BLOB NOT NULL
) STRICT;

-- What the planner scans stands first: SQLite reads a row only as far as it must.
CREATE TABLE page (
    host_id INTEGER NOT NULL,
    key INTEGER NOT NULL,
    state INTEGER NOT NULL,
    page_type INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    score INTEGER NOT NULL,
    fails INTEGER NOT NULL,
    value REAL NOT NULL,
    first_seen INTEGER NOT NULL,
    last INTEGER NOT NULL,
    retry_at INTEGER NOT NULL,
    belief BLOB NOT NULL,    -- a, b, va, vb, body: five little-endian float32; empty: all 0
    etag TEXT,               -- verbatim, as the server sent it
    last_modified TEXT,      -- verbatim
    path TEXT NOT NULL,
    last_attempt INTEGER,    -- NULL: as `last`
    changed_at INTEGER,      -- NULL: as `last`
    due INTEGER NOT NULL,
    variant TEXT,            -- NULL: ''
    digest1 BLOB,
    digest2 BLOB,
    missing INTEGER NOT NULL,
    n_visits INTEGER NOT NULL,
    n_changes INTEGER NOT NULL,
    n_not_modified INTEGER NOT NULL,
    target TEXT,
    canonical TEXT,
    PRIMARY KEY (host_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE record (
    record_id INTEGER PRIMARY KEY,
    host_id INTEGER NOT NULL,
    key INTEGER NOT NULL,
    fields TEXT NOT NULL,    -- JSON
    digest1 BLOB NOT NULL,
    digest2 BLOB NOT NULL,
    UNIQUE (host_id, key)
) STRICT;

-- The distinct ways in which visits ended, each once: a visit names its own by number.
CREATE TABLE outcome (
    outcome_id INTEGER PRIMARY KEY,
    page_type INTEGER NOT NULL,
    verdict INTEGER NOT NULL,
    status INTEGER NOT NULL,
    conditional INTEGER NOT NULL,
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    route TEXT NOT NULL,
    evidence TEXT NOT NULL
) STRICT;

-- The ledger and the history. Clustered by day, and within it by page: one seek a day finds the
-- history of a page, a range of days is contiguous, and an old day is dropped as a block.
CREATE TABLE visit (
    day INTEGER NOT NULL,    -- since the epoch, UTC
    host_id INTEGER NOT NULL,
    key INTEGER NOT NULL,    -- 0: robots.txt
    at INTEGER NOT NULL,     -- milliseconds of the day
    purpose INTEGER NOT NULL,
    outcome_id INTEGER NOT NULL REFERENCES outcome,
    up INTEGER NOT NULL,
    down INTEGER NOT NULL,
    bytes INTEGER,           -- what was paid for; NULL: up + down
    micro_usd INTEGER NOT NULL,
    microcredits INTEGER NOT NULL,
    fetches INTEGER NOT NULL,
    millis INTEGER NOT NULL,
    marks BLOB,              -- tau, predicted, gain, price, score, bar: six uint16; NULL: all 0
    discovered INTEGER NOT NULL,
    sighted INTEGER NOT NULL,
    evidence TEXT,           -- NULL: the outcome's
    PRIMARY KEY (day, host_id, key, at, purpose)
) STRICT, WITHOUT ROWID;

CREATE TABLE rollup (
    day INTEGER NOT NULL,
    host_id INTEGER NOT NULL,
    page_type INTEGER NOT NULL,
    purpose INTEGER NOT NULL,
    verdict INTEGER NOT NULL,
    status INTEGER NOT NULL,
    conditional INTEGER NOT NULL,
    n INTEGER NOT NULL,
    up INTEGER NOT NULL,
    down INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    micro_usd INTEGER NOT NULL,
    microcredits INTEGER NOT NULL,
    fetches INTEGER NOT NULL,
    millis INTEGER NOT NULL,
    discovered INTEGER NOT NULL,
    sighted INTEGER NOT NULL,
    PRIMARY KEY (day, host_id, page_type, purpose, verdict, status, conditional)
) STRICT, WITHOUT ROWID;

CREATE TABLE change (
    change_id INTEGER PRIMARY KEY,
    t INTEGER NOT NULL,
    t_before INTEGER NOT NULL,
    host_id INTEGER NOT NULL,
    key INTEGER NOT NULL,
    page_type INTEGER NOT NULL,
    verdict INTEGER NOT NULL,
    before TEXT,             -- JSON
    after TEXT               -- JSON
) STRICT;

CREATE INDEX change_t ON change (t);    -- changes(since, until) reads by it

CREATE TABLE reservation (
    lease INTEGER PRIMARY KEY,
    host_id INTEGER NOT NULL,
    key INTEGER NOT NULL,
    t REAL NOT NULL,
    purpose INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    micro_usd INTEGER NOT NULL,
    microcredits INTEGER NOT NULL,
    fetches INTEGER NOT NULL,
    millis INTEGER NOT NULL,
    page_type INTEGER NOT NULL,
    route TEXT NOT NULL
) STRICT;

CREATE TABLE refused (
    origin TEXT NOT NULL,
    reason TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (origin, reason)
) STRICT, WITHOUT ROWID;
