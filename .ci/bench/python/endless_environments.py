"""The environments of the benchmark: Gymnasium's own, which begin a new episode by themselves in the step that ends one.

So that every contender steps the very same thing, and none is charged for another's way of beginning episodes.
Ids are those of Gymnasium behind `Endless/`.
"""

import gymnasium


class Endless(gymnasium.Wrapper):
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            observation, info = self.env.reset()
        return observation, reward, False, False, info


def _maker(env_id):
    def make(**arguments):
        if env_id.startswith("ALE/"):
            import ale_py

            gymnasium.register_envs(ale_py)
        return Endless(gymnasium.make(env_id, **arguments))

    return make


for _env_id in ("CartPole-v1", "HalfCheetah-v5", "ALE/Breakout-v5"):
    gymnasium.register(
        "Endless/" + _env_id.replace("ALE/", ""),
        entry_point=_maker(_env_id),
        order_enforce=False,
        disable_env_checker=True,
    )
