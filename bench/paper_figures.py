# SPDX-License-Identifier: Apache-2.0
"""Published figures of the paper's instances, to compare measurements with."""

MODELS = (
    "swin-1.8b", "swin-6.6b", "swin-13b",
    "gpt3-330m", "gpt3-1.3b", "gpt3-2.7b", "gpt3-13b",
    "alphafold2-87m", "alphafold2-930m", "alphafold2-2.4b", "alphafold2-3.2b",
)
CLUSTERS = ("inter", "intra")
GRAPHS = ("original", "coarsened")

# Generation times of the paper's table: m-SCT in seconds, GETF and Moirai in
# minutes, for the original and for the coarsened graphs.
GENERATION = {
    "swin-1.8b": ((17.63, 2, 2.15), (15.24, 1.58, 1.64)),
    "swin-6.6b": ((64.32, 12.4, 13.28), (58.57, 9.72, 10.51)),
    "swin-13b": ((148.25, 19.75, 22.54), (142.9, 14.95, 15.46)),
    "gpt3-330m": ((15.92, 1.25, 1.38), (14.4, 58.04 / 60, 1.04)),
    "gpt3-1.3b": ((39.82, 8.65, 9.02), (37.39, 5.29, 6.88)),
    "gpt3-2.7b": ((54.17, 10.82, 11.48), (51.52, 7.84, 8.51)),
    "gpt3-13b": ((125.53, 15.7, 16.5), (117.48, 10.92, 11.07)),
    "alphafold2-87m": ((20.18, 1.78, 1.9), (18.62, 1.24, 1.38)),
    "alphafold2-930m": ((56.62, 11.05, 12.87), (53.71, 7.95, 8.75)),
    "alphafold2-2.4b": ((226.34, 22.5, 23.91), (215.48, 17.92, 18.02)),
    "alphafold2-3.2b": ((507.65, 35.75, 38.42), (485.35, 21.5, 22.18)),
}

# The best makespans in ms that were known before of the original graphs with a
# generator's costs: ports, tensors sent once, no memory; on inter and intra.
KNOWN_MS = {
    "swin-1.8b": (35.885, 23.635),
    "swin-6.6b": (88.072, 61.654),
    "swin-13b": (151.254, 110.376),
    "gpt3-330m": (53.572, 39.881),
    "gpt3-1.3b": (157.126, 132.811),
    "gpt3-2.7b": (297.982, 260.889),
    "gpt3-13b": (1281.556, 1195.155),
    "alphafold2-87m": (25.868, 16.008),
    "alphafold2-930m": (71.769, 47.270),
    "alphafold2-2.4b": (259.293, 189.217),
    "alphafold2-3.2b": (345.724, 252.289),
}


def paper_seconds(model, graph, method):
    """None for the methods that the paper does not have."""
    m_sct, getf, moirai = GENERATION[model][GRAPHS.index(graph)]
    return {"m-sct": m_sct, "getf": 60 * getf, "moirai": 60 * moirai}.get(
        method
    )


def known_ms(model, cluster, graph):
    if graph != "original":
        return None
    return KNOWN_MS[model][CLUSTERS.index(cluster)]
