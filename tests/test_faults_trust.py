"""Nothing that the engine prints, plants, patches or returns fools the grader (rows 18 to 26)."""

import re

import numpy as np
import pytest
from planted import REFERENCE, RIGHT_RELU, engine, failures, grade, plant

from autodrill.cases.judge import differs, judge
from autodrill.cases.probe import Probe
from autodrill.cases.shapes import parse_shapes
from autodrill.catalog import load_track
from autodrill.engines.engine import LocalEngine, module_from
from autodrill.engines.reference import load_suite, reference_engine

WRONG_RELU = 'return Tensor._make(np.maximum(self.data, 0.0), (self,), lambda g: (g,), "relu")'


def verdicts(result):
    return [one["verdict"] for one in result["targets"]]


# ---------------------------------------------------------------- what it prints and plants


def test_escape_codes_bidi_marks_and_ci_commands_are_shown_inert(lab01):
    evil = r"\x1b[31m\x1b]0;title\x07\u202e\n::error::file=x\n##[error]y\r"
    body = f"""
        print("{evil}")
        raise type("{evil}", (Exception,), {{}})("{evil}")
    """
    plant(lab01, engine(relu=body))
    ran = lab01.run("check", "relu")
    assert ran.code == 1
    assert not set("\x1b\x07\u202e\r") & set(ran.out + ran.err)
    assert not re.search(r"^\s*(::error|##\[)", ran.out, re.MULTILINE)
    assert r"\x1b[31m" in ran.out
    assert failures(lab01.check("relu").json)[0]["what"] == "raised"


TRAP = """
import pathlib
pathlib.Path(__file__).with_suffix(".ran").touch()
raise SystemExit("planted")
"""
MODULES = ["conftest", "sitecustomize", "usercustomize", "numpy", "random", "pytest"]
SETTINGS = {
    "pytest.ini": "[pytest]\naddopts = --collect-only -p no_such_plugin\n",
    "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--no-such-option"\n',
    "setup.cfg": "[tool:pytest]\naddopts = --no-such-option\n",
    "tox.ini": "[pytest]\naddopts = --no-such-option\n",
}


@pytest.fixture
def trapped(lab01):
    """A workspace full of files that would take part if they were ever read."""
    for name in MODULES:
        (lab01.folder / f"{name}.py").write_text(TRAP)
    for name, text in SETTINGS.items():
        (lab01.folder / name).write_text(text)
    return lab01


def test_planted_modules_and_settings_have_no_effect_and_are_named(trapped):
    ran = trapped.check("relu")
    assert ran.json["verdict"] == "pass"
    assert not list(trapped.folder.glob("*.ran"))
    warned = " ".join(ran.json["warnings"])
    for name in ("numpy.py", "pytest.py", "random.py", "sitecustomize.py"):
        assert f"`{name}` beside your file would hide a module; it is not imported" in warned
    plant(trapped, engine(relu=WRONG_RELU))
    assert trapped.check("relu").json["verdict"] == "fail"


def test_pythonpath_lets_no_planted_module_in(trapped):
    for name in ("sitecustomize", "usercustomize"):  # Python itself imports these from there
        (trapped.folder / f"{name}.py").unlink()
    ran = trapped.check("relu", PYTHONPATH=str(trapped.folder))
    assert ran.json["verdict"] == "pass"
    assert not list(trapped.folder.glob("*.ran"))


def test_settings_of_python_and_pytest_in_the_environment_have_no_effect(trapped):
    settings = {
        "PYTEST_ADDOPTS": "--collect-only --no-such-option",
        "PYTEST_PLUGINS": "no_such_plugin",
        "PYTHONSTARTUP": str(trapped.folder / "random.py"),
        "PYTHONINSPECT": "1",
        "PYTHONOPTIMIZE": "2",
        "PYTHONWARNINGS": "error",
        "PYTHONDEVMODE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }
    right, wrong = RIGHT_RELU, f"assert False, 'asserts are on'\n{RIGHT_RELU}"
    for body, code in ((right, 0), (wrong, 1)):
        plant(trapped, engine(relu=body))
        ran = trapped.check("relu", **settings)
        assert (ran.code, ran.err) == (code, "")
        assert ran.json["verdict"] == ("fail" if code else "pass")
    assert failures(ran.json)[0]["message"] == "AssertionError: asserts are on in the forward"
    assert not list(trapped.folder.glob("*.ran"))


# ---------------------------------------------------------------- what it patches

PATCHES = """
import random, warnings
import numpy as np, numpy.testing

def always(*_, **__): return True

np.allclose = np.isclose = np.array_equal = np.isfinite = np.all = np.any = always
np.testing.assert_allclose = np.testing.assert_array_equal = always
np.add = np.random.default_rng = np.random.seed = np.errstate = np.may_share_memory = None
np.dtype = np.frombuffer = np.generic = None
random.seed = warnings.catch_warnings = warnings.simplefilter = None
np.seterr(all="raise")
np.set_printoptions(precision=1)
"""


def test_what_the_engine_patches_has_no_effect_on_the_judgement(lab01):
    assert grade(lab01, top=PATCHES, relu=RIGHT_RELU)["verdict"] == "pass"
    result = grade(lab01, top=PATCHES, relu=WRONG_RELU, exp="return self")
    assert verdicts(result) == ["fail", "fail"]
    assert [one["what"] for one in failures(result)] == ["gradient", "forward"]


def test_verdicts_do_not_depend_on_what_ran_before(lab01):
    """The state of NumPy's and Python's random numbers is the same at the start of each test."""
    bodies = {
        "exp": "np.random.rand(); random.random(); return Tensor(self.data)",
        "relu": "return Tensor(self.data + np.random.rand() + random.random())",
    }
    top = "import random\nimport numpy as np\nnp.random.seed(5); np.seterr(all='raise')"
    plant(lab01, engine(top=top, **bodies))
    alone = lab01.check("relu").json["targets"][0]
    after = lab01.check("exp", "relu").json["targets"][1]
    assert alone["failures"] == after["failures"]
    assert alone["verdict"] == "fail"


# ---------------------------------------------------------------- what it returns

SET_DATA = "out = Tensor(FORWARD, True, (self,)); out.data = {}; return out"
SET_GRAD = """
leaf, out = self, Tensor(FORWARD, True, (self,))
def backward(grad=None): leaf.grad = {}
out.backward = backward
return out
"""
EQUAL = """
class Equal:
    __eq__ = __ge__ = __le__ = lambda self, other: True
    __getattr__ = __call__ = __getitem__ = lambda self, *_: self
    __array__ = lambda self, *_, **__: np.zeros(())
    __class__ = property(lambda self: np.ndarray)
"""
SUBCLASS = "class Mine(np.ndarray): __eq__ = lambda self, other: np.ones(self.shape, bool)\n"
RETURNED = {
    "nothing": ("self.data", "the result is None, not a Tensor"),
    "an array": ("return FORWARD", "the result is an ndarray, not a Tensor"),
    "a number": ("return 5", "the result is an int, not a Tensor"),
    "an equal data": (
        EQUAL + SET_DATA.format("Equal()"),
        "the result's data is an Equal, not a NumPy array",
    ),
    "a subclass": (
        SUBCLASS + SET_DATA.format("out.data.view(Mine)"),
        "the result's data is a Mine, not a NumPy array",
    ),
    "objects": (
        SET_DATA.format("out.data.astype(object)"),
        "the result's data is an array of dtype object, not a NumPy array",
    ),
    "float32": (
        SET_DATA.format("out.data.astype(np.float32)"),
        "the result has dtype float32, not float64",
    ),
    "a list": (SET_DATA.format("[1.0]"), "the result's data is a list, not a NumPy array"),
    "an equal grad": (
        EQUAL + SET_GRAD.format("Equal()"),
        "`x.grad` is an Equal, not a NumPy array",
    ),
    "a Tensor grad": (
        SET_GRAD.format("Tensor(np.zeros(leaf.shape))"),
        "`x.grad` is a Tensor, not a NumPy array",
    ),
    "a list grad": (SET_GRAD.format("[0.0]"), "`x.grad` is a list, not a NumPy array"),
    "an endless list grad": (
        SET_GRAD.format("[]; leaf.grad.append(leaf.grad)"),
        "`x.grad` is a list, not a NumPy array",
    ),
    "a long list grad": (
        SET_GRAD.format("[0.0] * 10**6"),
        "`x.grad` is a list, not a NumPy array",
    ),
    "a float grad": (SET_GRAD.format("0.5"), "`x.grad` is the number 0.5, not a NumPy array"),
    "a huge int grad": (SET_GRAD.format("10**5000"), "`x.grad` is an int, not a NumPy array"),
    "a long str grad": (SET_GRAD.format("'x' * 10**7"), "`x.grad` is a str, not a NumPy array"),
    "a masked grad": (
        SET_GRAD.format("np.ma.masked_array(np.zeros(leaf.shape))"),
        "`x.grad` is a MaskedArray, not a NumPy array",
    ),
    "an int grad": (
        SET_GRAD.format("np.zeros(leaf.shape, int)"),
        "`x.grad` has dtype int64, not float64",
    ),
}
FORWARDS = {
    "relu": "np.maximum(self.data, 0.0)",
    "exp": "np.exp(self.data)",
    "tanh": "np.tanh(self.data)",
    "log": "np.log(self.data)",
}


@pytest.mark.parametrize("first", range(0, len(RETURNED), len(FORWARDS)))
def test_what_is_no_array_of_floats_is_a_type_failure_that_names_it(lab01, first):
    cases = list(RETURNED.values())[first : first + len(FORWARDS)]
    bodies = {
        name: body.replace("FORWARD", forward)
        for (name, forward), (body, _) in zip(FORWARDS.items(), cases, strict=False)
    }
    result = grade(lab01, **bodies)
    for failure, (body, message) in zip(failures(result), cases, strict=True):
        assert (failure["what"], failure["message"]) == ("type", message), body


RAISING = """
class Raising(Tensor):
    data = property(lambda self: 1 / 0)
    def __init__(self): pass
return Raising()
"""
HANGING = """
class Hanging(Tensor):
    @property
    def grad(self):
        while True: pass
self.__class__ = Hanging
return Tensor(self.data)
"""
UNREADABLE = """
class Text(str):
    __getitem__ = __str__ = lambda self, *_: 1 / 0
class Meta(type):
    __mro__ = property(lambda self: 1 / 0)
class Unreadable(Exception, metaclass=Meta):
    __str__ = lambda self: Text("x")
    __traceback__ = property(lambda self: 1 / 0)
raise Unreadable
"""


def test_an_object_whose_attributes_raise_or_hang_costs_its_own_test_alone(lab01):
    result = grade(
        lab01,
        relu=RAISING,
        log=HANGING,
        exp=UNREADABLE,
        also=["tanh"],
        environment={"AUTODRILL_LIMIT_S": "1"},
    )
    assert verdicts(result) == ["fail", "timeout", "fail", "pass"]
    raising, hanging, unreadable, _ = failures(result)
    assert "ZeroDivisionError" in raising["message"]
    assert "in `grad`" in hanging["message"]
    assert "can't be described" in unreadable["message"]


def test_nan_and_infinities_are_shown_as_such_and_are_never_a_pass(lab01):
    result = grade(
        lab01,
        relu="return Tensor(self.data * np.nan)",
        exp="return Tensor._make(np.exp(self.data), (self,), lambda g: (g * np.inf,), 'exp')",
        tanh="return Tensor(self.data * -np.inf)",
    )
    shown = [str(one["yours"]["values"]) for one in failures(result)]
    assert ["nan" in shown[0], "inf" in shown[1], "-inf" in shown[2]] == [True] * 3
    assert [one["what"] for one in failures(result)] == ["forward", "gradient", "forward"]


def test_nan_agrees_with_nothing_not_even_with_nan():
    nan, inf = np.array([np.nan]), np.array([np.inf])
    assert differs(nan, nan).all()
    assert differs(nan, inf).all()
    assert differs(inf, -inf).all()
    assert differs(np.array([1e300]), inf).all()
    assert not differs(inf, inf).any()


def test_recursion_is_not_taken_for_the_error_that_is_due(lab01):
    """RecursionError is a RuntimeError, which backward() of a non-scalar has to raise."""
    plant(lab01, engine(backward="return self.backward(grad)"))
    failed = lab01.check("Tensor.backward").json["targets"][0]["failures"]
    assert "test_backward_on_nonscalar_needs_grad" in [one["test"] for one in failed]


# ---------------------------------------------------------------- sums in another order

OTHER_ORDER = {
    "copied: Array = grad.sum(axis=(*range(prepended), *stretched))": """copied: Array = grad
    for axis in sorted((*range(prepended), *stretched), reverse=True):
        copied = np.add.accumulate(np.flip(copied, axis), axis).take([-1], axis)""",
    'return Tensor._make(a @ b, (self, other), vjp, "matmul")': """
        total = 0.0
        for k in reversed(range(a.shape[-1])):
            total = total + a[..., :, k, None] * b[..., None, k, :]
        return Tensor._make(total, (self, other), vjp, "matmul")""",
    "kept: Array = self.data.sum(axis=axis, keepdims=True)": """axes = range(self.ndim)
        chosen = axes if axis is None else np.atleast_1d(axis) % self.ndim
        kept: Array = self.data
        for one in chosen:
            kept = np.add.accumulate(np.flip(kept, one), one).take([-1], one)""",
    "total: Array = terms.sum(axis=axis, keepdims=True)": """total: Array = np.flip(
            terms, axis).sum(axis=axis, keepdims=True)""",
}


def other_order():
    text = REFERENCE
    for old, new in OTHER_ORDER.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_an_engine_whose_sums_run_in_another_order_passes(lab01):
    plant(lab01, other_order())
    ran = lab01.check()
    assert ran.json["verdict"] == "pass", ran.json


def test_sums_in_another_order_agree_over_200_seeds():
    track = load_track("lab01")
    suite, right = load_suite(track), reference_engine(track)
    other = LocalEngine(suite, module_from(other_order(), "other_order", track.reference))
    probes = [
        ("matmul", "b=3 n=17 m=33, m p=9", {}),
        ("sum", "b=9 n=31 m=17", {"axis": (0, 2)}),
        ("mean", "b=9 n=31 m=17", {"axis": None}),
        ("logsumexp", "n=31 m=33", {"axis": -1}),
        ("add", "n=31 m=33, m", {}),
        ("cross_entropy", "5 c=33", {"targets": [0, 0, 1, 0, 2]}),
    ]
    differed = 0
    for seed in range(200):
        for name, shapes, params in probes:
            request = Probe(suite[name], parse_shapes(shapes), params, seed).request()
            expected, outcome = right.run(request, 10.0), other.run(request, 10.0)
            assert judge(suite[name], outcome, expected) is None, (name, seed)
            differed += any(
                not np.array_equal(outcome.values[key], value)
                for key, value in expected.values.items()
            )
    assert differed > 200, "the sums do not run in another order"


# ---------------------------------------------------------------- warnings

WARNING_RELU = f"np.log(np.zeros(3)); np.exp(np.full(3, 1e9))\n{RIGHT_RELU}"


def test_warnings_make_no_noise_unless_the_test_fails(lab01):
    plant(lab01, engine(relu=WARNING_RELU, top="import warnings; warnings.warn('at import')"))
    ran = lab01.run("check", "relu")
    assert (ran.code, ran.err) == (0, "")
    assert "warning" not in ran.out.lower()


def test_a_warning_of_a_failing_test_is_shown_once(lab01):
    body = "for _ in range(50): np.log(np.zeros(3))\nreturn Tensor(self.data)"
    plant(lab01, engine(relu=body))
    ran = lab01.run("check", "relu")
    assert ran.code == 1
    assert ran.out.count("divide by zero encountered in log") == 1
