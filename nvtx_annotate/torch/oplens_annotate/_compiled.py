"""What torch.compile needs to be left alone, and what it hides from the observer: launches of Triton
kernels and CUDA graphs."""


def _find_is_compiling():
    """The function that Dynamo takes for True where it traces, so that a hook vanishes from the graph."""
    import torch

    for path in ("compiler.is_compiling", "_utils.is_compiling", "_dynamo.is_compiling"):
        found = torch
        for name in path.split("."):
            # Not hasattr(torch, "_dynamo"): that would import it.
            found = vars(found).get(name) if found is not None else None
        if callable(found):
            return found
    return lambda: False


is_compiling = _find_is_compiling()
