"""The npm clients, judged in contract.test.mjs; here the guard is started for them.

Needs Node 20 or newer and the packages of package-lock.json (`npm ci --ignore-scripts` in this folder).
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.contract.scripts import HEALTHY_ANSWER, SCRIPTS, register_fast
from tests.net import guard_server, mock_server

HERE = Path(__file__).parent
OLDEST = 20
LEAST = 74
"""Tests in the file; fewer would mean that some were not run."""


def _node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.removeprefix("v").split(".")[0]) < OLDEST:
        pytest.skip(f"node {version.strip()} is older than {OLDEST}")
    wanted = json.loads((HERE / "package.json").read_text("utf-8"))["dependencies"]
    missing = [name for name in wanted if not (HERE / "node_modules" / name / "package.json").exists()]
    if missing:
        pytest.skip(f"npm packages are missing ({', '.join(missing)}): npm ci --ignore-scripts in tests/node")
    return found


def _expected() -> str:
    clean, looped = SCRIPTS["loop-content"]["attempts"][0]["steps"][1:3]
    return json.dumps({"answer": HEALTHY_ANSWER, "clean": clean["say"], "unit": looped["say"]})


def test_the_npm_clients_hear_whole_answers() -> None:
    node = _node()
    with mock_server() as mock:
        register_fast(mock)
        with guard_server(mock.url) as guard:
            own = {"GUARD_URL": guard.url, "UPSTREAM_URL": mock.url, "EXPECTED": _expected()}
            done = subprocess.run(
                [node, "--test", "--test-reporter=tap", "contract.test.mjs"],
                cwd=HERE,
                env={**os.environ, **own, "NO_PROXY": "127.0.0.1"},
                capture_output=True,
                text=True,
                timeout=110,
                check=False,
            )
    failed = re.findall(r"^\s*not ok .*$", done.stdout, re.MULTILINE)
    assert (failed, done.returncode) == ([], 0), done.stdout[-6000:] + done.stderr[-2000:]
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) >= LEAST
