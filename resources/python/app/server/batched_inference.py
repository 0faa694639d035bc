"""Names of the members of a batch: a batched node gets {_samples: [inputs, ...]} and returns {_outputs: [outputs, ...]}."""

from agentcanvas_host.nodeset_service import OUTPUTS as OUTPUTS_KEY
from agentcanvas_host.nodeset_service import SAMPLES as SAMPLES_KEY

__all__ = ["OUTPUTS_KEY", "SAMPLES_KEY"]
