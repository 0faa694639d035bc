"""Small parts for graphs: numbers, loops, memory, fire lists, failures. Written to the public format."""

from app.components import BaseCanvasNode, BaseNodeSet, ConfigField, DisplayField, NodeUIConfig, PortDef
from app.components.bases import DynamicFireListNode, FireList, FireSpec
from app.graph_def import ContainerDef, StateDef


class StopExecution(Exception):
    pass


class Const(BaseCanvasNode):
    node_type = "kit__const"
    display_name = "Constant"
    input_ports = [PortDef("trigger", "ANY", "", optional=True)]
    output_ports = [PortDef("value", "ANY", "The configured value")]
    default_config = {"value": 0}
    ui_config = NodeUIConfig(
        config_fields=[ConfigField("value", "number", "Value", default=0, min=-10, max=10, step=1)],
        display_fields=[DisplayField("value", "log_list", label="Value", data_key="value")],
    )

    async def forward(self, inputs, ctx):
        return {"value": self.config["value"]}


class Text(BaseCanvasNode):
    node_type = "kit__text"
    output_ports = [PortDef("text", "TEXT")]
    default_config = {"text": ""}

    async def forward(self, inputs, ctx):
        return {"text": self.config["text"]}


class Many(BaseCanvasNode):
    node_type = "kit__many"
    output_ports = [PortDef("texts", "LIST[TEXT]")]

    async def forward(self, inputs, ctx):
        return {"texts": ["one", "two"]}


class Turn(BaseCanvasNode):
    """Wires of deprecated types still connect."""

    node_type = "kit__turn"
    output_ports = [PortDef("action", "ACTION")]

    async def forward(self, inputs, ctx):
        return {"action": 2}


class Apply(BaseCanvasNode):
    node_type = "kit__apply"
    input_ports = [PortDef("action", "DISCRETE_ACTION")]
    output_ports = [PortDef("number", "ANY")]

    async def forward(self, inputs, ctx):
        return {"number": inputs["action"]}


class Add(BaseCanvasNode):
    node_type = "kit__add"
    input_ports = [PortDef("a", "ANY"), PortDef("b", "ANY", optional=True)]
    output_ports = [PortDef("sum", "ANY")]
    default_config = {"plus": 0}

    async def forward(self, inputs, ctx):
        self._self_log("a", inputs["a"])
        return {"sum": inputs["a"] + inputs.get("b", 0) + self.config["plus"]}


class Both(BaseCanvasNode):
    """Waits for both."""

    node_type = "kit__both"
    input_ports = [PortDef("a", "ANY"), PortDef("b", "ANY")]
    output_ports = [PortDef("joined", "ANY")]

    async def forward(self, inputs, ctx):
        return {"joined": inputs["a"] * 10 + inputs["b"]}


class AtLeast(BaseCanvasNode):
    node_type = "kit__at_least"
    input_ports = [PortDef("value", "ANY")]
    output_ports = [PortDef("yes", "BOOL"), PortDef("value", "ANY")]
    default_config = {"limit": 1}

    async def forward(self, inputs, ctx):
        return {"yes": inputs["value"] >= self.config["limit"], "value": inputs["value"]}


class Digits(BaseCanvasNode):
    """Reads a list as the digits of one number, so that its order shows."""

    node_type = "kit__digits"
    input_ports = [PortDef("items", "LIST[ANY]")]
    output_ports = [PortDef("number", "ANY"), PortDef("length", "ANY")]

    async def forward(self, inputs, ctx):
        number = 0
        for item in inputs["items"]:
            number = number * 10 + item
        return {"number": number, "length": len(inputs["items"])}


class Names(BaseCanvasNode):
    """How many names an object has; for whole outputs on one wire."""

    node_type = "kit__names"
    input_ports = [PortDef("object", "ANY")]
    output_ports = [PortDef("count", "ANY"), PortDef("value", "ANY")]

    async def forward(self, inputs, ctx):
        return {"count": len(inputs["object"]), "value": inputs["object"].get("value", -1)}


class Length(BaseCanvasNode):
    node_type = "kit__length"
    input_ports = [PortDef("text", "TEXT")]
    output_ports = [PortDef("length", "ANY")]

    async def forward(self, inputs, ctx):
        return {"length": len(inputs["text"])}


class Count(BaseCanvasNode):
    """How often it fired in this run."""

    node_type = "kit__count"
    input_ports = [PortDef("trigger", "ANY", optional=True)]
    output_ports = [PortDef("count", "ANY")]

    async def forward(self, inputs, ctx):
        ctx.fired = (ctx.fired or 0) + 1
        return {"count": ctx.fired}


class Metrics(BaseCanvasNode):
    node_type = "kit__metrics"
    input_ports = [PortDef("value", "ANY")]
    output_ports = [PortDef("metrics", "METRICS")]

    async def forward(self, inputs, ctx):
        return {"metrics": {"success": 1.0, "value": inputs["value"], "note": "not a number"}}


class Fail(BaseCanvasNode):
    node_type = "kit__fail"
    input_ports = [PortDef("value", "ANY", optional=True)]
    output_ports = [PortDef("value", "ANY")]

    async def forward(self, inputs, ctx):
        raise ValueError("failed on purpose")


class SoftFail(BaseCanvasNode):
    node_type = "kit__soft_fail"
    output_ports = [PortDef("value", "ANY")]

    async def forward(self, inputs, ctx):
        return {"error": "no luck"}


class DeclaredError(BaseCanvasNode):
    node_type = "kit__declared_error"
    output_ports = [PortDef("error", "TEXT")]

    async def forward(self, inputs, ctx):
        return {"error": "four"}


class Stop(BaseCanvasNode):
    node_type = "kit__stop"
    input_ports = [PortDef("value", "ANY")]
    output_ports = [PortDef("value", "ANY")]
    default_config = {"at": 3}

    async def forward(self, inputs, ctx):
        if inputs["value"] >= self.config["at"]:
            raise StopExecution("enough")
        return {"value": inputs["value"]}


def granted(ctx, name):
    """Inside a composite a container is called `<composite>__<name>`."""
    return next(container for key, container in ctx.containers.items() if key.endswith(name))


class Write(BaseCanvasNode):
    node_type = "kit__write"
    input_ports = [PortDef("value", "ANY")]
    output_ports = [PortDef("value", "ANY")]
    default_config = {"container": "mem", "state": "s", "key": ""}

    async def forward(self, inputs, ctx):
        container = granted(ctx, self.config["container"])
        container.write(self.config["state"], inputs["value"], self.config["key"] or None)
        return {"value": inputs["value"]}


class Read(BaseCanvasNode):
    node_type = "kit__read"
    input_ports = [PortDef("trigger", "ANY", optional=True)]
    output_ports = [PortDef("value", "ANY"), PortDef("length", "ANY")]
    default_config = {"container": "mem", "state": "s", "key": ""}

    async def forward(self, inputs, ctx):
        value = granted(ctx, self.config["container"]).read(self.config["state"], self.config["key"] or None)
        return {"value": value, "length": len(value) if isinstance(value, list) else -1}


class Evict(BaseCanvasNode):
    node_type = "kit__evict"
    input_ports = [PortDef("trigger", "ANY")]
    output_ports = [PortDef("value", "ANY")]
    default_config = {"key": ""}

    async def forward(self, inputs, ctx):
        ctx.containers["mem"].evict(self.config["key"])
        return {"value": inputs["trigger"]}


class Granted(BaseCanvasNode):
    node_type = "kit__granted"
    output_ports = [PortDef("count", "ANY")]

    async def forward(self, inputs, ctx):
        return {"count": sum(1 for name in ("mem", "other", "graph_state") if name in ctx.containers)}


class Emit(BaseCanvasNode):
    node_type = "kit__emit"
    input_ports = [PortDef("trigger", "ANY")]
    output_ports = [PortDef("value", "ANY")]
    default_config = {"signal": "done"}

    async def forward(self, inputs, ctx):
        ctx.emit_signal(self.config["signal"])
        return {"value": inputs["trigger"]}


class Tally(BaseCanvasNode):
    """Adds to a container that the nodeset owns."""

    node_type = "kit__tally"
    input_ports = [PortDef("value", "ANY")]
    output_ports = [PortDef("value", "ANY")]

    async def forward(self, inputs, ctx):
        ctx.containers["kit_tally"].write("total", inputs["value"])
        return {"value": inputs["value"]}


class TallyRead(BaseCanvasNode):
    node_type = "kit__tally_read"
    input_ports = [PortDef("trigger", "ANY")]
    output_ports = [PortDef("total", "ANY")]

    async def forward(self, inputs, ctx):
        return {"total": ctx.containers["kit_tally"].read("total")}


class Spawn(DynamicFireListNode):
    """Fires an adder per item and collapses the results as configured."""

    node_type = "kit__spawn"
    input_ports = [PortDef("items", "LIST[ANY]")]
    output_ports = [PortDef("sum", "ANY"), PortDef("own", "ANY"), PortDef("renamed", "ANY")]
    default_config = {"aggregator": {"kind": "passthrough_last"}, "spawner_outputs": {}}

    async def forward(self, inputs, ctx):
        specs = [
            FireSpec("kit__add", inputs={"a": item}, config={"plus": 100 * index}, label=f"child {index}")
            for index, item in enumerate(inputs["items"])
        ]
        return FireList(
            specs=specs, aggregator=self.config["aggregator"], spawner_outputs=self.config["spawner_outputs"]
        )

    def aggregate(self, child_results):
        return {"own": sum(result["sum"] for result in child_results)}


class KitNodeSet(BaseNodeSet):
    name = "kit"
    description = "Small parts for graphs"
    parallelism = "shared"

    def get_tools(self):
        return [
            tool()
            for tool in (
                Const, Text, Many, Turn, Apply, Add, Both, AtLeast, Digits, Names, Length, Count, Metrics, Fail, SoftFail,
                DeclaredError, Stop, Write, Read, Evict, Granted, Emit, Tally, TallyRead, Spawn,
            )
        ]  # fmt: skip

    def get_containers(self):
        total = StateDef(type="counter", value_type="ANY", config={"initial_value": 0}, lifetime="run")
        return [ContainerDef(id="kit_tally", label="Tally", states={"total": total})]
