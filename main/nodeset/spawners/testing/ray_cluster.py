"""A Ray cluster of two nodes on this machine: prints its address and the second node's process; ends with its standard input."""

import json
import os
import sys

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster  # noqa: E402

node = {"num_cpus": 2, "object_store_memory": 80 << 20, "include_dashboard": False}
cluster = Cluster(initialize_head=True, connect=False, head_node_args=node)
second = cluster.add_node(**{name: value for name, value in node.items() if name != "include_dashboard"})
cluster.wait_for_nodes(2)
processes = second.all_processes
raylets = [info.process.pid for info in processes["raylet"]]
print(json.dumps({"address": cluster.address, "raylet": raylets[0]}), flush=True)
sys.stdin.read()
cluster.shutdown()
