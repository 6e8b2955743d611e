"""What PyTorch's own execution trace does not survive: there is none beside these programs. PyTorch 2.13 ends with
a segmentation fault at tensors in compressed rows."""
import torch

from common import program


@program
def sparse_rows():
    rows = torch.tensor([[0., 1.], [2., 0.], [0., 3.]]).to_sparse_csr()
    rows @ torch.rand(2, 2)
    rows.values().mul(2)
