"""Measure every row of the speed table side by side in one run, and print ratios.

    python tests/bench.py [--rounds 15] [--quick]

Each pair is measured in turn, round by round, so that a busy machine slows both. Plain
pytest runs without the plugins that load themselves, as in an environment that has none.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from autodrill.bugs import load_bugs
from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine
from autodrill.history import History
from autodrill.stubs import symbols_in

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
NAMED = "matmul-last-batch-only"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--saves", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="leave out training and chains")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        rows += command_rows(Path(folder), options.rounds)
        rows += watch_rows(Path(folder), options.saves)
        rows += history_rows(Path(folder), options.rounds)
    rows += help_row(options.rounds)
    if not options.quick:
        rows += training_rows(max(5, options.rounds // 2))
        rows += chain_rows()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, ", end="")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}\n")
    print("| what | measured | bound |\n|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def timed(command, folder, environment):
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return time.perf_counter() - started, done


def in_turn(pairs, rounds):
    """Run several things one after the other, round by round; return the medians."""
    for run in pairs.values():
        run()  # the first run writes caches
    seconds = {name: [] for name in pairs}
    for _ in range(rounds):
        for name, run in pairs.items():
            seconds[name].append(run())
    return {name: statistics.median(values) for name, values in seconds.items()}


def environment(home):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
    return kept | {"AUTODRILL_HOME": str(home), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def command_rows(folder, rounds):
    """Cold commands in a solved workspace: check beside plain pytest, naming, check --all."""
    env = environment(folder / "home")
    autodrill, pytest = str(BIN / "autodrill"), str(BIN / "pytest")
    timed([autodrill, "start", "lab01"], folder, env)
    workspace = folder / "lab01"
    solved = (ROOT / "reference" / "lab01.py").read_text()
    (workspace / "exercise.py").write_text(solved)

    def runner(*command, where=workspace, code=0):
        def run():
            seconds, done = timed(list(command), where, env)
            assert done.returncode == code, done.stdout + done.stderr
            return seconds

        return run

    cold = in_turn(
        {
            "check": runner(autodrill, "check", "unbroadcast"),
            "pytest": runner(pytest, "-q", "-k", "unbroadcast", "lab01", where=folder),
        },
        rounds,
    )
    naming = []
    track, broken = load_track("lab01"), folder / "exercise.py"
    for bug in load_bugs(track)[::12]:
        broken.write_text(planted(solved, bug))
        seconds = in_turn(
            {
                "pass": runner(autodrill, "check", bug.target),
                "fail": runner(autodrill, "check", bug.target, "--file", str(broken), code=1),
            },
            3,
        )
        naming.append(seconds["fail"] - seconds["pass"])
    train = "import exercise; exercise.train_spirals()"
    everything = in_turn(
        {
            "all": runner(autodrill, "check", "--all"),
            "own": runner(sys.executable, "-c", train),
        },
        max(3, rounds // 3),
    )
    own = everything["own"]
    return [
        (
            "`check unbroadcast`, solved lab01, beside `pytest -q -k unbroadcast`",
            f"{cold['check']:.3f} s / {cold['pytest']:.3f} s "
            f"= {cold['check'] / cold['pytest']:.2f}",
            "1.0 (1.25 holds)",
        ),
        (
            "naming and shrinking: a failing `check TARGET` less a passing one",
            f"{1000 * statistics.median(naming):.0f} ms median of {len(naming)} bugs, "
            f"{1000 * max(naming):.0f} ms at most",
            "150 ms",
        ),
        (
            "`check --all`, solved lab01, beside the learner's own training run",
            f"{everything['all']:.2f} s / (1.2 x {own:.2f} s + 1 s) "
            f"= {everything['all'] / (1.2 * own + 1):.2f}",
            "1.0",
        ),
    ]


def watch_rows(folder, saves):
    """From the write of a file to its verdict on a pseudo-terminal; then a watch at rest."""
    import pexpect
    import psutil

    workspace = folder / "lab01"
    solved = (ROOT / "reference" / "lab01.py").read_text()
    rows = []
    for target in ("unbroadcast", "backward", "elementwise", "matmul", "shape"):
        symbol = load_track("lab01").target(target).symbols[0]
        (workspace / "exercise.py").write_text(solved)
        command = [str(BIN / "autodrill"), "watch", target]
        child = pexpect.spawn(
            command[0],
            command[1:],
            cwd=str(workspace),
            env=environment(folder / "home") | {"TERM": "xterm"},
            dimensions=(40, 100),
            timeout=60,
        )
        child.expect("Ctrl-C stops")
        texts = {"pass": solved}
        if target == "matmul":
            bugs = {bug.id: bug for bug in load_bugs(load_track("lab01"))}
            texts["fail, named"] = planted(solved, bugs[NAMED])
        for verdict, text in texts.items():
            seconds = []
            for i in range(saves if target == "matmul" else saves // 4):
                time.sleep(0.35)
                beside = workspace / ".exercise.tmp"
                beside.write_text(with_comment(text, symbol, i))
                started = time.perf_counter()
                beside.replace(workspace / "exercise.py")
                child.expect("Ctrl-C stops")
                seconds.append(time.perf_counter() - started)
            high = statistics.quantiles(seconds, n=20)[-1]
            rows.append(
                (
                    f"save to verdict, `watch {target}`, {verdict} ({len(seconds)} saves)",
                    f"{1000 * statistics.median(seconds):.0f} ms median, "
                    f"{1000 * high:.0f} ms 95th percentile",
                    "100 ms, 200 ms",
                )
            )
        if target == "unbroadcast":
            rows.append(rest_row(psutil.Process(child.pid)))
        child.sendintr()
        child.expect(pexpect.EOF)
    return rows


def planted(source, bug):
    """Return an engine's text with a bug of the catalogue in it."""
    for patch in bug.patches:
        span = symbols_in(source)[patch.symbol]
        lines = source.splitlines(keepends=True)
        before = "".join(lines[span.first_line - 1 : span.last_line])
        indent = before[: len(before) - len(before.lstrip())]
        after = textwrap.dedent(before).replace(patch.find, patch.put)
        source = source.replace(before, textwrap.indent(after, indent))
    return source


def with_comment(text, symbol, number):
    """Change a symbol's text, as somebody does who works on it, and not what it does."""
    lines = text.splitlines(keepends=True)
    last = symbols_in(text)[symbol].last_line - 1
    indent = lines[last][: len(lines[last]) - len(lines[last].lstrip())]
    return "".join([*lines[:last], f"{indent}# {number}\n", *lines[last:]])


def rest_row(process):
    """Memory and processor time of a watch a minute after the last save, its standby included."""
    time.sleep(62)
    family = [process, *process.children(recursive=True)]
    before = sum(sum(one.cpu_times()[:2]) for one in family)
    time.sleep(10)
    used = sum(sum(one.cpu_times()[:2]) for one in family) - before
    memory = sum(one.memory_full_info().uss for one in family) / 2**20
    return (
        "a watch at rest, with its standby worker",
        f"{100 * used / 10:.1f} % of a core, {memory:.0f} MiB",
        "none, 150 MiB",
    )


def history_rows(folder, rounds):
    """`stats` and `next` with ten thousand attempts behind them."""
    home, now = folder / "practised", time.time()
    env = environment(home)
    targets = load_track("lab01").targets

    def fill(write):
        for number in range(1, 10_001):
            target, took_s = targets[number % len(targets)].id, 60.0 + number % 50
            row = (
                number,
                now,
                now,
                "lab01",
                "target",
                target,
                "passed",
                "/f",
                "/f/e",
                1,
                1,
                took_s,
            )
            write("INSERT INTO attempts VALUES (?,?,?,?,?,?,?,?,?,?,?,?,0,0)", row)
            row = (number, target, now, took_s, took_s)
            write("INSERT INTO splits VALUES (?,?,?,?,?,0,'passed','lab01',1)", row)
            row = (number, target, f"bug-{number % 7}")
            write("INSERT INTO saves VALUES (?,1,1.0,?,'fail',?,'wrong','lab01',2.0)", row)

    with History(home / "history.db") as history:
        history.transact(fill)
    autodrill = str(BIN / "autodrill")
    workspace = folder / "lab01"
    medians = in_turn(
        {
            name: lambda name=name: timed([autodrill, name, "--json"], workspace, env)[0]
            for name in ("stats", "next")
        },
        rounds,
    )
    return [
        (f"`autodrill {name}` with 10,000 attempts", f"{seconds:.3f} s", "0.3 s")
        for name, seconds in medians.items()
    ]


def help_row(rounds):
    env = environment(tempfile.gettempdir())
    medians = in_turn(
        {"help": lambda: timed([str(BIN / "autodrill"), "--help"], None, env)[0]}, rounds
    )
    return [("`autodrill --help`", f"{medians['help']:.3f} s", "0.2 s")]


# ---------------------------------------------------------------- the spirals MLP

POINTS, SIZES, RATE = 300, (2, 64, 64, 3), 0.5


def weights():
    rng = np.random.default_rng(0)
    return [(rng.uniform(-1, 1, (m, n)) * np.sqrt(6 / m), np.zeros(n)) for m, n in pairwise(SIZES)]


def data():
    rng = np.random.default_rng(1)
    return rng.standard_normal((POINTS, 2)), rng.integers(0, 3, POINTS)


def engine_step(lib):
    points, classes = data()
    layers = [tuple(lib.Tensor(one, requires_grad=True) for one in layer) for layer in weights()]
    parameters = [one for layer in layers for one in layer]
    retype = not hasattr(lib, "sgd_step")

    def step():
        h = lib.Tensor(points)
        for i, (w, b) in enumerate(layers):
            h = h @ w + b
            h = h.relu() if i < len(layers) - 1 else h
        loss = lib.cross_entropy(h, classes)
        loss.backward()
        if not retype:
            lib.sgd_step(parameters, RATE)
            return
        for one in parameters:
            one.data -= RATE * one.grad
            one.zero_grad()

    return step


def torch_step(torch):
    torch.set_num_threads(1)
    points, classes = (torch.as_tensor(one) for one in data())
    layers = [tuple(torch.tensor(one, requires_grad=True) for one in layer) for layer in weights()]
    parameters = [one for layer in layers for one in layer]

    def step():
        h = points
        for i, (w, b) in enumerate(layers):
            h = h @ w + b
            h = h.relu() if i < len(layers) - 1 else h
        torch.nn.functional.cross_entropy(h, classes).backward()
        with torch.no_grad():
            for one in parameters:
                one.sub_(RATE * one.grad)
                one.grad = None

    return step


def hips_step():
    import autograd
    import autograd.numpy as anp

    points, classes = data()
    parameters = [one for layer in weights() for one in layer]
    rows = np.arange(POINTS)

    def loss(parameters):
        h = points
        for i in range(0, len(parameters), 2):
            h = anp.dot(h, parameters[i]) + parameters[i + 1]
            h = anp.maximum(h, 0.0) if i + 2 < len(parameters) else h
        h = h - anp.max(h, axis=1, keepdims=True)
        return -anp.mean((h - anp.log(anp.sum(anp.exp(h), axis=1, keepdims=True)))[rows, classes])

    gradient = autograd.grad(loss)

    def step():
        for i, one in enumerate(gradient(parameters)):
            parameters[i] = parameters[i] - RATE * one

    return step


def training_rows(rounds):
    """A training step of each reference beside torch eager on one thread and HIPS autograd."""
    import torch

    steps = {"torch": torch_step(torch)}
    for track in ("lab01", "retype"):
        steps[track] = engine_step(reference_engine(load_track(track)).lib)
    try:
        steps["HIPS autograd"] = hips_step()
    except ImportError:
        print("HIPS autograd is not installed: `pip install autograd`", file=sys.stderr)

    def many(step):
        def run():
            started = time.perf_counter()
            for _ in range(60):
                step()
            return (time.perf_counter() - started) / 60

        return run

    medians = in_turn({name: many(step) for name, step in steps.items()}, rounds)
    return [
        (
            f"{name}: a step of the spirals MLP beside torch eager, one thread",
            f"{1e6 * medians[name]:.0f} µs / {1e6 * medians['torch']:.0f} µs "
            f"= {medians[name] / medians['torch']:.2f}",
            "1.0" if name in ("lab01", "retype") else "a peer",
        )
        for name in medians
        if name != "torch"
    ]


def chain_rows():
    """A chain of additions, forward and backward: the time per operation as it grows."""
    lib = reference_engine(load_track("lab01")).lib
    found = []
    for length in (10_000, 100_000, 1_000_000):
        started = time.perf_counter()
        x = lib.Tensor(1.0, requires_grad=True)
        y = x
        for _ in range(length):
            y = y + 0.5
        y.backward()
        found.append((length, (time.perf_counter() - started) / length))
        assert x.grad == 1.0
        del x, y
    text = ", ".join(f"{length:,}: {1e6 * seconds:.1f} µs/op" for length, seconds in found)
    return [("a chain, forward and backward, lab01's reference", text, "linear")]


if __name__ == "__main__":
    os.environ.update(ONE_THREAD)
    if "AUTODRILL_BENCH" not in os.environ:  # BLAS reads its threads when NumPy is imported
        os.environ["AUTODRILL_BENCH"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    main()
