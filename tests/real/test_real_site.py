"""A real site end to end, in small: nginx, command line, SQLite. `benchmarks/` has it whole."""

import pytest


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_every_page_once_then_304s_and_the_ledger_is_the_wire(benchmark, manual, tmp_path, tls):
    told = benchmark("real_site").two_passes(tmp_path, manual, tls=tls)
    assert told["wrong"] == []
    assert told["fetched_once"] == told["reachable"] > 80
    assert told["not_modified"] == told["conditional"] > 60
    assert told["unconditional_by_purpose"] == {}
    if not tls:
        assert told["first"]["ledger_bytes"] == told["first"]["gateway_bytes"]


def test_kill_9_loses_nothing_and_repeats_only_what_was_in_flight(benchmark, manual, tmp_path):
    told = benchmark("real_kill").kill_often(
        tmp_path, manual, kills=6, long_kills=2, delay="50 ms"
    )
    assert told["wrong"] == []
    assert told["short"]["kills"] == 6
    assert told["short"]["unknown"] <= 6
    assert told["long"]["kills"] == 2


def test_edits_are_found_touched_pages_are_unchanged_and_deleted_ones_gone(
    benchmark, manual, tmp_path
):
    told = benchmark("real_cycles").compare(tmp_path, manual, cycles=7, share=0.4, settled=1)
    for policy in ("ours", "even"):
        assert told[policy]["wrong"] == []
        assert told[policy]["found"] > 0
        assert told[policy]["by_group"]["touched"]["found"] == 0


def test_no_run_waits_for_a_window_in_which_nothing_is_left(benchmark, manual, tmp_path):
    """Every page and robots.txt cost more than is left: a run says so and ends, at once."""
    with benchmark("real_nginx").Nginx(manual, tmp_path / "nginx") as nginx:
        project = benchmark("real_project")
        origin = f"http://127.0.0.1:{nginx.port}"
        for budget in (1, 20_000, 120_000):
            crawl = project.Crawl(project.write_project(tmp_path, origin, per_run=budget))
            process = crawl.start()
            try:
                process.wait(20)
            finally:
                process.kill()
            assert process.returncode in (0, 3)
            assert sum(hit.sent for hit in nginx.hits()) <= sum((1, 20_000, 120_000))
