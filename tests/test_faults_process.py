"""An engine that dies, hangs, blows up or leaves things running (rows 9 to 17 of the faults).

`AUTODRILL_LIMIT_S` shortens the time after which a test counts as hanging.
"""

import os
import subprocess
import sys
import time

import psutil
import pytest
from planted import RIGHT_RELU, engine, failures, grade, line_of, plant

SOON = {"AUTODRILL_LIMIT_S": "1"}
unix = pytest.mark.skipif(os.name != "posix", reason="needs what only Unix has")
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def verdicts(result):
    return [one["verdict"] for one in result["targets"]]


def gone_within_a_second(pids):
    end = time.monotonic() + 1
    while time.monotonic() < end:
        if not any(is_running(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# ---------------------------------------------------------------- it ends


def test_os_exit_is_never_a_pass_and_the_other_results_stand(lab01):
    result = grade(lab01, exp="import os; os._exit(0)", also=["relu", "tanh"])
    assert verdicts(result) == ["crash", "pass", "pass"]
    failure = failures(result)[0]
    assert failure["message"] == "your file ended the process (exit code 0)"
    assert failure["line"] == line_of(lab01, "os._exit")


@pytest.mark.parametrize(
    "top",
    [
        "import os; os._exit(0)",
        "import atexit, os, sys; atexit.register(os._exit, 0); sys.exit(0)",
        "import os; os.execv('/bin/true', ['true'])",
    ],
    ids=["os._exit", "atexit", "exec"],
)
@unix
def test_the_end_of_the_process_at_import_is_never_a_pass(lab01, top):
    plant(lab01, engine(top=top))
    ran = lab01.check("relu")
    assert ran.code == 1
    assert ran.json["verdict"] == "error"


def test_an_exit_when_the_process_ends_changes_no_verdict(lab01):
    top = "import atexit, os; atexit.register(os._exit, 0)"
    assert grade(lab01, top=top, relu=RIGHT_RELU)["verdict"] == "pass"
    assert grade(lab01, top=top, relu="return self")["verdict"] == "fail"


def test_what_would_skip_or_end_a_test_of_pytest_fails(lab01):
    result = grade(
        lab01,
        relu="import pytest; pytest.skip('not today')",
        exp="import pytest; pytest.xfail('known')",
        tanh="import pytest; pytest.exit('enough', returncode=0)",
        log="import unittest; raise unittest.SkipTest('not today')",
        sum="raise KeyboardInterrupt",
        also=["transpose"],
    )
    assert verdicts(result) == ["fail"] * 5 + ["pass"]
    assert [one["message"].split()[0].strip(":") for one in failures(result)[:5]] == [
        "Skipped",
        "XFailed",
        "Exit",
        "SkipTest",
        "KeyboardInterrupt",
    ]


@unix
def test_a_crash_is_named_with_its_test_and_line_and_the_rest_is_graded(lab01):
    result = grade(
        lab01,
        relu="import ctypes; ctypes.string_at(0)",
        exp="import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        also=["tanh"],
    )
    assert verdicts(result) == ["crash", "crash", "pass"]
    segfault, killed, _ = failures(result)
    assert segfault["test"] == "test_unary_ops"
    assert segfault["message"] == "crashed (signal 11, SIGSEGV) in `relu`"
    assert segfault["line"] == line_of(lab01, "string_at")
    assert killed["message"] == "crashed (signal 9, SIGKILL)"


def test_endless_recursion_shows_the_learners_frame_and_a_short_trace(lab01):
    failure = failures(grade(lab01, relu="return self.relu()"))[0]
    assert failure["message"] == "RecursionError: `relu` calls itself too deeply in the forward"
    assert failure["line"] == line_of(lab01, "return self.relu()")
    assert 1 <= len(failure["trace"]) <= 6
    assert all(": return self.relu()" in frame for frame in failure["trace"])


# ---------------------------------------------------------------- it does not end


def test_an_endless_loop_is_ended_and_its_line_named_whatever_it_does(lab01):
    result = grade(
        lab01,
        relu="while True: pass  # plainly",
        exp="""
            while True:
                try:
                    while True: pass  # swallowing
                except BaseException:
                    pass
        """,
        tanh="""
            import faulthandler, signal
            faulthandler.cancel_dump_traceback_later()
            for name in {"SIGALRM", "SIGTERM", "SIGINT"} & set(dir(signal)):
                signal.signal(getattr(signal, name), signal.SIG_IGN)
            while True: pass  # resetting
        """,
        log="return 7 ** 10**8  # in C",
        also=["transpose"],
        environment=SOON,
    )
    assert verdicts(result) == ["timeout"] * 4 + ["pass"]
    marks = ["# plainly", "# swallowing", "# resetting", "# in C"]
    assert [one["line"] for one in failures(result)[:4]] == [line_of(lab01, one) for one in marks]
    assert failures(result)[0]["message"].startswith("no end after 1 s; it was at line ")
    assert failures(result)[0]["what"] == "hang"


def test_the_total_is_bounded_when_every_test_hangs(lab01):
    plant(lab01, engine(__init__="while True: pass"))
    ran = lab01.check("relu", "exp", "log", "tanh", "logsumexp", **SOON)
    assert ran.code == 1
    assert set(verdicts(ran.json)) == {"timeout"}
    assert sum(one["failed"] for one in ran.json["targets"]) >= 10
    assert ran.json["seconds"] < 60


def test_an_import_that_hangs_is_ended_and_its_line_named(lab01):
    plant(lab01, engine(top="while True: pass  # here"))
    ran = lab01.check("relu", **SOON)
    assert ran.code == 1
    assert ran.json["problem"]["line"] == line_of(lab01, "# here")


def test_a_limit_that_is_no_number_is_a_usage_error(lab01):
    ran = lab01.run("check", "relu", AUTODRILL_LIMIT_S="soon")
    assert ran.code == 2
    assert "AUTODRILL_LIMIT_S is `soon`" in ran.err


# ---------------------------------------------------------------- it leaves something running


def test_threads_that_never_end_keep_no_result_and_no_process_back(lab01):
    pids = lab01.folder / "pids"
    result = grade(
        lab01,
        top=f"""
            import os, threading, time
            open({str(pids)!r}, "a").write(f"{{os.getpid()}} ")
            for daemon in (True, False):
                threading.Thread(target=time.sleep, args=(600,), daemon=daemon).start()
        """,
        relu=RIGHT_RELU,
    )
    assert result["verdict"] == "pass"
    assert gone_within_a_second([int(one) for one in pids.read_text().split()])


SLEEP = "[sys.executable, '-c', 'import time; time.sleep(600)']"
ORPHAN = f"""
import os, subprocess, sys
print(subprocess.Popen({SLEEP}, process_group=0, stdout=subprocess.DEVNULL).pid)
"""
FORK = """
pid = {}
if not pid:
    os.setsid()
    time.sleep(600)
"""
GRANDCHILDREN = {
    "in the group": f"pid = subprocess.Popen({SLEEP}).pid",
    "in a session of its own": f"pid = subprocess.Popen({SLEEP}, start_new_session=True).pid",
    "without an environment": f"pid = subprocess.Popen({SLEEP}, env={{}}, process_group=0).pid",
    "an orphan in a group of its own": (
        f"pid = int(subprocess.check_output([sys.executable, '-c', {ORPHAN!r}]))"
    ),
    "a fork": FORK.format("os.fork()"),
    "a fork that Python does not see": FORK.format("ctypes.CDLL(None).fork()"),
}


@linux
@pytest.mark.parametrize("kind", GRANDCHILDREN)
def test_a_grandchild_is_gone_within_a_second_of_the_verdict(lab01, kind):
    pids = lab01.folder / "pids"
    note = f"open({str(pids)!r}, 'a').write(str(pid) + ' ')"
    start = f"import ctypes, os, subprocess, sys, time\n{GRANDCHILDREN[kind]}\n{note}\n"
    result = grade(lab01, sgd_step=start, numerical_gradient=f"{start}os._exit(0)", also=["relu"])
    started = [int(one) for one in pids.read_text().split()]
    try:
        assert verdicts(result) == ["fail", "crash", "pass"]
        assert gone_within_a_second(started)
    finally:
        for pid in filter(is_running, started):
            psutil.Process(pid).kill()


@linux
def test_a_copy_that_the_engine_forks_of_itself_answers_for_nothing(lab01):
    fork = "import os\nif os.fork() == 0: return Tensor(0.0)\n"
    result = grade(lab01, relu=fork + RIGHT_RELU, also=["exp"])
    assert verdicts(result) == ["pass", "pass"]


@unix
def test_a_worker_whose_grader_is_killed_ends_by_itself(lab01):
    pid = lab01.folder / "pid"
    note = f"import os; open({str(pid)!r}, 'w').write(f'{{os.getpid()}}\\n')"
    plant(lab01, engine(relu=f"{note}\nwhile True: pass"))
    command = [sys.executable, "-m", "autodrill", "check", "relu"]
    grader = subprocess.Popen(command, cwd=lab01.folder, env=lab01.environment(**SOON))
    while not pid.exists() or not pid.read_text().endswith("\n"):
        time.sleep(0.02)
    grader.kill()
    grader.wait()
    worker = int(pid.read_text())
    end = time.monotonic() + 10
    while is_running(worker):
        assert time.monotonic() < end
        time.sleep(0.05)


# ---------------------------------------------------------------- it grows


@linux
def test_a_memory_blow_up_fails_with_the_figure_and_a_big_array_passes(lab01):
    result = grade(
        lab01,
        sgd_step="""
            kept = []
            while True: kept.append("x" * 10**6)  # grows
        """,
        numerical_gradient="np.zeros(10**9)[:] = 1.0  # at once",
        relu="np.zeros(500 * 2**20 // 8)[:] = 1.0\n" + RIGHT_RELU,
        also=["exp"],
    )
    assert verdicts(result) == ["crash", "crash", "pass", "pass"]
    growing, at_once, *_ = failures(result)
    said = "out of memory: it needs more than the 2 GiB it may use"
    assert growing["message"] == said
    assert growing["line"] == line_of(lab01, "# grows")
    assert at_once["message"].startswith(said)
    assert "7.45 GiB" in at_once["message"]
    assert at_once["line"] == line_of(lab01, "# at once")


FLOOD = "for _ in range(300): print('x' * 2**20)\n"


@linux
def test_300_megabytes_of_prints_leave_the_memory_of_the_grader_flat(lab01):
    def peak_kib(body):
        plant(lab01, engine(relu=body))
        arguments = [sys.executable, "-m", "autodrill", "check", "relu", "--json"]
        folder, environment = lab01.folder, lab01.environment()
        with open(os.devnull, "wb") as nowhere:
            grader = subprocess.Popen(arguments, cwd=folder, env=environment, stdout=nowhere)
            _, status, usage = os.wait4(grader.pid, 0)
        grader.returncode = os.waitstatus_to_exitcode(status)
        assert grader.returncode == 0
        return usage.ru_maxrss

    assert peak_kib(FLOOD + RIGHT_RELU) < peak_kib(RIGHT_RELU) + 20 * 1024


def test_a_flood_of_prints_is_kept_to_a_cap_and_said_to_be(lab01):
    failure = failures(grade(lab01, relu=FLOOD + "print('the end')\nreturn self"))[0]
    assert len(failure["output"]) < 40_000
    assert "bytes left out" in failure["output"]
    assert failure["output"].endswith("the end\n")


def test_what_was_printed_last_before_the_end_is_shown(lab01):
    body = "print('almost there', end='')\nimport os; os._exit(1)"
    assert failures(grade(lab01, relu=body))[0]["output"] == "almost there"


# ---------------------------------------------------------------- it meddles with the channel


PRIVATE = """
import os
for descriptor in range(3, 20):
    try:
        {}
    except OSError:
        pass
"""
MEDDLING = {
    "sgd_step": "os.write(descriptor, b'xxxxxxxx' * 100)",
    "numerical_gradient": "os.write(descriptor, (9).to_bytes(4, 'big') + bytes(4) + b'{}')",
    "cross_entropy": "os.write(descriptor, (4).to_bytes(4, 'big') + bytes(4) + b'null')",
    "log_softmax": "os.close(descriptor)",
    "log": "os.set_blocking(descriptor, False)",
}


@unix
def test_an_engine_that_finds_the_channel_gains_nothing_by_it(lab01):
    bodies = {name: PRIVATE.format(what) for name, what in MEDDLING.items()}
    result = grade(lab01, **bodies, also=["relu"], environment=SOON)
    assert {one["id"] for one in result["targets"]} == {"elementwise", "training"}
    assert verdicts(result).count("pass") == 1
    assert not any("child.py" in one["output"] for one in failures(result) if one)


def test_an_engine_that_patches_the_builtins_breaks_its_own_process_alone(lab01):
    result = grade(
        lab01, relu="import builtins; builtins.isinstance = lambda *_: True", also=["exp"]
    )
    assert verdicts(result) == ["crash", "pass"]
    assert failures(result)[0]["message"] == "your file broke the process that it runs in"
