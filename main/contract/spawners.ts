// Where the processes of nodesets run: on this machine, in containers, on a Ray cluster; and what a nodeset asks for.
import { z } from 'zod';

export const spawnPlace = z.enum(['local', 'docker', 'ray']);
export type SpawnPlace = z.infer<typeof spawnPlace>;

/** What a Python nodeset states beside its class: `server_image`, `server_gpu` and so on, without `server_`. */
export const serverNeeds = z.object({
  spawner: spawnPlace.nullish(),
  image: z.string().min(1).nullish(),
  /** A number of GPUs, or what `docker run --gpus` takes; Ray takes numbers only. */
  gpu: z.union([z.number().nonnegative(), z.string().min(1)]).nullish(),
  /** `/host/folder`, `/host/folder:/container/folder` or either with `:ro`; absolute. */
  mounts: z.array(z.string()).nullish(),
  /** `uid`, `uid:gid` or a name the image knows. */
  user: z.string().nullish(),
  cpus: z.number().nonnegative().nullish(),
  /** Ray resources by name, for example `{"accelerator_type:T4": 0.001}`. */
  resources: z.record(z.string(), z.number()).nullish(),
  /** `spread` over the nodes, or `pack` where Ray would put them. */
  placement: z.enum(['spread', 'pack']).nullish(),
});
export type ServerNeeds = z.infer<typeof serverNeeds>;

export const spawnerSettings = z.object({
  /** For nodesets that say nothing; `auto` = `docker` where they name an image, else `local`. */
  default: z.enum(['auto', ...spawnPlace.options]).default('auto'),
  /** Nodeset to place, whatever it says itself. */
  nodesets: z.record(z.string(), spawnPlace).default({}),
  docker: z
    .object({
      command: z.string().default('docker').describe('Program name on PATH, or absolute path'),
    })
    .prefault({}),
  ray: z
    .object({
      address: z
        .string()
        .default('')
        .describe('Cluster as ray.init takes it; empty = a local Ray of our own'),
      python: z
        .string()
        .default('')
        .describe("Interpreter with ray for the driver; empty = the nodeset's own"),
      cpus: z.number().int().positive().nullable().default(null).describe('Of a local Ray; empty = all'),
      objectStoreMb: z.number().int().min(80).default(100).describe('Of a local Ray'),
    })
    .prefault({}),
});
export type SpawnerSettings = z.infer<typeof spawnerSettings>;

/** An engine somewhere else that this window can open. The token is kept by the browser tab, never here. */
export const savedConnection = z.object({
  name: z.string().min(1).max(80),
  url: z.url({ protocol: /^https?$/ }),
  /** How its port gets to this machine, to copy: `ssh -L …`. */
  sshCommand: z.string().max(500).default(''),
});
export type SavedConnection = z.infer<typeof savedConnection>;
