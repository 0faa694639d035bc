"""What nodesets import to declare nodes and nodesets."""

from .bases import (
    BaseCanvasNode,
    BaseNodeSet,
    ConfigField,
    DisplayField,
    DynamicFireListNode,
    FireList,
    FireSpec,
    NodeUIConfig,
    PortDef,
    conda_env_python,
)

__all__ = [
    "BaseCanvasNode",
    "BaseNodeSet",
    "ConfigField",
    "DisplayField",
    "DynamicFireListNode",
    "FireList",
    "FireSpec",
    "NodeUIConfig",
    "PortDef",
    "conda_env_python",
]
