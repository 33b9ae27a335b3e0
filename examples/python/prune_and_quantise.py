"""A small classifier, trained, pruned in vectors of 8 x 1 while it is trained on, and converted to sparse layers with weights of
8 bits: accuracy before and after. On the handwritten digits that scikit-learn ships. Wants PyTorch and scikit-learn.

    python prune_and_quantise.py [cpu | cuda] [EPOCHS]"""

import sys

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import mcgen.nn
from mcgen.prune import GradualPruning, convert

device = sys.argv[1] if len(sys.argv) > 1 else "cuda" if torch.cuda.is_available() else "cpu"
epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
torch.manual_seed(1)

digits = load_digits()
split = train_test_split(digits.data / 16, digits.target, test_size=0.3, random_state=1)
x_train, x_test = (torch.tensor(x, dtype=torch.float32, device=device) for x in split[:2])
y_train, y_test = (torch.tensor(y, device=device) for y in split[2:])
net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(),
                          torch.nn.Linear(256, 10)).to(device)


def accuracy(of, dtype=torch.float32):
    with torch.no_grad():
        return (of(x_test.to(dtype)).argmax(1) == y_test).float().mean().item()


def train(pruning=None):
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(x_train), device=device).split(64):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x_train[rows]), y_train[rows]).backward()
            optimizer.step()
            if pruning:
                pruning.step()


train()
print(f"dense                         {accuracy(net):.3f}")
steps = epochs * ((len(x_train) + 63) // 64)
train(GradualPruning(net, 0.8, steps=steps * 2 // 3, keep=["4"]))
print(f"80 % of the vectors zero      {accuracy(net):.3f}")

net = net.half()
reports = convert(net, x_test.half(), weight="s8", keep=["4"], faster_by=0.0)
print(f"sparse, weights of 8 bits     {accuracy(net, torch.float16):.3f}")
print(*reports, sep="\n")
assert accuracy(net, torch.float16) > 0.9
