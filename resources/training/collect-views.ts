// Views from random places of the training apartments with labels of what they show: data of the image encoder.
//   node --import ./resources/training/register-agentcanvas.mjs resources/training/collect-views.ts --out DIR
import { parseArgs } from 'node:util';
import { createRandom, deriveSeed, type Random } from 'agentcanvas';
import { createLayout, type Layout } from '../nodesets/minivln/layout.ts';
import { headingCount, type AgentPose } from '../nodesets/minivln/motion.ts';
import { createCamera, createScene } from '../nodesets/minivln/render.ts';
import { sceneOf, splits } from '../nodesets/minivln/splits.ts';
import { createArrayFolder } from './array-folder.ts';
import { columnCount, createViewLabeller, landmarkClasses, viewSize } from './view-labels.ts';

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    apartments: { type: 'string', default: '1000' },
    views: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
  },
});
if (!values.out) throw new Error('give the folder to write to: --out DIR');

const layoutSeeds = new Set<number>();
for (let index = 0; index < splits.train.episodes && layoutSeeds.size < Number(values.apartments); index++)
  layoutSeeds.add(sceneOf({ split: 'train', index }).layoutSeed);

const row = { dtype: 'uint8', shape: [columnCount] } as const;
const folder = createArrayFolder(values.out, {
  rgb: { dtype: 'uint8', shape: [viewSize.height, viewSize.width, 3] },
  walls: { dtype: 'uint16', shape: [columnCount] },
  doors: { dtype: 'uint8', shape: [columnCount, 6] },
  landmarks: { dtype: 'uint8', shape: [columnCount, landmarkClasses] },
  space: row,
  portalColour: row,
  portalRoom: row,
});

/** Anywhere the agent can stand, doorways included. */
function drawPose({ bounds, navigation }: Layout, random: Random): AgentPose {
  for (;;) {
    const x = bounds.minX + random.next() * (bounds.maxX - bounds.minX);
    const y = bounds.minY + random.next() * (bounds.maxY - bounds.minY);
    if (navigation.isFree(x, y)) return { x, y, heading: random.integer(headingCount) };
  }
}

const camera = createCamera(viewSize);
for (const layoutSeed of layoutSeeds) {
  const layout = createLayout(layoutSeed);
  const scene = createScene(layout);
  const labelsAt = createViewLabeller(layout);
  const random = createRandom(deriveSeed('minivln views', values.seed, layoutSeed));
  for (let i = 0; i < Number(values.views); i++) {
    const pose = drawPose(layout, random);
    folder.append('rgb', camera(scene, pose).rgb.data);
    const labels = labelsAt(pose);
    for (const name of ['walls', 'doors', 'landmarks', 'space', 'portalColour', 'portalRoom'] as const)
      folder.append(name, labels[name]);
  }
}
folder.close({ views: layoutSeeds.size * Number(values.views) });
