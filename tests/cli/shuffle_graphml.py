# SPDX-License-Identifier: Apache-2.0
"""Permutes a GraphML file: the same graph, in another order.

    shuffle_graphml.py SEED IN.graphml OUT.graphml

Keys, nodes and edges of a GraphML file come in an order that the seed decides,
nodes and edges mixed; so do the data of each.
"""
import random
import sys
import xml.etree.ElementTree as xml


def shuffle(element, chance):
    children = list(element)
    chance.shuffle(children)
    element[:] = children


def main():
    seed, source, target = sys.argv[1:]
    chance = random.Random(int(seed))
    tree = xml.parse(source)
    root = tree.getroot()
    space = root.tag.partition("}")[0] + "}" if "}" in root.tag else ""
    if space:
        xml.register_namespace("", space[1:-1])
    # Keys are declared before they are used: only among each other.
    keys = root.findall(space + "key")
    chance.shuffle(keys)
    root[:] = keys + [c for c in root if c.tag != space + "key"]
    for graph in root.iter(space + "graph"):
        shuffle(graph, chance)
        for item in graph:
            shuffle(item, chance)
    tree.write(target, encoding="utf-8", xml_declaration=True)


main()
