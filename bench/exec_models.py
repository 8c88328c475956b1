# SPDX-License-Identifier: Apache-2.0
"""Models that benches of moirai-exec are asked for by name, from MOIRAI_DATA.

What a bench calls models is a dictionary: the path of each name.
"""
import os


def read_arguments(parser, models):
    """What parser has, and names of models; all of them unless some are."""
    parser.add_argument("models", nargs="*", metavar="MODEL")
    arguments = parser.parse_args()
    for name in arguments.models:
        if name not in models:
            parser.error(f"{name} is none of {', '.join(models)}")
    arguments.models = arguments.models or list(models)
    return arguments


def find(name, models):
    """The model's path; None, and a line that says so, where it is not there."""
    path = os.path.join(os.environ.get("MOIRAI_DATA", ""), models[name])
    if os.path.exists(path):
        return path
    print(f"SKIP  {name}: MOIRAI_DATA has no {models[name]}")
    return None
