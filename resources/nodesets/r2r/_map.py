"""The map an agent draws while it walks, in the manner of MapGPT (Chen et al. 2024): every viewpoint it stood at or saw
a way to becomes a numbered place; the map grows by what each observation adds. Plain data, so that it lives in a state
container of the graph."""

from __future__ import annotations

from typing import Any, Dict, List


def empty_map() -> Dict[str, Any]:
    return {"places": [], "trajectory": [], "connections": {}, "seen": {}}


def extended(state: Dict[str, Any], observation: Dict[str, Any]) -> Dict[str, Any]:
    """The map after this observation; the given one is left as it is."""
    places: List[str] = list(state["places"])
    connections = {place: list(others) for place, others in state["connections"].items()}
    seen = dict(state["seen"])
    here = observation["viewpoint"]
    trajectory = list(state["trajectory"])
    # Turning does not leave a place.
    if not trajectory or trajectory[-1] != here:
        trajectory.append(here)
    if here not in places:
        places.append(here)
    seen.pop(here, None)
    for candidate in observation["candidates"]:
        there = candidate["viewpoint"]
        if there not in places:
            places.append(there)
        if there not in trajectory:
            seen[there] = candidate["words"]
        for one, other in ((here, there), (there, here)):
            others = connections.setdefault(one, [])
            if other not in others:
                others.append(other)
    return {"places": places, "trajectory": trajectory, "connections": connections, "seen": seen}


def place_number(state: Dict[str, Any], viewpoint: str) -> int:
    """From 1: 0 means to stop."""
    return state["places"].index(viewpoint) + 1


def by_place(state: Dict[str, Any], observation: Dict[str, Any]) -> Dict[str, Any]:
    """The observation with the ways numbered as the places they lead to."""
    candidates = [
        {**candidate, "number": place_number(state, candidate["viewpoint"])} for candidate in observation["candidates"]
    ]
    return {**observation, "candidates": sorted(candidates, key=lambda candidate: candidate["number"])}


def map_in_words(state: Dict[str, Any], observation: Dict[str, Any]) -> str:
    """Instruction, trajectory, map, what was seen and not visited, and the choices, for a language model."""

    def number(viewpoint: str) -> int:
        return place_number(state, viewpoint)

    visited = [viewpoint for viewpoint in state["places"] if viewpoint in state["trajectory"]]
    lines = [
        f"Instruction: {observation['instruction']}",
        "Trajectory: " + " -> ".join(f"Place {number(viewpoint)}" for viewpoint in state["trajectory"]),
        "Map:",
    ]
    for viewpoint in visited:
        others = ", ".join(str(other) for other in sorted(map(number, state["connections"].get(viewpoint, []))))
        lines.append(f"Place {number(viewpoint)} is connected with Places {others}")
    unvisited = [viewpoint for viewpoint in state["places"] if viewpoint in state["seen"]]
    if unvisited:
        lines.append("Seen and not visited:")
        lines += [f"Place {number(viewpoint)}: {state['seen'][viewpoint]}, from where it was seen" for viewpoint in unvisited]
    lines += [f"You are at Place {number(observation['viewpoint'])}. From here you can go:", "0: stop here"]
    for candidate in by_place(state, observation)["candidates"]:
        again = " (visited)" if candidate["viewpoint"] in state["trajectory"] else ""
        lines.append(f"{candidate['number']}: to Place {candidate['number']}, {candidate['words']}{again}")
    return "\n".join(lines)
