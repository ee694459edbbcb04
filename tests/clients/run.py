#!/usr/bin/env python3
"""Installs released programs in throw-away environments and runs one checked script for each.

    tests/clients/run.py                 everything
    tests/clients/run.py torch mooncake  only these
    tests/clients/run.py --only torch_ipc
                                         one script
    tests/clients/run.py --seeds 20      every script under 20 random schedules as well
    tests/clients/run.py --jobs 2        two scripts at a time, each with a card of its own
    tests/clients/run.py --resume        not again what passed with the same library and scripts
    tests/clients/run.py --write         also writes the table of docs/clients.md
    tests/clients/run.py torch-2.5.1     an older release: only when asked for by name (see releases.py)
    tests/clients/run.py --speed         measures torch_npu instead; --write is for docs/performance.md then

The wheels come from the package index that pip uses (or from --wheels DIRECTORY). torch is installed
without the packages of its GPU; generated stand-ins take the place of their libraries (stand_ins.py).
A client whose wheel does not exist for this machine or this Python, or that needs a library which the
system lacks, is left out, with the reason.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import stand_ins
from releases import CLIENTS, OLDER, LeftOut

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
PREFIX = Path(os.environ.get("CANNERY_PREFIX", TARGET / "prefix")).resolve()
PAGE = ROOT / "docs" / "clients.md"
SPEED_PAGE = ROOT / "docs" / "performance.md"
LIMIT = 900
NOTHING_LEFT = "ends by itself, and leaves no process and no file"


class Place:
    """The directory of the throw-away environments."""

    def __init__(self, root, wheels, python):
        self.root, self.wheels, self.python = root, wheels, python

    def pip(self, environment, *arguments):
        source = ["--find-links", str(self.wheels)] if self.wheels else []
        command = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", *source, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            reason = done.stderr.strip().splitlines()[-1:] or ["pip failed"]
            raise LeftOut(f"cannot install {' '.join(arguments)}: {reason[0]}")

    def install(self, client):
        """The environment of a client, made once."""
        version = subprocess.run(
            [self.python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.strip()
        if version != client.version:
            raise LeftOut(f"its wheel is for CPython {client.version}; this is {version} (see --python)")
        if platform.machine() != "x86_64":
            raise LeftOut(f"its wheel is for x86-64; this is {platform.machine()}")
        environment = self.root / client.name
        done = environment / "done"
        if not done.exists():
            shutil.rmtree(environment, ignore_errors=True)
            subprocess.run([self.python, "-m", "venv", str(environment)], check=True)
            if client.more:
                self.pip(environment, *client.more)
            if client.alone:
                self.pip(environment, "--no-deps", *client.alone)
            else:
                self.pip(environment, client.wheel, *client.more)
            if client.name.startswith("torch"):
                (site,) = (environment / "lib").glob("python*/site-packages")
                stand_ins.make(site, environment / "gpu")
            done.touch()
        return environment


def environment_of(environment, settings, runtime):
    """Variables of a run: nothing of this machine's own Cannery or Ascend settings."""
    foreign = ("ASCEND", "CANNERY_", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHON")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    libraries = [environment / "gpu"] if (environment / "gpu").is_dir() else []
    # Libraries of the system that a minimal one lacks may stand there: see CLIENT_LIBRARIES.
    extra = os.environ.get("CLIENT_LIBRARIES")
    path = [str(library) for library in libraries] + ([extra] if extra else [])
    if path:
        variables["LD_LIBRARY_PATH"] = ":".join(path)
    # Each refusal of an operator is then that of its own call.
    variables["TASK_QUEUE_ENABLE"] = "0"
    variables["CANNERY_RUNTIME_DIR"] = str(runtime)
    return {**variables, **settings}


def toolkit(client, place):
    """Where the toolkit is for a client: the prefix, or a copy in a directory of the name that it wants."""
    if not client.directory:
        return PREFIX
    copy = place / client.directory
    shutil.rmtree(copy, ignore_errors=True)
    command = [str(PREFIX / "bin" / "cannery"), "install", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LeftOut(f"its copy of the toolkit cannot be made: {done.stderr.strip()}")
    return copy


def left_behind(runtime):
    """What the processes of a run left: themselves, and their files in the runtime directory."""
    mark = f"CANNERY_RUNTIME_DIR={runtime}".encode()
    until = time.monotonic() + 10  # a helper of Python's own may still be on its way out
    while True:
        processes = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (place / "environ").read_bytes().split(b"\0"):
                    name = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    processes.append(f"process {place.name} ({name[:80].strip()})")
            except OSError:
                continue  # not ours, or gone
        if not processes or time.monotonic() > until:
            break
        time.sleep(0.1)
    return processes + sorted(path.name for path in runtime.iterdir())


def run(script, environment, settings, place, prefix):
    """Runs a script with cards of its own: (passed, failed lines, output)."""
    command = [str(prefix / "bin" / "cannery"), "run", "--quiet", "--"]
    command += [str(environment / "bin" / "python"), str(HERE / f"{script}.py")]
    with (
        tempfile.TemporaryDirectory(prefix="runtime-", dir=place) as runtime,
        # Where it stands: what a program writes there goes with the directory.
        tempfile.TemporaryDirectory(prefix="here-", dir=place) as here,
    ):
        variables = environment_of(environment, settings, runtime)
        with subprocess.Popen(
            command,
            env=variables,
            cwd=here,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                output, _ = process.communicate()
                output += f"\nFAILED {script}: still running after {LIMIT} s\n"
        left = left_behind(Path(runtime))
    passed = re.findall(r"^ok +(.*)$", output, re.MULTILINE)
    failed = re.findall(r"^FAILED (.*)$", output, re.MULTILINE)
    if process.returncode != 0 and not failed:
        last = output.strip().splitlines()[-1:] or ["no output"]
        failed = [f"{script}: ended with {process.returncode}: {last[0]}"]
    if left:
        failed.append(f"{NOTHING_LEFT}: {', '.join(left)}")
    else:
        passed.append(NOTHING_LEFT)
    return passed, failed, output


def run_once(script, what, client, environment, settings, place, prefix, resume):
    """As run, but not again (when asked to resume) what passed with the same library, scripts and settings."""
    about = hashlib.sha256(json.dumps(sorted(settings.items())).encode())
    library = PREFIX / "lib64" / "libascendcl.so"
    for source in (library, HERE / f"{script}.py", HERE / "checks.py", HERE / "torch_data.py"):
        about.update(source.read_bytes())
    about.update(client.wheel.encode())
    label = settings.get("CANNERY_SCHEDULE", "")
    name = f"{client.name}-{script}-{what.replace(' ', '-')}{label}"
    known = place / f"{name}.passed"
    if resume and known.exists():
        kept = json.loads(known.read_text())
        if kept["about"] == about.hexdigest():
            return kept["passed"], []
    passed, failed, output = run(script, environment, settings, place, prefix)
    (place / f"{name}.log").write_text(output)
    known.unlink(missing_ok=True)
    if not failed:
        known.write_text(json.dumps({"about": about.hexdigest(), "passed": passed}))
    return passed, failed


def left_out_of(client):
    """A line on the checks that a release does not run, and why."""
    whys = {}
    for name, why in client.lacks.items():
        whys.setdefault(why, []).append(name)
    text = ". ".join(f"{why[0].upper()}{why[1:]}: {'; '.join(names)}" for why, names in whys.items())
    return f"* **{client.wheel}**: {text}.\n" if text else ""


def table(results, seeds):
    """The part of the page that is generated."""
    today = datetime.date.today().isoformat()
    lines = ["| client | script | checks | runs | failed |\n|---|---|---:|---:|---:|\n"]
    clients = list(dict.fromkeys(result[0] for result in results))
    older = [client for client in clients if client in OLDER]
    details = []
    for client, script, what, passed, checks, failed, left_out in results:
        name = f"{script}.py" + (f" ({what})" if what else "")
        if left_out:
            lines.append(f"| {client.wheel} | left out: {left_out} | | | |\n")
            continue
        lines.append(f"| {client.wheel} | {name} | {checks} | {seeds + 1} | {len(failed)} |\n")
        if client not in older:
            details.append(f"* **{name}**: " + "; ".join(passed) + ("." if passed else "") + "\n")
        elif failed:
            details.append(f"* **{client.wheel}, {name}**:\n")
        details += [f"  * failed: {line}\n" for line in failed]
    details += [left_out_of(client) for client in older]
    arguments = [client.name for client in older] + ([f"--seeds {seeds}"] if seeds else [])
    asked = f"make clients CLIENTS='{' '.join(arguments)}'" if arguments else "make clients"
    head = f"Measured {today} on {platform.machine()}, CPython 3.11, with `{asked}`.\n\n"
    if seeds:
        head += f"Each script ran as it is, and under {seeds} random schedules\n"
        head += f"(`CANNERY_SCHEDULE=random:1` to `{seeds}`).\n\n"
    what = "Checks that do not run" if older else "The checks, bytes compared on random data of 1 MiB and more"
    return head + "".join(lines) + f"\n{what}:\n\n" + "".join(details)


def write_page(page, name, text):
    """Puts a table between its marks."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, rest = page.read_text(encoding="utf-8").split(begin, 1)
    _, after = rest.split(end, 1)
    page.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")


def times_of_machine():
    """Seconds that the cores were busy, of these for ended children of this process, and all seconds."""
    first = Path("/proc/stat").read_text().splitlines()[0]
    ticks = [int(number) / os.sysconf("SC_CLK_TCK") for number in first.split()[1:9]]
    children = os.times()
    return sum(ticks) - ticks[3] - ticks[4], children.children_user + children.children_system, sum(ticks)


def measure(place, write):
    """Runs torch_speed.py: the exit code."""
    environment = place.install(CLIENTS[0])
    before = times_of_machine()
    passed, failed, output = run("torch_speed", environment, {}, place.root, PREFIX)
    busy, mine, everything = (after - begin for after, begin in zip(times_of_machine(), before))
    others = 100 * max(0, busy - mine) / everything
    rows = "".join(line for line in output.splitlines(keepends=True) if line.startswith("|"))
    print(rows if passed and not failed else output)
    if failed:
        return 1
    if write:
        today = datetime.date.today().isoformat()
        head = f"Measured {today} on {platform.machine()}, {os.cpu_count()} cores; {CLIENTS[0].wheel}. "
        head += f"Other programs used\n{others:.0f} % of the machine meanwhile.\n\n"
        write_page(SPEED_PAGE, "torch", f"\n{head}{rows}\n")
    return 0


def main():
    """Runs what was asked for; the exit code tells whether everything passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", choices=[[], *(client.name for client in CLIENTS + OLDER)])
    parser.add_argument("--place", type=Path, default=TARGET / "clients", help="where the environments are made")
    parser.add_argument("--wheels", type=Path, help="a directory with wheels, looked at before the index")
    parser.add_argument("--python", default="python3.11", help="the Python of the environments")
    parser.add_argument("--seeds", type=int, default=0, help="runs under so many random schedules")
    parser.add_argument("--jobs", type=int, default=1, help="scripts that run at the same time")
    parser.add_argument("--only", action="append", metavar="SCRIPT", help="only this script; may be repeated")
    parser.add_argument("--resume", action="store_true", help="keep what passed before")
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--speed", action="store_true", help="measure torch_npu")
    options = parser.parse_args()
    if len({name in {client.name for client in OLDER} for name in options.clients}) > 1:
        parser.error("older releases have a table of their own: name them alone")
    # A runner in the background ignores it, and its programs would, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options.place.mkdir(parents=True, exist_ok=True)
    place = Place(options.place.resolve(), options.wheels, shutil.which(options.python) or sys.executable)
    if options.speed:
        return measure(place, options.write)
    results, total, bad = [], 0, 0
    schedules = [{}] + [{"CANNERY_SCHEDULE": f"random:{seed}"} for seed in range(1, options.seeds + 1)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as jobs:
        waiting = []
        for client in [client for client in CLIENTS + OLDER if client.name in options.clients] or CLIENTS:
            try:
                client.check_system()
                environment = place.install(client)
                prefix = toolkit(client, place.root)
            except LeftOut as reason:
                print(f"left out: {client.wheel}: {reason}")
                results.append((client, "", "", [], 0, [], str(reason)))
                continue
            for script, settings, what in client.runs:
                if options.only and script not in options.only:
                    continue
                runs = [
                    jobs.submit(
                        run_once,
                        script,
                        what,
                        client,
                        environment,
                        {**client.settings, **settings, **schedule},
                        place.root,
                        prefix,
                        options.resume,
                    )
                    for schedule in schedules
                ]
                waiting.append((client, script, what, runs))
        for client, script, what, runs in waiting:
            names, checks, wrong = [], 0, []
            for schedule, one in zip(schedules, runs):
                passed, failed = one.result()
                label = schedule.get("CANNERY_SCHEDULE", "")
                print(
                    f"{client.name:12} {script:20} {what:30} {label:10} {len(passed)} passed, {len(failed)} failed",
                    flush=True,
                )
                for line in failed:
                    print(f"    FAILED {line}", flush=True)
                names, checks = names or passed, checks or len(passed) + len(failed)
                wrong += [f"{line} {label}".strip() for line in failed]
                total += len(passed) + len(failed)
                bad += len(failed)
            results.append((client, script, what, names, checks, wrong, ""))
    text = table(results, options.seeds)
    print(f"\n{text}")
    if options.write:
        write_page(PAGE, "older" if any(result[0] in OLDER for result in results) else "table", text)
    print(f"{total - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
