"""The cross-modal attention policy: image columns, instruction and previous action to the next action.

Two recurrent layers, as in the CMA model of VLN-CE (Krantz et al. 2020). The first sees images and actions only and
says how far along the route the agent is: a soft pointer to a sentence of the instruction. Its state attends to the
words of that sentence; the words and the state attend to the columns of the image; the second layer decides. No
attention depends on the second layer, so training runs over whole episodes at once.
"""

import torch
from torch import Tensor, nn

from .encoder import COLUMNS, FEATURE_RANGE, FEATURES, ImageEncoder

VOCABULARY = 43
TOKENS = 48
PERIOD = 1  # token id of "."
SENTENCES = 4
ACTIONS = 4
START = 4  # "previous action" of the first step
TRACK = 128
DECIDE = 128
HIDDEN = TRACK + DECIDE
HEADS = 4
WIDTH = 32  # of an attention head


class InstructionEncoder(nn.Module):
    """(B, L) token ids -> words (B, L, 64), sentence of each word one-hot (B, L, 4), and which are words (B, L)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 32)
        self.near = nn.Conv1d(32, 64, 5, padding=2)
        self.far = nn.Conv1d(64, 64, 3, padding=1)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        is_word = tokens > 0
        periods = (tokens == PERIOD).long()
        sentence = (periods.cumsum(1) - periods).clamp(max=SENTENCES - 1)
        numbers = torch.arange(SENTENCES, device=tokens.device)
        one_hot = (sentence.unsqueeze(-1) == numbers).float() * is_word.unsqueeze(-1).float()
        words = torch.relu(self.near(self.embedding(tokens).transpose(1, 2)))
        words = words + torch.relu(self.far(words))
        return words.transpose(1, 2), one_hot, is_word


class Policy(nn.Module):
    """Everything behind the image encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.instruction = InstructionEncoder()
        self.action = nn.Embedding(ACTIONS + 1, 16)
        self.scene = nn.Sequential(nn.Linear(COLUMNS * FEATURES, 96), nn.ReLU())
        self.track = nn.GRU(96 + 16, TRACK, batch_first=True)
        self.pointer = nn.Linear(TRACK, SENTENCES)
        self.word_query = nn.Linear(TRACK, HEADS * WIDTH)
        self.word_key = nn.Linear(64, HEADS * WIDTH)
        self.word_value = nn.Linear(64, HEADS * WIDTH)
        # Keys and values are linear in a column, so they are applied to the query and to the sum: 16 times less work.
        self.column_query = nn.Sequential(
            nn.Linear(HEADS * WIDTH + TRACK, 128), nn.ReLU(), nn.Linear(128, HEADS * FEATURES)
        )
        self.column_place = nn.Parameter(torch.randn(COLUMNS, FEATURES) * 0.1)
        self.column_value = nn.Linear(HEADS * (FEATURES + COLUMNS), HEADS * WIDTH)
        self.decide = nn.GRU(HEADS * WIDTH * 2 + 96 + TRACK + 16, DECIDE, batch_first=True)
        self.head = nn.Sequential(
            nn.Linear(DECIDE + HEADS * WIDTH * 2, 128), nn.ReLU(), nn.Linear(128, ACTIONS)
        )
        # Auxiliary targets, used in training only.
        self.turned = nn.Linear(TRACK, 2)
        self.target = nn.Linear(DECIDE + HEADS * WIDTH, 3)

    def forward(
        self, columns: Tensor, tokens: Tensor, previous: Tensor, hidden: Tensor
    ) -> dict[str, Tensor]:
        """columns (B, T, 16, 64), tokens (B, L), previous actions (B, T), hidden (B, 256).

        Gives logits (B, T, 4), hidden (B, 256), and for the auxiliary losses: pointer (B, T, 4) as logits,
        turned (B, T, 2), target (B, T, 3).
        """
        batch, time = previous.shape
        scene = self.scene(columns.flatten(2))
        action = self.action(previous)
        track, track_out = self.track(
            torch.cat([scene, action], -1), hidden[:, :TRACK].unsqueeze(0).contiguous()
        )
        pointer = self.pointer(track)
        words = self.attend_to_words(track, pointer, tokens)
        query = self.column_query(torch.cat([words, track], -1))
        seen = self.attend_to_columns(query, columns)
        decide, decide_out = self.decide(
            torch.cat([words, seen, scene, track, action], -1), hidden[:, TRACK:].unsqueeze(0).contiguous()
        )
        return {
            "logits": self.head(torch.cat([decide, words, seen], -1)),
            "hidden": torch.cat([track_out[0], decide_out[0]], -1),
            "pointer": pointer,
            "turned": self.turned(track),
            "target": self.target(torch.cat([decide, seen], -1)),
        }

    def attend_to_words(self, track: Tensor, pointer: Tensor, tokens: Tensor) -> Tensor:
        """(B, T, 128): per head the attended words of the sentences the pointer is at."""
        batch, time, _ = track.shape
        words, sentence, is_word = self.instruction(tokens)
        query = self.word_query(track).view(batch, time, HEADS, WIDTH).transpose(1, 2)
        key = self.word_key(words).view(batch, -1, HEADS, WIDTH).permute(0, 2, 3, 1)
        value = self.word_value(words).view(batch, -1, HEADS, WIDTH).transpose(1, 2)
        here = torch.softmax(pointer, -1) @ sentence.transpose(1, 2)  # (B, T, L)
        scores = query @ key / WIDTH**0.5 + torch.log(here + 1e-4).unsqueeze(1)
        scores = scores.masked_fill(~is_word[:, None, None, :], -30.0)
        return (torch.softmax(scores, -1) @ value).transpose(1, 2).flatten(2)

    def attend_to_columns(self, query: Tensor, columns: Tensor) -> Tensor:
        """(B, T, 128): what the heads attend to, and at which bearings, in each view."""
        batch, time, _ = query.shape
        placed = (columns + self.column_place).flatten(0, 1)
        scores = query.reshape(batch * time, HEADS, FEATURES) @ placed.transpose(1, 2)
        share = torch.softmax(scores / FEATURES**0.5, -1)
        seen = torch.cat([share @ placed, share], -1)
        return self.column_value(seen.view(batch, time, HEADS * (FEATURES + COLUMNS)))


class Agent(nn.Module):
    """Encoder and policy for one step of each of B episodes: what is exported.

    rgb (B, 48, 64, 3) uint8, tokens (B, L) int64, prev_action (B) int64 (4 at the first step), hidden_in (B, 256)
    float32 (zeros at the first step) -> logits (B, 4), hidden_out (B, 256); with `gives_features` also the columns
    (B, 16, 64) as uint8, which is what rollouts store instead of images.
    """

    def __init__(self, encoder: ImageEncoder, policy: Policy, gives_features: bool = False) -> None:
        super().__init__()
        self.encoder, self.policy, self.gives_features = encoder, policy, gives_features

    def forward(self, rgb: Tensor, tokens: Tensor, prev_action: Tensor, hidden_in: Tensor):
        columns = self.encoder(rgb)
        result = self.policy(columns.unsqueeze(1), tokens, prev_action.unsqueeze(1), hidden_in)
        outputs = (result["logits"].squeeze(1), result["hidden"])
        if not self.gives_features:
            return outputs
        return (*outputs, (columns * (255 / FEATURE_RANGE)).round().to(torch.uint8))
