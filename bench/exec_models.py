# SPDX-License-Identifier: Apache-2.0
"""Models of the benchmarks of moirai-exec by name, from MOIRAI_DATA.

models is a dictionary: name -> path.
"""
import os


def read_arguments(parser, models):
    """Parses the options of parser and names of models; all models if none is
    named."""
    parser.add_argument("models", nargs="*", metavar="MODEL")
    arguments = parser.parse_args()
    for name in arguments.models:
        if name not in models:
            parser.error(f"{name} is none of {', '.join(models)}")
    arguments.models = arguments.models or list(models)
    return arguments


def find(name, models):
    """Returns the model's path; None, and prints a line, if it does not exist.
    """
    path = os.path.join(os.environ.get("MOIRAI_DATA", ""), models[name])
    if os.path.exists(path):
        return path
    print(f"SKIP  {name}: MOIRAI_DATA has no {models[name]}")
    return None
