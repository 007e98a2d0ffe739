"""Plugins: typed operations with their schemas, laws and plans, admitted to a registry as a whole or not at all."""

from opfield.core.cancellation import Cancellation, CancelledError
from opfield.core.operation import Cost, Effect, OperationDescriptor
from opfield.plugin.codec import ArrowCodec, Codec, JsonCodec, TypeCodec
from opfield.plugin.installed import installed_registry
from opfield.plugin.operation import Context, Operation, plan_of
from opfield.plugin.plugin import Manifest, Plugin, Schema
from opfield.plugin.registry import Registry
from opfield.plugin.running import Terms

__all__ = [
    "ArrowCodec",
    "Cancellation",
    "CancelledError",
    "Codec",
    "Context",
    "Cost",
    "Effect",
    "JsonCodec",
    "Manifest",
    "Operation",
    "OperationDescriptor",
    "Plugin",
    "Registry",
    "Schema",
    "Terms",
    "TypeCodec",
    "installed_registry",
    "plan_of",
]
