"""The image encoder: a view becomes 16 columns of 64 features, 5.6 degrees wide in the middle.

A column is a bearing. All that matters in an apartment stands on one floor, so rows are folded away early.
"""

import torch
from torch import Tensor, nn

COLUMNS = 16
FEATURES = 64
#: Features lie in [0, 6]; stored as uint8 in steps of 6/255.
FEATURE_RANGE = 6.0

COLOURS, ROOMS, SHAPES = 6, 9, 8
PIECES = SHAPES * COLOURS


def block(channels: int, width: int, *kernel: int, **options) -> tuple[nn.Module, ...]:
    """A convolution whose normalisation disappears in the exported model."""
    return nn.Conv2d(channels, width, *kernel, bias=False, **options), nn.BatchNorm2d(width), nn.ReLU()


class ImageEncoder(nn.Module):
    """(B, 48, 64, 3) uint8 -> (B, 16, 64) float32 in [0, 6]."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *block(3, 24, 5, stride=2, padding=2),
            *block(24, 40, 3, stride=2, padding=1),
            *block(40, 64, 3, stride=(2, 1), padding=1),
            *block(64, 64, 3, stride=(2, 1), padding=1),
            *block(64, 128, 3, padding=(0, 1)),
            nn.Conv2d(128, FEATURES, 1),
            nn.ReLU6(),
        )

    def forward(self, rgb: Tensor) -> Tensor:
        image = rgb.permute(0, 3, 1, 2).float() * (2 / 255) - 1
        return self.layers(image).squeeze(2).transpose(1, 2)


class ViewHead(nn.Module):
    """Reads from each column what view-labels.ts says is there; used in training only."""

    #: name -> outputs per column
    parts = {
        "walls": ROOMS,
        "doors": COLOURS,
        "landmarks": PIECES,
        "landmark_colours": COLOURS,
        "landmark_shapes": SHAPES,
        "door_distance": COLOURS,
        "landmark_distance": PIECES,
        "space": 1,
        "portalColour": COLOURS + 1,
        "portalRoom": ROOMS + 1,
    }

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(FEATURES, sum(self.parts.values()))

    def forward(self, columns: Tensor) -> dict[str, Tensor]:
        outputs = self.linear(columns).split(list(self.parts.values()), dim=-1)
        return dict(zip(self.parts, outputs, strict=True))
