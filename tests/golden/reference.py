"""The suite's mathematics in PyTorch, in float64, and its error measure.

Written from the definitions rather than the C sources, so that the two are independent. As in the suite, biases,
gains and the loss are one-row matrices.
"""

from dataclasses import dataclass, fields
from math import sqrt
from typing import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda x: x,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "relu": F.relu,
}

LIMIT_OUTPUT, LIMIT_GRADIENT = 1e-5, 1e-4  # for float32; ten times larger for a single row

# Dropout of a matrix, whose site has this name, at these positions (None: in the order of its entries).
Drop = Callable[..., Tensor]
Attend = Callable[[str, Tensor], Tensor]  # by the parameters of this name


def keep(site: str, x: Tensor, position: np.ndarray | None = None) -> Tensor:
    return x


@dataclass(frozen=True)
class Structure:
    """A batch: graph g has the nodes graphs[g] .. graphs[g + 1] - 1, and edge e goes from sender[e] to
    receiver[e]. Edges are a multiset: what occurs twice counts twice.
    """

    graphs: Tensor
    receiver: Tensor
    sender: Tensor

    @property
    def sizes(self) -> list[int]:
        return self.graphs.diff().tolist()

    @property
    def graph_of(self) -> Tensor:
        """The graph of each node."""
        return torch.arange(len(self.sizes)).repeat_interleave(self.graphs.diff())


def structure(graphs: np.ndarray, row_ptr: np.ndarray, col: np.ndarray) -> Structure:
    """From CSR: the senders to node i are col[row_ptr[i]] .. col[row_ptr[i + 1] - 1]."""
    row_ptr, col = row_ptr.flatten(), col.flatten()
    nodes = int(graphs.flatten()[-1])
    if len(row_ptr) != nodes + 1 or row_ptr[0] != 0 or row_ptr[-1] != len(col):
        raise ValueError(f"the adjacency does not have {nodes} nodes")
    receiver = np.repeat(np.arange(nodes), np.diff(row_ptr))
    return Structure(*(torch.tensor(a.flatten(), dtype=torch.int64) for a in (graphs, receiver, col)))


# --- layers: p holds the parameters by name, `name` is the layer's


def linear(p: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    return x @ p[name + "weight"].T + p[name + "bias"]


def mlp(p: dict[str, Tensor], name: str, x: Tensor, act: str, drop: Drop = keep) -> Tensor:
    h = drop(name + "dropout_up", ACTIVATIONS[act](linear(p, name + "up.", x)))
    return drop(name + "dropout_down", linear(p, name + "down.", h))


def sum_rows(rows: Tensor, to: Tensor, count: int) -> Tensor:
    """Row e of `rows` is added to row to[e] of `count` rows of zeros."""
    return rows.new_zeros(count, *rows.shape[1:]).index_add(0, to, rows)


def aggregate(x: Tensor, s: Structure) -> Tensor:
    """Sums over each node's in-neighbours."""
    return sum_rows(x[s.sender], s.receiver, len(x))


def gin(p: dict[str, Tensor], name: str, x: Tensor, s: Structure, act: str) -> Tensor:
    return mlp(p, name, x + aggregate(x, s), act)


def with_one_loop(s: Structure, count: int) -> tuple[Tensor, Tensor]:
    """Senders and receivers of the edges without loops, and then of one loop at each of `count` nodes."""
    others, every = s.sender != s.receiver, torch.arange(count)
    return torch.cat([s.sender[others], every]), torch.cat([s.receiver[others], every])


def gcn(p: dict[str, Tensor], name: str, x: Tensor, s: Structure) -> Tensor:
    sender, receiver = with_one_loop(s, len(x))
    scale = torch.bincount(receiver, minlength=len(x)).to(x.dtype).rsqrt()
    weight = (scale[sender] * scale[receiver])[:, None]
    product = x @ p[name + "linear.weight"].T
    return sum_rows(weight * product[sender], receiver, len(x)) + p[name + "linear.bias"]


def gatv2(
    p: dict[str, Tensor], name: str, x: Tensor, s: Structure, heads: int, e: Tensor | None = None
) -> Tensor:
    """Row n of e, if there is one, belongs to edge n of s; that of a loop is the mean of those to its node."""
    sender, receiver = with_one_loop(s, len(x))
    left, right = linear(p, name + "lr.", x).chunk(2, dim=1)
    z = right[receiver] + left[sender]
    if e is not None:
        others = s.sender != s.receiver
        to, rows = s.receiver[others], e[others]
        count = torch.bincount(to, minlength=len(x)).clamp(min=1)[:, None]
        rows = torch.cat([rows, sum_rows(rows, to, len(x)) / count])
        z = z + rows @ p[name + "edge.weight"].T
    z = F.leaky_relu(z, 0.2)
    scores = (z * p[name + "att"]).unflatten(1, (heads, -1)).sum(2)
    share = edge_softmax(scores, receiver, len(x))
    values = left.unflatten(1, (heads, -1))[sender]
    return sum_rows(share[:, :, None] * values, receiver, len(x)).flatten(1) + p[name + "bias"]


def pna(p: dict[str, Tensor], name: str, x: Tensor, s: Structure, e: Tensor | None = None) -> Tensor:
    """With the aggregations mean, max and sum, and the identity as scaler. Row n of e: that of edge n of s."""
    ends = [x[s.receiver], x[s.sender]] + ([] if e is None else [linear(p, name + "edge.", e)])
    message = linear(p, name + "pre.", torch.cat(ends, dim=1))
    total = sum_rows(message, s.receiver, len(x))
    mean = total / torch.bincount(s.receiver, minlength=len(x)).clamp(min=1)[:, None]
    to = s.receiver[:, None].expand_as(message)
    largest = torch.zeros_like(x).scatter_reduce(0, to, message, "amax", include_self=False)
    return linear(p, name + "out.", linear(p, name + "post.", torch.cat([x, mean, largest, total], dim=1)))


def by_receiver(s: Structure) -> Structure:
    """The same with its edges in the order of their receivers, then of their senders, as in a CSR."""
    order = torch.argsort(s.receiver * int(s.graphs[-1]) + s.sender, stable=True)
    return Structure(s.graphs, s.receiver[order], s.sender[order])


def edge_weights(p: dict[str, Tensor], name: str, place: Tensor | None, s: Structure, act: str) -> Tensor | float:
    """ESLapPE, from the encoding of each node; 1 without."""
    if place is None:
        return 1.0
    distance = ((place[s.receiver] - place[s.sender]) ** 2).sum(1, keepdim=True)
    return torch.sigmoid(linear(p, name + "down.", ACTIVATIONS[act](linear(p, name + "up.", distance))))


def gine(
    p: dict[str, Tensor], name: str, x: Tensor, e: Tensor, s: Structure, act: str, place: Tensor | None = None
) -> Tensor:
    """Row n of e belongs to edge n of s."""
    message = F.relu(x[s.sender] + e) * edge_weights(p, name + "weight.", place, s, "relu")
    return mlp(p, name, x + sum_rows(message, s.receiver, len(x)), act)


def gatedgcn(
    p: dict[str, Tensor],
    name: str,
    x: Tensor,
    e: Tensor,
    s: Structure,
    act: str,
    eps: float,
    drop: Drop = keep,
    place: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """New rows of nodes and edges."""
    own, sent, receiver, sender = linear(p, name + "nodes.", x).chunk(4, dim=1)
    h = receiver[s.receiver] + sender[s.sender] + linear(p, name + "edge.", e)
    gate = torch.sigmoid(h) * edge_weights(p, name + "weight.", place, s, act)
    total = sum_rows(gate * sent[s.sender], s.receiver, len(x))
    m = own + total / (sum_rows(gate, s.receiver, len(x)) + 1e-6)
    added = [
        drop(f"{name}dropout_{part}", ACTIVATIONS[act](norm(p, f"{name}norm_{part}.", "batch", rows, s, eps)))
        for part, rows in (("node", m), ("edge", h))
    ]
    return x + added[0], e + added[1]


def normalise(x: Tensor, mean: Tensor, variance: Tensor, eps: float) -> Tensor:
    return (x - mean) / torch.sqrt(variance + eps)


def layer_norm(x: Tensor, s: Structure, eps: float) -> Tensor:
    return F.layer_norm(x, x.shape[1:], eps=eps)


def batch_norm(x: Tensor, s: Structure, eps: float) -> Tensor:
    """With the batch's statistics, as in training."""
    return normalise(x, x.mean(0), x.var(0, correction=0), eps)


def graph_norm(x: Tensor, s: Structure, eps: float) -> Tensor:
    return torch.cat([normalise(g, g.mean(), g.var(correction=0), eps) for g in x.split(s.sizes)])


NORMS = {"layer": layer_norm, "batch": batch_norm, "graph": graph_norm}


def norm(p: dict[str, Tensor], name: str, kind: str, x: Tensor, s: Structure, eps: float) -> Tensor:
    if kind == "none":
        return x
    return NORMS[kind](x, s, eps) * p[name + "weight"] + p[name + "bias"]


def dense_attention(
    q: Tensor, k: Tensor, v: Tensor, s: Structure, drop: Drop = keep, site: str = "", bias: Tensor | None = None
) -> Tensor:
    """N x H x dh: the nodes of a graph attend to one another. Pairs of the bias have rows, graph after graph.

    The probabilities of all graphs are a matrix with a row for each head: graph after graph, each an n x n block.
    """
    parts, before, pairs = [], 0, sum(n * n for n in s.sizes)
    row = np.arange(q.shape[1])[:, None, None] * pairs
    for of_graph in zip(*(t.split(s.sizes) for t in (q, k, v))):
        query, key, value = (t.transpose(0, 1) for t in of_graph)
        scores, n = query @ key.transpose(1, 2) / sqrt(q.shape[2]), query.shape[1]
        if bias is not None:
            scores = scores + bias[before : before + n * n].T.reshape(-1, n, n)
        share = scores.softmax(dim=2)
        share = drop(site, share, row + before + np.arange(n * n).reshape(n, n))
        parts.append((share @ value).transpose(0, 1))
        before += n * n
    return torch.cat(parts)


def edge_softmax(scores: Tensor, receiver: Tensor, count: int) -> Tensor:
    """Over the edges to each of `count` nodes; a row per edge."""
    to = receiver[:, None].expand_as(scores)
    largest = scores.new_full((count, scores.shape[1]), -torch.inf)
    largest = largest.scatter_reduce(0, to, scores.detach(), "amax")
    weight = torch.exp(scores - largest[receiver])
    return weight / sum_rows(weight, receiver, count)[receiver]


def sparse_attention(q: Tensor, k: Tensor, v: Tensor, s: Structure, drop: Drop = keep, site: str = "") -> Tensor:
    """N x H x dh: a node attends to its in-neighbours; zero without any.

    The probabilities are a matrix with a row for each edge, by receiver and then by sender.
    """
    scores = (q[s.receiver] * k[s.sender]).sum(2) / sqrt(q.shape[2])
    share = edge_softmax(scores, s.receiver, len(q))
    rank = np.empty(len(share), np.int64)
    rank[np.lexsort((s.sender, s.receiver))] = np.arange(len(share))
    share = drop(site, share, rank[:, None] * q.shape[1] + np.arange(q.shape[1]))
    return sum_rows(share[:, :, None] * v[s.sender], s.receiver, len(q))


@dataclass(frozen=True)
class Expanded:
    """The edges of Exphormer in the authors' order: those of the graph, of its expander, and of global nodes, node v
    of graph g being row N + v B + g. Row n of `factor` names the features of edge n: of an edge of the graph its own,
    then those of the expander, to each global node, and from each.
    """

    receiver: Tensor
    sender: Tensor
    factor: Tensor


def expand(s: Structure, sender: Tensor, receiver: Tensor, count: int) -> Expanded:
    """With `count` global nodes in each graph, and the edges of an expander."""
    nodes, edges = torch.arange(int(s.graphs[-1])), len(s.sender)
    ends = [(s.sender, s.receiver, torch.arange(edges)), (sender, receiver, torch.full_like(sender, edges))]
    for v in range(count):
        rows = s.graph_of + len(nodes) + v * len(s.sizes)
        ends.append((nodes, rows, torch.full_like(nodes, edges + 1 + v)))
        ends.append((rows, nodes, torch.full_like(nodes, edges + 1 + count + v)))
    sender, receiver, factor = (torch.cat(column) for column in zip(*ends))
    return Expanded(receiver, sender, factor)


def exphormer(
    p: dict[str, Tensor], name: str, x: Tensor, features: Tensor, s: Expanded, heads: int
) -> Tensor:
    """ExphormerAttention of github.com/hamed1375/Exphormer; global nodes have the last rows of x."""
    q, k, v = (t.unflatten(1, (heads, -1)) for t in (x @ p[name + "qkv.weight"].T).chunk(3, dim=1))
    c = (features @ p[name + "edge.weight"].T)[s.factor].unflatten(1, (heads, -1))
    score = k[s.sender] * q[s.receiver] / sqrt(q.shape[2]) * c
    score = torch.exp(score.sum(2, keepdim=True).clamp(-5, 5))
    total = sum_rows(v[s.sender] * score, s.receiver, len(x))
    return (total / (sum_rows(score, s.receiver, len(x)) + 1e-6)).flatten(1)


def expander_attention(p: dict[str, Tensor], e: Tensor, s: Expanded, graphs: int, heads: int) -> Attend:
    """For all layers of a model, each of which reads the global nodes of the one before it."""
    features, rest = torch.cat([e, p["expander.edges"]]), p["expander.globals"].repeat_interleave(graphs, dim=0)

    def attend(name: str, x: Tensor) -> Tensor:
        nonlocal rest
        y = exphormer(p, name, torch.cat([x, rest]), features, s, heads)
        rest = y[len(x) :]
        return y[: len(x)]

    return attend


HEAD_WIDTH, HEAD_FEATURES = 64, 266  # of linear attention; the latter is int(64 ln 64)


def performer_features(x: Tensor, w: Tensor, query: bool) -> Tensor:
    """Of one graph, H x n x 64 -> H x n x 266: softmax_kernel of performer-pytorch, whose maxima are detached."""
    z = x * HEAD_WIDTH**-0.25
    u = z @ w.T
    largest = u.amax(dim=2, keepdim=True) if query else u.amax(dim=(1, 2), keepdim=True)
    return len(w) ** -0.5 * (torch.exp(u - (z**2).sum(2, keepdim=True) / 2 - largest.detach()) + 1e-4)


def relu_features(x: Tensor, w: Tensor, query: bool) -> Tensor:
    """generalized_kernel of torch_geometric.nn.attention.PerformerAttention."""
    return F.relu(x @ w.T) + 1e-3


FEATURE_MAPS = {"performer": performer_features, "performer-relu": relu_features}


def linear_attention(kind: str, q: Tensor, k: Tensor, v: Tensor, w: Tensor, s: Structure) -> Tensor:
    """N x H x 64, graph by graph."""
    parts = []
    for of_graph in zip(*(t.split(s.sizes) for t in (q, k, v))):
        query, key, value = (t.transpose(0, 1) for t in of_graph)
        phi_q, phi_k = (FEATURE_MAPS[kind](x, w, x is query) for x in (query, key))
        share = phi_q @ phi_k.sum(1, keepdim=True).transpose(1, 2)
        parts.append((phi_q @ (phi_k.transpose(1, 2) @ value) / share).transpose(0, 1))
    return torch.cat(parts)


ATTENTIONS = {"dense": dense_attention, "unfused": dense_attention, "sparse": sparse_attention}


def attention(
    p: dict[str, Tensor],
    name: str,
    kind: str,
    x: Tensor,
    s: Structure,
    heads: int,
    drop: Drop = keep,
    bias: Tensor | None = None,
) -> Tensor:
    """Linear attention reads its projection from p[name + "projection"], and drops entries of its output."""
    if kind in FEATURE_MAPS:
        qkv = (x @ p[name + "qkv.weight"].T).chunk(3, dim=1)
        y = linear_attention(kind, *(t.unflatten(1, (heads, -1)) for t in qkv), p[name + "projection"], s)
        return drop(name + "dropout", linear(p, name + "out.", y.flatten(1)))
    qkv = linear(p, name + "qkv.", x).chunk(3, dim=1)
    with_bias = {} if bias is None else {"bias": bias}
    y = ATTENTIONS[kind](*(t.unflatten(1, (heads, -1)) for t in qkv), s, drop, name + "dropout", **with_bias)
    return linear(p, name + "out.", y.flatten(1))


POOLS = {"mean": lambda g: g.mean(0), "sum": lambda g: g.sum(0), "max": lambda g: g.amax(0), "token": lambda g: g[0]}


def pool(kind: str, x: Tensor, s: Structure) -> Tensor:
    return torch.stack([POOLS[kind](g) for g in x.split(s.sizes)])


def embedding(p: dict[str, Tensor], name: str, types: Tensor) -> Tensor:
    """The sum of the rows of a stacked table that a row of types names."""
    return F.embedding(types, p[name + "weight"]).sum(1)


def embed(p: dict[str, Tensor], name: str, raw: Tensor, s: Structure, eps: float) -> Tensor:
    """Types look up rows of stacked tables; numbers go through a linear layer, or what GraphGym calls pre_mp."""
    if not raw.is_floating_point():
        return embedding(p, name, raw)
    if name + "bias" in p:
        return linear(p, name, raw)
    return F.normalize(F.relu(norm(p, name + "norm.", "batch", raw @ p[name + "weight"].T, s, eps)))


def head_rows(p: dict[str, Tensor], x: Tensor, act: str) -> tuple[Tensor, str]:
    """The input of the head's last layer, and the name of that layer."""
    if "head.weight" in p:
        return x, "head."
    for name in ("half", "quarter", *(f"hidden{n}" for n in range(1, 9))):
        if f"head.{name}.weight" in p:
            x = ACTIVATIONS[act](linear(p, f"head.{name}.", x))
            x = F.normalize(x) if name.startswith("hidden") else x
    return x, "head.out."


def halving_head(p: dict[str, Tensor], name: str, x: Tensor, act: str) -> Tensor:
    half = ACTIVATIONS[act](linear(p, name + "half.", x))
    return linear(p, name + "out.", ACTIVATIONS[act](linear(p, name + "quarter.", half)))


def mlp_head(p: dict[str, Tensor], name: str, x: Tensor, depth: int, act: str) -> Tensor:
    for layer in range(1, depth):
        x = F.normalize(ACTIVATIONS[act](linear(p, f"{name}hidden{layer}.", x)))
    return linear(p, name + "out.", x)


def pair_products(x: Tensor, pairs: Tensor) -> Tensor:
    """The scalar product of the rows of two nodes, for each pair."""
    return (x[pairs[:, 0]] * x[pairs[:, 1]]).sum(1, keepdim=True)


def mse(y: Tensor, target: Tensor) -> Tensor:
    return ((y - target) ** 2).mean().reshape(1, 1)


def mae(y: Tensor, target: Tensor) -> Tensor:
    return F.l1_loss(y, target).reshape(1, 1)


def cross_entropy(y: Tensor, label: Tensor) -> Tensor:
    """The mean over nodes of -log softmax(y)[label]."""
    return F.cross_entropy(y, label.flatten()).reshape(1, 1)


def binary_cross_entropy(y: Tensor, label: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(y, label.to(y.dtype)).reshape(1, 1)


# --- Graphormer (graphormer/modules of github.com/microsoft/Graphormer)


def paths_of_graph(adjacency: np.ndarray, hops: int) -> tuple[np.ndarray, np.ndarray]:
    """The distances of all pairs, -1 without a path, and the first edges of a path, then -1. adjacency[k, j]: the
    edge from k to j, -1 without. Of equal paths it is the one with the smallest predecessors.
    """
    n = len(adjacency)
    distance, step = np.full((n, n), -1), np.eye(n, dtype=bool)
    for d in range(n):
        distance[step & (distance < 0)] = d
        step = (step.astype(np.int64) @ (adjacency >= 0)) > 0
    before = np.full((n, n), -1)
    for k in reversed(range(n)):
        reached = (distance[:, [k]] >= 0) & (distance == distance[:, [k]] + 1)
        before[reached & (adjacency[k] >= 0)] = k
    path = np.full((n, n, hops), -1)
    for i, j in np.ndindex(n, n):
        node = j
        for hop in reversed(range(distance[i, j])):
            if hop < hops:
                path[i, j, hop] = adjacency[before[i, node], node]
            node = before[i, node]
    return distance, path


def with_tokens(s: Structure) -> Structure:
    """A row more for each graph, before its nodes; edges are those of the nodes alone."""
    return Structure(s.graphs + torch.arange(len(s.graphs)), s.receiver, s.sender)


def pair_inputs(s: Structure, types: Tensor, buckets: int, hops: int, token: bool) -> tuple[Tensor, Tensor]:
    """For each pair of each graph, with its token, a row of the table of distances, and the types of the edges of
    its path, P x hops x tables; -1: none. types: those of each edge of s.
    """
    rows, along = [], []
    for first, end in zip(s.graphs[:-1].tolist(), s.graphs[1:].tolist()):
        adjacency = np.full((end - first, end - first), -1)
        for e in reversed(((s.receiver >= first) & (s.receiver < end)).nonzero().flatten().tolist()):
            adjacency[s.sender[e] - first, s.receiver[e] - first] = e
        distance, path = paths_of_graph(adjacency, hops)
        row = np.where(distance < 0, buckets, np.minimum(distance, buckets - 1))
        pad = ((int(token), 0), (int(token), 0))
        rows.append(np.pad(row, pad, constant_values=buckets + 1).flatten())
        along.append(np.pad(path, (*pad, (0, 0)), constant_values=-1).reshape(-1, hops))
    edge = torch.tensor(np.concatenate(along))
    return torch.tensor(np.concatenate(rows)), torch.where(edge[:, :, None] >= 0, types[edge], -1)


def pair_bias(p: dict[str, Tensor], name: str, row: Tensor, types: Tensor | None) -> Tensor:
    """GraphAttnBias: P x heads. The product of hop t is W[t] of edge_dis_encoder. The mean of the types of an edge,
    and the division by the hops, is a factor of float32, as an input of the model is.
    """
    bias, heads = p[name + "weight"][row], p[name + "weight"].shape[1]
    if types is None or not types.shape[1]:
        return bias
    there = (types >= 0).to(bias.dtype)[:, :, :, None]
    edge = (F.embedding(types.clamp(min=0), p[name + "types"]) * there).sum(2)
    w = p[name + "hops"].view(heads, -1, heads).permute(1, 2, 0)[: types.shape[1]]
    terms = types.shape[2] * (types[:, :, 0] >= 0).sum(1, keepdim=True).clamp(min=1)
    return bias + torch.bmm(edge.transpose(0, 1), w).sum(0) * (1 / terms).float().to(bias.dtype)


def add_tokens(p: dict[str, Tensor], x: Tensor, s: Structure) -> Tensor:
    return torch.cat([part for rows in x.split(s.sizes) for part in (p["token.weight"].T, rows)])


def graphormer(
    p: dict[str, Tensor], m: "Model", x: Tensor, s: Structure, bias: Tensor | None, masks: "Masks"
) -> Tensor:
    """GraphormerGraphEncoder with pre-norm, and its last norm."""
    drop = masks.drop(m.dropout)
    x = drop("dropout_input", x)
    for index in range(1, m.layers + 1):
        name = f"layer{index}."
        h = norm(p, name + "norm_attention.", m.norm, x, s, m.eps)
        h = attention(p, name + "attention.", m.attention, h, s, m.heads, masks.drop(m.attention_dropout), bias)
        x = x + drop(name + "dropout_attention", h)
        h = norm(p, name + "norm_ffn.", m.norm, x, s, m.eps)
        x = x + drop(name + "dropout_ffn", mlp(p, name + "ffn.", h, m.act))
    return norm(p, "norm.", m.norm, x, s, m.eps)


# --- encoders


def rwse_encoder(p: dict[str, Tensor], name: str, values: Tensor, s: Structure, eps: float) -> Tensor:
    return linear(p, name + "linear.", norm(p, name + "norm.", "batch", values, s, eps))


def pairs_of(kind: str, k: int, nodes: int) -> int:
    """The number of eigenpairs of a graph of this size."""
    return min(k, nodes - 1 if kind == "lap-pyg" else nodes)


def lap_encoder(
    p: dict[str, Tensor], name: str, kind: str, vectors: Tensor, eigenvalues: Tensor, s: Structure
) -> Tensor:
    """Encodes all K pairs of each node and masks those that its graph does not have."""
    k = vectors.shape[1]
    z = torch.stack([vectors, eigenvalues[s.graph_of]], dim=2)
    w, b = ([p[f"{name}{layer}.{part}"] for layer in ("up", "down")] for part in ("weight", "bias"))
    encoded = F.relu(F.relu(z @ w[0].T + b[0]) @ w[1].T + b[1])
    there = torch.tensor([pairs_of(kind, k, n) for n in s.sizes])[s.graph_of]
    return (encoded * (torch.arange(k) < there[:, None])[:, :, None]).sum(1)


def encode(p: dict[str, Tensor], inputs: dict[str, Tensor], s: Structure, eps: float) -> Tensor | None:
    """The columns of the layers' input that an encoder fills, from a program's inputs; None if there are none."""
    for name in ("encoding.walks", "encoding.heat"):
        if name in inputs:
            return rwse_encoder(p, "encoder.", inputs[name], s, eps)
    if "encoding.pairs" not in inputs:
        return None
    h = F.relu(linear(p, "encoder.down.", F.relu(linear(p, "encoder.up.", inputs["encoding.pairs"]))))
    counts = inputs["encoding.bounds"].flatten().diff()
    return sum_rows(h, torch.arange(len(counts)).repeat_interleave(counts), len(counts))


# --- models: m is a `Model`


@dataclass(frozen=True)
class Model:
    attention: str
    mpnn: str
    layers: int
    heads: int
    act: str
    norm: str = "layer"
    pool: str = "mean"
    task: str = "graph"
    eps: float = 1e-5
    dropout: float = 0.0
    attention_dropout: float = 0.0
    loss: str = "mse"
    name: str = "gps"


PRESETS = {
    "graph_transformer": ("dense", "none"),
    "graphormer": ("dense", "none"),
    "sparse_transformer": ("sparse", "none"),
    "gin": ("none", "gin"),
    "gps": ("dense", "gin"),
    "gps_sparse": ("sparse", "gin"),
}
EDGE_STATE = ("gine", "gatedgcn", "gatv2-edge", "pna-edge")  # message passing that reads a state of the edges


def model_of(entry: dict) -> Model:
    """From the entry `model` of a dump's config.json; defaults are those of the model."""
    attention_kind, mpnn = PRESETS.get(entry["name"], (None, None))
    known = {"attention": attention_kind, "mpnn": mpnn} | {k: v for k, v in entry.items() if v is not None}
    m = Model(**{field.name: known[field.name] for field in fields(Model) if field.name in known})
    if m.attention == m.mpnn == "none":
        raise ValueError("a layer needs attention or message passing")
    return m


@dataclass(frozen=True)
class Masks:
    """The masks of dropout in a step, from 0 (kernels/mask.h)."""

    seed: int
    step: int

    def drop(self, p: float) -> Drop:
        """Dropout with this probability: what is kept is divided by 1 - p."""

        def dropped(site: str, x: Tensor, position: np.ndarray | None = None) -> Tensor:
            at = np.arange(x.numel()).reshape(x.shape) if position is None else position
            numbers = random_halves(random_bits(self.seed, site, self.step + 1)[-1:], at.astype(np.uint64))
            return torch.where(torch.tensor(numbers >= int(p * 2**32)), x / (1 - p), 0.0)

        return dropped if p > 0 else keep


def message_passing(
    p: dict[str, Tensor],
    name: str,
    m: Model,
    x: Tensor,
    s: Structure,
    e: Tensor | None = None,
    place: Tensor | None = None,
) -> Tensor:
    if m.mpnn == "gin":
        return gin(p, name, x, s, m.act)
    if m.mpnn == "gcn":
        return gcn(p, name, x, s)
    if m.mpnn == "gine":
        return gine(p, name, x, e, s, m.act, place)
    edges = e if m.mpnn.endswith("-edge") else None
    if m.mpnn.startswith("gatv2"):
        return gatv2(p, name, x, s, m.heads, edges)
    return pna(p, name, x, s, edges)


def unread_parameters(m: Model) -> set[str]:
    """Those that no result depends on, which have no gradient: no layer reads the edges of the last one."""
    norm = f"layer{m.layers}.gatedgcn.norm_edge."
    return {norm + part for part in ("weight", "bias")} if m.mpnn == "gatedgcn" else set()


def local_branch(
    p: dict[str, Tensor],
    name: str,
    m: Model,
    x: Tensor,
    s: Structure,
    e: Tensor | None,
    drop: Drop,
    place: Tensor | None,
) -> tuple[Tensor, Tensor | None]:
    """What norm_local normalises, and the state of the edges."""
    if m.mpnn == "gatedgcn":
        return gatedgcn(p, name + "gatedgcn.", x, e, s, m.act, m.eps, drop, place)
    y = message_passing(p, f"{name}{m.mpnn}.", m, x, s, e, place)
    return x + drop(name + "dropout_local", y), e


def layer(
    p: dict[str, Tensor],
    name: str,
    m: Model,
    x: Tensor,
    s: Structure,
    masks: Masks = Masks(0, 0),
    e: Tensor | None = None,
    place: Tensor | None = None,
    bias: Tensor | None = None,
    attend: Attend | None = None,
) -> tuple[Tensor, Tensor | None]:
    """New rows of the nodes, and the state of the edges, if the model has one. `attend`: instead of `attention`."""
    drop = masks.drop(m.dropout)

    def norm_of(place: str, x: Tensor) -> Tensor:
        return norm(p, f"{name}{place}.", m.norm, x, s, m.eps)

    branches = []
    if m.mpnn != "none":
        local, e = local_branch(p, name, m, x, s, e, drop, place)
        branches.append(norm_of("norm_local", local))
    if m.attention == "none":
        return branches[0], e
    if attend:
        y = attend(name + "attention.", x)
    else:
        y = attention(p, name + "attention.", m.attention, x, s, m.heads, masks.drop(m.attention_dropout), bias)
    branches.append(norm_of("norm_attention", x + drop(name + "dropout_attention", y)))
    h = torch.stack(branches).sum(0)
    return norm_of("norm_out", h + mlp(p, name + "ffn.", h, m.act, drop)), e


def head_input(
    p: dict[str, Tensor],
    m: Model,
    features: Tensor,
    s: Structure,
    masks: Masks = Masks(0, 0),
    edge_features: Tensor | None = None,
    encoding: dict[str, Tensor] | None = None,
    pairs: tuple[Tensor, Tensor | None] | None = None,
    expanded: Expanded | None = None,
) -> Tensor:
    """The head's input for each graph or node, depending on the task. `pairs`: as of pair_inputs, with a bias;
    `expanded`: with the attention of Exphormer."""
    x, encoding = embed(p, "input.", features, s, m.eps), encoding or {}
    if "degrees.weight" in p:
        degree = [torch.bincount(ends, minlength=len(x)) for ends in (s.receiver, s.sender)]
        first, second = p["degrees.weight"].chunk(2)
        x = x + first[degree[0]] + second[degree[1]]
    if (columns := encode(p, encoding, s, m.eps)) is not None:
        x = torch.cat([x, columns], dim=1)
    place = linear(p, "encoder.", encoding["encoding.vectors"]) if "encoding.vectors" in encoding else None
    e = embed(p, "edge_encoder.", edge_features, s, m.eps) if m.mpnn in EDGE_STATE else None
    bias = pair_bias(p, "bias.", *pairs) if pairs else None
    if "token.weight" in p:
        x, s = add_tokens(p, x, s), with_tokens(s)
    attend = expander_attention(p, e, expanded, len(s.sizes), m.heads) if expanded else None
    if m.name == "graphormer":
        x = graphormer(p, m, x, s, bias, masks)
    else:
        for index in range(1, m.layers + 1):
            x, e = layer(p, f"layer{index}.", m, x, s, masks, e, place, bias, attend)
    return pool(m.pool, x, s) if m.task == "graph" else x


def run_model(
    p: dict[str, Tensor],
    m: Model,
    features: Tensor,
    s: Structure,
    masks: Masks = Masks(0, 0),
    edge_features: Tensor | None = None,
    pairs: tuple[Tensor, Tensor | None] | None = None,
    expanded: Expanded | None = None,
) -> Tensor:
    """One row per graph or node."""
    return linear(p, "head.", head_input(p, m, features, s, masks, edge_features, None, pairs, expanded))


# --- random numbers (kernels/rng.h, kernels/ref/uniform.c)


def _mix(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _key(seed: int, name: str) -> np.ndarray:
    fnv = 0xCBF29CE484222325
    for byte in name.encode():
        fnv = (fnv ^ byte) * 0x100000001B3 % 2**64
    return _mix(np.array([fnv], np.uint64) ^ _mix(np.array([seed], np.uint64)))


def random_bits(seed: int, name: str, count: int) -> np.ndarray:
    """The first 64-bit words of a name's stream."""
    counter = np.arange(1, count + 1, dtype=np.uint64)
    return _mix(_key(seed, name) + counter * np.uint64(0x9E3779B97F4A7C15))


def random_halves(key: np.ndarray, position: np.ndarray) -> np.ndarray:
    """The number at each position of a stream: the lower half of a 64-bit word at even ones, then the upper half."""
    word = _mix(key + (position // np.uint64(2) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
    return np.where(position % np.uint64(2) == 1, word >> np.uint64(32), word & np.uint64(0xFFFFFFFF))


def uniform(seed: int, name: str, rows: int, cols: int, bound: float = 1.0) -> np.ndarray:
    """The matrix with this name, uniform on [-bound, bound)."""
    integers = (random_bits(seed, name, rows * cols) >> np.uint64(40)).astype(np.int64) - 2**23
    return integers.reshape(rows, cols) * float(np.float32(bound * 2.0**-23))


def uniform_index(seed: int, name: str, limit: np.ndarray) -> np.ndarray:
    """An integer below each limit: the upper 32 bits of a word, times limit 2^-32, rounded down."""
    upper = random_bits(seed, name, len(limit)) >> np.uint64(32)
    return (upper * limit.astype(np.uint64) >> np.uint64(32)).astype(np.int64)


def orthogonal(seed: int, name: str, kind: str) -> np.ndarray:
    """The projection with this name: blocks of orthogonal rows, for the softmax as long as Gaussian rows."""
    rows, cols = HEAD_FEATURES, HEAD_WIDTH
    words = (random_bits(seed, name, 4 * rows * cols) >> np.uint64(11)).astype(np.float64)
    radius, angle = (words[::2] + 1) * 2.0**-53, words[1::2] * 2.0**-53
    gauss = (np.sqrt(-2 * np.log(radius)) * np.cos(2 * np.pi * angle)).reshape(2 * rows, cols)
    blocks = []
    for first in range(0, rows, cols):
        q, r = np.linalg.qr(gauss[first : min(first + cols, rows)].T)
        blocks.append((q * np.sign(np.diag(r))).T)
    lengths = np.linalg.norm(gauss[rows:], axis=1, keepdims=True) if kind == "performer" else 1.0
    return np.concatenate(blocks) * lengths


def random_types(seed: int, name: str, rows: int, tables: list[int]) -> np.ndarray:
    """Rows of several stacked tables: column n is drawn with the key at position n of the name's stream."""
    keys, first = random_bits(seed, name, len(tables)), np.cumsum([0, *tables])
    counter = np.arange(1, rows + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    upper = [_mix(key + counter) >> np.uint64(32) for key in keys]
    columns = [first[n] + (upper[n] * np.uint64(size) >> np.uint64(32)) for n, size in enumerate(tables)]
    return np.stack(columns, 1).astype(np.int64)


def random_pairs(seed: int, sizes: list[int]) -> np.ndarray:
    """Two nodes of its own graph for each node."""
    limit = np.repeat(sizes, 2 * np.array(sizes))
    first = np.repeat(np.cumsum([0, *sizes])[:-1], 2 * np.array(sizes))
    return (first + uniform_index(seed, "pairs", limit)).reshape(-1, 2)


def random_structure(seed: int, sizes: list[int], edges: list[int]) -> Structure:
    """edges[g] edges within graph g of sizes[g] nodes: the stream "edges" is sender, receiver, sender, ..."""
    ends = 2 * np.array(edges)
    graphs = np.cumsum([0, *sizes])
    node = graphs[:-1].repeat(ends) + uniform_index(seed, "edges", np.repeat(sizes, ends))
    return Structure(*(torch.tensor(array) for array in (graphs, node[1::2], node[::2])))


# --- error


@dataclass
class Error:
    name: str
    norm: float  # |a - r| / max(|r|, floor)
    worst_row: float  # of a single row, relative to at least the root-mean-square row norm
    limit: float

    @property
    def excess(self) -> float:
        """The ratio of the error to its limit: above 1 the tensor is wrong. NaN counts as infinite."""
        excess = max(self.norm / self.limit, self.worst_row / (10 * self.limit))
        return excess if excess == excess else float("inf")


def error_of(name: str, ours: np.ndarray, oracle: np.ndarray, limit: float, floor: float = 0.0) -> Error:
    if ours.shape != oracle.shape:
        raise ValueError(f"{name} is {ours.shape}, but should be {oracle.shape}")
    difference = np.linalg.norm(ours.astype(np.float64) - oracle, axis=1)
    rows = np.linalg.norm(oracle, axis=1)
    size = max(np.linalg.norm(rows), floor)

    def ratio(d: np.ndarray, s: np.ndarray) -> float:
        return float(np.max(np.divide(d, s, out=np.where(d == 0, 0.0, np.inf), where=(s > 0) | np.isnan(d))))

    return Error(
        name,
        ratio(np.atleast_1d(np.linalg.norm(difference)), np.atleast_1d(size)),
        ratio(difference, np.maximum(rows, size / sqrt(len(rows)))),
        limit,
    )


def gradient_errors(ours: dict[str, np.ndarray], oracle: dict[str, np.ndarray], limit: float) -> list[Error]:
    """Gradients that are exactly zero are compared with the size of all: floor 1e-2 |g| sqrt(n / n_all)."""
    size = sqrt(sum(float(np.sum(g**2)) for g in oracle.values()))
    entries = sum(g.size for g in oracle.values())
    return [
        error_of("grad." + name, ours[name], g, limit, 1e-2 * size * sqrt(g.size / entries))
        for name, g in oracle.items()
    ]
