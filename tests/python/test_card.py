"""One card, many processes: free memory, shortage, deaths, stopped processes, quotas."""

import json
import os
import random
import re
import subprocess
import sys
import textwrap
import time

import pytest
from card_user import GIANT, HUGE, HUGE_FIRST, HUGE_ONLY, NORMAL, NORMAL_ONLY, User, end_all, smi
from isolated import PREFIX, child_environment

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
NO_MEMORY = 207001
CARD = {"CANNERY_HBM_BYTES": "256M", "CANNERY_HUGE_BYTES": "192M"}


def charge(size):
    """Bytes that a block of aclrtMalloc in 4 KiB pages is charged on the default product."""
    return (size + 31) // 32 * 32 // 64 * 64 + 64


@pytest.fixture
def run_dir(tmp_path):
    """Runtime directory of one test; nothing may be left in it."""
    path = tmp_path / "run"
    path.mkdir(mode=0o700)
    yield path
    if User.alive:
        end_all()
        return
    assert os.listdir(path) == []


def test_the_charge_of_a_block():
    assert [charge(size) for size in (1, 32, 33, 64, 100)] == [64, 64, 128, 128, 192]


def test_free_memory_falls_and_rises_with_the_other_process(run_dir):
    one, two = User(run_dir), User(run_dir)
    whole, total = two.info()
    assert whole == total == 64 * GIB
    # What one has taken and given back before is none of it.
    one.play(1, 500, 100 * KIB, HUGE_FIRST)
    one.drop_all()
    assert two.info() == one.info() == (whole, total)
    dice, held, expected = random.Random(7), [], 0
    for _ in range(300):
        if held and dice.random() < 0.4:
            address, cost = held.pop(dice.randrange(len(held)))
            assert one.free(address) == 0
            expected -= cost
        elif dice.random() < 0.3:
            pages = dice.randint(1, 40)
            held.append((one.good_malloc(pages * 2 * MIB - 32, HUGE_ONLY), pages * 2 * MIB))
            expected += held[-1][1]
        else:
            size = dice.randint(1, 90 * KIB)
            held.append((one.good_malloc(size, NORMAL_ONLY), charge(size)))
            expected += held[-1][1]
        if dice.random() < 0.3:
            assert whole - two.info()[0] == expected
    assert two.info() == two.info() == one.info() == (whole - expected, total)
    huge = sum(cost for _, cost in held if cost % (2 * MIB) == 0)
    assert two.info(HUGE)[0] == 48 * GIB - huge
    assert two.info(NORMAL)[0] == 16 * GIB - (expected - huge)
    one.end()
    assert two.info() == (whole, total)
    two.end()


def test_a_killed_process_gives_back_everything(run_dir):
    one, two = User(run_dir), User(run_dir)
    one.good_malloc(10 * GIB - 32)
    one.good_malloc(1000)
    assert two.info()[0] == 54 * GIB - charge(1000)
    one.kill()
    assert two.info()[0] == 64 * GIB
    two.good_malloc(4 * GIB)
    two.kill()
    # Nobody is left to tidy up: the next one does, even on another machine.
    assert len(os.listdir(run_dir)) == 1
    User(run_dir, CANNERY_PROFILE="310P").end()


def test_a_start_that_was_killed_half_way_is_no_obstacle(run_dir):
    one = User(run_dir)
    [name] = os.listdir(run_dir)
    one.end()
    other = name.replace("Ascend910B3", "Ascend910B1")
    for size in (0, 256 * KIB):
        for path in (run_dir / name, run_dir / other):
            path.write_bytes(bytes(size))
        two = User(run_dir)
        two.good_malloc(GIB - 32)
        assert os.listdir(run_dir) == [name]
        three = User(run_dir)
        assert three.info()[0] == 63 * GIB
        three.end()
        assert two.end() == ""


def test_a_killed_process_is_not_in_the_way_of_an_allocation(run_dir):
    one, two = User(run_dir, **CARD), User(run_dir, **CARD)
    assert one.fill(2 * MIB - 32, HUGE_ONLY) == 96
    assert two.malloc(1, HUGE_ONLY)[1] == NO_MEMORY
    one.kill()
    assert two.fill(2 * MIB - 32, HUGE_ONLY) == 96
    two.end()


def test_slack_is_never_in_the_way(run_dir):
    """What one process has released is there for the other, at once and to the last byte."""
    for busy_first in (True, False):
        one = User(run_dir, **CARD)
        if not busy_first:
            two = User(run_dir, **CARD)
        one.play(3, 2000, 60 * KIB, NORMAL_ONLY)
        one.fill(2 * MIB - 32, HUGE_ONLY)
        one.drop_all()
        if busy_first:
            two = User(run_dir, **CARD)
        assert two.fill(2 * MIB - 32, HUGE_ONLY) == 96
        assert two.fill(64 * KIB - 64, NORMAL_ONLY) == 64 * MIB // (64 * KIB)
        assert one.info() == two.info() == (0, 256 * MIB)
        one.end()
        two.end()


def test_a_shortage_names_the_others(run_dir):
    one, two, three = (User(run_dir, **CARD) for _ in range(3))
    one.good_malloc(100 * MIB - 32)
    two.good_malloc(60 * MIB - 32)
    two.good_malloc(1000)
    assert three.malloc(70 * MIB, HUGE_ONLY)[1] == NO_MEMORY
    text = three.text()
    assert f"pid {one.pid} (python" in text and f"{100 * MIB} bytes" in text, text
    assert f"pid {two.pid} (python" in text and f"{60 * MIB + charge(1000)} bytes" in text, text
    assert f"free 32 MiB ({32 * MIB} bytes) of 192 MiB" in text, text
    assert text.index(f"pid {one.pid}") < text.index(f"pid {two.pid}"), text
    assert f"pid {three.pid}" not in text, text
    assert "end one of the other processes" in text, text
    for user in (one, two, three):
        user.end()


def test_a_stopped_process_is_not_waited_for(run_dir):
    one, two = User(run_dir, **CARD), User(run_dir, **CARD)
    one.good_malloc(50 * MIB - 32, HUGE_ONLY)
    one.good_malloc(5000, NORMAL_ONLY)
    used = 50 * MIB + charge(5000)
    assert two.info()[0] == 256 * MIB - used
    one.stop()
    begin = time.monotonic()
    for _ in range(10):
        assert two.info()[0] == 256 * MIB - used
    assert time.monotonic() - begin < 1
    assert two.fill(2 * MIB - 32, HUGE_ONLY) == 71
    begin = time.monotonic()
    assert two.malloc(2 * MIB, HUGE_ONLY)[1] == NO_MEMORY
    assert time.monotonic() - begin < 1
    assert re.search(rf"pid {one.pid} \([^)]*, stopped\)", two.text()), two.text()
    one.go_on()
    one.drop_all()
    assert two.info()[0] == 50 * MIB + 64 * MIB
    assert two.fill(2 * MIB - 32, HUGE_ONLY) == 25
    # Stopped in the middle of its work, and killed while it is stopped.
    two.drop_all()
    one.tell("play", 5, 10**9, 100 * KIB, HUGE_FIRST)
    for _ in range(20):
        one.stop()
        begin = time.monotonic()
        assert 0 <= two.info()[0] <= 256 * MIB
        two.play(9, 50, 3 * MIB, HUGE_FIRST)
        assert time.monotonic() - begin < 5
        one.go_on()
        time.sleep(0.01)
    one.stop()
    one.kill()
    two.drop_all()
    assert two.info()[0] == 256 * MIB
    two.end()


def test_eight_processes_share_a_card_to_the_last_page(run_dir):
    users = [User(run_dir, **CARD) for _ in range(8)]
    for round_ in range(3):
        # All at once, so that the card is short all the time.
        for number, user in enumerate(users):
            user.tell("play", 100 * round_ + number, 1500, 6 * MIB, HUGE_FIRST)
        assert sum(user.answer() for user in users) > 0, "the card was never short"
        for user in users:
            user.tell("fill", 2 * MIB - 32, HUGE_ONLY)
        for user in users:
            user.answer()
        for user in users:
            user.tell("fill", 192, NORMAL_ONLY)
        for user in users:
            user.answer()
        assert {user.info() for user in users} == {(users[0].info()[0], 256 * MIB)}
        assert users[0].info(HUGE)[0] == 0, "a page was refused that nobody has"
        assert users[0].info(NORMAL)[0] < 256, "bytes were refused that nobody has"
        device = smi(run_dir, **CARD)["machines"][0]["devices"][0]
        assert sum(row["used_bytes"] for row in device["processes"]) == device["used_bytes"]
        assert device["used_bytes"] == 256 * MIB - users[0].info()[0]
        assert {row["pid"] for row in device["processes"]} == {user.pid for user in users}
        for user in users:
            user.tell("drop_all")
        for user in users:
            user.answer()
        assert users[0].info()[0] == 256 * MIB
    for user in users:
        user.end()


def test_deaths_in_the_middle_of_work_lose_nothing(run_dir):
    watcher = User(run_dir, **CARD)
    dice = random.Random(11)
    for round_ in range(4):
        users = [User(run_dir, **CARD) for _ in range(3)]
        for number, user in enumerate(users):
            user.tell("play", 10 * round_ + number, 10**9, 4 * MIB, HUGE_FIRST)
        time.sleep(dice.uniform(0.05, 0.3))
        for user in users:
            user.kill()
        assert watcher.info()[0] == 256 * MIB
    assert watcher.fill(2 * MIB - 32, HUGE_ONLY) == 96
    watcher.end()


def test_a_reset_and_a_forked_child(run_dir):
    one, two = User(run_dir), User(run_dir)
    one.good_malloc(3 * GIB - 32)
    one.good_malloc(77)
    assert two.info()[0] == 61 * GIB - 128
    before, after = one.fork()
    assert before == 61 * GIB - 128
    assert after == before - 66 * MIB, "64 MiB with a tail take 33 pages"
    assert two.info()[0] == 61 * GIB - 128, "the child is gone"
    assert one.reset() == 0
    assert two.info()[0] == 64 * GIB
    assert one.set(0) == 0
    one.good_malloc(77)
    assert two.info()[0] == 64 * GIB - 128
    one.end()
    two.end()


def test_giant_pages_are_of_the_card_too(run_dir):
    settings = {"CANNERY_HUGE1G_BYTES": "2G", "CANNERY_HBM_BYTES": "8G", "CANNERY_HUGE_BYTES": "6G"}
    one, two = User(run_dir, **settings), User(run_dir, **settings)
    giant_only = 6  # aclrtMemMallocPolicy
    assert two.info(GIANT) == (6 * GIB, 6 * GIB)
    held = [one.good_malloc(GIB, giant_only) for _ in range(3)]
    assert two.info(GIANT)[0] == 3 * GIB
    assert two.info(HUGE)[0] == 3 * GIB
    assert two.fill(GIB, giant_only) == 3
    assert two.info(GIANT)[0] == one.info(GIANT)[0] == 0
    for address in held:
        assert one.free(address) == 0
    assert two.info(GIANT)[0] == 3 * GIB
    one.end()
    two.end()


def test_memory_without_blocks_counts_and_outlives_no_reset(run_dir):
    """Physical handles, and host memory where host and device are one."""
    one, two = User(run_dir), User(run_dir)
    handle, code = one.malloc_physical(6 * MIB)
    assert code == 0, one.text()
    one.good_malloc(5000)
    assert two.info()[0] == 64 * GIB - 6 * MIB - charge(5000)
    assert one.free_physical(handle) == 0
    assert two.info()[0] == 64 * GIB - charge(5000)
    one.end()
    two.end()
    rc = {"CANNERY_PROFILE": "310P", "CANNERY_MODE": "rc", "CANNERY_HBM_BYTES": "8G"}
    one, two = User(run_dir, **rc), User(run_dir, **rc)
    assert one.malloc_host(3 * MIB)[1] == 0
    one.good_malloc(5000)
    assert two.info(0)[0] == 8 * GIB - 3 * MIB - charge(5000)
    # A reset takes the device memory, not the host memory.
    assert one.reset() == 0
    assert two.info(0)[0] == 8 * GIB - 3 * MIB
    one.end()
    assert two.info(0)[0] == 8 * GIB
    two.end()


def test_devices_and_machines_are_told_apart(run_dir):
    first = User(run_dir, device=0, CANNERY_DEVICES="4")
    third = User(run_dir, device=0, CANNERY_DEVICES="4", ASCEND_RT_VISIBLE_DEVICES="2,3")
    alone = User(run_dir)
    small = User(run_dir, CANNERY_HBM_BYTES="8G")
    other = User(run_dir, CANNERY_PROFILE="A3")
    first.good_malloc(5 * GIB - 32)
    third.good_malloc(7 * GIB - 32)
    small.good_malloc(1 * GIB - 32)
    assert first.info()[0] == 59 * GIB
    assert alone.info()[0] == 59 * GIB, "device 0 is the same one for who sees fewer"
    assert third.info()[0] == 57 * GIB
    assert small.info()[0] == 7 * GIB
    assert other.info()[0] == 64 * GIB
    machines = smi(run_dir)["machines"]
    assert len(machines) == 3 and machines[0]["current"]
    used = [device["used_bytes"] for device in machines[0]["devices"]]
    assert used == [5 * GIB, 0, 7 * GIB, 0]
    holders = [[row["pid"] for row in device["processes"]] for device in machines[0]["devices"]]
    assert holders == [[first.pid, alone.pid], [], [third.pid], []]
    for user in (first, third, alone, small, other):
        user.end()


def test_a_quota_bounds_a_process_and_not_the_card(run_dir):
    """10 GiB of a card with 22 GiB: 9 GiB are fine, 2 GiB more are not."""
    card = {"CANNERY_PROFILE": "310P", "CANNERY_HBM_BYTES": "22G"}
    one, two = User(run_dir, CANNERY_QUOTA="10G", **card), User(run_dir, **card)
    ddr = 0
    assert one.info(ddr) == (10 * GIB, 10 * GIB)
    assert two.info(ddr) == (22 * GIB, 22 * GIB)
    held = one.good_malloc(9 * GIB - 32, HUGE_ONLY)
    assert one.info(ddr) == (1 * GIB, 10 * GIB)
    assert two.info(ddr) == (13 * GIB, 22 * GIB)
    for policy in (HUGE_FIRST, HUGE_ONLY, NORMAL_ONLY):
        assert one.malloc(2 * GIB, policy)[1] == NO_MEMORY
        text = one.text()
        assert "CANNERY_QUOTA" in text and f"{10 * GIB} bytes" in text and f"{GIB} bytes" in text, text
    # To the last byte, out of both pools.
    one.good_malloc(512 * MIB - 32, HUGE_ONLY)
    one.good_malloc(512 * MIB - 64, NORMAL_ONLY)
    assert one.info(ddr) == (0, 10 * GIB)
    assert one.malloc(1, NORMAL_ONLY)[1] == NO_MEMORY
    two.good_malloc(2 * GIB - 32, HUGE_ONLY)
    assert one.free(held) == 0
    one.good_malloc(9 * GIB - 64, HUGE_ONLY)
    # The others may leave less than the quota.
    one.drop_all()
    two.good_malloc(14 * GIB - 32, HUGE_ONLY)
    assert one.info(ddr) == (6 * GIB, 10 * GIB)
    [row] = [row for row in smi(run_dir, **card)["machines"][0]["devices"][0]["processes"] if row["pid"] == one.pid]
    assert row["quota_bytes"] == 10 * GIB and row["used_bytes"] == 0
    one.end()
    two.end()


def test_slack_does_not_count_as_quota(run_dir):
    one = User(run_dir, CANNERY_QUOTA="8M", **CARD)
    for policy, size in ((NORMAL_ONLY, 8 * MIB - 64), (HUGE_ONLY, 8 * MIB - 32)):
        for _ in range(3):
            assert one.free(one.good_malloc(size, policy)) == 0
            one.play(1, 300, 20 * KIB, policy)
            one.drop_all()
    assert one.info() == (8 * MIB, 8 * MIB)
    one.end()


@pytest.mark.parametrize("value", ["0", "lots", "-1"])
def test_bad_quotas_are_refused(run_dir, value):
    env = child_environment({"CANNERY_RUNTIME_DIR": str(run_dir)})
    command = [str(PREFIX / "bin" / "cannery"), "run", "--quota", value, "--", "true"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and f"CANNERY_QUOTA={value}" in done.stderr, done.stderr


def test_a_bad_directory_leaves_the_card_to_itself(tmp_path):
    """It works, and says so once, however many devices are opened."""
    place = tmp_path / "no-directory"
    place.write_text("in the way")
    one = User(place, CANNERY_DEVICES="2")
    two = User(place, CANNERY_DEVICES="2")
    one.good_malloc(3 * GIB - 32)
    assert one.set(1) == 0
    assert one.info()[0] == 64 * GIB
    assert two.info()[0] == 64 * GIB
    said = one.end()
    assert said.count("CANNERY_RUNTIME_DIR") == 1 and "to itself" in said, said
    two.end()


def test_the_directory_can_come_from_the_init_file(run_dir, tmp_path):
    file = tmp_path / "acl.json"
    file.write_text(json.dumps({"cannery": {"runtime_dir": str(run_dir)}}))
    one = User(run_dir)
    one.good_malloc(GIB - 32)
    code = """
        import acl, sys
        assert acl.init(sys.argv[1]) == 0 and acl.rt.set_device(0) == 0
        print(acl.rt.get_mem_info(1)[0])
    """
    env = child_environment({})
    command = [sys.executable, "-c", textwrap.dedent(code), str(file)]
    del env["CANNERY_RUNTIME_DIR"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(63 * GIB)
    one.end()


def test_the_table(run_dir):
    one = User(run_dir, CANNERY_QUOTA="1G")
    one.good_malloc(500 * MIB - 32)
    env = child_environment({"CANNERY_RUNTIME_DIR": str(run_dir)})
    tool = str(PREFIX / "bin" / "cannery")
    table = subprocess.run([tool, "smi"], env=env, capture_output=True, text=True, check=True).stdout
    assert re.search(r"^\| 0 +910B3 +\| Emulated +\| - +- +250 +/ 24576 +\|$", table, re.M), table
    assert re.search(r"^\| 0 +\| - +\| - +0 +/ 0 +500 +/ 65536 +\|$", table, re.M), table
    assert re.search(rf"^\| 0 +0 +\| {one.pid} +\| python\S* +\| 500 of 1024 +\|$", table, re.M), table
    watch = subprocess.Popen([tool, "smi", "--json", "--watch", "0.05"], env=env, stdout=subprocess.PIPE, text=True)
    lines = [watch.stdout.readline() for _ in range(3)]
    watch.terminate()
    watch.communicate(timeout=20)
    assert all(f'"pid":{one.pid}' in line for line in lines), lines
    one.end()
