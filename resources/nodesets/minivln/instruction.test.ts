// An interpreter of instructions that shares nothing with the generator but the map: it reads the English text,
// keeps every door or landmark that fits, and must end at exactly one place.
import { describe, expect, it } from 'vitest';
import { createEpisode, successRadius, type Episode } from './episode.ts';
import { tokenCount, tokenise, tokenTensor, vocabulary } from './instruction.ts';
import type { Layout } from './layout.ts';
import { splitNames, splits } from './splits.ts';

type Xy = readonly [number, number];

/** Where the reader stands and looks; `cameFrom` is the doorway it stands in. */
interface Reader {
  readonly room: number;
  readonly at: Xy;
  readonly lookingDegrees: number;
  readonly cameFrom: number | undefined;
}

interface Reading {
  readonly rooms: readonly number[];
  readonly landmark: number;
}

const middleOf = (box: { minX: number; minY: number; maxX: number; maxY: number }): Xy => [
  (box.minX + box.maxX) / 2,
  (box.minY + box.maxY) / 2,
];

/** Signed angle from where the reader looks to a place, degrees, left positive. */
function angleTo(reader: Reader, place: Xy): number {
  const radians = (reader.lookingDegrees * Math.PI) / 180;
  const [dx, dy] = [place[0] - reader.at[0], place[1] - reader.at[1]];
  const ahead = Math.cos(radians) * dx + Math.sin(radians) * dy;
  const leftward = -Math.sin(radians) * dx + Math.cos(radians) * dy;
  return (Math.atan2(leftward, ahead) * 180) / Math.PI;
}

/** What a person grants a direction word: the documented sector and ten degrees more. */
function suits(word: string | undefined, angle: number): boolean {
  const size = Math.abs(angle);
  if (word === 'left') return angle > 20 && angle < 145;
  if (word === 'right') return angle < -20 && angle > -145;
  if (word === 'around') return size > 125;
  return size < 40;
}

function firstStep(episode: Episode): Reader {
  const { layout, start } = episode;
  const room = layout.rooms.findIndex(
    ({ box }) => start.x > box.minX && start.x < box.maxX && start.y > box.minY && start.y < box.maxY,
  );
  return { room, at: [start.x, start.y], lookingDegrees: start.heading * 15, cameFrom: undefined };
}

/** Doors of the reader's room that fit a sentence. */
function doorsFor(layout: Layout, reader: Reader, sentence: string): number[] {
  const side = /turn (left|right|around)/.exec(sentence)?.[1];
  const colour = /the (\w+) door/.exec(sentence)?.[1];
  const into = /(?:into|enter) the (\w+)/.exec(sentence)?.[1];
  const out = /leave the (\w+)/.exec(sentence)?.[1];
  if (out !== undefined) expect(layout.rooms[reader.room]!.kind).toBe(out);
  return layout.doors
    .filter(
      (door) =>
        door.index !== reader.cameFrom && (door.rooms[0] === reader.room || door.rooms[1] === reader.room),
    )
    .filter((door) => colour === undefined || door.colour === colour)
    .filter(
      (door) =>
        into === undefined ||
        layout.rooms[door.rooms[0] === reader.room ? door.rooms[1] : door.rooms[0]]!.kind === into,
    )
    .filter((door) => suits(side, angleTo(reader, middleOf(door.opening))))
    .map((door) => door.index);
}

function passThrough(layout: Layout, reader: Reader, index: number): Reader {
  const { rooms, axis, opening } = layout.doors[index]!;
  const room = rooms[0] === reader.room ? rooms[1] : rooms[0];
  const [from, to] = [middleOf(layout.rooms[reader.room]!.box), middleOf(layout.rooms[room]!.box)];
  const lookingDegrees = axis === 'x' ? (to[0] > from[0] ? 0 : 180) : to[1] > from[1] ? 90 : 270;
  return { room, at: middleOf(opening), lookingDegrees, cameFrom: index };
}

function interpret(episode: Episode, text: string): Reading {
  const { layout } = episode;
  const sentences = text
    .toLowerCase()
    .split('.')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  let reader = firstStep(episode);
  const rooms = [reader.room];
  for (const sentence of sentences.slice(0, -1)) {
    const doors = doorsFor(layout, reader, sentence);
    if (doors.length !== 1) throw new Error(`"${sentence}" fits ${doors.length} doors`);
    reader = passThrough(layout, reader, doors[0]!);
    rooms.push(reader.room);
  }
  const last = sentences.at(-1)!;
  expect(last).toContain('stop');
  const [, colour, noun] = /(?:at|to) the (\w+) (\w+)/.exec(last)!;
  const side = /turn (left|right|around)/.exec(last)?.[1];
  const found = layout.landmarks
    .filter(
      (landmark) => landmark.room === reader.room && landmark.colour === colour && landmark.noun === noun,
    )
    .filter((landmark) => suits(side, angleTo(reader, middleOf(landmark.footprint))));
  if (found.length !== 1) throw new Error(`"${last}" fits ${found.length} landmarks`);
  return { rooms, landmark: found[0]!.index };
}

/** From the goal to a landmark's edge, metres. */
function gapTo({ layout, goal }: Episode, landmark: number): number {
  const { footprint } = layout.landmarks[landmark]!;
  const gapX = Math.max(footprint.minX - goal.x, 0, goal.x - footprint.maxX);
  const gapY = Math.max(footprint.minY - goal.y, 0, goal.y - footprint.maxY);
  return Math.hypot(gapX, gapY);
}

function landmarkReached(episode: Episode, text: string): number | undefined {
  try {
    return interpret(episode, text).landmark;
  } catch {
    return undefined;
  }
}

/** The same instruction with the next colour word for the landmark. */
function withOtherColour(text: string): string {
  const words = ['red', 'green', 'blue', 'yellow', 'purple', 'black'];
  return text.replace(/(\w+) (\w+)((?: and stop)?\.)$/, (_all, colour: string, noun: string, end: string) => {
    return `${words[(words.indexOf(colour) + 1) % words.length]} ${noun}${end}`;
  });
}

const samples = new Map(
  splitNames.map((split) => [
    split,
    Array.from({ length: 300 }, (_unused, i) =>
      createEpisode({ split, index: Math.floor((i * splits[split].episodes) / 300) }),
    ),
  ]),
);
const episodesOf = (split: (typeof splitNames)[number]): readonly Episode[] => samples.get(split) ?? [];

describe('instructions', () => {
  it.each(splitNames)('of %s lead to the goal and to no other place', (split) => {
    for (const episode of episodesOf(split)) {
      const { layout, goal, instruction } = episode;
      const { landmark, rooms } = interpret(episode, instruction);
      const { room } = layout.landmarks[landmark]!;
      expect(rooms.at(-1)).toBe(room);
      // The goal stands beside that landmark, and beside no other within the radius.
      expect(gapTo(episode, landmark)).toBeLessThan(0.51);
      const { box } = layout.rooms[room]!;
      expect(goal.x > box.minX && goal.x < box.maxX && goal.y > box.minY && goal.y < box.maxY).toBe(true);
    }
  });

  it('matter: read with another colour word they lead nowhere or outside the success radius', () => {
    const gaps = episodesOf('val_unseen')
      .slice(0, 100)
      .map((episode) => {
        const reached = landmarkReached(episode, withOtherColour(episode.instruction));
        return reached === undefined ? Infinity : gapTo(episode, reached);
      });
    expect(Math.min(...gaps)).toBeGreaterThan(successRadius + 0.5);
    expect(gaps.some((gap) => gap < Infinity)).toBe(true);
  });

  it('use only the vocabulary and fit the token length', () => {
    for (const split of splitNames) {
      for (const { instruction } of episodesOf(split)) {
        const ids = tokenise(instruction);
        expect(ids.length).toBeLessThanOrEqual(tokenCount);
        expect(ids.every((id) => id > 0 && id < vocabulary.length)).toBe(true);
        expect(
          ids
            .map((id) => vocabulary[id])
            .join(' ')
            .replaceAll(' .', '.'),
        ).toBe(instruction.toLowerCase());
      }
    }
    expect(new Set(vocabulary).size).toBe(vocabulary.length);
  });

  it('become a padded int32 tensor; unknown words are refused', () => {
    const tensor = tokenTensor('Stop at the red bed.');
    expect([tensor.dtype, tensor.shape]).toEqual(['int32', [tokenCount]]);
    expect([...(tensor.data as Int32Array)].filter((id) => id !== 0)).toHaveLength(6);
    expect(() => tokenise('Stop at the pink bed.')).toThrow('"pink" is not in the vocabulary');
  });
});
