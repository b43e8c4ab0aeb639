from typing import cast

from ollama_guard.app.front import MODELS_KEPT, NAME_KEPT, Front
from ollama_guard.app.policies import policy_for
from ollama_guard.app.registry import Registry
from ollama_guard.config.schema import Override, Settings
from ollama_guard.upstream import Upstream

SETTINGS = Settings(models=(Override("small*", {"intervene.max_retries": 7}),))


def front() -> Front:
    return Front(SETTINGS, cast("Upstream", None), Registry(), lambda _, __: None, lambda: None)


def test_each_model_has_its_own_policy_which_is_made_once() -> None:
    one = front()
    assert one._policy("small-1").max_retries == 7
    assert one._policy("big").max_retries == Settings().intervene.max_retries
    assert one._policy("big") is one._policy("big")
    assert one._policy("small-1") == policy_for(SETTINGS, "small-1")


def test_names_that_clients_make_up_take_no_room() -> None:
    one = front()
    for number in range(MODELS_KEPT + 10):
        one._policy(f"m{number}")
    assert len(one._policies) <= MODELS_KEPT
    long = "m" * (NAME_KEPT + 1)
    assert one._policy(long) == policy_for(SETTINGS, long)
    assert long not in one._policies
